/**
 * Permits to run a capability, shared fairly among workspaces. The workspace with the fewest active runs comes first; among equals, the
 * workspace whose last permit is oldest. One workspace's backlog therefore delays another workspace only until an active run finishes.
 *
 * The number of permits is the number of cores plus two. A workspace takes at most as many permits as there are cores, and long runs leave
 * one permit to short runs. The first run of every workspace therefore starts at once and shares the cores.
 *
 * Failed runs are not charged, so their run time becomes a debt of the workspace. A workspace with a large debt has at most one active run,
 * on a free core. It queues behind all other workspaces until as much time has passed.
 */
import { FairLimit } from "#shared/limits/fair-limit.ts";

/** Debt of a workspace above which other workspaces come first, in milliseconds. It is as long as one short run may take. */
export const CAPABILITY_OWED_MS = 10_000;

/** Maximum debt that is counted for a workspace, in milliseconds. It is as long as the longest run of most kinds. */
export const CAPABILITY_OWED_MS_MAX = 300_000;

export interface PermitOptions {
  readonly workspaceId: string;
  /** True for a run that may take long. One permit is reserved for short runs, so that they do not wait until long runs end. */
  readonly isLong: boolean;
  readonly signal?: AbortSignal;
}

export interface CapabilityPermits {
  /** Maximum number of concurrent permits. */
  readonly max: number;
  /**
   * Waits for a permit.
   * @returns an idempotent function that releases the permit. For a failed run, pass its run time in milliseconds, which is added to the
   * workspace's debt.
   * @throws the signal's reason if the signal aborts before a permit is free
   */
  take(options: PermitOptions): Promise<(lostMs?: number) => void>;
  /** Adds the run time of a released permit to the workspace's debt, for a run whose results were lost after the release. */
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

/** Permits beyond the number of cores, for workspaces that have no permit: one for any run, and one that long runs cannot take. */
const SPARE = 2;

/** Creates the permits. @param freeMs debt up to which a workspace is treated like all others, in milliseconds */
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

  /** Returns the current debt of a workspace, in milliseconds. A debt decreases by one millisecond per millisecond. */
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

  /**
   * Sets a timer for the moment at which the debt of a waiting workspace falls to `freeMs`. The timer then grants free permits to waiting
   * runs.
   */
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
