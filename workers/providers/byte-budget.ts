/**
 * Memory budget in bytes, shared by all provider calls of a process. A call queues only for its first share. A call that already has a
 * share never waits.
 */
import { FairLimit } from "#shared/limits/fair-limit.ts";

import { ProviderError } from "./provider.ts";

/** Opens a memory budget of `bytesMax` bytes. A waiting call fails with `aborted` when its signal fires. */
export function openByteBudget(bytesMax: number): FairLimit {
  return new FairLimit({ max: bytesMax, gone: aborted });
}

export function aborted(reason: unknown): ProviderError {
  return new ProviderError("aborted", "the call was aborted", { cause: reason });
}
