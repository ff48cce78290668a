/** Outages of the database and the object store: they end by themselves, and work waits for that. Any other fault comes again with its work. */
import { isDatabaseAway, isDataFault, sqlState } from "#shared/database/client.ts";
import { retryStatement } from "#shared/database/retry.ts";
import { ApiError, type Code } from "#shared/errors.ts";
import { isStorageAway } from "#shared/storage/objects.ts";

import { commonNow } from "./clock.ts";
import type { Logger } from "./logger.ts";

/** Codes of the file store while it takes nothing, or while another worker still keeps the same result. */
const OF_STORE: ReadonlySet<Code> = new Set(["service_unavailable", "upload_in_progress"]);

export function isOutage(error: unknown): boolean {
  return isDatabaseAway(error) || isStorageAway(error) || (error instanceof ApiError && OF_STORE.has(error.code));
}

/** Claims, notes, answers and ends are written again for this long during an outage. */
export const OUTAGE_RETRY_MS = 60_000;

/** Runs what may run twice: a write that changes nothing the second time, or a read. @throws what its last run threw */
export type Insist = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs a write once: nothing is lost when it fails. */
export const ONCE: Insist = (work) => work();

/**
 * Returns a function that repeats work during an outage, for up to a minute. Every write behind the answer of a provider goes through
 * one: the answer is paid by then, and would be lost to an outage of a second.
 * @param how `deadlineMs` of the call, in Unix milliseconds; `signal` ends the repeats; `about` names the work in the log
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
      onRetry: (error, tries) => log.warn({ err: error, ...about, tries }, "work is repeated during an outage"),
    });
}
