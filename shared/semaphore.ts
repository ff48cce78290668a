/** Capacity that calls of a process share, counted in bytes or in takers. A taker that finds too little waits its turn. */
import { beforeAbort } from "./abortable.ts";

export interface Lease {
  /** Keeps this much of the room, and gives the rest back. */
  shrink(amount: number): void;
  /** Gives back what is left. Safe to call twice. */
  release(): void;
}

interface Waiting {
  readonly amount: number;
  readonly enter: () => void;
}

export class Semaphore {
  private free: number;
  /** In the order of their coming: a large one is not passed by small ones. */
  private readonly waiting = new Set<Waiting>();

  constructor(max: number) {
    this.free = max;
  }

  /** @param amount at most what there is in all. @throws the signal's reason when it aborts first */
  async take(amount: number, signal?: AbortSignal): Promise<Lease> {
    signal?.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<void>();
    const one: Waiting = { amount, enter: resolve };
    this.waiting.add(one);
    this.next();
    try {
      await (signal && this.waiting.has(one) ? beforeAbort(promise, signal) : promise);
    } catch (error) {
      // Its turn may have come as it left.
      if (!this.waiting.delete(one)) this.free += amount;
      this.next();
      throw error;
    }
    let held = amount;
    const keep = (kept: number): void => {
      if (kept >= held) return;
      this.free += held - kept;
      held = kept;
      this.next();
    };
    return { shrink: keep, release: () => keep(0) };
  }

  private next(): void {
    for (const one of this.waiting) {
      if (one.amount > this.free) return;
      this.waiting.delete(one);
      this.free -= one.amount;
      one.enter();
    }
  }
}
