/**
 * Common clock of all processes, measured against Postgres. Deadlines are sent in messages between processes; a machine whose clock is an
 * hour ahead would end every call that it receives. Times that processes compare therefore use the clock of Postgres. Each process measures
 * the difference between its own clock and the clock of Postgres.
 */

/**
 * Smallest clock difference that is corrected, in milliseconds. Deadlines tolerate smaller differences, and the query itself takes time.
 */
const DIFFERENCE_MIN_MS = 1_000;
/**
 * Maximum duration of a query whose result is used, in milliseconds. After a slow query, the moment to which the result belongs is unknown.
 */
const ANSWER_MS = 500;

/** Runs a query on Postgres; the type is stated here because this module imports nothing. */
interface TimeSource {
  query<Row extends object>(text: string): Promise<Row[]>;
}

let aheadMs = 0;

/** Returns the current Unix time in milliseconds by the clock of Postgres, with the difference from the last measurement. */
export function commonNow(): number {
  return Date.now() + aheadMs;
}

/**
 * Measures the difference between the local clock and the clock of Postgres. If the local clock is set later, the difference is wrong until
 * the next call.
 * @throws the error of the query
 */
export async function followClock(database: TimeSource): Promise<void> {
  const askedAt = performance.now();
  const [row] = await database.query<{ ms: number }>(
    "select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms",
  );
  const tookMs = performance.now() - askedAt;
  if (row === undefined || tookMs > ANSWER_MS) return;
  const differenceMs = Math.round(row.ms + tookMs / 2 - Date.now());
  aheadMs = Math.abs(differenceMs) < DIFFERENCE_MIN_MS ? 0 : differenceMs;
}
