/** Bytes that all calls of a process may hold together. A call that wants more waits its turn; one that holds some never waits. */
import { FairLimit } from "#shared/fair-limit.ts";

import { ProviderError } from "./provider.ts";

/** Fails with `aborted` where a call's signal fires before its turn. */
export function openByteBudget(bytesMax: number): FairLimit {
  return new FairLimit({ max: bytesMax, gone: aborted });
}

export function aborted(reason: unknown): ProviderError {
  return new ProviderError("aborted", "the call was aborted", { cause: reason });
}
