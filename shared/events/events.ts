/**
 * Events to which a workspace can subscribe. The transaction of a change also writes its row of the table `event`, which is the outbox of
 * notifications. The SQL function `end_job` writes the events of jobs, `end_batch` those of batches.
 */
import type { SchemaTypes } from "#schemas/generated/types.ts";

interface EventType {
  readonly group: "runs" | "jobs" | "budgets" | "balance" | "limits" | "operator";
  /** Description of the event for subscribers. */
  readonly description: string;
  /** Title of the schema of the event's metadata. */
  readonly metadata: keyof SchemaTypes;
}

/** Event types by name. schemas/names.json and the constraint of the SQL domain `event_type` contain the same names. */
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
  "budget.warning": {
    group: "budgets",
    metadata: "BudgetWarning",
    description: "Spending reached a percentage of the threshold of a budget alert that has no channels of its own.",
  },
  "balance.low": {
    group: "balance",
    metadata: "BalanceLow",
    description: "The available credits fell below the threshold of a balance alert that has no channels of its own.",
  },
  "limit.warning": {
    group: "limits",
    metadata: "LimitWarning",
    description: "A key, a member, an end user or a tag spent a percentage of its spend limit.",
  },
  "limit.reached": {
    group: "limits",
    metadata: "LimitReached",
    description: "A key, a member, an end user or a tag spent its whole spend limit.",
  },
  "template.unavailable": {
    group: "operator",
    metadata: "TemplateUnavailable",
    description:
      "A stored workflow uses a model or capability that is no longer offered. Sent to the operator's own workspace only.",
  },
} as const satisfies Record<SchemaTypes["SubscriptionCreateRequest"]["event"], EventType>;

export type EventName = keyof typeof EVENTS;
