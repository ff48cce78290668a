/** Runs sweeps on their intervals, one at a time each; a sweep that fails is told and tried again at its next turn. */
import type { Queryable } from "#shared/database/client.ts";
import { putOff, type RowSweep } from "#shared/database/sweep-retries.ts";
import type { Logger } from "#shared/logger.ts";

export interface Sweep {
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<unknown>;
}

export interface Sweeps {
  /** Resolves when no sweep runs any more. */
  stop(): Promise<void>;
}

/** The first turns are spread, so that a start does not do everything at once, and the rare ones soon after it. */
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
        // Jitter keeps several janitors from sweeping in step.
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

// Rows of a sweep, each worked on by itself: one that fails is put off and stands before no other.

interface SweptRows<Row> {
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
