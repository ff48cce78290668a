/**
 * Runs sweeps at their intervals. The same sweep never runs twice at a time. A failure is logged, and the sweep is retried at its next
 * interval.
 */
import type { Queryable } from "#shared/database/client.ts";
import { putOff, type RowSweep } from "#shared/database/sweep-retries.ts";
import type { Logger } from "#shared/base/logger.ts";

export interface Sweep {
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<unknown>;
}

export interface Sweeps {
  /** Stops all sweeps. Resolves when no sweep is running any more. */
  stop(): Promise<void>;
}

/** Time over which the first sweeps are spread, in milliseconds. A start thus does not run all sweeps at once, and rare sweeps run soon. */
const FIRST_WITHIN_MS = 30_000;

export function startSweeps(log: Logger, sweeps: readonly Sweep[]): Sweeps {
  const running = new Set<Promise<void>>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  let isStopping = false;

  const turn = async (sweep: Sweep): Promise<void> => {
    try {
      await sweep.run();
    } catch (error) {
      log.warn({ err: error, sweep: sweep.name }, "sweep failed");
    }
  };
  const schedule = (sweep: Sweep, delayMs: number): void => {
    if (isStopping) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      const work = turn(sweep).finally(() => {
        running.delete(work);
        // Jitter prevents several janitors from sweeping simultaneously.
        schedule(sweep, sweep.everyMs * (0.9 + Math.random() * 0.2));
      });
      running.add(work);
    }, delayMs);
    timers.add(timer);
  };
  for (const sweep of sweeps) schedule(sweep, Math.random() * Math.min(FIRST_WITHIN_MS, sweep.everyMs));
  return {
    async stop() {
      isStopping = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(running);
    },
  };
}

// Rows of a sweep, processed separately: a failed row is postponed and does not delay others.

interface SweptRows<Row> {
  readonly sweep: RowSweep;
  readonly rows: readonly Row[];
  /** Returns the name that identifies a row of the sweep's query. */
  readonly itemOf: (row: Row) => string;
  /** Number of rows that are processed concurrently. Default: 1. */
  readonly atOnce?: number;
  /** Number of consecutive failures that end the sweep, because a shared dependency is then unavailable. Default: no limit. */
  readonly failuresMax?: number;
}

/**
 * Calls `work` for each row of a sweep. A row that fails is logged and deferred.
 * @returns true if all rows were tried; false if `failuresMax` ended the sweep
 * @throws Error if the database is unavailable, after the rows in progress have ended
 */
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
        log.warn({ err: error, sweep, item: itemOf(row) }, "a sweep failed on an item, which is deferred");
        await putOff(database, sweep, itemOf(row), error).catch((fault: unknown) => faults.push(fault));
      }
      if (failures >= failuresMax || faults.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, rows.length) }, take));
  if (faults.length > 0) throw faults[0];
  return failures < failuresMax;
}
