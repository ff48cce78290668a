/** Media of video calls: bytes of inputs, and downloads of videos from their providers. */
import { fetchPublic, OUTBOUND_REDIRECTS_MAX } from "#shared/net/fetch.ts";

import { answerStream } from "./answer-stream.ts";
import type { PlacedInput } from "./fields.ts";
import { connectionError, type Endpoint, postStream } from "./http.ts";
import { type MediaInput, type Media, type VideoInput, MEDIA_JOBS } from "./media.ts";
import { ProviderError } from "./provider.ts";
import { retryAfter } from "./retry-after.ts";

/** Media type of videos, the same at all these providers. */
export const VIDEO_TYPE = "video/mp4";

/**
 * Checks that no image or video of the input is omitted.
 * @throws ProviderError `misconfigured` when an image or a video would be omitted, because the result would not be what was paid for
 */
export function checkPlaced(input: VideoInput, placed: readonly PlacedInput[]): void {
  for (const ours of ["image", "video"] as const) {
    if (input[ours] === undefined || placed.some((one) => one.ours === ours)) continue;
    throw new ProviderError("misconfigured", `the source has no field for a given ${ours}`);
  }
}

/**
 * Returns the bytes of a media input. These providers accept no URLs, and a server inside the operator's network must never fetch a
 * caller's URL. Therefore callers of these families fetch URLs first.
 * @throws ProviderError `misconfigured` for a URL that was not fetched before
 */
export function bytesOf(media: MediaInput): Media {
  if ("bytes" in media) return media;
  throw new ProviderError("misconfigured", "expected the bytes of given media, got an address");
}

/** HTTP statuses of redirects. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Downloads a video from its provider. Credentials are sent only to the provider's own origin. A redirect elsewhere is fetched like any
 * untrusted URL. A response that is no video fails before its first byte is returned. A connection that breaks later fails the stream with
 * a ProviderError.
 * @throws ProviderError `failed`, `aborted`
 */
export async function openVideo(
  endpoint: Endpoint,
  path: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  let at = new URL(endpoint.baseUrl + path);
  for (let redirects = 0; ; redirects += 1) {
    const own = { ...endpoint, baseUrl: at.origin };
    const answer = await postStream(own, { method: "GET", path: at.pathname + at.search }, signal);
    const next = REDIRECTS.has(answer.status) ? targetOf(answer.headers, at) : undefined;
    if (next === undefined) return videoOf(answer, signal);
    if (redirects === OUTBOUND_REDIRECTS_MAX) throw new ProviderError("failed", "the video is redirected too often");
    if (next.origin !== at.origin || next.username !== "" || next.password !== "") return openPublic(next.href, signal);
    at = next;
  }
}

function targetOf(headers: Headers, from: URL): URL | undefined {
  const location = headers.get("location");
  return location !== null && URL.canParse(location, from.href) ? new URL(location, from.href) : undefined;
}

async function videoOf(
  { status, headers, body, text }: Awaited<ReturnType<typeof postStream>>,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  if (body === null) {
    const retryAfterMs = retryAfter(headers);
    const facts = { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    throw new ProviderError("failed", `the video was answered with ${status}: ${text}`, facts);
  }
  const type = headers.get("content-type") ?? "";
  if (type === "" || /^(?:video\/|(?:application|binary)\/octet-stream\b)/i.test(type))
    return answerStream(body.getReader(), signal);
  await body.cancel();
  throw new ProviderError("failed", `what was sent as a video is ${type}`, { status });
}

/** Fetches a URL through the outbound guard, without credentials. Resolves when the first bytes or an error have arrived. */
async function openPublic(url: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { bytesMax, fetchMs: timeoutMs } = MEDIA_JOBS.video;
  const fetching = fetchPublic(url, {
    signal,
    bytesMax,
    timeoutMs,
    accept: "video/*",
    async onBytes(bytes) {
      begin();
      await writer.write(bytes);
    },
  }).then(
    () => writer.close(),
    async (error: unknown) => {
      const failure = error instanceof ProviderError ? error : connectionError(error, signal);
      await writer.abort(failure);
      throw failure;
    },
  );
  // After its begin, the stream itself reports its end.
  await Promise.race([begun, fetching]);
  fetching.catch(() => undefined);
  return readable;
}
