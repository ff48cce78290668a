/** Records the attempts at sources during a call, for the usage record of the call. */
import type { JobMessage } from "#schemas/generated/types.ts";
import { commonNow } from "#shared/base/clock.ts";
import type { FailedAttempt } from "#shared/database/usage-failures.ts";

import { abortReasonOf, type JobControl, type JobHandler } from "../job.ts";
import type { Outcome } from "../outcome.ts";
import { ProviderError } from "../providers/provider.ts";

interface Noted {
  readonly attempts: FailedAttempt[];
  /** Time of the last request to a source, in Unix milliseconds. */
  askedMs?: number;
  /** Error text of the last provider that failed. */
  providerText?: string;
}

/** Recorded attempts, by job message. */
const NOTED = new WeakMap<object, Noted>();

function notedOf(job: object): Noted {
  const noted = NOTED.get(job) ?? { attempts: [] };
  NOTED.set(job, noted);
  return noted;
}

/** Records that a request is sent to a source now. */
export function noteAttempt(job: object): void {
  notedOf(job).askedMs = Math.round(commonNow());
}

/**
 * Records a failed attempt for the usage record. Attempts that were aborted before the deadline of the call are not recorded, because their
 * source did not fail.
 * @param failed.startedAt time of the request to the source, from `performance.now()`
 */
export function noteFailedAttempt(
  job: object,
  failed: {
    readonly source: string;
    readonly error: unknown;
    readonly signal: AbortSignal;
    readonly startedAt: number;
  },
): void {
  const { source, error, signal, startedAt } = failed;
  const abort = signal.aborted ? abortReasonOf(signal.reason) : undefined;
  const isKnown = error instanceof ProviderError && error.kind !== "aborted";
  if (abort !== "deadline" && (abort !== undefined || !isKnown)) return;
  const noted = notedOf(job);
  const durationMs = Math.round(performance.now() - startedAt);
  noted.attempts.push({
    source,
    error: isKnown ? error.kind : "timeout",
    status: (isKnown ? error.status : undefined) ?? null,
    started_at: new Date(commonNow() - durationMs).toISOString(),
    duration_ms: durationMs,
  });
  if (isKnown && error.detail !== "") noted.providerText = error.detail;
}

/**
 * Runs a job, and adds the recorded attempts to its outcome.
 * @throws the errors of the handler
 */
export async function runWithAttempts(handler: JobHandler, job: JobMessage, control: JobControl): Promise<Outcome> {
  const outcome = await handler.run(job, control);
  const noted = NOTED.get(job);
  if (noted === undefined) return outcome;
  const { providerText: _, ...attempts } = noted;
  return "failure" in outcome ? { ...outcome, ...noted } : { ...outcome, ...attempts };
}
