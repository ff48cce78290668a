/** Media on their way to and from makers of videos: bytes of a call, and videos where their makers keep them. */
import { answerStream } from "./answer-stream.ts";
import type { PlacedInput } from "./fields.ts";
import { type Endpoint, postStream } from "./http.ts";
import type { GivenMedia, Media, VideoInput } from "./media.ts";
import { ProviderError } from "./provider.ts";
import { retryAfter } from "./retry-after.ts";

/** What all of them make. */
export const VIDEO_TYPE = "video/mp4";

/** @throws ProviderError `misconfigured` when a picture or a video would be left out, which would change what is paid for */
export function checkPlaced(input: VideoInput, placed: readonly PlacedInput[]): void {
  for (const ours of ["image", "video"] as const) {
    if (input[ours] === undefined || placed.some((one) => one.ours === ours)) continue;
    throw new ProviderError("misconfigured", `the source has no field for a given ${ours}`);
  }
}

/**
 * These makers take no addresses, and a server of the operator's own network must never be told to fetch what a caller names
 * (lesson OUT-3), so whoever calls these families reads addresses first.
 * @throws ProviderError `misconfigured`
 */
export function bytesOf(media: GivenMedia): Media {
  if ("bytes" in media) return media;
  throw new ProviderError("misconfigured", "expected the bytes of given media, got an address");
}

/**
 * Reads a video from its provider, with credentials. What is no video fails before its first byte is handed over, a
 * connection that breaks later fails the stream with a ProviderError.
 * @throws ProviderError `failed`, `aborted`
 */
export async function openVideo(
  endpoint: Endpoint,
  path: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const { status, headers, body, text } = await postStream(endpoint, { method: "GET", path }, signal);
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
