/**
 * Grants permits for a shared resource of a process fairly. The workspace with the fewest permits comes first, then the workspace whose
 * last permit is the oldest. A single workspace leaves one permit free. It leaves half of them free while others were recently active, so
 * that the next workspace waits only briefly.
 */
import { FairLimit } from "#shared/limits/fair-limit.ts";

/** Thrown to waiting requests when the process stops. Another process then executes the run. */
export class PermitsOver extends Error {
  override readonly name = "PermitsOver";
}

/** Time within which the next step of a run usually needs a permit again, in milliseconds. */
const LINGER_MS = 1_000;

export class RunPermits {
  private readonly limit: FairLimit;
  /**
   * Recently active workspaces, in the order in which they last gave back a permit. The value is the time at which they did, by
   * performance.now().
   */
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

  /** Waits for a permit. Resolves to a function that gives the permit back. @throws PermitsOver */
  async take(workspaceId: string): Promise<() => void> {
    const permit = await this.limit.take({ owner: workspaceId });
    return () => {
      this.seen.delete(workspaceId);
      this.seen.set(workspaceId, performance.now());
      permit.release();
    };
  }

  /** Closes the permits. Pending and later requests are rejected. */
  end(): void {
    this.limit.end(new PermitsOver());
  }

  private get ownMax(): number {
    return Math.max(1, this.isShared() ? Math.ceil(this.max / 2) : this.max - 1);
  }

  /** Returns true if more than one workspace is active or was recently active. */
  private isShared(): boolean {
    const since = performance.now() - LINGER_MS;
    for (const [workspaceId, at] of this.seen) {
      if (at >= since) break;
      this.seen.delete(workspaceId);
    }
    return this.limit.busy > 1 || this.seen.keys().some((workspaceId) => !this.limit.ownerOf(workspaceId));
  }
}
