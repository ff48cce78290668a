/** Whose recordings lie on this process' disk, and who waits to put one there. */
import { ApiError } from "#shared/errors.ts";

interface SpoolLimits {
  /** At once, of all workspaces and of one. */
  readonly max: number;
  readonly perWorkspaceMax: number;
  /** Calls that wait, and for how long. */
  readonly waitingMax: number;
  readonly waitMs: number;
}

interface Waiting {
  readonly workspaceId: string;
  readonly enter: () => void;
}

export class SpoolTurns {
  private readonly limits: SpoolLimits;
  private readonly perWorkspace = new Map<string, number>();
  private readonly waiting = new Set<Waiting>();
  private count = 0;

  constructor(limits: SpoolLimits) {
    this.limits = limits;
  }

  /**
   * Resolves when there is room, with what gives it back. Who waits is let in as they came, but a workspace that has all it
   * may have lets others pass.
   * @throws ApiError `overloaded` where there is no room for too long, `request_timeout` when the caller has left
   */
  async take(workspaceId: string, left: AbortSignal): Promise<() => void> {
    if (left.aborted) throw gone();
    if (this.hasRoom(workspaceId)) this.enter(workspaceId);
    else await this.wait(workspaceId, left);
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      this.leave(workspaceId);
    };
  }

  private hasRoom(workspaceId: string): boolean {
    return this.count < this.limits.max && (this.perWorkspace.get(workspaceId) ?? 0) < this.limits.perWorkspaceMax;
  }

  private enter(workspaceId: string): void {
    this.count += 1;
    this.perWorkspace.set(workspaceId, (this.perWorkspace.get(workspaceId) ?? 0) + 1);
  }

  private leave(workspaceId: string): void {
    this.count -= 1;
    const own = (this.perWorkspace.get(workspaceId) ?? 1) - 1;
    if (own === 0) this.perWorkspace.delete(workspaceId);
    else this.perWorkspace.set(workspaceId, own);
    for (const next of this.waiting) {
      if (!this.hasRoom(next.workspaceId)) continue;
      this.waiting.delete(next);
      this.enter(next.workspaceId);
      next.enter();
      return;
    }
  }

  private async wait(workspaceId: string, left: AbortSignal): Promise<void> {
    if (this.waiting.size >= this.limits.waitingMax) throw overloaded();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const one: Waiting = { workspaceId, enter: resolve };
    this.waiting.add(one);
    // At once, or a turn might yet be given to it.
    const giveUp = (error: ApiError): void => {
      this.waiting.delete(one);
      reject(error);
    };
    const timer = setTimeout(() => giveUp(overloaded()), this.limits.waitMs);
    const leave = (): void => giveUp(gone());
    left.addEventListener("abort", leave, { once: true });
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      left.removeEventListener("abort", leave);
    }
  }
}

function overloaded(): ApiError {
  return new ApiError("overloaded", "Too many recordings come in at once; try again shortly.", {
    headers: { "retry-after": "2" },
  });
}

function gone(): ApiError {
  return new ApiError("request_timeout", "The request body did not arrive whole.");
}
