/** Interface of a pool, which does the work of jobs, and of the runner that controls it meanwhile. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { ClaimedJob } from "#shared/database/jobs.ts";
import type { OpenStart } from "#shared/database/open-starts.ts";
import type { ExactIntegers } from "#shared/exact-integers.ts";
import type { JobEnd } from "#shared/jobs/end.ts";
import type { MadeHead } from "#shared/queue/job-frames.ts";

import type { Outcome } from "./outcome.ts";
import type { Answer } from "./calls/answer.ts";

/** A provider's clock may be off by this against ours: both follow time servers. */
export const START_CLOCKS_MS = 10_000;

/** Why a running job is told to stop. */
export type AbortReason = "caller_left" | "caller_gone" | "deadline" | "shutdown";

const ABORT_REASONS: ReadonlySet<string> = new Set<AbortReason>(["caller_left", "caller_gone", "deadline", "shutdown"]);

/** The reason of a job's signal when it aborts: the platform's abort error, with our reason as its message. */
export function jobAbort(reason: AbortReason): DOMException {
  return new DOMException(reason, "AbortError");
}

/** @param error the reason of a signal; undefined when it is none that `jobAbort` made */
export function abortReasonOf(error: unknown): AbortReason | undefined {
  const isOurs = error instanceof DOMException && ABORT_REASONS.has(error.message);
  return isOurs ? (error.message as AbortReason) : undefined;
}

/** Slot in which a durable job keeps its record of the job at the provider. */
export interface ProviderJobSlot {
  /** Record as the last owner of the job left it; null when nothing was begun. */
  readonly found: unknown;
  /** It has outlasted its time: its provider is asked once what became of it. */
  readonly isLate: boolean;
  /** Its caller wished it to end before. */
  readonly wasCancelled: boolean;
  /** Null forgets it. @throws Error when the job is not ours any more: nothing may be done for it then */
  keep(job: object | null): Promise<void>;
  /** A start is about to be sent, which stands in the record. @throws Error as `keep`, and when the job was cancelled */
  begin(record: object): Promise<void>;
  /** The answer to the start is lost. Returns it as the row has it, rung for or not. @throws Error as `keep` */
  lose(): Promise<OpenStart>;
  /** Takes a job that its provider lists for this one's own, with the record: see adopt_provider_job. @throws Error as `keep` */
  adopt(
    listed: { readonly name: string; readonly madeMs: number },
    record: object,
  ): Promise<"adopted" | "taken" | "open">;
  /** The ones among these names of a provider that belong to no job. */
  strangers(provider: string, names: readonly string[]): Promise<readonly string[]>;
  /** Reports the progress of the job, 0 to 1; shown where the job is asked for. Best effort. */
  progress(share: number): void;
}

/** The ingress whose caller waits for a durable job: told of it while it runs. Best effort: the row is the sure way. */
export interface LiveCaller {
  /** Announces what is made: its bytes come from here on, before they are all there. */
  begin(head: MadeHead): void;
  /** The next bytes of it. */
  write(bytes: Uint8Array): void;
}

/** The worker that owns a job, and how long its lease lasts without a beat. */
export interface JobOwner {
  readonly worker: string;
  readonly leaseMs: number;
}

/** Goes on with the runs of steps that end in this process. */
export interface RunContinuation {
  /** Reads the run of a step's job, while that is done. Undefined: what ends it has nothing to go on with. */
  open(job: ClaimedJob): StepContinuation | undefined;
}

export interface StepContinuation {
  /**
   * Ends the job and goes on with its run, all or nothing. Undefined: nothing was written, the job is to be ended as any other.
   * @param owner of the job that follows
   */
  end(ending: JobEnd, owner: JobOwner, retryMs: number): Promise<StepContinued | undefined>;
}

export interface StepContinued {
  /** Nano-credits that were taken for the job that has ended. */
  readonly takenNano: bigint;
  /** The job that follows: claimed, its provider about to be asked. Absent: the run has ended. Without a step it ends as any other. */
  readonly next?: { readonly job: ClaimedJob; readonly step: StepContinuation | undefined };
}

export interface JobControl {
  /** Integers of the job's request that a double does not hold exactly. */
  readonly exactIntegers?: ExactIntegers | undefined;
  /** Slot for the provider's job; only durable jobs have one. */
  readonly providerJob?: ProviderJobSlot;
  /** The caller that waits; only durable jobs have one here. */
  readonly caller?: LiveCaller;
  /** Aborts with a `jobAbort` as its reason. */
  readonly signal: AbortSignal;
  /** Aborts when what runs is to be cut because the process stops, also after `signal` has aborted for another reason. */
  readonly stopping?: AbortSignal;
  /** For what is heard before the end, and who serves. The end itself is the outcome's. */
  readonly answer: Answer;
}

export interface JobHandler {
  /**
   * Does the work of a job, whose request is in it. Moves no money and ends no answer: the writers do, by the outcome.
   * @throws Error for our own trouble, never for anything a provider does; ProviderError `unknown` of a durable job whose paid work may exist
   */
  run(job: JobMessage, control: JobControl): Promise<Outcome>;
}
