/** Retry schedule of failed deliveries. */
import { paced } from "#shared/config/pace.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Delays between the attempts of a delivery, in milliseconds. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5_000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  10 * HOUR_MS,
].map(paced);

/** Maximum number of automatic attempts of a delivery. */
export const ATTEMPTS_MAX = RETRY_DELAYS_MS.length + 1;
/** Number of attempts after which one last attempt of a delivery remains. */
export const LAST_STEP = ATTEMPTS_MAX - 1;

const SPREAD = 0.2;

/**
 * Returns the milliseconds between a failed attempt and the next one; undefined if no further attempt follows.
 * @param step number of scheduled attempts so far, including the failed one
 * @param retryAfterMs delay requested by the receiver, in milliseconds; honoured up to twice the scheduled delay
 */
export function nextDelayMs(step: number, retryAfterMs = 0, random: () => number = Math.random): number | undefined {
  const delay = RETRY_DELAYS_MS[step - 1];
  if (delay === undefined) return undefined;
  const spread = delay * (1 - SPREAD + 2 * SPREAD * random());
  return Math.round(Math.max(spread, Math.min(retryAfterMs, 2 * delay)));
}
