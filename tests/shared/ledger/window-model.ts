/** The 60-second window kept as a log of every call: slow, obvious, and what the ring in Postgres is measured against. */

const WINDOW_MS = 60_000;
/** A clock this far behind was set back; less is two sessions reading it in turn. */
const STEP_MS = 1_000;

export interface WindowModel {
  /** Counts a call and says whether it passes; `limit` null always does. */
  ask(limit: number | null, nowMs: number): boolean;
  /** Calls counted so far. */
  count(): number;
}

export function createWindowModel(): WindowModel {
  const log: number[] = [];
  let lastMs = 0;
  let shiftMs = 0;
  return {
    ask(limit, nowMs) {
      if (nowMs >= lastMs) shiftMs = 0;
      else if (nowMs + shiftMs < lastMs - STEP_MS) shiftMs = lastMs - nowMs;
      lastMs = Math.max(lastMs, nowMs + shiftMs);
      const recent = log.filter((atMs) => atMs > lastMs - WINDOW_MS).length;
      log.push(lastMs);
      return limit === null || recent < limit;
    },
    count: () => log.length,
  };
}
