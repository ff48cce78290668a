/** Interval timer for timeout checks. It detects pauses of the process, after which a check would report false timeouts. */

/** Maximum time between two ticks, as a multiple of the interval. If more time passes, the process was paused. */
const LATE_INTERVALS = 3;

/**
 * Calls `onTick` every `ms` milliseconds. Skips the first call after a pause of the process, because data that arrived during the pause is
 * still unread.
 */
export function startClock(ms: number, onTick: (now: number) => void): ReturnType<typeof setInterval> {
  let tickedAt = performance.now();
  let wasLate = false;
  return setInterval(() => {
    const now = performance.now();
    const isLate = now - tickedAt > LATE_INTERVALS * ms;
    const isSkipped = isLate && !wasLate;
    tickedAt = now;
    wasLate = isLate;
    if (!isSkipped) onTick(now);
  }, ms);
}
