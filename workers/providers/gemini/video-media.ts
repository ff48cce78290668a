/** Converts media for Google's video APIs. Inputs are sent as base64. Results are URLs, and some of them require our key. */
import type { Endpoint } from "../http.ts";
import type { Artifact, Media } from "../media.ts";
import { openVideo, VIDEO_TYPE } from "../video-media.ts";

/** Returns media as base64, the format of Google's JSON requests. */
export function base64Of({ bytes }: Media): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}

/**
 * Returns the video at a URL from a response; undefined if the URL is not http(s). A URL on Google's own host is downloaded with our key.
 * Any other URL is fetched through the outbound guard without the key.
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

/** Returns the path and query string of a URL on the provider's own origin; undefined for another origin. */
export function ownPath({ baseUrl }: Endpoint, there: URL): string | undefined {
  const isOwn = there.origin === new URL(baseUrl).origin && there.username === "" && there.password === "";
  return isOwn ? there.pathname + there.search : undefined;
}
