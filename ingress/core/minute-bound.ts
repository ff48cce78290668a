/** Limits the requests per minute of each name, such as a key's id, in one process. It stops runaway scripts and is not a quota. */

const WINDOW_MS = 60_000;

export interface MinuteBound {
  /** Counts a request and returns true. Returns false without counting if the name has already made `max` requests in the last minute. */
  take(name: string, max: number): boolean;
}

/** Creates a limit of requests per minute. @param now monotonic clock, in milliseconds */
export function openMinuteBound(now: () => number = () => performance.now()): MinuteBound {
  /** Times of each name's requests in the last minute. */
  const taken = new Map<string, number[]>();
  let sweptAt = now();
  return {
    take(name, max) {
      const since = now() - WINDOW_MS;
      if (sweptAt <= since) {
        for (const [other, times] of taken) if ((times.at(-1) ?? since) <= since) taken.delete(other);
        sweptAt = now();
      }
      const times = taken.get(name) ?? [];
      taken.set(name, times);
      const young = times.findIndex((time) => time > since);
      times.splice(0, young < 0 ? times.length : young);
      if (times.length >= max) return false;
      times.push(now());
      return true;
    },
  };
}
