/**
 * Requests that are paid for: where it cannot be told whether one was taken, its outcome is unknown, never a failure.
 */
import { tryAddress } from "./connect-limit.ts";
import { type Endpoint, post, type ProviderAnswer, type ProviderRequest } from "./http.ts";
import type { ProviderJob, Starting } from "./media.ts";
import { ProviderError, type ProviderErrorClass } from "./provider.ts";

/**
 * An address that nothing comes back from is found out first, so that it is a failure.
 * @param mark what finds the job when its answer is lost; null: nothing does
 * @throws ProviderError as `started`; what `noteStart` throws
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
 * Sends what begins paid work, and reads its answer, whatever its status.
 * @throws ProviderError `unknown` when the request was sent and its answer did not come whole, or tells only that somebody stopped
 * waiting; else what `read` throws
 */
export async function started<Answer extends ProviderAnswer, Result>(
  send: () => Promise<Answer>,
  read: (answer: Answer) => Result,
): Promise<Result> {
  return judged(await answered(send, ["failed", "aborted"]), read);
}

/**
 * The same of an exchange whose answer brings what was made. There is nothing to ask for later, so its caller moves on
 * (workers/calls/media/one-exchange.ts); `unknown` says only that the same source must not be asked again. One that is aborted says so.
 */
export async function exchanged<Answer extends ProviderAnswer, Result>(
  send: () => Promise<Answer>,
  read: (answer: Answer) => Result | Promise<Result>,
): Promise<Result> {
  return judged(await answered(send, ["failed"]), read);
}

/**
 * Statuses of gateways in front of a vendor that lost it or stopped waiting. A 502 is no definite failure of paid work, since the
 * vendor behind it may have gone on. Of Cloudflare's own, 521 and 523 say that no connection to the vendor was established, so
 * nothing was accepted; 520, 522 and 524 are also sent for connections that were.
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
