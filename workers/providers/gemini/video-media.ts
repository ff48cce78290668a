/** Media of Google's video APIs: input as base64, results as addresses, some of which require our key. */
import type { Endpoint } from "../http.ts";
import type { Artifact, Media } from "../media.ts";
import { openVideo, VIDEO_TYPE } from "../video-media.ts";

/** Returns base64, as Google's JSON and Veo's instances require. */
export function base64Of({ bytes }: Media): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}

/**
 * Returns the video at an address of the response. The key is sent only to the provider's own origin; other addresses are fetched through
 * the outbound guard. Undefined for an address that is not http(s).
 */
export function videoAt(endpoint: Endpoint, uri: unknown): Artifact | undefined {
  if (typeof uri !== "string" || !URL.canParse(uri)) return undefined;
  const there = new URL(uri);
  if (there.protocol !== "https:" && there.protocol !== "http:") return undefined;
  const path = ownPath(endpoint, there);
  if (path === undefined) return { url: uri, contentType: VIDEO_TYPE };
  const own = { ...endpoint, baseUrl: there.origin };
  return { contentType: VIDEO_TYPE, open: (signal) => openVideo(own, path, signal) };
}

/** Returns path and query for an address on the provider's own origin; otherwise undefined. */
export function ownPath({ baseUrl }: Endpoint, there: URL): string | undefined {
  const isOwn = there.origin === new URL(baseUrl).origin && there.username === "" && there.password === "";
  return isOwn ? there.pathname + there.search : undefined;
}
