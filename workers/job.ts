/** What a pool does with a job, and what the runner tells it while it does. */
import type { JobMessage } from "#schemas/generated/types.ts";

/** Why a running job is told to stop. */
export type AbortReason = "caller_left" | "caller_gone" | "deadline" | "shutdown";

export class JobAbort extends Error {
  override readonly name = "JobAbort";
  readonly reason: AbortReason;

  constructor(reason: AbortReason) {
    super(`job aborted: ${reason}`);
    this.reason = reason;
  }
}

export interface JobControl {
  /** Aborts with a JobAbort as its reason. */
  readonly signal: AbortSignal;
  /** Where the answer goes; undefined when the message named no address of ours. */
  readonly reply: string | undefined;
}

export interface JobHandler {
  /** First delivery: does the work, closes the hold, answers. Must not throw for anything a provider does. */
  run(job: JobMessage, control: JobControl): Promise<void>;
  /** A later delivery of a call that may have reached a provider: reports the loss, never runs again (QUE-23). */
  lost(job: JobMessage, control: Pick<JobControl, "reply">): Promise<void>;
  /** Nobody waits any more and nothing was done: gives the hold back. */
  drop(job: JobMessage, control: Pick<JobControl, "reply">): Promise<void>;
}
