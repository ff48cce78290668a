/** Limit of requests per name, such as a key's id, in any minute of one process. The limit stops runaway scripts and is no quota. */

const WINDOW_MS = 60_000;

export interface MinuteBound {
  /** Counts a request. Returns false, and counts nothing, if the name has made `max` requests in the last minute. */
  take(name: string, max: number): boolean;
}

/** @param now monotonic time in milliseconds */
export function openMinuteBound(now: () => number = () => performance.now()): MinuteBound {
  /** Times of the last minute's requests, by name. */
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
