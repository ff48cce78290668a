/** Interfaces between the handlers of a pool, which execute jobs, and the runner that controls them. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { ClaimedJob } from "#shared/database/jobs.ts";
import type { OpenStart } from "#shared/database/open-starts.ts";
import type { ExactIntegers } from "#shared/json/serialize.ts";
import type { JobEnd } from "#shared/jobs/end.ts";
import type { MediaResultHead } from "#shared/queue/job-frames.ts";

import type { Outcome } from "./outcome.ts";
import type { Answer } from "./calls/answer.ts";

/** Largest assumed difference between a provider's clock and ours, in milliseconds: both follow time servers. */
export const START_CLOCKS_MS = 10_000;

/** Reason for aborting a running job. */
export type AbortReason = "caller_left" | "caller_gone" | "deadline" | "shutdown";

const ABORT_REASONS: ReadonlySet<string> = new Set<AbortReason>(["caller_left", "caller_gone", "deadline", "shutdown"]);

/** Returns the reason for a job's abort signal: the platform's AbortError with our reason as its message. */
export function jobAbort(reason: AbortReason): DOMException {
  return new DOMException(reason, "AbortError");
}

/** Returns the reason of a signal that `jobAbort` made, or undefined for any other. @param error reason of an abort signal */
export function abortReasonOf(error: unknown): AbortReason | undefined {
  const isOurs = error instanceof DOMException && ABORT_REASONS.has(error.message);
  return isOurs ? (error.message as AbortReason) : undefined;
}

/** Access of a handler to the stored record of the job at its provider. */
export interface ProviderJobSlot {
  /** Record that the previous owner of the job stored; null if nothing was started. */
  readonly found: unknown;
  /** True when the job is past its deadline: its provider is asked once for the result. */
  readonly isLate: boolean;
  /** True when the caller had requested a cancel before this run. */
  readonly wasCancelled: boolean;
  /** Stores the record; null deletes it. @throws Error when this worker no longer owns the job and must not act for it */
  keep(job: object | null): Promise<void>;
  /** Stores that a start is about to be sent, with its record. @throws Error as `keep`, and when the job was cancelled */
  begin(record: object): Promise<void>;
  /** Stores that the response to the start was lost, and returns the start from the row. @throws Error as `keep` */
  lose(): Promise<OpenStart>;
  /** Adopts a job that the provider lists as the one of this job, see adopt_provider_job. @throws Error as `keep` */
  adopt(
    listed: { readonly name: string; readonly createdMs: number },
    record: object,
  ): Promise<"adopted" | "taken" | "open">;
  /** Returns the given names of a provider's jobs that belong to no job of ours. */
  strangers(provider: string, names: readonly string[]): Promise<readonly string[]>;
  /** Reports the progress of the job, 0 to 1, for readers of the job. Best effort. */
  progress(share: number): void;
}

/** Sends bytes of a running durable job to the ingress whose caller waits. Best effort: the row is authoritative. */
export interface LiveCaller {
  /** Announces a result whose bytes follow while it is produced. */
  begin(head: MediaResultHead): void;
  /** Sends the next bytes of the result. */
  write(bytes: Uint8Array): void;
}

/** Worker that owns a job, and lifetime of its lease without renewal in milliseconds. */
export interface JobOwner {
  readonly worker: string;
  readonly leaseMs: number;
}

/** Continues the runs of steps that end in this process. */
export interface RunContinuation {
  /** Loads the run of a step while its job runs. Undefined if the job belongs to no run that can continue here. */
  open(job: ClaimedJob): StepContinuation | undefined;
}

export interface StepContinuation {
  /**
   * Ends the job and continues its run, all or nothing. Undefined: nothing was written, and the job must be ended like any other.
   * @param owner owner of the job that follows
   */
  end(ending: JobEnd, owner: JobOwner, retryMs: number): Promise<StepContinued | undefined>;
}

export interface StepContinued {
  /** Nano-credits charged for the ended job. */
  readonly takenNano: bigint;
  /** The next job, already claimed; absent if the run has ended. A next job without `step` ends like any other. */
  readonly next?: { readonly job: ClaimedJob; readonly step: StepContinuation | undefined };
}

export interface JobControl {
  /** Integers of the job's request that a double cannot represent exactly. */
  readonly exactIntegers?: ExactIntegers | undefined;
  /** Record of the job at its provider; durable jobs only. */
  readonly providerJob?: ProviderJobSlot;
  /** The waiting caller; durable jobs only. */
  readonly caller?: LiveCaller;
  /** Aborts with a reason made by `jobAbort`. */
  readonly signal: AbortSignal;
  /** Aborts when the process stops and running work must end, even after `signal` has aborted for another reason. */
  readonly stopping?: AbortSignal;
  /** Receives streamed output and the serving source. The outcome contains the end. */
  readonly answer: Answer;
}

export interface JobHandler {
  /**
   * Executes a job with its request. Does not move credits or end the answer: the caller of the handler does, by the outcome.
   * @throws Error for infrastructure failures, never for a provider's failure; ProviderError `unknown` if paid work of a durable job may exist
   */
  run(job: JobMessage, control: JobControl): Promise<Outcome>;
}
