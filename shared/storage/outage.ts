/** Retries work during outages of the database and the object store, because they end by themselves. Any other error would occur again. */
import { isDatabaseAway, isDataFault, sqlState } from "#shared/database/client.ts";
import { retryStatement } from "#shared/database/retry.ts";
import { ApiError, type Code } from "#shared/base/errors.ts";
import { isStorageAway } from "#shared/storage/objects.ts";

import { commonNow } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";

/** Codes of errors that the file store returns while it rejects writes, or while another worker still stores the same result. */
const OF_STORE: ReadonlySet<Code> = new Set(["service_unavailable", "upload_in_progress"]);

export function isOutage(error: unknown): boolean {
  return isDatabaseAway(error) || isStorageAway(error) || (error instanceof ApiError && OF_STORE.has(error.code));
}

/**
 * Time for which writes about a job are retried during an outage, in milliseconds: provider requests, progress, responses and final states.
 */
export const OUTAGE_RETRY_MS = 60_000;

/** Runs an idempotent operation: a read, or a write whose repetition changes nothing. @throws the error of the last attempt */
export type Insist = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs an operation once, without retry, because nothing is lost if it fails. */
export const ONCE: Insist = (work) => work();

/**
 * Returns a function that retries an operation during an outage, for up to a minute. Every write after a provider's response uses such a
 * function: the response is already paid, and an outage of a second would otherwise lose it.
 * @param how `deadlineMs` of the call, in Unix milliseconds; `signal` ends the retries; `about` names the operation in the log
 */
export function insistOn(how: {
  readonly log: Pick<Logger, "warn">;
  readonly about: Readonly<Record<string, string>>;
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}): Insist {
  const { log, about, deadlineMs = Infinity, signal } = how;
  return (work) =>
    retryStatement(work, {
      forMs: Math.min(OUTAGE_RETRY_MS, deadlineMs - commonNow()),
      ...(signal ? { signal } : {}),
      isFinal: (error) => !isOutage(error) && (sqlState(error) === undefined || isDataFault(error)),
      onRetry: (error, attempts) => log.warn({ err: error, ...about, attempts }, "retrying work during an outage"),
    });
}
