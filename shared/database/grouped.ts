/** Statements that serve many calls at once: which connection a group goes to, and how long it waits for locked rows. */
import type { Metrics } from "#shared/metrics.ts";

import { type Database, isDataFault, type Queryable, SQL, sqlState } from "./client.ts";
import { type BUSY, createGrouper, type Grouped, type Grouper, type LockWait } from "./grouper.ts";
import { CONTENDED_WAIT_MS, LOCK_TIMEOUT_MS } from "./retry.ts";

/** Calls gathered into one admission or settle statement; stays far below the 4,096-slot rate ring. */
export const GROUP_SIZE_MAX = 256;

/** Connections that `reserveForGroups` reserves. */
export const GROUPED_CONNECTIONS = 2;

/** Calls waiting for their group in one process; beyond it callers hear 503 `overloaded`. */
const GROUP_QUEUE_MAX = 20_000;

/**
 * A lone call waits this long for its workspace's rows before it joins the contended: as long as another statement and
 * its commit usually take, and no longer than the calls behind it can bear.
 */
export const SINGLE_CALL_WAIT_MS = 30;

/** Connection that one group is sent on, and its waits for locks. */
export interface GroupRun {
  readonly target: Queryable;
  readonly lockWait: LockWait;
  /** Milliseconds to wait for a locked row, for a statement's parameter; null skips it. */
  readonly waitMs: number | null;
  /** Milliseconds to wait for locks that the statement cannot skip, for `waitingForLocks`. */
  readonly lockMs: string;
}

/** Connections of groups, by how long they wait for locked rows. */
export type GroupConnections = Readonly<Record<LockWait, Queryable>>;

/**
 * Reserves a connection for common groups and one for those of contended workspaces, so that neither waits for other
 * statements of the process; a workspace that stays locked takes one of the pool.
 */
export function reserveForGroups(database: Database, name: string): GroupConnections {
  return { none: database.reserve(name), short: database.reserve(`contended ${name}`), long: database };
}

export interface GroupedOptions<Item extends Grouped, Verdict> {
  readonly connections: GroupConnections;
  /** Name of its groups in the metric of their sizes. */
  readonly name: string;
  readonly sizeMax: number;
  /** Longest wait of patient items for others, while groups are small and while they are large; 0 when absent. */
  readonly lingerMs?: number;
  readonly lingerMaxMs?: number;
  /** Longest wait of a small group for others while several calls come at a time; 0 when absent. */
  readonly gatherMaxMs?: number;
  /** One statement for all items, one verdict each, in order. */
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
