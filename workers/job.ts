/** Interfaces between the handlers of a pool, which execute jobs, and the runner, which claims, aborts and settles jobs. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { ClaimedJob } from "#shared/database/jobs.ts";
import type { OpenStart } from "#shared/database/open-starts.ts";
import type { ExactIntegers } from "#shared/json/serialize.ts";
import type { JobEnd } from "#shared/jobs/end.ts";
import type { MediaResultHead } from "#shared/queue/job-frames.ts";

import type { Outcome } from "./outcome.ts";
import type { Answer } from "./calls/answer.ts";

/** Maximum assumed difference between a provider's clock and ours, in milliseconds. Both clocks follow time servers. */
export const START_CLOCKS_MS = 10_000;

/** Reason why a running job was aborted. */
export type AbortReason = "caller_left" | "caller_gone" | "deadline" | "shutdown";

const ABORT_REASONS: ReadonlySet<string> = new Set<AbortReason>(["caller_left", "caller_gone", "deadline", "shutdown"]);

/** Creates the error with which a job's signal is aborted: an AbortError of the platform with our reason as its message. */
export function jobAbort(reason: AbortReason): DOMException {
  return new DOMException(reason, "AbortError");
}

/** Returns the abort reason in an error that `jobAbort` created; undefined for any other error. @param error reason of an abort signal */
export function abortReasonOf(error: unknown): AbortReason | undefined {
  const isOurs = error instanceof DOMException && ABORT_REASONS.has(error.message);
  return isOurs ? (error.message as AbortReason) : undefined;
}

/** Gives a handler access to the stored record of its job at a provider. */
export interface ProviderJobSlot {
  /** Record that the job's previous owner stored; null if no provider job was started. */
  readonly found: unknown;
  /** True if the job is past its deadline. Its provider is then polled only once for the result. */
  readonly isLate: boolean;
  /** True if the caller requested a cancellation before this attempt. */
  readonly wasCancelled: boolean;
  /**
   * Stores the record of the provider job; null deletes the stored record.
   * @throws Error if this worker no longer owns the job; it must then stop working on it
   */
  keep(job: object | null): Promise<void>;
  /**
   * Stores the record just before the request that starts the provider job is sent.
   * @throws the errors of `keep`, or Error if the job was cancelled
   */
  begin(record: object): Promise<void>;
  /**
   * Stores that the response to the start request was lost. Returns the start request as stored in the job's row.
   * @throws the errors of `keep`
   */
  lose(): Promise<OpenStart>;
  /**
   * Assigns a job from the provider's list to this job. Returns `taken` if another job has the provider job, and `open` if it may belong to
   * another job that is being started; see `adopt_provider_job`.
   * @throws the errors of `keep`
   */
  adopt(
    listed: { readonly name: string; readonly createdMs: number },
    record: object,
  ): Promise<"adopted" | "taken" | "open">;
  /** Returns those of the given provider job names that belong to none of our jobs. */
  strangers(provider: string, names: readonly string[]): Promise<readonly string[]>;
  /** Reports the progress of the job, from 0 to 1, to clients that read the job. Best effort. */
  progress(share: number): void;
}

/**
 * Sends result bytes of a running durable job to the ingress whose caller waits. This is best effort: the job's database row is
 * authoritative.
 */
export interface LiveCaller {
  /** Sends the head of a result to the caller, before its bytes are generated. */
  begin(head: MediaResultHead): void;
  /** Sends the next bytes of the result. */
  write(bytes: Uint8Array): void;
}

/** Worker that owns a job, and lifetime of its lease without renewal in milliseconds. */
export interface JobOwner {
  readonly worker: string;
  readonly leaseMs: number;
}

/** Continues workflow runs whose step ended in this process. */
export interface RunContinuation {
  /**
   * Loads the run of a step while the step's job runs. Returns undefined if the job belongs to no run that can continue in this process.
   */
  open(job: ClaimedJob): StepContinuation | undefined;
}

export interface StepContinuation {
  /**
   * Ends the job and continues its run in one transaction. Returns undefined if nothing was written; the caller must then end the job like
   * a job without a run.
   * @param owner owner of the run's next job
   * @param retryMs maximum time of retries while the database is unavailable, in milliseconds
   */
  end(ending: JobEnd, owner: JobOwner, retryMs: number): Promise<StepContinued | undefined>;
}

export interface StepContinued {
  /** Nano-credits charged for the ended job. */
  readonly takenNano: bigint;
  /**
   * Next job of the run, already claimed; absent if the run has ended. If its `step` is undefined, that job is ended like a job without a
   * run.
   */
  readonly next?: { readonly job: ClaimedJob; readonly step: StepContinuation | undefined };
}

export interface JobControl {
  /** Integers in the job's request that a double cannot represent exactly; undefined if there are none. */
  readonly exactIntegers?: ExactIntegers | undefined;
  /** Access to the record of the job at its provider; durable jobs only. */
  readonly providerJob?: ProviderJobSlot;
  /** Connection to the waiting caller; durable jobs only. */
  readonly caller?: LiveCaller;
  /** Signal that aborts the job, with a reason created by `jobAbort`. */
  readonly signal: AbortSignal;
  /** Aborts when the process stops and running jobs must end, even if `signal` was already aborted for another reason. */
  readonly stopping?: AbortSignal;
  /**
   * Receives the streamed output, and the source that serves the call. The end of the answer is not sent here; it is part of the returned
   * outcome.
   */
  readonly answer: Answer;
}

export interface JobHandler {
  /**
   * Executes a job. The handler neither settles credits nor sends the end of the answer; the runner does both, based on the outcome.
   * @throws Error for failures of our infrastructure; failures of providers are outcomes
   * @throws ProviderError `unknown` if a provider may have executed and charged a durable job
   */
  run(job: JobMessage, control: JobControl): Promise<Outcome>;
}
