/** Statements that serve many calls at once: the connection of a group, and its wait for locked rows. */
import type { Metrics } from "#shared/metrics/metrics.ts";

import { type Database, isDataFault, type Queryable, SQL, sqlState } from "./client.ts";
import { type BUSY, createGrouper, type Grouped, type Grouper, type LockWait } from "./grouper.ts";
import { CONTENDED_WAIT_MS, LOCK_TIMEOUT_MS } from "./retry.ts";

/** Maximum calls in one admission or settle statement, far below the 4,096 slots of the rate ring. */
export const GROUP_SIZE_MAX = 256;

/** Number of connections that `reserveForGroups` reserves. */
export const GROUPED_CONNECTIONS = 2;

/** Maximum calls that wait for a group in one process; further callers receive 503 `overloaded`. */
const GROUP_QUEUE_MAX = 20_000;

/**
 * Wait of a single call for its workspace's rows before it joins the contended group, in milliseconds: the usual duration of another
 * statement and its commit, and acceptable for the calls behind it.
 */
export const SINGLE_CALL_WAIT_MS = 30;

/** Connection of one group, and its waits for locks. */
export interface GroupRun {
  readonly target: Queryable;
  readonly lockWait: LockWait;
  /** Wait for a locked row in milliseconds, as a parameter of the statement; null skips locked rows. */
  readonly waitMs: number | null;
  /** Wait in milliseconds for locks that the statement cannot skip, for `waitingForLocks`. */
  readonly lockMs: string;
}

/** Connections of groups, by their wait for locked rows. */
export type GroupConnections = Readonly<Record<LockWait, Queryable>>;

/**
 * Reserves a connection for common groups and another for contended workspaces, so that neither waits for other statements of the process.
 * A workspace that stays locked uses the pool.
 */
export function reserveForGroups(database: Database, name: string): GroupConnections {
  return { none: database.reserve(name), short: database.reserve(`contended ${name}`), long: database };
}

export interface GroupedOptions<Item extends Grouped, Verdict> {
  readonly connections: GroupConnections;
  /** Label of its groups in the metric of group sizes. */
  readonly name: string;
  readonly sizeMax: number;
  /** Longest wait of patient items for others, while groups are small and while they are large, in milliseconds; default 0. */
  readonly lingerMs?: number;
  readonly lingerMaxMs?: number;
  /** Longest wait of a small group for others while several calls arrive together, in milliseconds; default 0. */
  readonly gatherMaxMs?: number;
  /** Runs one statement for all items; returns one verdict each, in order. */
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
 * Runs a statement that locks balances last, unless the decision needs the lock: contended workspaces are busy.
 * @param send runs the statement; its parameter is true for the late lock
 */
export async function lockingLate<T>(send: (isLate: boolean) => Promise<T>): Promise<T> {
  try {
    return await send(true);
  } catch (error) {
    if (sqlState(error) !== SQL.decideLocked) throw error;
    return send(false);
  }
}
