/** Delay of the event loop, measured by the delay of a timer. */

const LAG_EVERY_MS = 250;
const LAG_SAMPLES = 40;

/** Starts a timer that measures the delay of the event loop by its own delay. The timer is unreferenced and never keeps a process alive. */
export function watchEventLoop(): { latest: () => number; worst: () => number; stop: () => void } {
  const samples = new Float64Array(LAG_SAMPLES);
  let next = 0;
  let due = performance.now() + LAG_EVERY_MS;
  // Includes a delay that has not ended yet.
  const overdue = (): number => Math.max(0, performance.now() - due) / 1_000;
  const timer = setInterval(() => {
    samples[next] = overdue();
    next = (next + 1) % LAG_SAMPLES;
    due = performance.now() + LAG_EVERY_MS;
  }, LAG_EVERY_MS);
  timer.unref();
  return {
    latest: () => Math.max(overdue(), samples[(next + LAG_SAMPLES - 1) % LAG_SAMPLES] ?? 0),
    worst: () => Math.max(overdue(), ...samples),
    stop: () => clearInterval(timer),
  };
}
