/** So many calls in any minute, by name. In memory, of one process: a bound against runaway scripts, not a quota. */
const WINDOW_MS = 60_000;

export interface CallBound {
  /** True if there is room for one more call, which then counts. Refused ones do not. */
  take(name: string): boolean;
  /** Forgets the names that are not among these. */
  keep(names: ReadonlySet<string>): void;
}

interface Ring {
  /** Times of the last calls; call n lies in slot n mod max. */
  readonly times: Float64Array;
  calls: number;
}

export function createCallBound(max: number, now: () => number): CallBound {
  const rings = new Map<string, Ring>();
  return {
    take(name) {
      const ring = rings.get(name) ?? { times: new Float64Array(max).fill(-Infinity), calls: 0 };
      rings.set(name, ring);
      const slot = ring.calls % max;
      if (now() - (ring.times[slot] ?? -Infinity) < WINDOW_MS) return false;
      ring.times[slot] = now();
      ring.calls += 1;
      return true;
    },
    keep(names) {
      for (const name of rings.keys()) if (!names.has(name)) rings.delete(name);
    },
  };
}
