/**
 * Grouping: while one statement is in flight, calls that arrive are gathered and sent as the next one. There is no
 * timer, so a lone call waits for nothing and throughput grows with load, while every call gets its own verdict.
 *
 * A statement skips what another transaction has locked and reports those calls as BUSY. Their workspace then gets a
 * lane of its own that waits for the lock, so one locked workspace delays nobody else (lesson DB-4).
 */
import { ApiError } from "#shared/errors.ts";

export const BUSY = Symbol("busy");

interface Grouped {
  readonly workspaceId: string;
}

export interface GrouperOptions<Item extends Grouped, Verdict> {
  readonly sizeMax: number;
  /** Items waiting in all; beyond it `call` rejects with 503 `overloaded`. */
  readonly queueMax: number;
  /** Lanes whose statement may run at the same time (each needs a connection). */
  readonly lanesMax: number;
  /** One statement for all items, one verdict each, in order. `wait` = wait for locks instead of skipping. */
  run(items: readonly Item[], wait: boolean): Promise<readonly (Verdict | typeof BUSY)[]>;
  /**
   * True when a single item must have made `run` throw and nothing was done: the group is then halved until that item
   * stands alone, so that its neighbours get their verdicts.
   */
  isPoison(error: unknown): boolean;
  onGroup?(size: number): void;
}

export interface Grouper<Item extends Grouped, Verdict> {
  /** @throws ApiError `overloaded` when the queue is full or a lock was not to be had; else what `run` throws */
  call(item: Item): Promise<Verdict>;
  /** Resolves when everything accepted so far has its verdict. */
  idle(): Promise<void>;
}

interface Waiting<Item, Verdict> {
  readonly item: Item;
  resolve(verdict: Verdict): void;
  reject(error: unknown): void;
}

interface Lane<Item, Verdict> {
  waiting: Waiting<Item, Verdict>[];
  isRunning: boolean;
  /** The lane is kept this long after its last busy verdict, then its workspace joins the common group again. */
  until: number;
}

const LANE_LIFE_MS = 1_000;

export function createGrouper<Item extends Grouped, Verdict>(
  options: GrouperOptions<Item, Verdict>,
): Grouper<Item, Verdict> {
  const common: Lane<Item, Verdict> = { waiting: [], isRunning: false, until: Infinity };
  const lanes = new Map<string, Lane<Item, Verdict>>();
  let lanesRunning = 0;
  let pending = 0;
  let idleWaiters: (() => void)[] = [];

  const settleOne = (): void => {
    pending -= 1;
    if (pending > 0) return;
    for (const wake of idleWaiters) wake();
    idleWaiters = [];
  };

  const laneOf = (workspaceId: string): Lane<Item, Verdict> => {
    let lane = lanes.get(workspaceId);
    if (!lane) {
      lane = { waiting: [], isRunning: false, until: 0 };
      lanes.set(workspaceId, lane);
    }
    lane.until = performance.now() + LANE_LIFE_MS;
    return lane;
  };

  const runNext = async (lane: Lane<Item, Verdict>, wait: boolean): Promise<void> => {
    const group = lane.waiting.length <= options.sizeMax ? lane.waiting : lane.waiting.slice(0, options.sizeMax);
    lane.waiting = lane.waiting.length <= options.sizeMax ? [] : lane.waiting.slice(options.sizeMax);
    await runGroup(group, wait);
  };

  const runGroup = async (group: Waiting<Item, Verdict>[], wait: boolean): Promise<void> => {
    options.onGroup?.(group.length);
    let verdicts: readonly (Verdict | typeof BUSY)[];
    try {
      verdicts = await options.run(
        group.map((waiting) => waiting.item),
        wait,
      );
    } catch (error) {
      if (group.length > 1 && options.isPoison(error)) {
        const middle = group.length >> 1;
        await runGroup(group.slice(0, middle), wait);
        return runGroup(group.slice(middle), wait);
      }
      for (const waiting of group) {
        waiting.reject(error);
        settleOne();
      }
      return;
    }
    group.forEach((waiting, index) => {
      const verdict = verdicts[index];
      if (verdict === BUSY && !wait) {
        laneOf(waiting.item.workspaceId).waiting.push(waiting);
        return;
      }
      if (verdict === BUSY || verdict === undefined) {
        waiting.reject(new ApiError("overloaded", "The workspace is busy; try again shortly."));
      } else waiting.resolve(verdict);
      settleOne();
    });
  };

  const pumpCommon = async (): Promise<void> => {
    if (common.isRunning) return;
    common.isRunning = true;
    while (common.waiting.length > 0) {
      await runNext(common, false);
      pumpLanes();
    }
    common.isRunning = false;
  };

  const pumpLanes = (): void => {
    for (const [workspaceId, lane] of lanes) {
      if (lane.isRunning) continue;
      if (lane.waiting.length === 0) {
        if (performance.now() > lane.until) lanes.delete(workspaceId);
        continue;
      }
      if (lanesRunning >= options.lanesMax) return;
      lanesRunning += 1;
      lane.isRunning = true;
      // Round robin: the lane goes to the back of the map, so a busy one cannot keep others from a connection.
      lanes.delete(workspaceId);
      lanes.set(workspaceId, lane);
      void runNext(lane, true).finally(() => {
        lane.isRunning = false;
        lanesRunning -= 1;
        pumpLanes();
      });
    }
  };

  return {
    call(item) {
      if (pending >= options.queueMax) {
        return Promise.reject(new ApiError("overloaded", "Too many calls are waiting; try again shortly."));
      }
      pending += 1;
      return new Promise<Verdict>((resolve, reject) => {
        const lane = lanes.get(item.workspaceId);
        if (lane && (lane.waiting.length > 0 || lane.isRunning || performance.now() <= lane.until)) {
          lane.waiting.push({ item, resolve, reject });
          pumpLanes();
          return;
        }
        common.waiting.push({ item, resolve, reject });
        void pumpCommon();
      });
    },
    idle() {
      if (pending === 0) return Promise.resolve();
      return new Promise((resolve) => idleWaiters.push(resolve));
    },
  };
}
