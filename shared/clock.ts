/**
 * The time that processes have in common. Deadlines travel in messages from one to another, and rows and stores have times of their own: the
 * clock of a machine that is an hour ahead would end all calls that come to it. So what is compared beyond a process goes by the clock of
 * Postgres, which each process compares its own with.
 */
import type { Queryable } from "./database/client.ts";

/** A smaller difference is left: deadlines have more room than that, and a question takes time. */
const DIFFERENCE_MIN_MS = 1_000;
/** An answer that took longer does not tell when it was given. */
const ANSWER_MS = 500;

let aheadMs = 0;

/** Returns Unix milliseconds by the clock of Postgres, as of the last look at it. */
export function commonNow(): number {
  return Date.now() + aheadMs;
}

/** Looks at the clock of Postgres. Until the next look a clock that is set meanwhile is off by as much. @throws as a query does */
export async function followClock(database: Queryable): Promise<void> {
  const askedAt = performance.now();
  const [row] = await database.query<{ ms: number }>(
    "select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms",
  );
  const tookMs = performance.now() - askedAt;
  if (row === undefined || tookMs > ANSWER_MS) return;
  const differenceMs = Math.round(row.ms + tookMs / 2 - Date.now());
  aheadMs = Math.abs(differenceMs) < DIFFERENCE_MIN_MS ? 0 : differenceMs;
}
