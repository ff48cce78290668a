/**
 * Turns of workspaces that share something of a process: the one with the fewest at work comes first, then the one whose last turn is
 * the longest ago. One alone leaves a turn free, and half of them while others come and go, so that who comes next finds one and waits
 * for little of its work.
 */

interface Share {
  readonly waiting: PromiseWithResolvers<void>[];
  working: number;
  /** Number of its last turn, of all. */
  turn: number;
  /** performance.now() of the end of its last turn. */
  seenAt: number;
}

/** The process ends: what has not begun is another's. */
export class TurnsOver extends Error {
  override readonly name = "TurnsOver";
}

/** Steps of a chain come back within this time. */
const LINGER_MS = 1_000;

export class Turns {
  private readonly max: number;
  private working = 0;
  private turn = 0;
  private isOver = false;
  /** Those with work now or a moment ago. */
  private readonly shares = new Map<string, Share>();

  constructor(max: number) {
    this.max = max;
  }

  /** Resolves when it is the workspace's turn, with what gives the turn back. @throws TurnsOver */
  async take(workspaceId: string): Promise<() => void> {
    if (this.isOver) throw new TurnsOver();
    const share = this.shares.get(workspaceId) ?? { waiting: [], working: 0, turn: 0, seenAt: 0 };
    this.shares.set(workspaceId, share);
    const one = Promise.withResolvers<void>();
    share.waiting.push(one);
    this.next();
    await one.promise;
    return () => {
      this.working -= 1;
      share.working -= 1;
      share.seenAt = performance.now();
      this.next();
    };
  }

  /** From now on there are none: who waits for one hears so at once. */
  end(): void {
    this.isOver = true;
    for (const { waiting } of this.shares.values()) for (const one of waiting.splice(0)) one.reject(new TurnsOver());
  }

  private next(): void {
    this.forget();
    const ownMax = Math.max(1, this.shares.size > 1 ? Math.ceil(this.max / 2) : this.max - 1);
    while (this.working < this.max) {
      let next: Share | undefined;
      for (const share of this.shares.values()) {
        if (share.waiting.length === 0 || share.working >= ownMax) continue;
        if (!next || isBefore(share, next)) next = share;
      }
      if (!next) return;
      next.turn = ++this.turn;
      next.working += 1;
      this.working += 1;
      next.waiting.shift()?.resolve();
    }
  }

  private forget(): void {
    const since = performance.now() - LINGER_MS;
    for (const [workspaceId, share] of this.shares) {
      if (share.working === 0 && share.waiting.length === 0 && share.seenAt < since) this.shares.delete(workspaceId);
    }
  }
}

function isBefore(one: Share, other: Share): boolean {
  return one.working === other.working ? one.turn < other.turn : one.working < other.working;
}
