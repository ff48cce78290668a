/**
 * Runs calls that return their results in the response itself. The provider stores no job for such a call, so a lost response cannot be
 * requested again.
 */
import { abortReasonOf } from "../../job.ts";
import { ProviderError } from "../../providers/provider.ts";

/**
 * Runs the call. A lost or unreadable response becomes an error of the source, so that another source can be tried.
 * @throws ProviderError, never of kind `unknown`; `aborted` if the caller disconnected in the meantime
 */
export async function inOneExchange<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  let result: T;
  try {
    result = await run();
  } catch (error) {
    throw error instanceof ProviderError && error.kind === "unknown" ? verdictOn(error) : error;
  }
  // An adapter with several requests returns the results so far. Without a caller they are not charged.
  if (hasCallerDisconnected(signal.reason))
    throw new ProviderError("aborted", "the caller left", { cause: signal.reason });
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
