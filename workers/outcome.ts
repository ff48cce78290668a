/** Outcome of a run of a call. Handlers return it; the writers settle it and tell it (runner/live-ends.ts, runner/durable-ends.ts). */
import type { FailedAttempt } from "#shared/database/usage-failures.ts";
import type { StoredFile } from "#shared/files/upload.ts";
import type { Charge } from "#shared/ledger/charge.ts";
import type { UsageStatus } from "#shared/ledger/settle.ts";

import type { FailureFrame } from "./calls/answer.ts";

/** The whole answer, or the end of one that was streamed: ready for the client. */
export interface Result {
  readonly text: string;
  /** Milliseconds that the provider took. */
  readonly upstreamMs: number;
  /** Absent: JSON. */
  readonly contentType?: string;
}

interface Ending {
  readonly status: UsageStatus;
  /** `provider/model` that served, null when none did. */
  readonly source: string | null;
  /** Undefined releases the hold. */
  readonly charge: Charge | undefined;
}

export interface Success extends Ending {
  readonly result: Result;
  /** Nano-credits that are held by now: what costs no more is settled in full, whatever else the workspace does. */
  readonly holdNano: bigint;
  /** Run once the call is settled. */
  readonly onSettled?: () => void;
  /** Small files that the result names, whose rows come with the job's end. */
  readonly files?: readonly StoredFile[];
  /** Run where the workspace has no room for them, before the job ends as failed. */
  readonly onRefused?: () => Promise<void>;
}

export interface Failure extends Ending {
  readonly failure: FailureFrame;
  /** Attempts at sources that failed, in order. */
  readonly attempts?: readonly FailedAttempt[];
  /** Error text of the provider that was asked last: never logged, and kept only sealed. */
  readonly providerText?: string;
}

export type Outcome = Success | Failure;

/** A failure for which nothing is owed. */
export function freeFailure(failure: FailureFrame, source: string | null = null): Failure {
  return { status: "failed", source, charge: undefined, failure };
}
