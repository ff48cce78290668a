/** Interval timer for timeout checks that detects pauses of the process. */

/** An interval this many times longer than planned shows that the process was paused. */
const LATE_INTERVALS = 3;

/** Calls `look` every `ms` milliseconds, except right after a pause of the process, when received data is still unread. */
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
