/** Calls whose answer brings what was made: their provider keeps no job, so a lost answer can never be asked for. */
import { abortReasonOf } from "../../job.ts";
import { ProviderError } from "../../providers/provider.ts";

/**
 * @throws ProviderError, never of kind `unknown`: an answer that is lost or cannot be read is the source's failure, and
 * another one may serve. `aborted` when the caller left meanwhile
 */
export async function inOneExchange<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  let result: T;
  try {
    result = await run();
  } catch (error) {
    throw error instanceof ProviderError && error.kind === "unknown" ? verdictOn(error) : error;
  }
  // An adapter that asks for several things one by one brings what had come by the end. Without a caller it is not owed.
  if (hasCallerLeft(signal.reason)) throw new ProviderError("aborted", "the caller left", { cause: signal.reason });
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

export function hasCallerLeft(reason: unknown): boolean {
  const abort = abortReasonOf(reason);
  return abort === "caller_left" || abort === "caller_gone";
}
