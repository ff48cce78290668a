/**
 * Combines calls into groups: while one SQL statement runs, arriving calls are collected and sent together as the next statement. Each call
 * receives its own result. A single call is sent immediately, unless it is patient: then it waits `lingerMs` for others. While several
 * calls arrive together, a small group waits up to `gatherMaxMs` for more.
 *
 * Workspaces whose rows other sessions have locked must not delay the others, so there are three lanes:
 * - The common group skips locked rows and reports their calls as BUSY. The workspaces of these calls count as contended from then on.
 * - Contended workspaces share a group whose statement waits briefly for locks. These are usually locks that admission and settlement take
 *   from each other for one statement and its commit. A statement per workspace would cost several times more.
 * - A workspace that stays locked gets its own lane, whose statement waits until the lock timeout.
 */
import { ApiError } from "#shared/base/errors.ts";

export const BUSY = Symbol("busy");

/** Behaviour of a statement at locked rows: skip them (none), wait briefly (short), or wait until the lock timeout (long). */
export type LockWait = "none" | "short" | "long";

export interface Grouped {
  readonly workspaceId: string;
  /** True if no caller waits for the result, so that the item may wait briefly for others. */
  readonly isPatient?: boolean;
}

export interface GrouperOptions<Item extends Grouped, Verdict> {
  readonly sizeMax: number;
  /** Maximum number of waiting items. Above it, `call` rejects with 503 `overloaded`. */
  readonly queueMax: number;
  /** Longest time that patient items are collected, in milliseconds. It grows up to `lingerMaxMs` while groups are large. Default: 0. */
  readonly lingerMs?: number;
  readonly lingerMaxMs?: number;
  /** Longest time that a small group waits for more calls while several calls arrive together, in milliseconds. Default: 0. */
  readonly gatherMaxMs?: number;
  /** Maximum number of workspaces in their own lanes whose statements run concurrently. Each needs a connection. */
  readonly lanesMax: number;
  /** Runs one statement for all items and returns one result for each, in the same order. `BUSY` means that the item's rows were locked. */
  run(items: readonly Item[], lockWait: LockWait): Promise<readonly (Verdict | typeof BUSY)[]>;
  /** Returns true if `run` threw this error after a lock timeout, so that nothing was changed. */
  isLocked(error: unknown): boolean;
  /**
   * Returns true if `run` threw this error because of a single item, so that nothing was changed. The group is then halved until this item
   * is alone, and the other items receive their results.
   */
  isPoison(error: unknown): boolean;
  /** Metric that records the size of each group that is sent. */
  readonly groupSize?: { observe(size: number): void };
}

export interface Grouper<Item extends Grouped, Verdict> {
  /**
   * Adds an item to the next group and returns its result.
   * @throws ApiError `overloaded` if the queue is full or after a lock timeout; otherwise the error of `run`
   */
  call(item: Item): Promise<Verdict>;
}

/** Time for which a workspace counts as contended or locked after its rows were last found locked, in milliseconds. */
const MEMORY_MS = 1_000;
/**
 * Size of a group that indicates a high load, at which a longer wait saves statements. Groups smaller than `IDLE_GROUP` indicate a low
 * load.
 */
const BUSY_GROUP = 8;
const IDLE_GROUP = 2;
/** Size from which a group no longer waits for more calls, because its cost per call is already small. */
const GATHERED_GROUP = 32;
/** Weight of the last group in the average group size. After a burst, some twelve single calls reduce the average to one. */
const USUAL_WEIGHT = 0.3;
/** Number of remembered contended workspaces above which expired ones are removed. */
const CONTENDED_SWEEP = 1_000;

export function createGrouper<Item extends Grouped, Verdict>(
  options: GrouperOptions<Item, Verdict>,
): Grouper<Item, Verdict> {
  return new LaneGrouper(options);
}

interface Waiting<Item, Verdict> {
  readonly item: Item;
  /** Time of arrival, by performance.now(). */
  readonly at: number;
  resolve(verdict: Verdict): void;
  reject(error: unknown): void;
}

type Group<Item, Verdict> = readonly Waiting<Item, Verdict>[];

/** Function that puts a call into another lane after its rows were locked. */
type Place<Item, Verdict> = (waiting: Waiting<Item, Verdict>) => void;

interface Lane<Item, Verdict> {
  waiting: Waiting<Item, Verdict>[];
  isRunning: boolean;
}

/** Lane that many workspaces share. It sends one group after the other, and patient calls wait there for more. */
interface SharedLane<Item, Verdict> extends Lane<Item, Verdict> {
  readonly lockWait: LockWait;
  readonly ifBusy: Place<Item, Verdict>;
  /** Starts the lanes to which `ifBusy` has moved calls. */
  readonly startNext: () => void;
  /** Timer of the next check of waiting items. `checkAt` is the time of this check by performance.now(). */
  timer?: ReturnType<typeof setTimeout> | undefined;
  checkAt?: number;
  /** Average number of calls with a waiting caller in a group. Groups without such calls are ignored. */
  usualSize: number;
  /** Time at which the last group ended, by performance.now(). */
  endedAt: number;
}

/** Lane of one workspace whose rows stay locked. */
interface OwnLane<Item, Verdict> extends Lane<Item, Verdict> {
  until: number;
}

class LaneGrouper<Item extends Grouped, Verdict> implements Grouper<Item, Verdict> {
  private readonly options: GrouperOptions<Item, Verdict>;
  /** Current time that patient calls are collected, in milliseconds. It grows and shrinks with the size of the groups. */
  private lingerMs: number;
  private readonly common: SharedLane<Item, Verdict> = {
    waiting: [],
    isRunning: false,
    usualSize: 1,
    endedAt: 0,
    lockWait: "none",
    ifBusy: (waiting) => this.moveToContended(waiting),
    startNext: () => void this.runShared(this.contended),
  };
  private readonly contended: SharedLane<Item, Verdict> = {
    waiting: [],
    isRunning: false,
    usualSize: 1,
    endedAt: 0,
    lockWait: "short",
    ifBusy: (waiting) => this.moveToOwn(waiting),
    startNext: () => this.startOwn(),
  };
  /** Time until which calls of a workspace join the group of contended workspaces, by workspace id. */
  private readonly contendedUntil = new Map<string, number>();
  private readonly own = new Map<string, OwnLane<Item, Verdict>>();
  private readonly refuseBusy: Place<Item, Verdict> = (waiting) => this.refuse(waiting);
  private ownRunning = 0;
  private pending = 0;

  constructor(options: GrouperOptions<Item, Verdict>) {
    this.options = options;
    this.lingerMs = options.lingerMs ?? 0;
  }

  call(item: Item): Promise<Verdict> {
    if (this.pending >= this.options.queueMax) {
      return Promise.reject(new ApiError("overloaded", "Too many calls are waiting; try again shortly."));
    }
    this.pending += 1;
    return new Promise<Verdict>((resolve, reject) => {
      this.enter({ item, at: performance.now(), resolve, reject });
    });
  }

  private enter(waiting: Waiting<Item, Verdict>): void {
    const { workspaceId } = waiting.item;
    const lane = this.own.get(workspaceId);
    if (lane && (lane.waiting.length > 0 || lane.isRunning || performance.now() <= lane.until)) {
      lane.waiting.push(waiting);
      this.startOwn();
      return;
    }
    const until = this.contendedUntil.get(workspaceId);
    const shared = until !== undefined && performance.now() <= until ? this.contended : this.common;
    shared.waiting.push(waiting);
    void this.runShared(shared);
  }

  private async runShared(lane: SharedLane<Item, Verdict>): Promise<void> {
    if (lane.isRunning) return;
    lane.isRunning = true;
    while (lane.waiting.length > 0) {
      if (this.lingers(lane) || this.gathers(lane)) break;
      clearTimeout(lane.timer);
      lane.timer = undefined;
      const group = this.takeGroup(lane);
      await this.runGroup(group, lane.lockWait, lane.ifBusy);
      lane.endedAt = performance.now();
      const awaited = group.reduce((count, { item }) => count + (item.isPatient === true ? 0 : 1), 0);
      // Patient calls are together because they waited, so they do not indicate concurrent arrivals.
      if (awaited > 0) lane.usualSize += (awaited - lane.usualSize) * USUAL_WEIGHT;
      this.adaptLinger(group.length);
      lane.startNext();
    }
    lane.isRunning = false;
  }

  /**
   * Returns true if all waiting calls are patient, few and recent, so that the group waits for more. Schedules the next check for the time
   * when the oldest call has waited long enough.
   */
  private lingers(lane: SharedLane<Item, Verdict>): boolean {
    const [first] = lane.waiting;
    if (!first || lane.waiting.length >= this.options.sizeMax) return false;
    const remainingMs = first.at + this.lingerMs - performance.now();
    if (remainingMs <= 0 || !lane.waiting.every(({ item }) => item.isPatient === true)) return false;
    this.scheduleCheck(lane, remainingMs);
    return true;
  }

  /**
   * Returns true if a small group should wait for more calls although it could be sent. While several calls arrive together, this makes the
   * group and all later groups larger. A single call is sent immediately.
   */
  private gathers(lane: SharedLane<Item, Verdict>): boolean {
    const { gatherMaxMs = 0 } = this.options;
    const [first] = lane.waiting;
    const gatherMs = Math.min(gatherMaxMs, Math.floor(lane.usualSize) - 1);
    if (!first || gatherMs < 1 || lane.waiting.length >= GATHERED_GROUP) return false;
    const remainingMs = Math.max(first.at, lane.endedAt) + gatherMs - performance.now();
    if (remainingMs <= 0) return false;
    this.scheduleCheck(lane, remainingMs);
    return true;
  }

  private scheduleCheck(lane: SharedLane<Item, Verdict>, ms: number): void {
    const at = performance.now() + ms;
    // A patient call may have set a later time.
    if (lane.timer !== undefined && at >= (lane.checkAt ?? 0) - 1) return;
    clearTimeout(lane.timer);
    lane.checkAt = at;
    lane.timer = setTimeout(() => {
      lane.timer = undefined;
      void this.runShared(lane);
    }, Math.ceil(ms));
  }

  private adaptLinger(size: number): void {
    const { lingerMs: least = 0, lingerMaxMs: most = least } = this.options;
    if (size >= BUSY_GROUP) this.lingerMs = Math.min(most, this.lingerMs * 1.5);
    else if (size <= IDLE_GROUP) this.lingerMs = Math.max(least, this.lingerMs / 2);
  }

  private startOwn(): void {
    for (const [workspaceId, lane] of this.own) {
      if (lane.isRunning) continue;
      if (lane.waiting.length === 0) {
        if (performance.now() > lane.until) this.own.delete(workspaceId);
        continue;
      }
      if (this.ownRunning >= this.options.lanesMax) return;
      this.ownRunning += 1;
      lane.isRunning = true;
      // Round robin: the lane moves to the end of the map, so that a busy lane cannot block others from a connection.
      this.own.delete(workspaceId);
      this.own.set(workspaceId, lane);
      void this.runGroup(this.takeGroup(lane), "long", this.refuseBusy).finally(() => {
        lane.isRunning = false;
        this.ownRunning -= 1;
        this.startOwn();
      });
    }
  }

  private takeGroup(lane: Lane<Item, Verdict>): Group<Item, Verdict> {
    const { waiting } = lane;
    const { sizeMax } = this.options;
    lane.waiting = waiting.length <= sizeMax ? [] : waiting.slice(sizeMax);
    return waiting.length <= sizeMax ? waiting : waiting.slice(0, sizeMax);
  }

  /** Runs the statement of a group and resolves its calls. Calls whose rows were locked are passed to `ifBusy`. */
  private async runGroup(group: Group<Item, Verdict>, lockWait: LockWait, ifBusy: Place<Item, Verdict>): Promise<void> {
    this.options.groupSize?.observe(group.length);
    let verdicts: readonly (Verdict | typeof BUSY)[];
    try {
      verdicts = await this.options.run(
        group.map((waiting) => waiting.item),
        lockWait,
      );
    } catch (error) {
      if (this.options.isLocked(error)) {
        // Retries without waiting to find the locked workspace; a group of one has found it.
        if (lockWait === "short" && group.length > 1) return this.runGroup(group, "none", ifBusy);
        return group.forEach(ifBusy);
      }
      if (group.length > 1 && this.options.isPoison(error)) {
        const middle = group.length >> 1;
        await this.runGroup(group.slice(0, middle), lockWait, ifBusy);
        return this.runGroup(group.slice(middle), lockWait, ifBusy);
      }
      for (const waiting of group) {
        waiting.reject(error);
        this.pending -= 1;
      }
      return;
    }
    group.forEach((waiting, index) => {
      const verdict = verdicts[index];
      if (verdict === BUSY || verdict === undefined) return ifBusy(waiting);
      waiting.resolve(verdict);
      this.pending -= 1;
    });
  }

  private moveToContended(waiting: Waiting<Item, Verdict>): void {
    const { contended, contendedUntil } = this;
    const nowMs = performance.now();
    if (contendedUntil.size >= CONTENDED_SWEEP) {
      for (const [workspaceId, until] of contendedUntil) if (until < nowMs) contendedUntil.delete(workspaceId);
    }
    contendedUntil.set(waiting.item.workspaceId, nowMs + MEMORY_MS);
    contended.waiting.push(waiting);
  }

  private moveToOwn(waiting: Waiting<Item, Verdict>): void {
    const { workspaceId } = waiting.item;
    let lane = this.own.get(workspaceId);
    if (!lane) {
      lane = { waiting: [], isRunning: false, until: 0 };
      this.own.set(workspaceId, lane);
    }
    lane.until = performance.now() + MEMORY_MS;
    lane.waiting.push(waiting);
  }

  private refuse(waiting: Waiting<Item, Verdict>): void {
    const lane = this.own.get(waiting.item.workspaceId);
    if (lane) lane.until = performance.now() + MEMORY_MS;
    waiting.reject(new ApiError("overloaded", "The workspace is busy; try again shortly."));
    this.pending -= 1;
  }
}
