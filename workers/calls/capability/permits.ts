/**
 * Permits that decide which run computes next. The workspace with the fewest running runs comes first, then the workspace whose last permit
 * is oldest. A backlog of one workspace therefore delays another's run only by the running runs. There are two permits more than cores. A
 * workspace takes at most as many as there are cores, and long runs leave one permit to short runs. The first run of every workspace, long
 * or short, therefore starts at once and shares the cores. Failed runs are not charged, so their time becomes a debt. A workspace with a
 * large debt has at most one running run, on a free core, and queues behind all others until as much time has passed.
 */
import { FairLimit } from "#shared/limits/fair-limit.ts";

/** Debt of a workspace above which others come first, in milliseconds: as long as one short run may take. */
export const CAPABILITY_OWED_MS = 10_000;

/** Largest debt that is counted, in milliseconds: as long as the longest run of most kinds. */
export const CAPABILITY_OWED_MS_MAX = 300_000;

export interface PermitOptions {
  readonly workspaceId: string;
  /** True when the work may take longer than others should wait for. */
  readonly isLong: boolean;
  readonly signal?: AbortSignal;
}

export interface CapabilityPermits {
  /** Most concurrent permits. */
  readonly max: number;
  /** @returns a function that releases the permit, with the lost time; idempotent. @throws the signal's reason if it aborts first */
  take(options: PermitOptions): Promise<(lostMs?: number) => void>;
  /** Adds the time of a released permit to the debt, because the results were lost afterwards. */
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

/** Permits for workspaces without any: one for long work, and one that long work cannot take. */
const SPARE = 2;

/** @param freeMs debt up to which a workspace is treated like all others, in milliseconds */
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

  /** Returns the debt of a workspace in milliseconds; it decreases with time. */
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

  /** Sets a timer for the moment at which the next debt of a waiting workspace is small enough. */
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
