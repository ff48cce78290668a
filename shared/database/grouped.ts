/** Statements that serve many calls at once: which connection a group goes to, and how long it waits for locked rows. */
import { LIMITS } from "#shared/limits.ts";
import type { Metrics } from "#shared/metrics.ts";

import { type Database, isDataFault, type Queryable, SQL, sqlState } from "./client.ts";
import { type BUSY, createGrouper, type Grouped, type Grouper, type LockWait } from "./grouper.ts";

/** Connection that one group is sent on, and its waits for locks. */
export interface GroupRun {
  readonly target: Queryable;
  readonly lockWait: LockWait;
  /** Milliseconds to wait for a locked row, for a statement's parameter; null skips it. */
  readonly waitMs: number | null;
}

export interface GroupedOptions<Item extends Grouped, Verdict> {
  readonly database: Database;
  /** Name of its connections in Postgres, and of its groups in the metric of their sizes. */
  readonly name: string;
  readonly sizeMax: number;
  /** Longest wait of patient items for others; 0 when absent. */
  readonly lingerMs?: number;
  /** Longest wait of the common group for locks that its statement cannot skip; the connection's usual time when absent. */
  readonly singleCallWaitMs?: number;
  /** One statement for all items, one verdict each, in order. */
  readonly run: (items: readonly Item[], on: GroupRun) => Promise<readonly (Verdict | typeof BUSY)[]>;
  readonly metrics?: Pick<Metrics, "groupSize"> | undefined;
}

/**
 * Reserves a connection for the common group and one for that of contended workspaces, so that neither waits for other
 * statements of the process; a workspace that stays locked takes one of the pool.
 */
export function openGrouped<Item extends Grouped, Verdict>({
  database,
  name,
  sizeMax,
  lingerMs = 0,
  singleCallWaitMs,
  run,
  metrics,
}: GroupedOptions<Item, Verdict>): Grouper<Item, Verdict> {
  const targets: Readonly<Record<LockWait, Queryable>> = {
    none: database.reserve(name, singleCallWaitMs),
    short: database.reserve(`contended ${name}`, LIMITS.contendedWaitMs),
    long: database,
  };
  const groupSize = metrics?.groupSize.at(name);
  return createGrouper({
    sizeMax,
    lingerMs,
    queueMax: LIMITS.groupQueueMax,
    lanesMax: 2,
    ...(groupSize ? { groupSize } : {}),
    isLocked: (error) => sqlState(error) === SQL.lockTimeout,
    isPoison: isDataFault,
    run: (items, lockWait) => run(items, { target: targets[lockWait], lockWait, waitMs: WAIT_MS[lockWait] }),
  });
}

const WAIT_MS: Readonly<Record<LockWait, number | null>> = {
  none: null,
  short: LIMITS.contendedWaitMs,
  long: LIMITS.lockTimeoutMs,
};

/**
 * Contended workspaces are busy ones: their balances are locked late, after everything else of the statement, unless the
 * decision needs the lock.
 * @param send the statement, with whether it locks late
 */
export async function lockingLate<T>(send: (isLate: boolean) => Promise<T>): Promise<T> {
  try {
    return await send(true);
  } catch (error) {
    if (sqlState(error) !== SQL.decideLocked) throw error;
    return send(false);
  }
}
