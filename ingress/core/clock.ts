/** Interval timer for timeout checks. It detects pauses of the process, after which a check would report false timeouts. */

/** Factor by which an interval must be too long to show that the process was paused. */
const LATE_INTERVALS = 3;

/**
 * Calls `look` every `ms` milliseconds, but skips the first call after a pause of the process, because received data is then still unread.
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
