/** Limits the time of one source for a call that another source could serve. */
import { isResumed } from "#shared/calls/kinds/kinds.ts";
import { commonNow } from "#shared/base/clock.ts";

import { jobAbort } from "../job.ts";
import { ProviderError } from "../providers/provider.ts";

export interface CallLimits {
  /** Kind of the job. */
  readonly kind: string;
  /** Deadline of the call, in Unix milliseconds. */
  readonly deadlineMs: number;
  readonly plainMs: number;
  /** Abort signal of the call. */
  readonly signal: AbortSignal;
}

/**
 * Limits the time of an attempt without a stream, whose first byte arrives only at its end. A source that does not respond then costs one
 * timeout, and the next source can still serve the call. The timeout is at most half of the remaining time, because the next source needs
 * as long. Jobs that can be resumed have no such limit, because they may already have been paid for.
 * @param work receives a signal that aborts at the timeout or with the call's signal. It follows the call's signal even after `work` has
 * ended, because the result may still be read
 * @throws ProviderError `timeout` if the timeout has passed before the deadline of the call; otherwise the error of `work`
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
    // Our own errors are passed on unchanged.
    const isItsEnd = error instanceof ProviderError || error === own.signal.reason;
    if (!hasExpired || signal.aborted || !isItsEnd) throw error;
    throw new ProviderError("timeout", `no answer within ${limitMs} ms, and somebody else could serve`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}
