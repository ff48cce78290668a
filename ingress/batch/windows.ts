/** Windows that batch messages wait for, as far as this process has seen them, by workspace and key. */

export interface Windows {
  /** Milliseconds until it may have room; 0 or less: ask. */
  openInMs(key: string): number;
  isFull(key: string, waitMs: number): void;
  /** A message found room in it. */
  wasOpen(key: string): void;
  /** A message stored then has waited for longer than a window lasts, and none found room for as long: others use it up. */
  starves(key: string, storedAtMs: number): boolean;
}

const WINDOW_MS = 60_000;
/** Windows remembered before those that tell nothing any more are forgotten. */
const SWEEP = 1_000;

interface Seen {
  fullUntil: number;
  openAt: number;
}

export function createWindows(now: () => number = () => Date.now()): Windows {
  const seen = new Map<string, Seen>();
  // What other messages found before is not known.
  const startedAt = now();

  const of = (key: string): Seen => {
    const known = seen.get(key);
    if (known) return known;
    if (seen.size >= SWEEP) {
      for (const [name, { fullUntil, openAt }] of seen) {
        if (fullUntil < now() && openAt < now() - WINDOW_MS) seen.delete(name);
      }
    }
    const fresh = { fullUntil: 0, openAt: startedAt };
    seen.set(key, fresh);
    return fresh;
  };

  return {
    openInMs: (key) => (seen.get(key)?.fullUntil ?? 0) - now(),
    isFull(key, waitMs) {
      of(key).fullUntil = now() + waitMs;
    },
    wasOpen(key) {
      of(key).openAt = now();
    },
    starves: (key, storedAtMs) => Math.max(storedAtMs, seen.get(key)?.openAt ?? startedAt) < now() - WINDOW_MS,
  };
}
