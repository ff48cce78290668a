/** Records failed attempts at sources during a call, for the usage record of the call. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { FailedAttempt } from "#shared/database/usage-failures.ts";

import { abortReasonOf, type JobControl, type JobHandler } from "../job.ts";
import type { Outcome } from "../outcome.ts";
import { ProviderError } from "../providers/provider.ts";

interface Noted {
  readonly attempts: FailedAttempt[];
  /** Error text of the last provider that failed. */
  providerText?: string;
}

/** Recorded failed attempts, by job message. */
const NOTED = new WeakMap<object, Noted>();

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
  const noted = NOTED.get(job) ?? { attempts: [] };
  NOTED.set(job, noted);
  noted.attempts.push({
    source,
    error: isKnown ? error.kind : "timeout",
    status: (isKnown ? error.status : undefined) ?? null,
    duration_ms: Math.round(performance.now() - startedAt),
  });
  if (isKnown && error.detail !== "") noted.providerText = error.detail;
}

/**
 * Runs a job, and adds the recorded failed attempts to its outcome if the job failed.
 * @throws the errors of the handler
 */
export async function runWithAttempts(handler: JobHandler, job: JobMessage, control: JobControl): Promise<Outcome> {
  const outcome = await handler.run(job, control);
  return "failure" in outcome ? { ...outcome, ...NOTED.get(job) } : outcome;
}
