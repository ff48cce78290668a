/** Bound on requests by name, such as a key's id, in one minute of one process: it stops runaway scripts and is no quota. */

const WINDOW_MS = 60_000;

export interface MinuteBound {
  /** Counts a request. Returns false when the name has made `max` requests in this minute. */
  take(name: string, max: number): boolean;
}

/** @param now monotonic time in milliseconds */
export function openMinuteBound(now: () => number = () => performance.now()): MinuteBound {
  let beganAt = -Infinity;
  let taken = new Map<string, number>();
  return {
    take(name, max) {
      if (now() - beganAt >= WINDOW_MS) [beganAt, taken] = [now(), new Map()];
      const count = (taken.get(name) ?? 0) + 1;
      if (count > max) return false;
      taken.set(name, count);
      return true;
    },
  };
}
