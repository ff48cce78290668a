/**
 * Grouping: while one statement is in flight, calls that arrive are gathered and sent as the next one, and each gets its
 * own verdict. A lone call waits for nothing, unless it is patient: then it waits `lingerMs` for others. While calls come several at a time,
 * a small group waits up to `gatherMaxMs` for more.
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
  /** Longest wait of patient items for others; absent: none. It grows up to `lingerMaxMs` while groups are large. */
  readonly lingerMs?: number;
  readonly lingerMaxMs?: number;
  /** Longest wait of a small group for others while several calls come at a time; absent: none. */
  readonly gatherMaxMs?: number;
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

/** A workspace is taken for contended, or for locked, this long after it was last found so. */
const MEMORY_MS = 1_000;
/** A group of this size or more shows a load under which waiting longer makes fewer statements; one of the other size or less, none. */
const BUSY_GROUP = 8;
const IDLE_GROUP = 2;
/** A group of this size waits for no others: what it costs is little for each of its calls. */
const GATHERED_GROUP = 32;
/** Weight of the last group in the usual size of groups. After a burst, some twelve lone calls bring that back to one. */
const USUAL_WEIGHT = 0.3;
/** Contended workspaces remembered before those that are over are forgotten. */
const CONTENDED_SWEEP = 1_000;

export function createGrouper<Item extends Grouped, Verdict>(
  options: GrouperOptions<Item, Verdict>,
): Grouper<Item, Verdict> {
  return new LaneGrouper(options);
}

interface Waiting<Item, Verdict> {
  readonly item: Item;
  /** performance.now() when it came. */
  readonly at: number;
  resolve(verdict: Verdict): void;
  reject(error: unknown): void;
}

type Group<Item, Verdict> = readonly Waiting<Item, Verdict>[];

/** Takes over a call that was found busy. */
type Place<Item, Verdict> = (waiting: Waiting<Item, Verdict>) => void;

interface Lane<Item, Verdict> {
  waiting: Waiting<Item, Verdict>[];
  isRunning: boolean;
}

/** Lane of many workspaces: one group after the other, and patient calls linger in it. */
interface SharedLane<Item, Verdict> extends Lane<Item, Verdict> {
  readonly lockWait: LockWait;
  readonly ifBusy: Place<Item, Verdict>;
  /** Starts the lanes that `ifBusy` puts calls into. */
  readonly startNext: () => void;
  /** Timer of the next look at what waits, and performance.now() of that. */
  timer?: ReturnType<typeof setTimeout> | undefined;
  lookAt?: number;
  /** Usual number of calls in a group for whose verdict a caller waits; groups without any are left out. */
  usualSize: number;
  /** performance.now() when the last group ended. */
  endedAt: number;
}

/** Lane of a workspace that is locked for longer. */
interface OwnLane<Item, Verdict> extends Lane<Item, Verdict> {
  until: number;
}

class LaneGrouper<Item extends Grouped, Verdict> implements Grouper<Item, Verdict> {
  private readonly options: GrouperOptions<Item, Verdict>;
  /** Grows and shrinks with the groups. */
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
  /** Workspace → until when its calls join the contended group. */
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
      // Patient ones come together because they waited: they tell nothing of how calls come.
      if (awaited > 0) lane.usualSize += (awaited - lane.usualSize) * USUAL_WEIGHT;
      this.adaptLinger(group.length);
      lane.startNext();
    }
    lane.isRunning = false;
  }

  /** True when all that waits is patient, few and recent; then it is looked at again when the first has waited enough. */
  private lingers(lane: SharedLane<Item, Verdict>): boolean {
    const [first] = lane.waiting;
    if (!first || lane.waiting.length >= this.options.sizeMax) return false;
    const leftMs = first.at + this.lingerMs - performance.now();
    if (leftMs <= 0 || !lane.waiting.every(({ item }) => item.isPatient === true)) return false;
    this.lookAgain(lane, leftMs);
    return true;
  }

  /**
   * True when a small group would be sent at once although calls come several at a time. A moment later it holds more calls, and all that
   * follows takes them together too. A lone call is sent at once.
   */
  private gathers(lane: SharedLane<Item, Verdict>): boolean {
    const { gatherMaxMs = 0 } = this.options;
    const [first] = lane.waiting;
    const gatherMs = Math.min(gatherMaxMs, Math.floor(lane.usualSize) - 1);
    if (!first || gatherMs < 1 || lane.waiting.length >= GATHERED_GROUP) return false;
    const leftMs = Math.max(first.at, lane.endedAt) + gatherMs - performance.now();
    if (leftMs <= 0) return false;
    this.lookAgain(lane, leftMs);
    return true;
  }

  private lookAgain(lane: SharedLane<Item, Verdict>, ms: number): void {
    const at = performance.now() + ms;
    // What is patient may have asked for a later one.
    if (lane.timer !== undefined && at >= (lane.lookAt ?? 0) - 1) return;
    clearTimeout(lane.timer);
    lane.lookAt = at;
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
      // Round robin: the lane goes to the back of the map, so a busy one cannot keep others from a connection.
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

  /** Runs a group; calls found busy go to `ifBusy`. */
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
        // Retry without waiting to find the blocked workspace; a group of one is it.
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
