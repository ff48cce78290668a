/**
 * The events that a workspace can be told of. A row of `event` is written in the transaction in which the thing happened, by
 * the SQL that did it: `end_job` for jobs. The table is the outbox: notifications are made from its rows.
 */
import type { SchemaTypes } from "#schemas/generated/types.ts";

interface EventType {
  readonly group: "runs" | "jobs" | "budgets" | "operator";
  /** Title of the schema of its metadata. */
  readonly metadata: keyof SchemaTypes;
}

/** The same names as in the constraint `event_type` of the table. */
export const EVENTS = {
  "run.started": { group: "runs", metadata: "RunStarted" },
  "run.retrying": { group: "runs", metadata: "RunRetrying" },
  "run.succeeded": { group: "runs", metadata: "RunSucceeded" },
  "run.failed": { group: "runs", metadata: "RunFailed" },
  "run.cancelled": { group: "runs", metadata: "RunCancelled" },
  "job.completed": { group: "jobs", metadata: "JobCompleted" },
  "job.failed": { group: "jobs", metadata: "JobFailed" },
  "budget.threshold_reached": { group: "budgets", metadata: "BudgetThresholdReached" },
  "template.unavailable": { group: "operator", metadata: "TemplateUnavailable" },
} as const satisfies Record<string, EventType>;
