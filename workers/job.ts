/** Interfaces between the handlers of a pool, which execute jobs, and the runner that controls them. */
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
  /** Stores the record; null deletes it. @throws Error when this worker no longer owns the job and must not act for it */
  keep(job: object | null): Promise<void>;
  /** Stores the record with a start that is about to be sent. @throws Error as `keep`, or if the job was cancelled */
  begin(record: object): Promise<void>;
  /** Records that the response to the start was lost, and returns the start that is stored in the row. @throws Error as `keep` */
  lose(): Promise<OpenStart>;
  /** Adopts a listed job of the provider as the provider job of this job; see `adopt_provider_job`. @throws Error as `keep` */
  adopt(
    listed: { readonly name: string; readonly createdMs: number },
    record: object,
  ): Promise<"adopted" | "taken" | "open">;
  /** Returns those of the given provider job names that belong to none of our jobs. */
  strangers(provider: string, names: readonly string[]): Promise<readonly string[]>;
  /** Reports the progress of the job, 0 to 1, for readers of the job. Best effort. */
  progress(share: number): void;
}

/**
 * Sends result bytes of a running durable job to the ingress whose caller waits. This is best effort: the job's database row is
 * authoritative.
 */
export interface LiveCaller {
  /** Announces a result whose bytes follow while it is being generated. */
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
   * Ends the job and continues its run in one transaction. Returns undefined if nothing was written, so that the job must be ended like any
   * other.
   * @param owner owner of the next job
   */
  end(ending: JobEnd, owner: JobOwner, retryMs: number): Promise<StepContinued | undefined>;
}

export interface StepContinued {
  /** Nano-credits charged for the ended job. */
  readonly takenNano: bigint;
  /** Next job of the run, already claimed; absent if the run has ended. If `step` is undefined, the next job ends like any other. */
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
  /** Receives the streamed output and the serving source. The end of the answer is part of the outcome instead. */
  readonly answer: Answer;
}

export interface JobHandler {
  /**
   * Executes a job. The handler neither moves credits nor ends the answer; the runner does both, based on the outcome.
   * @throws Error for infrastructure failures, never for a provider's failure; ProviderError `unknown` if a durable job may have been
   * executed and charged by a provider
   */
  run(job: JobMessage, control: JobControl): Promise<Outcome>;
}
