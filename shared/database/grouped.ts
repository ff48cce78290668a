/** Connections and lock waits of SQL statements that serve many calls at once. */
import type { Metrics } from "#shared/metrics/metrics.ts";

import { type Database, isDataFault, type Queryable, SQL, sqlState } from "./client.ts";
import { type BUSY, createGrouper, type Grouped, type Grouper, type LockWait } from "./grouper.ts";
import { CONTENDED_WAIT_MS, LOCK_TIMEOUT_MS } from "./retry.ts";

/**
 * Maximum number of calls in one admission or settle statement. It is far below the 4,096 slots of the ring that counts calls for the rate
 * limit.
 */
export const GROUP_SIZE_MAX = 256;

/** Number of connections that `reserveForGroups` reserves. */
export const GROUPED_CONNECTIONS = 2;

/** Maximum number of calls in one process that wait for a group. Further callers receive 503 `overloaded`. */
const GROUP_QUEUE_MAX = 20_000;

/**
 * Maximum time that a single call waits for the locked rows of its workspace, in milliseconds. Afterwards, it joins the group of contended
 * workspaces. The time is about the duration of another statement and its commit, and is acceptable for the calls that wait behind it.
 */
export const SINGLE_CALL_WAIT_MS = 30;

/** Connection on which the statement of a group runs, and its maximum waits for locks. */
export interface GroupRun {
  readonly target: Queryable;
  readonly lockWait: LockWait;
  /** Maximum wait for a locked row in milliseconds, as a parameter of the statement; null skips locked rows. */
  readonly waitMs: number | null;
  /** Maximum wait in milliseconds for locks that the statement cannot skip, as a parameter for `waitingForLocks`. */
  readonly lockMs: string;
}

/** Connections for the statements of groups, by the group's handling of locked rows. */
export type GroupConnections = Readonly<Record<LockWait, Queryable>>;

/**
 * Reserves one connection for common groups and one for contended workspaces, so that neither waits for other statements of the process.
 * Statements for a workspace that stays locked use the pool.
 */
export function reserveForGroups(database: Database, name: string): GroupConnections {
  return { none: database.reserve(name), short: database.reserve(`contended ${name}`), long: database };
}

export interface GroupedOptions<Item extends Grouped, Verdict> {
  readonly connections: GroupConnections;
  /** Label of these groups in the metric of group sizes. */
  readonly name: string;
  readonly sizeMax: number;
  /**
   * Longest time that calls without a waiting caller are collected, in milliseconds: `lingerMs` while groups are small, up to `lingerMaxMs`
   * while they are large. Default: 0.
   */
  readonly lingerMs?: number;
  readonly lingerMaxMs?: number;
  /** Longest time that a small group waits for more calls while several calls arrive together, in milliseconds. Default: 0. */
  readonly gatherMaxMs?: number;
  /** Runs one statement for all items and returns one result for each, in the same order. `BUSY` means that the item's rows were locked. */
  readonly run: (items: readonly Item[], on: GroupRun) => Promise<readonly (Verdict | typeof BUSY)[]>;
  readonly metrics?: Pick<Metrics, "groupSize"> | undefined;
}

export function openGrouped<Item extends Grouped, Verdict>({
  connections,
  name,
  sizeMax,
  lingerMs = 0,
  lingerMaxMs = lingerMs,
  gatherMaxMs = 0,
  run,
  metrics,
}: GroupedOptions<Item, Verdict>): Grouper<Item, Verdict> {
  const groupSize = metrics?.groupSize.at(name);
  return createGrouper({
    sizeMax,
    lingerMs,
    lingerMaxMs,
    gatherMaxMs,
    queueMax: GROUP_QUEUE_MAX,
    lanesMax: 2,
    ...(groupSize ? { groupSize } : {}),
    isLocked: (error) => sqlState(error) === SQL.lockTimeout,
    isPoison: isDataFault,
    run(items, lockWait) {
      const waitMs = WAIT_MS[lockWait];
      return run(items, {
        target: connections[lockWait],
        lockWait,
        waitMs,
        lockMs: String(waitMs ?? SINGLE_CALL_WAIT_MS),
      });
    },
  });
}

const WAIT_MS: Readonly<Record<LockWait, number | null>> = {
  none: null,
  short: CONTENDED_WAIT_MS,
  long: LOCK_TIMEOUT_MS,
};

/**
 * Runs a statement that locks balances last. If the statement reports `decideLocked`, nothing was changed, and it is repeated with balances
 * locked first.
 * @param send runs the statement; its parameter is true if balances are locked last
 */
export async function lockingLate<T>(send: (isLate: boolean) => Promise<T>): Promise<T> {
  try {
    return await send(true);
  } catch (error) {
    if (sqlState(error) !== SQL.decideLocked) throw error;
    return send(false);
  }
}
