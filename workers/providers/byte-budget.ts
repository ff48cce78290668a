/** Memory budget in bytes, shared by all calls of a process. A call without a share waits in a queue; a call with a share never waits. */
import { FairLimit } from "#shared/limits/fair-limit.ts";

import { ProviderError } from "./provider.ts";

/** Waiting fails with `aborted` when the call's signal fires. */
export function openByteBudget(bytesMax: number): FairLimit {
  return new FairLimit({ max: bytesMax, gone: aborted });
}

export function aborted(reason: unknown): ProviderError {
  return new ProviderError("aborted", "the call was aborted", { cause: reason });
}
