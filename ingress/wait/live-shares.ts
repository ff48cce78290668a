/**
 * Limits the synchronous calls of a workspace on a pool's queue. The queue is first in, first out, so a workspace with a thousand calls
 * would delay all others. Calls beyond the share wait here, in order, until a call of the workspace ends. A single workspace may use nearly
 * the whole fleet; several workspaces divide it. The slots kept free serve the first calls of others immediately. | Shares are fleet-wide:
 * they depend on the counts that other ingresses have sent, which may be a few seconds old.
 */
import { FairLimit, type Lease, type Owner } from "#shared/limits/fair-limit.ts";
import type { Pool } from "#shared/queue/subjects.ts";
import { tooMany } from "#shared/limits/request-limit.ts";

import type { CallFacts } from "./call.ts";

export interface LiveShares {
  /** Takes a permit for the queue until the call is over. @throws ApiError `overloaded` if too many calls wait already */
  enter(call: Pick<CallFacts, "pool" | "workspaceId" | "requestBytes">): Lease;
  /** Updates the shares. Called directly after this ingress has sent its counts, since shares grow by one step per message. */
  update(fleet: Fleet): void;
  /** Returns this ingress's calls on the queue, by pool and workspace; 0 if all calls of a workspace wait. */
  inFlight(): Map<Pool, Map<string, number>>;
  /** Returns the number of calls of the pool that wait for a permit. */
  waiting(pool: Pool): number;
}

export interface Fleet {
  /** Number of calls that the workers of each pool can run at once. */
  readonly slots: ReadonlyMap<Pool, number>;
  /** Number of running ingresses, including this one. */
  readonly ingresses: number;
  /** Calls of other ingresses, by pool and workspace. */
  readonly elsewhere: ReadonlyMap<Pool, ReadonlyMap<string, Elsewhere>>;
}

/** Calls of one workspace that other ingresses have on the queue, and the number of those ingresses. */
export interface Elsewhere {
  readonly calls: number;
  readonly ingresses: number;
}

/** One slot in this many stays free while a single workspace uses the fleet. */
const SLOTS_PER_FREE_SLOT = 8;
/** Number of messages over which an ingress grows beyond its part by as many calls as slots stay free. */
const REPORTS_PER_GRANT = 8;
/** Smallest share, in calls: keeps a small fleet busy, and serves each of many workspaces. */
const SHARE_MIN = 4;
/** Assumed slots while no worker has reported its own. */
const SLOTS_UNKNOWN = 16;
/** Most waiting calls and bytes of one workspace, and bytes of all workspaces: their requests are in memory. */
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

/** State that all pools share. */
interface Common {
  slots: ReadonlyMap<Pool, number>;
  ingresses: number;
  /** Returns the bytes of all waiting calls. */
  readonly waitingBytes: () => number;
}

/** Calls of one workspace in one pool, beyond those that this ingress has on the queue or waiting. */
interface Part {
  elsewhere: Elsewhere;
  /** Calls beyond this ingress's part that may be on the queue until the next exchange of counts; rarely an integer. */
  granted: number;
}

/** Calls of all workspaces in one pool. */
class PoolCalls {
  private readonly pool: Pool;
  private readonly common: Common;
  private readonly limit: FairLimit;
  /** Workspaces with calls in this or another ingress. */
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

  /** Takes a permit. @throws ApiError `overloaded` */
  enter(owner: string, bytes: number): Lease {
    this.partOf(owner);
    const lease = this.limit.enter({ owner, bytes });
    const release = (): void => {
      lease.release();
      this.tidy(owner);
    };
    return { ...lease, release };
  }

  /** Updates the calls that other ingresses have on the queue, by workspace. */
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

  /** Returns this ingress's calls on the queue, by workspace; 0 if all of them wait. */
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

  /** Number of calls of one workspace that may be on the queue. */
  private get share(): number {
    return Math.max(SHARE_MIN, Math.ceil((this.slots - this.free) / Math.max(1, this.parts.size)));
  }

  /** True if a call leaves slots for others. Beyond its first call at each ingress, a workspace takes fewer slots than it leaves free. */
  private keepsSlotsFree({ elsewhere }: Part, own: number): boolean {
    const { slots } = this;
    const onQueue = this.limit.taken + this.elsewhere;
    if (onQueue < Math.max(SHARE_MIN, slots - this.free)) return true;
    return own === 0 || (own + elsewhere.calls + 1) * this.common.ingresses < slots - onQueue;
  }

  /**
   * An ingress may take its own part of a share at once if the others have left it, and at least one call in any case: otherwise the others
   * would never count it. Beyond its part, it takes a little more with each message: calls of others that it does not know of for some
   * seconds then fit into the free slots.
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

  /** Forgets a workspace without calls, which enlarges the shares of the others. */
  private tidy(id: string): void {
    if (this.limit.ownerOf(id) || this.parts.get(id)?.elsewhere !== NOWHERE) return;
    this.parts.delete(id);
    this.limit.letIn();
  }
}

const NOTHING = { taken: 0, waiting: 0 };
