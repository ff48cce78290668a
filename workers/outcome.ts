/**
 * Types of a call's outcome. Handlers return it. runner/live-ends.ts and runner/durable-ends.ts settle it and send the answer to the
 * caller.
 */
import { type FailedAttempt, FAILED_ATTEMPTS_MAX } from "#shared/database/usage-failures.ts";
import type { StoredFile } from "#shared/files/upload.ts";
import type { Charge } from "#shared/ledger/charge.ts";
import type { CallCourse, UsageStatus } from "#shared/ledger/settle.ts";

import type { FailureFrame } from "./calls/answer.ts";

/** The whole answer, or the last frame of a streamed answer, in the format of the client. */
export interface Result {
  /** Text of the answer. It may contain `CREDITS_PLACE`, which the end of the call replaces by the charge. */
  readonly text: string;
  /** Duration of the provider call, in milliseconds. */
  readonly upstreamMs: number;
  /** Media type of the text; JSON if absent. */
  readonly contentType?: string;
}

interface Ending {
  readonly status: UsageStatus;
  /** Source that served the call, as `provider/model`; null if no source did. */
  readonly source: string | null;
  /** Charge of the call; if undefined, the hold is released without a charge. */
  readonly charge: Charge | undefined;
  /** Failed attempts at sources, in order. */
  readonly attempts?: readonly FailedAttempt[];
  /** Time of the last request to a source, in Unix milliseconds. */
  readonly askedMs?: number;
}

export interface Success extends Ending {
  readonly result: Result;
  /** Credits held for the call, in nano-credits. A charge up to this amount is always settled in full. */
  readonly holdNano: bigint;
  /** Called after the call is settled. */
  readonly onSettled?: () => void;
  /** Small files of the result. Their database rows are written in the statement that ends the job. */
  readonly files?: readonly StoredFile[];
  /** Called if the workspace has no storage for the files, before the job ends as failed. */
  readonly onRefused?: () => Promise<void>;
}

export interface Failure extends Ending {
  readonly failure: FailureFrame;
  /** Error text of the last provider. It is never logged, and only stored encrypted. */
  readonly providerText?: string;
}

export type Outcome = Success | Failure;

/** Returns the attempts of a call for its usage record. The attempts of a failed call are in its failure (shared/ledger/failure-log.ts). */
export function attemptsOf(outcome: Outcome): CallCourse {
  const { askedMs, attempts = [] } = outcome;
  const isTold = "failure" in outcome || attempts.length === 0;
  return { asked_ms: askedMs, ...(isTold ? {} : { tries: attempts.slice(0, FAILED_ATTEMPTS_MAX) }) };
}

/** Returns a failure that charges nothing. */
export function freeFailure(failure: FailureFrame, source: string | null = null): Failure {
  return { status: "failed", source, charge: undefined, failure };
}
