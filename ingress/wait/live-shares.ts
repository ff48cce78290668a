/**
 * Limits the synchronous calls of one workspace that are on the queue of a pool at once. The queue is served in the order of
 * arrival, so a workspace with a thousand calls would delay everybody else: calls beyond its share wait here, in their own
 * order, until one of its calls ends. A workspace alone may keep nearly all of the fleet busy, several divide that; the
 * slots that are left take the first calls of others at once, however long the calls under way go on.
 *
 * The whole is the fleet's: what a workspace may have here follows from what other ingresses have told, and that is some moments old.
 */
import { FairLimit, type Lease, type Owner } from "#shared/fair-limit.ts";
import type { Pool } from "#shared/queue/subjects.ts";
import { tooMany } from "#shared/request-limit.ts";

import type { CallFacts } from "./call.ts";

export interface LiveShares {
  /** Room on the queue for a call, until it is over. @throws ApiError `overloaded` when too much of its workspace, or of all, waits already */
  enter(call: Pick<CallFacts, "pool" | "workspaceId" | "requestBytes">): Lease;
  /** To be called right after our counts were told to the other ingresses: shares grow from one telling to the next. */
  update(fleet: Fleet): void;
  /** Our calls on the queue of each pool, by workspace; 0 where all of them wait for their turn. */
  inFlight(): Map<Pool, Map<string, number>>;
  /** Calls of the pool that wait for their turn. */
  waiting(pool: Pool): number;
}

export interface Fleet {
  /** Calls of each pool that the workers run at once. */
  readonly slots: ReadonlyMap<Pool, number>;
  /** Ingresses that run, ours too. */
  readonly ingresses: number;
  /** Calls of other ingresses, by pool and workspace. */
  readonly elsewhere: ReadonlyMap<Pool, ReadonlyMap<string, Elsewhere>>;
}

/** Calls of one workspace that other ingresses have on the queue, and the number of those ingresses. */
export interface Elsewhere {
  readonly calls: number;
  readonly ingresses: number;
}

/** Slots in this many that no workspace's calls fill while it has the fleet to itself. */
const SLOTS_PER_FREE_SLOT = 8;
/** Tellings over which an ingress takes as many slots beyond its part as stay free. */
const TELLINGS_PER_GRANT = 8;
/** A small fleet is kept busy, and none of many workspaces is left with nothing. */
const SHARE_MIN = 4;
/** While no worker has told its slots. */
const SLOTS_UNKNOWN = 16;
/** Most calls and bytes of one workspace, and bytes of all, that wait: they lie in our memory. */
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

/** State that the pools share. */
interface Common {
  slots: ReadonlyMap<Pool, number>;
  ingresses: number;
  /** Bytes of all calls that wait. */
  readonly waitingBytes: () => number;
}

/** Calls of one workspace in one pool, beside those of ours that are on the queue or wait. */
interface Part {
  elsewhere: Elsewhere;
  /** Calls of ours beyond our part that may be on the queue until the ingresses have told each other again; rarely whole. */
  granted: number;
}

/** The calls of all workspaces in one pool. */
class PoolCalls {
  private readonly pool: Pool;
  private readonly common: Common;
  private readonly limit: FairLimit;
  /** Workspaces with calls here or elsewhere. */
  private readonly parts = new Map<string, Part>();
  /** Calls of other ingresses on the queue. */
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

  /** @throws ApiError `overloaded` */
  enter(owner: string, bytes: number): Lease {
    this.partOf(owner);
    const lease = this.limit.enter({ owner, bytes });
    const release = (): void => {
      lease.release();
      this.tidy(owner);
    };
    return { ...lease, release };
  }

  /** Takes in what other ingresses have on the queue, by workspace. */
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

  /** Calls of ours on the queue, by workspace; 0 where all of them wait. */
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

  /** Calls of one workspace that may be on the queue. */
  private get share(): number {
    return Math.max(SHARE_MIN, Math.ceil((this.slots - this.free) / Math.max(1, this.parts.size)));
  }

  /** True if a call leaves slots for others: beyond its first call at each ingress, a workspace takes less than it leaves free. */
  private leavesFree({ elsewhere }: Part, own: number): boolean {
    const { slots } = this;
    const onQueue = this.limit.taken + this.elsewhere;
    if (onQueue < Math.max(SHARE_MIN, slots - this.free)) return true;
    return own === 0 || (own + elsewhere.calls + 1) * this.common.ingresses < slots - onQueue;
  }

  /**
   * Each ingress may take its own part of a share at once, where the others have left it, and a call or some in any case: they
   * would not hear of it else. Beyond that it takes more from one telling to the next, so slowly that what it has not heard yet of
   * the others for some seconds fits into the slots that stay free.
   */
  private hasCapacity(part: Part, own: number): boolean {
    const { elsewhere, granted } = part;
    const { ingresses } = this.common;
    const max = this.share;
    if (!this.leavesFree(part, own)) return false;
    const isLeft = own + elsewhere.calls < max;
    if (own * ingresses < max) return isLeft || own * 2 * ingresses < Math.max(1, this.free);
    return isLeft && own + 1 <= granted;
  }

  private grant({ granted }: Part, { taken: own, waiting }: Pick<Owner, "taken" | "waiting"> = NOTHING): number {
    if (this.common.ingresses === 1) return Infinity;
    if (waiting === 0) return own;
    const { free } = this;
    return Math.min(Math.max(own, granted) + free / TELLINGS_PER_GRANT, own + Math.max(1, free / 2));
  }

  private mayWait({ waiting, waitingBytes }: Owner): boolean {
    const { calls, bytes, allBytes } = WAITING_MAX;
    if (waiting > calls || (waiting > 1 && waitingBytes > bytes)) return false;
    return this.common.waitingBytes() <= allBytes;
  }

  /** With one workspace less, the others may have more. */
  private tidy(id: string): void {
    if (this.limit.ownerOf(id) || this.parts.get(id)?.elsewhere !== NOWHERE) return;
    this.parts.delete(id);
    this.limit.letIn();
  }
}

const NOTHING = { taken: 0, waiting: 0 };
