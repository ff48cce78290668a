/**
 * Which run computes next: there are as many turns as cores. The workspace with the fewest at work comes first, then the one
 * whose last turn is the longest ago, so that a backlog of one delays another's run by what is at work only; long work leaves a core to the short.
 */
import { beforeAbort } from "#shared/abortable.ts";

export interface TurnOptions {
  readonly workspaceId: string;
  /** Work that may take minutes. */
  readonly isLong: boolean;
  readonly signal?: AbortSignal;
}

export interface Turns {
  /** @returns what gives the turn back; safe to call twice. @throws the signal's reason when it aborts first */
  take(options: TurnOptions): Promise<() => void>;
}

interface Waiting extends TurnOptions {
  readonly enter: () => void;
}

export function createTurns(max: number): Turns {
  const longMax = Math.max(1, max - 1);
  /** In the order of their coming. */
  const waiting = new Set<Waiting>();
  const working = new Map<string, number>();
  /** When each workspace with work had its last turn, by count. */
  const served = new Map<string, number>();
  let [all, long, count] = [0, 0, 0];

  function next(): void {
    while (all < max) {
      const one = fairest();
      if (!one) return;
      waiting.delete(one);
      begin(one);
      one.enter();
    }
  }

  function fairest(): Waiting | undefined {
    const may = [...waiting].filter(({ isLong }) => !isLong || long < longMax);
    const rank = ({ workspaceId }: Waiting): readonly [number, number] => [
      working.get(workspaceId) ?? 0,
      served.get(workspaceId) ?? 0,
    ];
    return may.reduce<Waiting | undefined>(
      (best, one) => (best && !isBefore(rank(one), rank(best)) ? best : one),
      undefined,
    );
  }

  function begin({ workspaceId, isLong }: Waiting): void {
    all += 1;
    if (isLong) long += 1;
    working.set(workspaceId, (working.get(workspaceId) ?? 0) + 1);
    served.set(workspaceId, ++count);
  }

  function end({ workspaceId, isLong }: Waiting): void {
    all -= 1;
    if (isLong) long -= 1;
    const left = (working.get(workspaceId) ?? 1) - 1;
    if (left === 0) working.delete(workspaceId);
    else working.set(workspaceId, left);
    forget(workspaceId);
    next();
  }

  /** One without work begins anew. */
  function forget(workspaceId: string): void {
    if (working.has(workspaceId) || [...waiting].some((one) => one.workspaceId === workspaceId)) return;
    served.delete(workspaceId);
  }

  return {
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
        if (!waiting.delete(one)) end(one);
        throw error;
      }
      let isHeld = true;
      return () => {
        if (isHeld) end(one);
        isHeld = false;
      };
    },
  };
}

function isBefore(one: readonly [number, number], other: readonly [number, number]): boolean {
  return one[0] === other[0] ? one[1] < other[1] : one[0] < other[0];
}
