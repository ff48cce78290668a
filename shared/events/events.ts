/**
 * The events that a workspace can be told of. A row of `event` is written in the transaction in which the thing happened, by
 * the SQL that did it: `end_job` for jobs, `end_batch` for batches. The table is the outbox: notifications are made from its rows.
 */
import type { SchemaTypes } from "#schemas/generated/types.ts";

interface EventType {
  readonly group: "runs" | "jobs" | "budgets" | "operator";
  /** For who subscribes to it. */
  readonly description: string;
  /** Title of the schema of its metadata. */
  readonly metadata: keyof SchemaTypes;
}

/** By its name, each of schemas/names.json and of the constraint `event_type` of the domain. */
export const EVENTS = {
  "run.started": { group: "runs", metadata: "RunStarted", description: "A run started." },
  "run.retrying": {
    group: "runs",
    metadata: "RunRetrying",
    description: "A run in mode async begins its second or a later attempt. Sent instead of `run.started`.",
  },
  "run.succeeded": { group: "runs", metadata: "RunSucceeded", description: "A run succeeded." },
  "run.failed": { group: "runs", metadata: "RunFailed", description: "A run failed and is not retried." },
  "run.cancelled": { group: "runs", metadata: "RunCancelled", description: "A run was cancelled." },
  "job.completed": {
    group: "jobs",
    metadata: "JobCompleted",
    description: "A durable job or a batch completed. Steps of runs and lines of batches send no event.",
  },
  "job.failed": {
    group: "jobs",
    metadata: "JobFailed",
    description:
      "A durable job failed, or a batch failed or expired. Steps of runs and lines of batches send no event.",
  },
  "budget.threshold_reached": {
    group: "budgets",
    metadata: "BudgetThresholdReached",
    description: "Spending reached the threshold of a budget alert that has no channels of its own.",
  },
  "template.unavailable": {
    group: "operator",
    metadata: "TemplateUnavailable",
    description:
      "A stored workflow uses a model or capability that is no longer offered. Sent to the operator's own workspace only.",
  },
} as const satisfies Record<SchemaTypes["SubscriptionCreateRequest"]["event"], EventType>;

export type EventName = keyof typeof EVENTS;
