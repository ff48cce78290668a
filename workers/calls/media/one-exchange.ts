/** Calls whose response contains the results: their provider keeps no job, so a lost response cannot be requested again. */
import { abortReasonOf } from "../../job.ts";
import { ProviderError } from "../../providers/provider.ts";

/**
 * Runs the call. @throws ProviderError, never of kind `unknown`: a lost or unreadable response is the source's failure, and another one may
 * serve; `aborted` when the caller disconnected in the meantime
 */
export async function inOneExchange<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  let result: T;
  try {
    result = await run();
  } catch (error) {
    throw error instanceof ProviderError && error.kind === "unknown" ? verdictOn(error) : error;
  }
  // An adapter with several requests returns the results so far. Without a caller they are not charged.
  if (hasCallerDisconnected(signal.reason)) throw new ProviderError("aborted", "the caller left", { cause: signal.reason });
  return result;
}

function verdictOn(error: ProviderError): ProviderError {
  const { cause, detail, status } = error;
  const isTimeout = cause instanceof ProviderError && cause.kind === "timeout";
  return new ProviderError(isTimeout ? "timeout" : "failed", detail, {
    ...(status === undefined ? {} : { status }),
    cause: error,
  });
}

export function hasCallerDisconnected(reason: unknown): boolean {
  const abort = abortReasonOf(reason);
  return abort === "caller_left" || abort === "caller_gone";
}
