/**
 * Events that a workspace can subscribe to. A row of `event` is written in the transaction of the change, by the same SQL: `end_job` for
 * jobs, `end_batch` for batches. The table is the outbox of notifications.
 */
import type { SchemaTypes } from "#schemas/generated/types.ts";

interface EventType {
  readonly group: "runs" | "jobs" | "budgets" | "operator";
  /** Description for subscribers. */
  readonly description: string;
  /** Title of the schema of its metadata. */
  readonly metadata: keyof SchemaTypes;
}

/** Events by name; schemas/names.json and the constraint of the domain `event_type` contain the same names. */
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
