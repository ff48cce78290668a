/** Parses the delay before a retry that a server requests. Used for all providers and webhook receivers. */

/** Maximum accepted delay, in milliseconds. A client that waits an hour retries anyway. */
const RETRY_AFTER_MAX_MS = 3_600_000;

/**
 * Returns the requested delay in milliseconds, at most `maxMs` (default: 1 h). Reads seconds, a date or `retry-after-ms`. Undefined without
 * a valid delay.
 */
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
  // A date contains the name of a month; without this check, "-5" would parse as a year.
  return /[a-z]{3}/i.test(value) ? Date.parse(value) - now : Number.NaN;
}
