/** State of a run. All of it is stored in rows, so that any worker can continue after a crash. */

export type RunStatus = "queued" | "running" | "succeeded" | "failed" | "cancelled";
export type StepStatus = "queued" | "running" | "succeeded" | "failed" | "skipped" | "cancelled";
export type ItemStatus = "queued" | "running" | "succeeded" | "failed" | "cancelled";
export type SkippedReason = "condition_false" | "dependency_failed";

export interface StepError {
  readonly code: string;
  readonly message: string;
  /** True if a retry would fail too. */
  readonly isFinal?: boolean;
}

/** One call or sub-workflow of a step. A step without `for_each` has at most one. */
export interface ItemRun {
  readonly index: number;
  readonly status: ItemStatus;
  readonly output?: unknown;
  /** Reference to the output in the object store; present if the output is too large for a row. */
  readonly outputRef?: string;
  readonly error?: StepError;
  /** Charge of the ended call or sub-workflow, in nano-credits. */
  readonly creditsNano?: bigint;
  /** Sequence number of this end among all ends of the run, from 1. The run reports the failure with the lowest number. */
  readonly endedSeq?: number;
  /** True for an item that completed in an earlier attempt. Its charge is recorded in that attempt. */
  readonly isKept?: true;
}

/** One attempt of one step. */
export interface StepRun {
  readonly stepId: string;
  /** Sequence number of the step's attempt, from 1, across all attempts of the run. */
  readonly attempt: number;
  /** Number of the run's attempt that created this attempt. */
  readonly runAttempt: number;
  readonly status: StepStatus;
  readonly skippedReason?: SkippedReason;
  /** Evaluated list of `for_each`; absent if the step has none. */
  readonly list?: readonly unknown[];
  readonly items: readonly ItemRun[];
  readonly output?: unknown;
  readonly error?: StepError;
  readonly endedSeq?: number;
  /** True while the attempt waits for its start time. */
  readonly isDelayed?: true;
}

export interface RunState {
  readonly id: string;
  readonly status: RunStatus;
  readonly attempt: number;
  /** Maximum number of attempts of the run; 1 for synchronous and streamed runs. */
  readonly maxAttempts: number;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly stepRuns: readonly StepRun[];
  /** Number of items and steps that have ended so far. The next end gets the following number as its `endedSeq`. */
  readonly ends: number;
  readonly output?: unknown;
  readonly error?: StepError & { readonly stepId: string };
}

/** Place of a call or sub-workflow in a run: its step, attempt and item. */
export interface WorkPlace {
  readonly stepId: string;
  readonly attempt: number;
  readonly index: number;
}

export type WorkEnd =
  | { readonly status: "succeeded"; readonly output: unknown; readonly outputRef?: string }
  | { readonly status: "failed"; readonly error: StepError }
  | { readonly status: "cancelled" };

export type RunEvent =
  /** The run may have work that can begin. Sent for a notice or a recovery, which contain no further data. */
  | { readonly kind: "tick" }
  | { readonly kind: "work_ended"; readonly place: WorkPlace; readonly end: WorkEnd; readonly creditsNano: bigint }
  | { readonly kind: "step_due"; readonly stepId: string; readonly attempt: number }
  /** A call or sub-workflow has exceeded the timeout of its step. */
  | { readonly kind: "work_late"; readonly place: WorkPlace }
  | { readonly kind: "run_due"; readonly attempt: number }
  | { readonly kind: "cancel" };

/** Action to perform after the state is saved. */
export type Effect =
  | { readonly kind: "start_work"; readonly place: WorkPlace; readonly params: unknown; readonly input: unknown }
  | { readonly kind: "cancel_work"; readonly place: WorkPlace }
  /** Sends the event `step_due` after `seconds`. */
  | { readonly kind: "step_timer"; readonly stepId: string; readonly attempt: number; readonly seconds: number }
  /** Sends the event `run_due` after the delay of this attempt. */
  | { readonly kind: "run_timer"; readonly attempt: number }
  | {
      readonly kind: "event";
      readonly event: "run.started" | "run.retrying" | "run.succeeded" | "run.failed" | "run.cancelled";
    };

export function isEnded(status: RunStatus): boolean {
  return status === "succeeded" || status === "failed" || status === "cancelled";
}
