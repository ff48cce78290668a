/** Outages of the database and the object store end by themselves, so work is retried. Any other fault would recur with the work. */
import { isDatabaseAway, isDataFault, sqlState } from "#shared/database/client.ts";
import { retryStatement } from "#shared/database/retry.ts";
import { ApiError, type Code } from "#shared/base/errors.ts";
import { isStorageAway } from "#shared/storage/objects.ts";

import { commonNow } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";

/** Codes of the file store while it rejects writes, or while another worker still stores the same result. */
const OF_STORE: ReadonlySet<Code> = new Set(["service_unavailable", "upload_in_progress"]);

export function isOutage(error: unknown): boolean {
  return isDatabaseAway(error) || isStorageAway(error) || (error instanceof ApiError && OF_STORE.has(error.code));
}

/** Retry period for claims, notes, responses and ends during an outage, in milliseconds. */
export const OUTAGE_RETRY_MS = 60_000;

/** Runs idempotent work: a write whose repetition changes nothing, or a read. @throws the error of the last attempt */
export type Insist = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs a write once, without retry: a failure loses nothing. */
export const ONCE: Insist = (work) => work();

/**
 * Returns a function that retries work during an outage, for up to a minute. Every write after a provider's response uses such a function:
 * the response is already paid, and an outage of a second would lose it.
 * @param how `deadlineMs` of the call, in Unix milliseconds; `signal` ends the retries; `about` names the work in the log
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
      onRetry: (error, tries) => log.warn({ err: error, ...about, attempts: tries }, "retrying work during an outage"),
    });
}
