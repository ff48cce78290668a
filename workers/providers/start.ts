/**
 * Sends requests that start paid work at a provider. If it is unknown whether the provider accepted a request, the outcome is `unknown` and
 * never a failure.
 */
import { tryAddress } from "./connect-limit.ts";
import { type Endpoint, post, type ProviderAnswer, type ProviderRequest } from "./http.ts";
import type { ProviderJob, Starting } from "./media.ts";
import { ProviderError, type ProviderErrorClass } from "./provider.ts";

/**
 * Sends a request that starts a job. First checks that the address can be reached, because an unreachable address is a definite failure.
 * @param mark finds the job if the response is lost; null: the job cannot be found
 * @throws ProviderError the errors of `started`
 * @throws the errors of `noteStart`
 */
export async function postStart<Result>(
  endpoint: Endpoint,
  request: ProviderRequest,
  { signal, noteStart }: Starting,
  mark: ProviderJob | null,
  read: (answer: ProviderAnswer & { readonly text: string }) => Result,
): Promise<Result> {
  return started(async () => {
    await tryAddress(endpoint.baseUrl, signal);
    await noteStart(mark);
    return post(endpoint, request, signal);
  }, read);
}

/**
 * Sends a request that starts paid work, and reads its response for every status.
 * @throws ProviderError `unknown` when the request was sent and the response was incomplete or only reports a gateway timeout; otherwise
 * errors of `read`
 */
export async function started<Answer extends ProviderAnswer, Result>(
  send: () => Promise<Answer>,
  read: (answer: Answer) => Result,
): Promise<Result> {
  return judged(await answered(send, ["failed", "aborted"]), read);
}

/**
 * Sends a paid request like `started`, but for a provider whose response already contains the result. There is no job to poll. Therefore
 * `unknown` only forbids a retry at the same source, and the caller continues with the next source (workers/calls/media/one-exchange.ts).
 * @throws ProviderError the errors of `started`; `aborted` when the request was aborted
 */
export async function exchanged<Answer extends ProviderAnswer, Result>(
  send: () => Promise<Answer>,
  read: (answer: Answer) => Result | Promise<Result>,
): Promise<Result> {
  return judged(await answered(send, ["failed"]), read);
}

/**
 * Statuses of gateways that lost the vendor or timed out. A 502 is no definite failure of paid work, because the vendor may have continued.
 * Cloudflare's 520, 522 and 524 also occur after an established connection. Its 521 and 523 are excluded, because they mean that no
 * connection to the vendor was established and nothing was accepted.
 */
const OPEN_STATUSES: ReadonlySet<number> = new Set([408, 502, 504, 520, 522, 524]);

async function judged<Answer extends ProviderAnswer, Result>(
  answer: Answer,
  read: (answer: Answer) => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await read(answer);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.kind !== "timeout" && !OPEN_STATUSES.has(answer.status)) throw error;
    throw new ProviderError("unknown", error.detail, { status: answer.status, cause: error });
  }
}

async function answered<T>(send: () => Promise<T>, open: readonly ProviderErrorClass[]): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof ProviderError) || error.isUnsent || !open.includes(error.kind)) throw error;
    throw new ProviderError("unknown", `the answer to what is paid for was lost: ${error.detail}`, { cause: error });
  }
}
