/**
 * Permits of workspaces that share something of a process: the one with the fewest at work comes first, then the one whose last permit is
 * the longest ago. One alone leaves a permit free, and half of them while others come and go, so that who comes next finds one and waits
 * for little of its work.
 */
import { FairLimit } from "#shared/fair-limit.ts";

/** The process ends: what has not begun is another's. */
export class PermitsOver extends Error {
  override readonly name = "PermitsOver";
}

/** Steps of a chain come back within this time. */
const LINGER_MS = 1_000;

export class RunPermits {
  private readonly limit: FairLimit;
  /** Workspaces whose permits ended a moment ago, by performance.now(), in that order. */
  private readonly seen = new Map<string, number>();
  private readonly max: number;

  constructor(max: number) {
    this.max = max;
    this.limit = new FairLimit({
      max,
      mayHave: ({ taken }) => taken < this.ownMax,
      rank: ({ taken }) => taken,
    });
  }

  /** Resolves when the workspace has a permit, with what gives it back. @throws PermitsOver */
  async take(workspaceId: string): Promise<() => void> {
    const permit = await this.limit.take({ owner: workspaceId });
    return () => {
      this.seen.delete(workspaceId);
      this.seen.set(workspaceId, performance.now());
      permit.release();
    };
  }

  /** From now on there are none: who waits for one hears so at once. */
  end(): void {
    this.limit.end(new PermitsOver());
  }

  private get ownMax(): number {
    return Math.max(1, this.isShared() ? Math.ceil(this.max / 2) : this.max - 1);
  }

  /** True if more than one workspace has work, or had some a moment ago. */
  private isShared(): boolean {
    const since = performance.now() - LINGER_MS;
    for (const [workspaceId, at] of this.seen) {
      if (at >= since) break;
      this.seen.delete(workspaceId);
    }
    return this.limit.busy > 1 || this.seen.keys().some((workspaceId) => !this.limit.ownerOf(workspaceId));
  }
}
