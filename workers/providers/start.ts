/** Requests that begin paid work: their lost answer is an unknown outcome, never a failure (providers paper, part 1). */
import { type Endpoint, post, type ProviderAnswer, type ProviderRequest } from "./http.ts";
import { ProviderError } from "./provider.ts";

/** @throws ProviderError `unknown` when the request was sent and its answer did not come whole; else as `post` */
export async function postStart(
  endpoint: Endpoint,
  request: ProviderRequest,
  signal: AbortSignal,
): Promise<ProviderAnswer & { readonly text: string }> {
  return answered(() => post(endpoint, request, signal));
}

/** The same of any way to send what is paid for. */
export async function answered<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof ProviderError) || error.isUnsent) throw error;
    if (error.kind !== "failed" && error.kind !== "aborted") throw error;
    throw new ProviderError("unknown", `the answer to what is paid for was lost: ${error.detail}`, { cause: error });
  }
}
