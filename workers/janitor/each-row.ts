/** Rows of a sweep, each worked on by itself: one that fails is put off and stands before no other. */
import type { Queryable } from "#shared/database/client.ts";
import { putOff, type RowSweep } from "#shared/database/sweep-retries.ts";
import type { Logger } from "#shared/logger.ts";

export interface SweptRows<Row> {
  readonly sweep: RowSweep;
  readonly rows: readonly Row[];
  /** The name that the sweep's query has for it. */
  readonly itemOf: (row: Row) => string;
  /** Rows worked on at once; one unless told otherwise. */
  readonly atOnce?: number;
  /** Fails in a row that end this turn: what all of them need is away. Absent: none do. */
  readonly failuresMax?: number;
}

/** @returns whether all were tried. @throws Error when the database is away, once nothing runs any more */
export async function sweepEach<Row>(
  { database, log }: { readonly database: Queryable; readonly log: Logger },
  { sweep, rows, itemOf, atOnce = 1, failuresMax = Infinity }: SweptRows<Row>,
  work: (row: Row) => Promise<unknown>,
): Promise<boolean> {
  const queue = rows.values();
  let failures = 0;
  const faults: unknown[] = [];
  const take = async (): Promise<void> => {
    for (const row of queue) {
      try {
        await work(row);
        failures = 0;
      } catch (error) {
        failures += 1;
        log.warn({ err: error, sweep, item: itemOf(row) }, "a sweep failed on an item, which is put off");
        await putOff(database, sweep, itemOf(row), error).catch((fault: unknown) => faults.push(fault));
      }
      if (failures >= failuresMax || faults.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, rows.length) }, take));
  if (faults.length > 0) throw faults[0];
  return failures < failuresMax;
}
