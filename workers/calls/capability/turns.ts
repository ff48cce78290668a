/**
 * Decides which run computes next. The workspace with the fewest runs at work comes first, then the one whose last turn is the longest
 * ago, so that a backlog of one delays another's run only by the runs at work. There are two turns more than cores: a workspace takes at
 * most as many as there are cores, and long work leaves one turn to the short. So whatever one workspace runs, another's first run
 * begins at once, long or short, and shares the cores with it.
 *
 * Failed runs are not paid, so their time is owed: a workspace that owes much has at most one run at work, on a free core, and waits for
 * it behind all others until as much time has passed.
 */
import { beforeAbort } from "#shared/abortable.ts";
import { LIMITS } from "#shared/limits.ts";

export interface TurnOptions {
  readonly workspaceId: string;
  /** Work that may take longer than others are to wait for. */
  readonly isLong: boolean;
  readonly signal?: AbortSignal;
}

export interface Turns {
  /** Most turns that may be taken at once. */
  readonly max: number;
  /** @returns gives the turn back, with the time that was lost; safe to call twice. @throws the signal's reason if it aborts first */
  take(options: TurnOptions): Promise<(lostMs?: number) => void>;
  /** The time of a turn that was given back came to nothing after all. */
  lose(workspaceId: string, ms: number): void;
}

interface Waiting extends TurnOptions {
  readonly enter: () => void;
}

interface Owed {
  readonly ms: number;
  readonly since: number;
}

/** For a workspace that has none, whatever others have: one for long work, and one that long work leaves. */
const SPARE = 2;

/** @param freeMs what a workspace may owe and be treated as others are */
export function createTurns(cores: number, freeMs: number = LIMITS.capabilityOwedMs): Turns {
  const max = cores + SPARE;
  const longMax = max - 1;
  /** In the order of their coming. */
  const waiting = new Set<Waiting>();
  const working = new Map<string, number>();
  /** Number of the last turn of each workspace with work, counted over all turns. */
  const served = new Map<string, number>();
  const owed = new Map<string, Owed>();
  let [all, long, count] = [0, 0, 0];
  let timer: ReturnType<typeof setTimeout> | undefined;

  function next(): void {
    while (all < max) {
      const one = fairest();
      if (!one) break;
      waiting.delete(one);
      begin(one);
      one.enter();
    }
    clearTimeout(timer);
    const debts = [...waiting].map(({ workspaceId }) => owedBy(workspaceId) - freeMs).filter((ms) => ms > 0);
    if (debts.length > 0) timer = setTimeout(next, Math.min(...debts) + 1);
  }

  function fairest(): Waiting | undefined {
    const rank = ({ workspaceId }: Waiting): readonly number[] => [
      Number(isInDebt(workspaceId)),
      working.get(workspaceId) ?? 0,
      served.get(workspaceId) ?? 0,
    ];
    return [...waiting]
      .filter(mayBegin)
      .reduce<Waiting | undefined>((best, one) => (best && !isBefore(rank(one), rank(best)) ? best : one), undefined);
  }

  function mayBegin({ workspaceId, isLong }: Waiting): boolean {
    const own = working.get(workspaceId) ?? 0;
    if (isLong && long >= longMax) return false;
    return isInDebt(workspaceId) ? own === 0 && all < cores : own < cores;
  }

  /** It grows less as time passes. */
  function owedBy(workspaceId: string): number {
    const { ms = 0, since = 0 } = owed.get(workspaceId) ?? {};
    return Math.max(0, ms - (performance.now() - since));
  }

  function isInDebt(workspaceId: string): boolean {
    return owedBy(workspaceId) > freeMs;
  }

  function owe(workspaceId: string, lostMs: number): void {
    const ms = Math.min(LIMITS.capabilityOwedMsMax, owedBy(workspaceId) + lostMs);
    owed.set(workspaceId, { ms, since: performance.now() });
    for (const id of owed.keys()) if (owedBy(id) === 0) owed.delete(id);
  }

  function begin({ workspaceId, isLong }: Waiting): void {
    all += 1;
    if (isLong) long += 1;
    working.set(workspaceId, (working.get(workspaceId) ?? 0) + 1);
    served.set(workspaceId, ++count);
  }

  function end({ workspaceId, isLong }: Waiting, lostMs: number): void {
    all -= 1;
    if (isLong) long -= 1;
    const left = (working.get(workspaceId) ?? 1) - 1;
    if (left === 0) working.delete(workspaceId);
    else working.set(workspaceId, left);
    if (lostMs > 0) owe(workspaceId, lostMs);
    forget(workspaceId);
    next();
  }

  /** One without work begins anew. */
  function forget(workspaceId: string): void {
    if (working.has(workspaceId) || [...waiting].some((one) => one.workspaceId === workspaceId)) return;
    served.delete(workspaceId);
  }

  return {
    max,
    lose: owe,
    async take(options) {
      const { signal } = options;
      signal?.throwIfAborted();
      const { promise, resolve } = Promise.withResolvers<void>();
      const one: Waiting = { ...options, enter: resolve };
      waiting.add(one);
      // One that comes anew stands behind those who were served, not before all who wait.
      if (!served.has(one.workspaceId)) served.set(one.workspaceId, Math.min(count, ...served.values()));
      next();
      try {
        await (signal && waiting.has(one) ? beforeAbort(promise, signal) : promise);
      } catch (error) {
        // Its turn may have come as it left.
        if (!waiting.delete(one)) end(one, 0);
        forget(one.workspaceId);
        throw error;
      }
      let isHeld = true;
      return (lostMs = 0) => {
        if (isHeld) end(one, lostMs);
        isHeld = false;
      };
    },
  };
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((part, index) => part !== other[index]);
  return at >= 0 && (one[at] ?? 0) < (other[at] ?? 0);
}
