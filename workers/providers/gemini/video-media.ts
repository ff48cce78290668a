/** Google's ways with media: base64 in, addresses out, some of which want our key. */
import type { Endpoint } from "../http.ts";
import type { Artifact, Media } from "../media.ts";
import { openVideo, VIDEO_TYPE } from "../video-media.ts";

/** Base64, as Google's JSON and Veo's instances want it. */
export function base64Of({ bytes }: Media): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}

/**
 * A video at an address of the provider's answer: read with our key where that lies on the provider's own origin, left to the
 * guard without it elsewhere. Undefined: no address of the web.
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

/** Path and query on the provider's own origin; undefined elsewhere. */
export function ownPath({ baseUrl }: Endpoint, there: URL): string | undefined {
  const isOwn = there.origin === new URL(baseUrl).origin && there.username === "" && there.password === "";
  return isOwn ? there.pathname + there.search : undefined;
}
