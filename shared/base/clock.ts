/**
 * The common clock of all processes. Deadlines travel in messages between processes, and rows and stores have their own times: a machine
 * whose clock is an hour ahead would end every call it receives. Times that are compared across processes therefore use the clock of
 * Postgres, and each process measures its difference to that clock.
 */

/** Smallest corrected difference, in milliseconds. Deadlines tolerate smaller ones, and a query takes time itself. */
const DIFFERENCE_MIN_MS = 1_000;
/** Longest query whose result is used, in milliseconds: a slow response does not reveal the time at which it was created. */
const ANSWER_MS = 500;

/** Runs a query on Postgres; the type is stated here because this module imports nothing. */
interface TimeSource {
  query<Row extends object>(text: string): Promise<Row[]>;
}

let aheadMs = 0;

/** Returns Unix milliseconds by the clock of Postgres, as of the last measurement. */
export function commonNow(): number {
  return Date.now() + aheadMs;
}

/** Measures the difference to the clock of Postgres; a local clock that is set later is wrong until the next call. @throws as a query */
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
