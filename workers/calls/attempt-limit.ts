/** Time limit of one source for a call that another source could serve. */
import { isResumed } from "#shared/calls/kinds/kinds.ts";
import { commonNow } from "#shared/clock.ts";

import { jobAbort } from "../job.ts";
import { ProviderError } from "../providers/provider.ts";

export interface CallLimits {
  /** Kind of the job. */
  readonly kind: string;
  /** Unix milliseconds, of the call. */
  readonly deadlineMs: number;
  readonly plainMs: number;
  /** The call's. */
  readonly signal: AbortSignal;
}

/**
 * Audio is answered in one piece, as plain chat is, so its first byte is no sign to go by: a source that never answers costs
 * one limit and not the call. Half of what is left at most, for the next source needs as long. What may
 * have been paid for unseen is never given up for another source.
 * @param work is given a signal that ends with the call's even after the limit, since what it returns may still be read
 * @throws ProviderError `timeout` when this limit, though not the call's, has passed; whatever else `work` throws
 */
export async function withinLimit<T>(
  { isLast }: { readonly isLast: boolean },
  { kind, deadlineMs, plainMs, signal }: CallLimits,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (isLast || isResumed(kind)) return work(signal);
  const own = new AbortController();
  const onAbort = (): void => own.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  const limitMs = Math.max(1, Math.round(Math.min(plainMs, (deadlineMs - commonNow()) / 2)));
  let hasExpired = false;
  const timer = setTimeout(() => {
    hasExpired = true;
    own.abort(jobAbort("deadline"));
  }, limitMs);
  try {
    return await work(own.signal);
  } catch (error) {
    // Trouble of our own stays what it is.
    const isItsEnd = error instanceof ProviderError || error === own.signal.reason;
    if (!hasExpired || signal.aborted || !isItsEnd) throw error;
    throw new ProviderError("timeout", `no answer within ${limitMs} ms, and somebody else could serve`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}
