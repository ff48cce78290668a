/** State of a run: all of it is in rows, so that any worker can go on where another died. */

export type RunStatus = "queued" | "running" | "succeeded" | "failed" | "cancelled";
export type StepStatus = "queued" | "running" | "succeeded" | "failed" | "skipped" | "cancelled";
export type ItemStatus = "queued" | "running" | "succeeded" | "failed" | "cancelled";
export type SkippedReason = "condition_false" | "dependency_failed";

export interface StepError {
  readonly code: string;
  readonly message: string;
  /** Tried again, it would fail again. */
  readonly isFinal?: boolean;
}

/** One call, or one workflow, that a step has made. A step without `for_each` has one of them at most. */
export interface ItemRun {
  readonly index: number;
  readonly status: ItemStatus;
  readonly output?: unknown;
  /** Reference to the stored output when it is too large for a row. */
  readonly outputRef?: string;
  readonly error?: StepError;
  /** Charge of its work in nano-credits, once that has ended. */
  readonly creditsNano?: bigint;
  /** Place among the ends of this run, from 1: the first failure is told. */
  readonly endedSeq?: number;
  /** It ended for good in an earlier attempt, which has its credits. */
  readonly isKept?: true;
}

/** One attempt of one step. */
export interface StepRun {
  readonly stepId: string;
  /** From 1, through all attempts of the run. */
  readonly attempt: number;
  /** Attempt of the run in which it was made. */
  readonly runAttempt: number;
  readonly status: StepStatus;
  readonly skippedReason?: SkippedReason;
  /** Value of `for_each`; absent: the step has none. */
  readonly list?: readonly unknown[];
  readonly items: readonly ItemRun[];
  readonly output?: unknown;
  readonly error?: StepError;
  readonly endedSeq?: number;
  /** It waits for its time before it begins. */
  readonly isDelayed?: true;
}

export interface RunState {
  readonly id: string;
  readonly status: RunStatus;
  readonly attempt: number;
  /** 1 for runs that are waited for or streamed. */
  readonly maxAttempts: number;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly stepRuns: readonly StepRun[];
  /** Number of items and steps that have ended. */
  readonly ends: number;
  readonly output?: unknown;
  readonly error?: StepError & { readonly stepId: string };
}

/** Place of work in a run: its step, attempt and item. */
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
  /** It is asked for, or looked at again after a death: whatever can begin begins. */
  | { readonly kind: "tick" }
  | { readonly kind: "work_ended"; readonly place: WorkPlace; readonly end: WorkEnd; readonly creditsNano: bigint }
  | { readonly kind: "step_due"; readonly stepId: string; readonly attempt: number }
  /** The work takes longer than the step's timeout. */
  | { readonly kind: "work_late"; readonly place: WorkPlace }
  | { readonly kind: "run_due"; readonly attempt: number }
  | { readonly kind: "cancel" };

/** Action to be taken once the state is written. */
export type Effect =
  | { readonly kind: "start_work"; readonly place: WorkPlace; readonly params: unknown; readonly input: unknown }
  | { readonly kind: "cancel_work"; readonly place: WorkPlace }
  /** `step_due` comes after that time. */
  | { readonly kind: "step_timer"; readonly stepId: string; readonly attempt: number; readonly seconds: number }
  /** `run_due` comes after the delay of that attempt. */
  | { readonly kind: "run_timer"; readonly attempt: number }
  | {
      readonly kind: "event";
      readonly event: "run.started" | "run.retrying" | "run.succeeded" | "run.failed" | "run.cancelled";
    };

export function isEnded(status: RunStatus): boolean {
  return status === "succeeded" || status === "failed" || status === "cancelled";
}
