/**
 * Items that sweeps of the janitor failed on. Each is tried again later and later, and beside what is new, so that no
 * number of bad rows stands before a good one.
 */

import { paced } from "#shared/pace.ts";

import { type Queryable, sqlState } from "./client.ts";

/**
 * An item that a sweep of the janitor fails on is tried again after this long, doubled each time up to the most: seldom enough for one that
 * is bad for good, often enough for those that only a server was away for.
 */
export const SWEEP_RETRY_MIN_MS = paced(2_000);
export const SWEEP_RETRY_MAX_MS = paced(60_000);

/** Sweeps that take the oldest rows first and work on each by itself. */
export const ROW_SWEEPS = [
  "expired holds",
  "credit lines",
  "job leases",
  "job records",
  "unknown jobs",
  "untold runs",
  "expired uploads",
  "outlived files",
  "kept results",
  "deleted files",
] as const;

export type RowSweep = (typeof ROW_SWEEPS)[number];

/**
 * A query in SQL, made of two: the rows that the sweep never failed on, and those whose next try has come. However many there are of
 * either, they stand before none of the other.
 * @param item an expression of type text that names a row
 * @param query the query with this condition, with its own order and limit
 */
export function freshAndDue(sweep: RowSweep, item: string, query: (condition: string) => string): string {
  // Scalar, so that it is looked up for each row: a subquery would be joined.
  const found = `(select retry_at from sweep_retry where sweep = '${sweep}' and item = ${item})`;
  const areDue = `exists (select from sweep_retry where sweep = '${sweep}' and retry_at <= now())`;
  return `(${query(`${found} is null`)})
    union all
    (${query(`${areDue} and ${found} <= now()`)})`;
}

/** Puts the item off, longer each time that it fails. */
export async function putOff(target: Queryable, sweep: RowSweep, item: string, fault: unknown): Promise<void> {
  await target.query(
    `insert into sweep_retry as r (sweep, item, failures, retry_at, error)
     values ($1, $2, 1, clock_timestamp() + $3 * interval '1 millisecond', $5)
     on conflict (sweep, item) do update set failures = r.failures + 1, error = excluded.error,
       retry_at = clock_timestamp() + least($4, $3 * 2 ^ least(r.failures, 30)) * interval '1 millisecond'`,
    [sweep, item, SWEEP_RETRY_MIN_MS, SWEEP_RETRY_MAX_MS, sqlState(fault) ?? nameOf(fault)],
  );
}

/** The error's name; its texts may have a caller's words in them. */
function nameOf(fault: unknown): string {
  return fault instanceof Error ? fault.name : typeof fault;
}

/** Number of items that each sweep has put off. */
export async function countPutOff(target: Queryable): Promise<ReadonlyMap<RowSweep, number>> {
  const rows = await target.query<{ sweep: RowSweep; count: number }>(
    "select sweep, count(*)::int as count from sweep_retry where retry_at > now() group by 1",
  );
  return new Map(rows.map(({ sweep, count }) => [sweep, count]));
}

/** Forgets what was last put off long ago: it has gone well since, or has gone. Returns how many. */
export async function dropOldRetries(target: Queryable, max: number): Promise<number> {
  const rows = await target.query(
    `delete from sweep_retry where (sweep, item) in (
       select sweep, item from sweep_retry where retry_at < now() - interval '1 day' limit $1)
     returning 1`,
    [max],
  );
  return rows.length;
}
