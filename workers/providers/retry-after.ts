/** Reads how long the other side asks to wait before a retry: once for all providers and receivers of notifications. */

/** A hint beyond this is of no use: a client that waits that long tries again anyway. */
const RETRY_AFTER_MAX_MS = 3_600_000;

/** Seconds, a date, or `retry-after-ms`, at most `maxMs`: an hour. Undefined when absent or unreadable. */
export function retryAfter(
  headers: Headers,
  now: number = Date.now(),
  maxMs: number = RETRY_AFTER_MAX_MS,
): number | undefined {
  const waitMs = hintMs(headers.get("retry-after-ms") ?? "", headers.get("retry-after") ?? "", now);
  return Number.isNaN(waitMs) ? undefined : Math.min(maxMs, Math.max(0, waitMs));
}

const DECIMAL = /^\d+(\.\d+)?$/;

function hintMs(milliseconds: string, value: string, now: number): number {
  if (DECIMAL.test(milliseconds)) return Number(milliseconds);
  if (DECIMAL.test(value)) return Number(value) * 1_000;
  // A date has a month's name in it; a bare "-5" would be read as a year.
  return /[a-z]{3}/i.test(value) ? Date.parse(value) - now : Number.NaN;
}
