/**
 * Room that all calls of a process share, of which one workspace has a part at most: its flood leaves room for others. Who
 * finds none waits in the order of coming, for a time; too many, or too many of one workspace, do not wait at all.
 */
import { ApiError } from "#shared/errors.ts";

export interface KeyedSemaphoreLimits {
  /** In what takers count, such as bytes: of all workspaces and of one. What alone is more has the room for itself. */
  readonly max: number;
  readonly perWorkspaceMax: number;
  /** Calls that wait, half of them of one workspace, and for how long. */
  readonly waitingMax: number;
  readonly waitMs: number;
  /** Name of what takes the room, for the error, such as `audio inputs`. */
  readonly noun: string;
}

interface Waiting {
  readonly workspaceId: string;
  readonly amount: number;
  readonly enter: () => void;
}

export class KeyedSemaphore {
  private readonly limits: KeyedSemaphoreLimits;
  private readonly taken = new Map<string, number>();
  private readonly waiting = new Set<Waiting>();
  private all = 0;

  constructor(limits: KeyedSemaphoreLimits) {
    this.limits = limits;
  }

  /**
   * Resolves when there is room, with what gives it back; that may be called twice. A later request is never let in first,
   * but past a workspace that has all it may have.
   * @throws ApiError `overloaded` where there is no room for too long, `request_timeout` when the caller has left
   */
  async take(workspaceId: string, amount: number, left: AbortSignal): Promise<() => void> {
    if (left.aborted) throw gone();
    await this.wait(workspaceId, amount, left);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.count(workspaceId, -amount);
      this.next();
    };
  }

  private async wait(workspaceId: string, amount: number, left: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const one: Waiting = { workspaceId, amount, enter: resolve };
    this.waiting.add(one);
    this.next();
    if (!this.waiting.has(one)) return;
    // At once, or a turn might yet be given to it; and who stood behind it may fit where it did not.
    const giveUp = (error: ApiError): void => {
      this.waiting.delete(one);
      reject(error);
      this.next();
    };
    if (this.isCrowded(workspaceId)) giveUp(this.overloaded());
    const timer = setTimeout(() => giveUp(this.overloaded()), this.limits.waitMs);
    const leave = (): void => giveUp(gone());
    left.addEventListener("abort", leave, { once: true });
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      left.removeEventListener("abort", leave);
    }
  }

  private isCrowded(workspaceId: string): boolean {
    const { waitingMax } = this.limits;
    if (this.waiting.size > waitingMax) return true;
    let own = 0;
    for (const one of this.waiting) if (one.workspaceId === workspaceId) own += 1;
    return own > Math.max(1, waitingMax / 2);
  }

  private next(): void {
    const { max, perWorkspaceMax } = this.limits;
    const isFull = new Set<string>();
    for (const one of this.waiting) {
      const { workspaceId, amount } = one;
      const own = this.taken.get(workspaceId) ?? 0;
      if (own > 0 && own + amount > perWorkspaceMax) isFull.add(workspaceId);
      if (isFull.has(workspaceId)) continue;
      if (this.all > 0 && this.all + amount > max) return;
      this.waiting.delete(one);
      this.count(workspaceId, amount);
      one.enter();
    }
  }

  private count(workspaceId: string, amount: number): void {
    this.all += amount;
    const own = (this.taken.get(workspaceId) ?? 0) + amount;
    if (own === 0) this.taken.delete(workspaceId);
    else this.taken.set(workspaceId, own);
  }

  private overloaded(): ApiError {
    return new ApiError("overloaded", `Too many ${this.limits.noun} are handled at once; try again shortly.`, {
      headers: { "retry-after": "2" },
    });
  }
}

function gone(): ApiError {
  return new ApiError("request_timeout", "The request body did not arrive whole.");
}
