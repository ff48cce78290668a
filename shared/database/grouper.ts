/**
 * Grouping: while one statement is in flight, calls that arrive are gathered and sent as the next one, and each gets its
 * own verdict. A lone call waits for nothing, unless it is patient: then it waits `lingerMs` for others.
 *
 * Workspaces that meet locks of other sessions must not delay the rest so there are three places:
 * - The common group skips what is locked and reports those calls as BUSY. Their workspace is contended from then on.
 * - Contended workspaces share a group that waits a little: usually for the other side of admission and settle, which
 *   holds its locks for a statement and a commit. One group, because a statement per workspace costs several times more.
 * - A workspace that is locked for longer gets a lane of its own that waits until the lock timeout.
 */
import { ApiError } from "#shared/errors.ts";

export const BUSY = Symbol("busy");

/** Handling of locked rows by a statement: skip them, wait a little, or wait until the lock timeout. */
export type LockWait = "none" | "short" | "long";

export interface Grouped {
  readonly workspaceId: string;
  /** No caller waits for its verdict: it may wait a moment for others. */
  readonly isPatient?: boolean;
}

export interface GrouperOptions<Item extends Grouped, Verdict> {
  readonly sizeMax: number;
  /** Items waiting in all; beyond it `call` rejects with 503 `overloaded`. */
  readonly queueMax: number;
  /** Longest wait of patient items for others; absent: none. */
  readonly lingerMs?: number;
  /** Own lanes whose statement may run at the same time (each needs a connection). */
  readonly lanesMax: number;
  /** One statement for all items, one verdict each, in order. */
  run(items: readonly Item[], lockWait: LockWait): Promise<readonly (Verdict | typeof BUSY)[]>;
  /** True when `run` threw because a lock did not come in time; nothing was done. */
  isLocked(error: unknown): boolean;
  /**
   * True when a single item must have made `run` throw and nothing was done: the group is then halved until that item
   * stands alone, so that its neighbours get their verdicts.
   */
  isPoison(error: unknown): boolean;
  /** Metric of the size of each group that is sent. */
  readonly groupSize?: { observe(size: number): void };
}

export interface Grouper<Item extends Grouped, Verdict> {
  /** @throws ApiError `overloaded` when the queue is full or a lock was not to be had; else what `run` throws */
  call(item: Item): Promise<Verdict>;
}

interface Waiting<Item, Verdict> {
  readonly item: Item;
  /** performance.now() when it came. */
  readonly at: number;
  resolve(verdict: Verdict): void;
  reject(error: unknown): void;
}

interface Lane<Item, Verdict> {
  waiting: Waiting<Item, Verdict>[];
  isRunning: boolean;
  lingering?: ReturnType<typeof setTimeout> | undefined;
}

interface OwnLane<Item, Verdict> extends Lane<Item, Verdict> {
  until: number;
}

/** A workspace is taken for contended, or for locked, this long after it was last found so. */
const MEMORY_MS = 1_000;
/** Contended workspaces remembered before those that are over are forgotten. */
const CONTENDED_SWEEP = 1_000;

export function createGrouper<Item extends Grouped, Verdict>(
  options: GrouperOptions<Item, Verdict>,
): Grouper<Item, Verdict> {
  type Group = readonly Waiting<Item, Verdict>[];
  type Place = (waiting: Waiting<Item, Verdict>) => void;

  const common: Lane<Item, Verdict> = { waiting: [], isRunning: false };
  const contended: Lane<Item, Verdict> = { waiting: [], isRunning: false };
  /** Workspace → until when its calls join the contended group. */
  const contendedUntil = new Map<string, number>();
  const own = new Map<string, OwnLane<Item, Verdict>>();
  let ownRunning = 0;
  let pending = 0;
  const lingerMs = options.lingerMs ?? 0;

  const settleOne = (): void => {
    pending -= 1;
  };

  const toContended: Place = (waiting) => {
    const nowMs = performance.now();
    if (contendedUntil.size >= CONTENDED_SWEEP) {
      for (const [workspaceId, until] of contendedUntil) if (until < nowMs) contendedUntil.delete(workspaceId);
    }
    contendedUntil.set(waiting.item.workspaceId, nowMs + MEMORY_MS);
    contended.waiting.push(waiting);
  };

  const toOwn: Place = (waiting) => {
    const { workspaceId } = waiting.item;
    let lane = own.get(workspaceId);
    if (!lane) {
      lane = { waiting: [], isRunning: false, until: 0 };
      own.set(workspaceId, lane);
    }
    lane.until = performance.now() + MEMORY_MS;
    lane.waiting.push(waiting);
  };

  const refuse: Place = (waiting) => {
    const lane = own.get(waiting.item.workspaceId);
    if (lane) lane.until = performance.now() + MEMORY_MS;
    waiting.reject(new ApiError("overloaded", "The workspace is busy; try again shortly."));
    settleOne();
  };

  const take = (lane: Lane<Item, Verdict>): Group => {
    const { waiting } = lane;
    lane.waiting = waiting.length <= options.sizeMax ? [] : waiting.slice(options.sizeMax);
    return waiting.length <= options.sizeMax ? waiting : waiting.slice(0, options.sizeMax);
  };

  /** Runs a group; calls found busy go to `ifBusy`. */
  const run = async (group: Group, lockWait: LockWait, ifBusy: Place): Promise<void> => {
    options.groupSize?.observe(group.length);
    let verdicts: readonly (Verdict | typeof BUSY)[];
    try {
      verdicts = await options.run(
        group.map((waiting) => waiting.item),
        lockWait,
      );
    } catch (error) {
      if (options.isLocked(error)) {
        // Retry without waiting to find the blocked workspace; a group of one is it.
        if (lockWait === "short" && group.length > 1) return run(group, "none", ifBusy);
        return group.forEach(ifBusy);
      }
      if (group.length > 1 && options.isPoison(error)) {
        const middle = group.length >> 1;
        await run(group.slice(0, middle), lockWait, ifBusy);
        return run(group.slice(middle), lockWait, ifBusy);
      }
      for (const waiting of group) {
        waiting.reject(error);
        settleOne();
      }
      return;
    }
    group.forEach((waiting, index) => {
      const verdict = verdicts[index];
      if (verdict === BUSY || verdict === undefined) return ifBusy(waiting);
      waiting.resolve(verdict);
      settleOne();
    });
  };

  const pump = async (
    lane: Lane<Item, Verdict>,
    lockWait: LockWait,
    ifBusy: Place,
    next: () => void,
    again: () => void,
  ): Promise<void> => {
    if (lane.isRunning) return;
    lane.isRunning = true;
    while (lane.waiting.length > 0) {
      if (lingers(lane, again)) break;
      await run(take(lane), lockWait, ifBusy);
      next();
    }
    lane.isRunning = false;
  };

  /** True when all that waits is patient, few and recent; then it is looked at again when the first has waited enough. */
  const lingers = (lane: Lane<Item, Verdict>, again: () => void): boolean => {
    const [first] = lane.waiting;
    if (!first || lane.waiting.length >= options.sizeMax) return false;
    const leftMs = first.at + lingerMs - performance.now();
    if (leftMs <= 0 || !lane.waiting.every(({ item }) => item.isPatient === true)) return false;
    lane.lingering ??= setTimeout(() => {
      lane.lingering = undefined;
      again();
    }, Math.ceil(leftMs));
    return true;
  };
  const pumpCommon = (): void => void pump(common, "none", toContended, pumpContended, pumpCommon);
  const pumpContended = (): void => void pump(contended, "short", toOwn, pumpOwn, pumpContended);

  const pumpOwn = (): void => {
    for (const [workspaceId, lane] of own) {
      if (lane.isRunning) continue;
      if (lane.waiting.length === 0) {
        if (performance.now() > lane.until) own.delete(workspaceId);
        continue;
      }
      if (ownRunning >= options.lanesMax) return;
      ownRunning += 1;
      lane.isRunning = true;
      // Round robin: the lane goes to the back of the map, so a busy one cannot keep others from a connection.
      own.delete(workspaceId);
      own.set(workspaceId, lane);
      void run(take(lane), "long", refuse).finally(() => {
        lane.isRunning = false;
        ownRunning -= 1;
        pumpOwn();
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
        const waiting = { item, at: performance.now(), resolve, reject };
        const lane = own.get(item.workspaceId);
        if (lane && (lane.waiting.length > 0 || lane.isRunning || performance.now() <= lane.until)) {
          lane.waiting.push(waiting);
          pumpOwn();
          return;
        }
        const until = contendedUntil.get(item.workspaceId);
        if (until !== undefined && performance.now() <= until) {
          contended.waiting.push(waiting);
          pumpContended();
          return;
        }
        common.waiting.push(waiting);
        pumpCommon();
      });
    },
  };
}
