/** Regular looks at what waits, by a clock that knows when the process stood still. */

/** A look that comes this many intervals after the one before shows that the process stood still. */
const LATE_INTERVALS = 3;

/** After a pause of the process, what it was sent meanwhile still waits in its sockets: nothing is old before it is read. */
export function startClock(ms: number, look: (now: number) => void): ReturnType<typeof setInterval> {
  let tickedAt = performance.now();
  let wasLate = false;
  return setInterval(() => {
    const now = performance.now();
    const isLate = now - tickedAt > LATE_INTERVALS * ms;
    const isSkipped = isLate && !wasLate;
    tickedAt = now;
    wasLate = isLate;
    if (!isSkipped) look(now);
  }, ms);
}
