/**
 * Decides which run computes next. The workspace with the fewest runs at work comes first, then the one whose last permit is the longest
 * ago, so that a backlog of one delays another's run only by the runs at work. There are two permits more than cores: a workspace takes at
 * most as many as there are cores, and long work leaves one permit to the short. So whatever one workspace runs, another's first run
 * begins at once, long or short, and shares the cores with it.
 *
 * Failed runs are not paid, so their time is owed: a workspace that owes much has at most one run at work, on a free core, and waits for
 * it behind all others until as much time has passed.
 */
import { FairLimit } from "#shared/fair-limit.ts";

/** Time of runs that came to nothing, for a workspace: beyond it, others come first. As long as one short run may take. */
export const CAPABILITY_OWED_MS = 10_000;

/** More is not counted: as long as the longest run of most kinds. */
export const CAPABILITY_OWED_MS_MAX = 300_000;

export interface PermitOptions {
  readonly workspaceId: string;
  /** Work that may take longer than others are to wait for. */
  readonly isLong: boolean;
  readonly signal?: AbortSignal;
}

export interface CapabilityPermits {
  /** Most permits that may be taken at once. */
  readonly max: number;
  /** @returns gives the permit back, with the time that was lost; safe to call twice. @throws the signal's reason if it aborts first */
  take(options: PermitOptions): Promise<(lostMs?: number) => void>;
  /** The time of a permit that was given back came to nothing after all. */
  lose(workspaceId: string, ms: number): void;
}

interface Run {
  readonly owner: string;
  readonly isLong: boolean;
}

interface Owed {
  readonly ms: number;
  readonly since: number;
}

/** For a workspace that has none, whatever others have: one for long work, and one that long work leaves. */
const SPARE = 2;

/** @param freeMs what a workspace may owe and be treated as others are */
export function createCapabilityPermits(cores: number, freeMs: number = CAPABILITY_OWED_MS): CapabilityPermits {
  const max = cores + SPARE;
  const longMax = max - 1;
  const owed = new Map<string, Owed>();
  let long = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit: FairLimit<Run> = new FairLimit<Run>({
    max,
    mayHave: ({ id, taken }) => (isInDebt(id) ? taken === 0 && limit.taken < cores : taken < cores),
    mayTake: ({ isLong }) => !isLong || long < longMax,
    rank: ({ id, taken }) => (isInDebt(id) ? max : taken),
    onTake({ isLong }) {
      if (isLong) long += 1;
    },
  });

  /** It grows less as time passes. */
  function owedBy(workspaceId: string): number {
    const { ms = 0, since = 0 } = owed.get(workspaceId) ?? {};
    return Math.max(0, ms - (performance.now() - since));
  }

  function isInDebt(workspaceId: string): boolean {
    return owedBy(workspaceId) > freeMs;
  }

  function owe(workspaceId: string, lostMs: number): void {
    const ms = Math.min(CAPABILITY_OWED_MS_MAX, owedBy(workspaceId) + lostMs);
    owed.set(workspaceId, { ms, since: performance.now() });
    for (const id of owed.keys()) if (owedBy(id) === 0) owed.delete(id);
  }

  /** Looks again when the next debt of those who wait is small enough. */
  function watchDebts(): void {
    clearTimeout(timer);
    const debts = [...owed.keys()].filter((id) => limit.ownerOf(id)?.waiting).map((id) => owedBy(id) - freeMs);
    const next = Math.min(...debts.filter((ms) => ms > 0));
    if (next === Infinity) return;
    timer = setTimeout(() => {
      limit.letIn();
      watchDebts();
    }, next + 1);
  }

  return {
    max,
    lose: owe,
    async take({ workspaceId, isLong, signal }) {
      const taking = limit.take({ owner: workspaceId, isLong }, signal);
      watchDebts();
      const permit = await taking;
      let isHeld = true;
      return (lostMs = 0) => {
        if (!isHeld) return;
        isHeld = false;
        if (isLong) long -= 1;
        if (lostMs > 0) owe(workspaceId, lostMs);
        permit.release();
        watchDebts();
      };
    },
  };
}
