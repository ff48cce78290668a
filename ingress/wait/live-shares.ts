/**
 * Limits the synchronous calls of one workspace that are on the queue of a pool at once. The queue is served in the order of
 * arrival, so a workspace with a thousand calls would delay everybody else: calls beyond its share wait here, in their own
 * order, until one of its calls ends. A workspace alone may keep nearly all of the fleet busy, several divide that; the
 * slots that are left take the first calls of others at once, however long the calls under way go on.
 */
import { ApiError } from "#shared/errors.ts";
import type { Pool } from "#shared/queue/subjects.ts";

import type { CallFacts } from "./call.ts";

export interface Turn {
  /** Absent: at once. Never resolves for a call that leaves before its turn. */
  readonly entered: Promise<void> | undefined;
  /** The call is over, or has given up waiting. Safe to call twice. */
  leave(): void;
}

export interface LiveShares {
  /** @throws ApiError `overloaded` when too much of its workspace, or of all, waits already */
  enter(call: Pick<CallFacts, "pool" | "workspaceId" | "requestBytes">): Turn;
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
  const common: Common = { slots: new Map(), ingresses: 1, waitingBytes: 0 };
  const pools = new Map<Pool, PoolCalls>();

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
    waiting: (pool) => pools.get(pool)?.waiting() ?? 0,
  };
}

/** State that the pools share. */
interface Common {
  slots: ReadonlyMap<Pool, number>;
  ingresses: number;
  /** Bytes of all calls that wait. */
  waitingBytes: number;
}

/** Calls of one workspace in one pool. */
interface Part {
  readonly workspaceId: string;
  /** Calls of this ingress on the queue. */
  own: number;
  elsewhere: Elsewhere;
  /** Calls of ours beyond our part that may be on the queue until the ingresses have told each other again; rarely whole. */
  granted: number;
  readonly waiting: Set<CallTurn>;
  waitingBytes: number;
}

/** The calls of all workspaces in one pool. */
class PoolCalls {
  private readonly pool: Pool;
  private readonly common: Common;
  private readonly parts = new Map<string, Part>();
  /** Parts with calls that wait. */
  private readonly waitingParts = new Set<Part>();
  /** Calls on the queue, of all ingresses. */
  private onQueue = 0;

  constructor(pool: Pool, common: Common) {
    this.pool = pool;
    this.common = common;
  }

  /** @throws ApiError `overloaded` */
  enter(workspaceId: string, bytes: number): Turn {
    const part = this.partOf(workspaceId);
    if (part.waiting.size === 0 && this.hasRoom(part, this.share)) {
      this.count(part, 1);
      return new CallTurn(this, part, bytes, "in");
    }
    this.checkWaiting(part, bytes);
    const turn = new CallTurn(this, part, bytes, "waiting");
    part.waiting.add(turn);
    this.waitingParts.add(part);
    part.waitingBytes += bytes;
    this.common.waitingBytes += bytes;
    return turn;
  }

  leaveQueue(part: Part): void {
    this.count(part, -1);
    this.letAllIn();
    this.tidy(part);
  }

  leaveWaiting(turn: CallTurn): void {
    this.stopWaiting(turn);
    this.tidy(turn.part);
  }

  /** Takes in what other ingresses have on the queue, by workspace. */
  update(others: ReadonlyMap<string, Elsewhere> | undefined): void {
    for (const workspaceId of others?.keys() ?? []) this.partOf(workspaceId);
    for (const part of this.parts.values()) {
      const elsewhere = others?.get(part.workspaceId) ?? NOWHERE;
      this.onQueue += elsewhere.calls - part.elsewhere.calls;
      part.elsewhere = elsewhere;
      this.tidy(part);
    }
    for (const part of this.parts.values()) part.granted = this.grant(part);
    this.letAllIn();
  }

  /** Calls of ours on the queue, by workspace; 0 where all of them wait. */
  inFlight(): Map<string, number> {
    const ours = [...this.parts.values()].filter(({ own, waiting }) => own > 0 || waiting.size > 0);
    return new Map(ours.map(({ workspaceId, own }) => [workspaceId, own]));
  }

  waiting(): number {
    let count = 0;
    for (const part of this.parts.values()) count += part.waiting.size;
    return count;
  }

  private partOf(workspaceId: string): Part {
    const known = this.parts.get(workspaceId);
    if (known) return known;
    const part: Part = {
      workspaceId,
      own: 0,
      elsewhere: NOWHERE,
      granted: this.common.ingresses === 1 ? Infinity : 0,
      waiting: new Set(),
      waitingBytes: 0,
    };
    this.parts.set(workspaceId, part);
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
  private leavesFree(part: Part): boolean {
    const { slots, onQueue } = this;
    if (onQueue < Math.max(SHARE_MIN, slots - this.free)) return true;
    return part.own === 0 || (sumOf(part) + 1) * this.common.ingresses < slots - onQueue;
  }

  /**
   * Each ingress may take its own part of a share at once, where the others have left it, and a call or some in any case: they
   * would not hear of it else. Beyond that it takes more from one telling to the next, so slowly that what it has not heard yet of
   * the others for some seconds fits into the slots that stay free.
   */
  private hasRoom(part: Part, max: number): boolean {
    const { own, elsewhere, granted } = part;
    const { ingresses } = this.common;
    if (!this.leavesFree(part)) return false;
    const isLeft = own + elsewhere.calls < max;
    if (own * ingresses < max) return isLeft || own * 2 * ingresses < Math.max(1, this.free);
    return isLeft && own + 1 <= granted;
  }

  private grant({ own, granted, waiting }: Part): number {
    if (this.common.ingresses === 1) return Infinity;
    if (waiting.size === 0) return own;
    const { free } = this;
    return Math.min(Math.max(own, granted) + free / TELLINGS_PER_GRANT, own + Math.max(1, free / 2));
  }

  private count(part: Part, calls: 1 | -1): void {
    part.own += calls;
    this.onQueue += calls;
  }

  private stopWaiting(turn: CallTurn): void {
    const { part, bytes } = turn;
    if (!part.waiting.delete(turn)) return;
    if (part.waiting.size === 0) this.waitingParts.delete(part);
    part.waitingBytes -= bytes;
    this.common.waitingBytes -= bytes;
  }

  /** The next call of the workspace with the fewest, as often as there is room for one. */
  private letAllIn(): void {
    const max = this.share;
    for (;;) {
      let next: Part | undefined;
      for (const part of this.waitingParts) {
        if (this.hasRoom(part, max) && (!next || sumOf(part) < sumOf(next))) next = part;
      }
      const [turn] = next?.waiting ?? [];
      if (!next || !turn) return;
      this.stopWaiting(turn);
      this.count(next, 1);
      turn.enter();
    }
  }

  /** With one workspace less, the others may have more. */
  private tidy(part: Part): void {
    if (part.own > 0 || part.elsewhere.ingresses > 0 || part.waiting.size > 0) return;
    this.parts.delete(part.workspaceId);
    this.letAllIn();
  }

  private checkWaiting(part: Part, bytes: number): void {
    const { calls, bytes: bytesMax, allBytes } = WAITING_MAX;
    const isFull = part.waiting.size >= calls || (part.waiting.size > 0 && part.waitingBytes + bytes > bytesMax);
    if (!isFull && this.common.waitingBytes + bytes <= allBytes) return;
    throw new ApiError("overloaded", "Too many calls are waiting; try again shortly.", {
      headers: { "retry-after": "2" },
    });
  }
}

/** Turn of one call. */
class CallTurn implements Turn {
  readonly part: Part;
  readonly bytes: number;
  readonly entered: Promise<void> | undefined;
  private readonly pool: PoolCalls;
  private state: "waiting" | "in" | "out";
  private resolve: (() => void) | undefined;

  constructor(pool: PoolCalls, part: Part, bytes: number, state: "waiting" | "in") {
    this.pool = pool;
    this.part = part;
    this.bytes = bytes;
    this.state = state;
    if (state === "in") return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.entered = promise;
    this.resolve = resolve;
  }

  /** Lets the call in. */
  enter(): void {
    this.state = "in";
    this.resolve?.();
  }

  leave(): void {
    const { state } = this;
    this.state = "out";
    if (state === "in") this.pool.leaveQueue(this.part);
    else if (state === "waiting") this.pool.leaveWaiting(this);
  }
}

/** Calls of the workspace that all ingresses have on the queue. */
function sumOf({ own, elsewhere }: Part): number {
  return own + elsewhere.calls;
}
