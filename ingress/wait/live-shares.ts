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

interface Waiting {
  readonly bytes: number;
  readonly enter: () => void;
}

/** Calls of one workspace in one pool. */
interface Part {
  /** Calls of this ingress on the queue. */
  own: number;
  elsewhere: Elsewhere;
  /** Calls of ours beyond our part that may be on the queue until the ingresses have told each other again; rarely whole. */
  granted: number;
  readonly waiting: Set<Waiting>;
  waitingBytes: number;
}

/** The calls of all workspaces in one pool. */
class Parts extends Map<string, Part> {
  /** On the queue, of all ingresses. */
  calls = 0;
  /** Those with calls that wait. */
  readonly waiting = new Set<Part>();
}

export function createLiveShares(): LiveShares {
  const pools = new Map<Pool, Parts>();
  let slots: ReadonlyMap<Pool, number> = new Map();
  let ingresses = 1;
  let waitingBytes = 0;

  const partsOf = (pool: Pool): Parts => {
    const known = pools.get(pool);
    if (known) return known;
    const parts = new Parts();
    pools.set(pool, parts);
    return parts;
  };

  const partOf = (parts: Parts, workspaceId: string): Part => {
    const known = parts.get(workspaceId);
    if (known) return known;
    const part: Part = {
      own: 0,
      elsewhere: NOWHERE,
      granted: ingresses === 1 ? Infinity : 0,
      waiting: new Set(),
      waitingBytes: 0,
    };
    parts.set(workspaceId, part);
    return part;
  };

  const slotsOf = (pool: Pool): number => slots.get(pool) ?? SLOTS_UNKNOWN;
  const freeOf = (pool: Pool): number => Math.floor(slotsOf(pool) / SLOTS_PER_FREE_SLOT);

  const share = (pool: Pool, parts: Parts): number =>
    Math.max(SHARE_MIN, Math.ceil((slotsOf(pool) - freeOf(pool)) / Math.max(1, parts.size)));

  /** True if a call leaves slots for others: beyond its first call at each ingress, a workspace takes less than it leaves free. */
  const leavesFree = (pool: Pool, { calls }: Parts, part: Part): boolean => {
    if (calls < Math.max(SHARE_MIN, slotsOf(pool) - freeOf(pool))) return true;
    return part.own === 0 || (callsOf(part) + 1) * ingresses < slotsOf(pool) - calls;
  };

  /**
   * Each ingress may take its own part of a share at once, where the others have left it, and a call or some in any case: they
   * would not hear of it else. Beyond that it takes more from one telling to the next, so slowly that what it has not heard yet of
   * the others for some seconds fits into the slots that stay free.
   */
  const hasRoom = (pool: Pool, parts: Parts, part: Part, max: number): boolean => {
    const { own, elsewhere, granted } = part;
    if (!leavesFree(pool, parts, part)) return false;
    const isLeft = own + elsewhere.calls < max;
    if (own * ingresses < max) return isLeft || own * 2 * ingresses < Math.max(1, freeOf(pool));
    return isLeft && own + 1 <= granted;
  };

  const grant = (pool: Pool, { own, granted, waiting }: Part): number => {
    if (ingresses === 1) return Infinity;
    if (waiting.size === 0) return own;
    const free = freeOf(pool);
    return Math.min(Math.max(own, granted) + free / TELLINGS_PER_GRANT, own + Math.max(1, free / 2));
  };

  const take = (parts: Parts, part: Part, calls: 1 | -1): void => {
    part.own += calls;
    parts.calls += calls;
  };

  const stopWaiting = (parts: Parts, part: Part, one: Waiting): void => {
    if (!part.waiting.delete(one)) return;
    if (part.waiting.size === 0) parts.waiting.delete(part);
    part.waitingBytes -= one.bytes;
    waitingBytes -= one.bytes;
  };

  /** The next call of the workspace with the fewest, as often as there is room for one. */
  const letAllIn = (pool: Pool, parts: Parts): void => {
    const max = share(pool, parts);
    for (;;) {
      let next: Part | undefined;
      for (const part of parts.waiting) {
        if (hasRoom(pool, parts, part, max) && (!next || callsOf(part) < callsOf(next))) next = part;
      }
      const [one] = next?.waiting ?? [];
      if (!next || !one) return;
      stopWaiting(parts, next, one);
      take(parts, next, 1);
      one.enter();
    }
  };

  /** With one workspace less, the others may have more. */
  const tidy = (pool: Pool, parts: Parts, workspaceId: string, part: Part): void => {
    if (part.own > 0 || part.elsewhere.ingresses > 0 || part.waiting.size > 0) return;
    parts.delete(workspaceId);
    letAllIn(pool, parts);
  };

  const checkWaiting = (part: Part, bytes: number): void => {
    const { calls, bytes: bytesMax, allBytes } = WAITING_MAX;
    const isFull = part.waiting.size >= calls || (part.waiting.size > 0 && part.waitingBytes + bytes > bytesMax);
    if (!isFull && waitingBytes + bytes <= allBytes) return;
    throw new ApiError("overloaded", "Too many calls are waiting; try again shortly.", {
      headers: { "retry-after": "2" },
    });
  };

  return {
    enter({ pool, workspaceId, requestBytes: bytes }) {
      const parts = partsOf(pool);
      const part = partOf(parts, workspaceId);
      let state: "waiting" | "in" | "out" = "in";
      let entered: Promise<void> | undefined;
      let one: Waiting | undefined;
      if (part.waiting.size === 0 && hasRoom(pool, parts, part, share(pool, parts))) take(parts, part, 1);
      else {
        checkWaiting(part, bytes);
        const { promise, resolve } = Promise.withResolvers<void>();
        const waiting: Waiting = {
          bytes,
          enter: () => {
            state = "in";
            resolve();
          },
        };
        [state, entered, one] = ["waiting", promise, waiting];
        part.waiting.add(waiting);
        parts.waiting.add(part);
        part.waitingBytes += bytes;
        waitingBytes += bytes;
      }
      return {
        entered,
        leave() {
          if (state === "out") return;
          if (state === "in") {
            take(parts, part, -1);
            letAllIn(pool, parts);
          } else if (one) stopWaiting(parts, part, one);
          state = "out";
          tidy(pool, parts, workspaceId, part);
        },
      };
    },
    update(fleet) {
      ({ slots, ingresses } = fleet);
      for (const pool of fleet.elsewhere.keys()) partsOf(pool);
      for (const [pool, parts] of pools) {
        const others = fleet.elsewhere.get(pool);
        for (const workspaceId of others?.keys() ?? []) partOf(parts, workspaceId);
        for (const [workspaceId, part] of parts) {
          const elsewhere = others?.get(workspaceId) ?? NOWHERE;
          parts.calls += elsewhere.calls - part.elsewhere.calls;
          part.elsewhere = elsewhere;
          tidy(pool, parts, workspaceId, part);
        }
        for (const part of parts.values()) part.granted = grant(pool, part);
        letAllIn(pool, parts);
      }
    },
    inFlight() {
      const found = new Map<Pool, Map<string, number>>();
      for (const [pool, parts] of pools) {
        const ours = [...parts].filter(([, { own, waiting }]) => own > 0 || waiting.size > 0);
        if (ours.length > 0) found.set(pool, new Map(ours.map(([id, { own }]) => [id, own])));
      }
      return found;
    },
    waiting(pool) {
      let count = 0;
      for (const part of pools.get(pool)?.values() ?? []) count += part.waiting.size;
      return count;
    },
  };
}

function callsOf({ own, elsewhere }: Part): number {
  return own + elsewhere.calls;
}
