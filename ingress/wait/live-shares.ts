/**
 * Limits the number of synchronous calls that a workspace has on a pool's queue. The queue is first in, first out, so a workspace with a
 * thousand calls would delay all others. Calls beyond the workspace's share wait in the ingress, in order, until a call of the workspace
 * ends. A single workspace may use nearly all slots of the fleet; several workspaces divide them. Some slots stay free, so that first calls
 * of other workspaces start immediately.
 *
 * Shares are fleet-wide. They depend on the counts that other ingresses have sent, which may be a few seconds old.
 */
import { FairLimit, type Lease, type Owner } from "#shared/limits/fair-limit.ts";
import type { Pool } from "#shared/queue/subjects.ts";
import { tooMany } from "#shared/limits/request-limit.ts";

import type { CallFacts } from "./call.ts";

export interface LiveShares {
  /**
   * Requests a permit to put a call on the queue. The call keeps the permit until it ends. The returned lease may have to wait for the
   * permit.
   * @throws ApiError `overloaded` if too many calls are already waiting
   */
  enter(call: Pick<CallFacts, "pool" | "workspaceId" | "requestBytes">): Lease;
  /**
   * Updates the shares from the state of the fleet. Call this directly after this ingress has sent its counts, because shares grow by one
   * step per message.
   */
  update(fleet: Fleet): void;
  /**
   * Returns the number of this ingress's calls on the queue, by pool and workspace. 0 means that all calls of the workspace still wait for
   * a permit.
   */
  inFlight(): Map<Pool, Map<string, number>>;
  /** Returns the number of calls of the pool that wait for a permit. */
  waiting(pool: Pool): number;
}

export interface Fleet {
  /** Number of calls that the workers of each pool can run at once. */
  readonly slots: ReadonlyMap<Pool, number>;
  /** Number of running ingresses, including this one. */
  readonly ingresses: number;
  /** Calls that other ingresses have on the queue, by pool and workspace. */
  readonly elsewhere: ReadonlyMap<Pool, ReadonlyMap<string, Elsewhere>>;
}

/** Number of calls that other ingresses have on the queue for one workspace, and number of those ingresses. */
export interface Elsewhere {
  readonly calls: number;
  readonly ingresses: number;
}

/** Divisor of a pool's slots: one slot in this many stays free while a single workspace uses the fleet. */
const SLOTS_PER_FREE_SLOT = 8;
/** Number of messages after which an ingress may exceed its portion of a share by as many calls as slots stay free. */
const REPORTS_PER_GRANT = 8;
/** Minimum share of a workspace, in calls. It keeps a small fleet busy and lets each of many workspaces proceed. */
const SHARE_MIN = 4;
/** Number of slots assumed while no worker has reported its slots. */
const SLOTS_UNKNOWN = 16;
/** Limits of waiting calls, whose requests are in memory: calls and bytes of one workspace, and bytes of all workspaces. */
const WAITING_MAX = { calls: 2_000, bytes: 32 * 1_048_576, allBytes: 128 * 1_048_576 };

const NOWHERE: Elsewhere = { calls: 0, ingresses: 0 };

export function createLiveShares(): LiveShares {
  const pools = new Map<Pool, PoolCalls>();
  const common: Common = {
    slots: new Map(),
    ingresses: 1,
    waitingBytes: () => pools.values().reduce((sum, { waitingBytes }) => sum + waitingBytes, 0),
  };

  const callsOf = (pool: Pool): PoolCalls => {
    const known = pools.get(pool);
    if (known) return known;
    const calls = new PoolCalls(pool, common);
    pools.set(pool, calls);
    return calls;
  };

  return {
    enter: ({ pool, workspaceId, requestBytes }) => callsOf(pool).enter(workspaceId, requestBytes),
    update({ slots, ingresses, elsewhere }) {
      common.slots = slots;
      common.ingresses = ingresses;
      for (const pool of elsewhere.keys()) callsOf(pool);
      for (const [pool, calls] of pools) calls.update(elsewhere.get(pool));
    },
    inFlight() {
      const found = new Map<Pool, Map<string, number>>();
      for (const [pool, calls] of pools) {
        const ours = calls.inFlight();
        if (ours.size > 0) found.set(pool, ours);
      }
      return found;
    },
    waiting: (pool) => pools.get(pool)?.waiting ?? 0,
  };
}

/** State shared by all pools. */
interface Common {
  slots: ReadonlyMap<Pool, number>;
  ingresses: number;
  /** Returns the memory used by all waiting calls, in bytes. */
  readonly waitingBytes: () => number;
}

/** Calls of one workspace that other ingresses have on a pool's queue, and calls that this ingress may add to that queue. */
interface Part {
  elsewhere: Elsewhere;
  /**
   * Maximum number of calls that this ingress may have on the queue, for calls above its portion of the share. The number applies until the
   * next exchange of counts, and is rarely an integer.
   */
  granted: number;
}

/** Calls of all workspaces in one pool, and the permits for that pool's queue. */
class PoolCalls {
  private readonly pool: Pool;
  private readonly common: Common;
  private readonly limit: FairLimit;
  /** Workspaces with calls in this ingress or another, by workspace id. */
  private readonly parts = new Map<string, Part>();
  /** Number of calls that other ingresses have on the queue. */
  private elsewhere = 0;

  constructor(pool: Pool, common: Common) {
    this.pool = pool;
    this.common = common;
    this.limit = new FairLimit({
      max: Infinity,
      mayHave: ({ id, taken }) => this.hasCapacity(this.partOf(id), taken),
      rank: ({ id, taken }) => taken + this.partOf(id).elsewhere.calls,
      mayWait: (owner) => this.mayWait(owner),
      refusal: () => tooMany("Too many calls are waiting"),
    });
  }

  get waiting(): number {
    return this.limit.waiting;
  }

  get waitingBytes(): number {
    return this.limit.waitingBytes;
  }

  /** Acquires a permit for a call. @param bytes memory used by the request. @throws ApiError `overloaded` */
  enter(owner: string, bytes: number): Lease {
    this.partOf(owner);
    const lease = this.limit.enter({ owner, bytes });
    const release = (): void => {
      lease.release();
      this.tidy(owner);
    };
    return { ...lease, release };
  }

  /** Updates the number of calls that other ingresses have on the queue, by workspace. */
  update(others: ReadonlyMap<string, Elsewhere> = new Map()): void {
    this.elsewhere = 0;
    for (const [id, { calls }] of others) {
      this.partOf(id);
      this.elsewhere += calls;
    }
    for (const [id, part] of this.parts) {
      const owner = this.limit.ownerOf(id);
      part.elsewhere = others.get(id) ?? NOWHERE;
      part.granted = this.grant(part, owner);
      if (!owner && !others.has(id)) this.parts.delete(id);
    }
    this.limit.letIn();
  }

  /**
   * Returns the number of this ingress's calls on the queue, by workspace. 0 means that all calls of the workspace still wait for a permit.
   */
  inFlight(): Map<string, number> {
    const ours = new Map<string, number>();
    for (const id of this.parts.keys()) {
      const owner = this.limit.ownerOf(id);
      if (owner) ours.set(id, owner.taken);
    }
    return ours;
  }

  private partOf(id: string): Part {
    const known = this.parts.get(id);
    if (known) return known;
    const part: Part = { elsewhere: NOWHERE, granted: this.common.ingresses === 1 ? Infinity : 0 };
    this.parts.set(id, part);
    return part;
  }

  private get slots(): number {
    return this.common.slots.get(this.pool) ?? SLOTS_UNKNOWN;
  }

  private get free(): number {
    return Math.floor(this.slots / SLOTS_PER_FREE_SLOT);
  }

  /** Maximum number of calls that one workspace may have on the queue, fleet-wide. */
  private get share(): number {
    return Math.max(SHARE_MIN, Math.ceil((this.slots - this.free) / Math.max(1, this.parts.size)));
  }

  /**
   * True if one more call leaves enough free slots for other workspaces. Beyond its first call at each ingress, a workspace must take fewer
   * slots than it leaves free.
   */
  private keepsSlotsFree({ elsewhere }: Part, own: number): boolean {
    const { slots } = this;
    const onQueue = this.limit.taken + this.elsewhere;
    if (onQueue < Math.max(SHARE_MIN, slots - this.free)) return true;
    return own === 0 || (own + elsewhere.calls + 1) * this.common.ingresses < slots - onQueue;
  }

  /**
   * True if the workspace may put one more call on the queue. An ingress may use its own portion of the workspace's share immediately,
   * unless other ingresses have used it. It may always have one call on the queue, because the others would otherwise never count it.
   * Beyond its portion, an ingress adds only a few calls with each message. Calls that other ingresses have added in the meantime then
   * still fit into the free slots.
   */
  private hasCapacity(part: Part, own: number): boolean {
    const { elsewhere, granted } = part;
    const { ingresses } = this.common;
    const max = this.share;
    if (!this.keepsSlotsFree(part, own)) return false;
    const isBelowShare = own + elsewhere.calls < max;
    if (own * ingresses < max) return isBelowShare || own * 2 * ingresses < Math.max(1, this.free);
    return isBelowShare && own + 1 <= granted;
  }

  private grant({ granted }: Part, { taken: own, waiting }: Pick<Owner, "taken" | "waiting"> = NOTHING): number {
    if (this.common.ingresses === 1) return Infinity;
    if (waiting === 0) return own;
    const { free } = this;
    return Math.min(Math.max(own, granted) + free / REPORTS_PER_GRANT, own + Math.max(1, free / 2));
  }

  private mayWait({ waiting, waitingBytes }: Owner): boolean {
    const { calls, bytes, allBytes } = WAITING_MAX;
    if (waiting > calls || (waiting > 1 && waitingBytes > bytes)) return false;
    return this.common.waitingBytes() <= allBytes;
  }

  /** Removes a workspace without calls, so that the shares of the others grow. */
  private tidy(id: string): void {
    if (this.limit.ownerOf(id) || this.parts.get(id)?.elsewhere !== NOWHERE) return;
    this.parts.delete(id);
    this.limit.letIn();
  }
}

const NOTHING = { taken: 0, waiting: 0 };
