/**
 * Retries of items that failed in a sweep of the janitor. Retry intervals grow. Retries run beside new items, so that bad rows never block
 * good ones.
 */

import { paced } from "#shared/config/pace.ts";

import { type Queryable, sqlState } from "./client.ts";

/**
 * First and maximum retry delay of a failed item, in milliseconds. The delay doubles after each failure. The maximum is long enough for a
 * permanently bad item, and short enough for a quick retry after an outage.
 */
export const SWEEP_RETRY_MIN_MS = paced(2_000);
export const SWEEP_RETRY_MAX_MS = paced(60_000);

/** Janitor sweeps that take the oldest rows first and process each row separately. */
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
 * Returns a SQL query for two groups of rows: rows without a failure, and rows whose retry is due. Neither group can block the other.
 * @param item SQL expression of type text that identifies a row
 * @param query returns the SQL query of one group for its condition, with its own order and limit
 */
export function freshAndDue(sweep: RowSweep, item: string, query: (condition: string) => string): string {
  // A scalar subquery is evaluated for each row; another form would become a join.
  const found = `(select retry_at from sweep_retry where sweep = '${sweep}' and item = ${item})`;
  const areDue = `exists (select from sweep_retry where sweep = '${sweep}' and retry_at <= now())`;
  return `(${query(`${found} is null`)})
    union all
    (${query(`${areDue} and ${found} <= now()`)})`;
}

/** Postpones the retry of a failed item. The delay grows with each failure. */
export async function putOff(target: Queryable, sweep: RowSweep, item: string, fault: unknown): Promise<void> {
  await target.query(
    `insert into sweep_retry as r (sweep, item, failures, retry_at, error)
     values ($1, $2, 1, clock_timestamp() + $3 * interval '1 millisecond', $5)
     on conflict (sweep, item) do update set failures = r.failures + 1, error = excluded.error,
       retry_at = clock_timestamp() + least($4, $3 * 2 ^ least(r.failures, 30)) * interval '1 millisecond'`,
    [sweep, item, SWEEP_RETRY_MIN_MS, SWEEP_RETRY_MAX_MS, sqlState(fault) ?? nameOf(fault)],
  );
}

/** Returns the name of an error for logs. The error's message is omitted, because it may contain a caller's text. */
function nameOf(fault: unknown): string {
  return fault instanceof Error ? fault.name : typeof fault;
}

/** Returns the number of postponed items of each sweep. */
export async function countPutOff(target: Queryable): Promise<ReadonlyMap<RowSweep, number>> {
  const rows = await target.query<{ sweep: RowSweep; count: number }>(
    "select sweep, count(*)::int as count from sweep_retry where retry_at > now() group by 1",
  );
  return new Map(rows.map(({ sweep, count }) => [sweep, count]));
}

/**
 * Deletes retry entries whose last failure was long ago, because the item has succeeded since or is gone. Returns the number of deleted
 * entries.
 */
export async function dropOldRetries(target: Queryable, max: number): Promise<number> {
  const rows = await target.query(
    `delete from sweep_retry where (sweep, item) in (
       select sweep, item from sweep_retry where retry_at < now() - interval '1 day' limit $1)
     returning 1`,
    [max],
  );
  return rows.length;
}
