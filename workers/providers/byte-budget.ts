/** Bytes that all calls of a process may hold together. Whoever wants more waits its turn; nobody who holds some does. */
import { ProviderError } from "./provider.ts";

export interface Lease {
  /** Keeps this many of the bytes, and gives the rest back. */
  shrink(bytes: number): void;
  /** Gives back what is left. Safe to call twice. */
  release(): void;
}

interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

export class ByteBudget {
  private free: number;
  private readonly waiting: Waiting[] = [];

  constructor(bytesMax: number) {
    this.free = bytesMax;
  }

  /** @param bytes at most what the budget holds. @throws ProviderError `aborted` when the signal fires first */
  async lease(bytes: number, signal: AbortSignal): Promise<Lease> {
    await this.turn(bytes, signal);
    let held = bytes;
    const keep = (kept: number): void => {
      if (kept >= held) return;
      this.free += held - kept;
      held = kept;
      this.next();
    };
    return { shrink: keep, release: () => keep(0) };
  }

  private turn(bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiting.splice(this.waiting.indexOf(entry), 1);
        reject(new ProviderError("aborted", "the call was aborted"));
        // It may have been the one the others waited behind.
        this.next();
      };
      const entry: Waiting = {
        bytes,
        begin: () => {
          signal.removeEventListener("abort", leave);
          this.free -= bytes;
          resolve();
        },
      };
      this.waiting.push(entry);
      if (signal.aborted) leave();
      else {
        signal.addEventListener("abort", leave, { once: true });
        this.next();
      }
    });
  }

  private next(): void {
    for (let first = this.waiting[0]; first && first.bytes <= this.free; first = this.waiting[0]) {
      this.waiting.shift();
      first.begin();
    }
  }
}
