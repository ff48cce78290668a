/**
 * Memory budget in bytes, shared by all provider calls of a process. A call waits only for its first reservation. Further reservations of
 * the same call never wait.
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
