/** Bytes that all calls of a process may hold together. A call that wants more waits its turn; one that holds some never waits. */
import { type Lease, Semaphore } from "#shared/semaphore.ts";

import { ProviderError } from "./provider.ts";

export class ByteBudget {
  private readonly room: Semaphore;

  constructor(bytesMax: number) {
    this.room = new Semaphore(bytesMax);
  }

  /** @param bytes at most what the budget holds. @throws ProviderError `aborted` when the signal fires first */
  lease(bytes: number, signal: AbortSignal): Promise<Lease> {
    return this.room.take(bytes, signal).catch((error: unknown) => {
      throw new ProviderError("aborted", "the call was aborted", { cause: error });
    });
  }
}
