/** Compression of large texts that are the same for every caller. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const compress = promisify(gzip);

/** Returns a response with the text and these headers. The text is compressed if the client accepts gzip. */
export type GzipResponder = (
  request: Request,
  text: string,
  headers: Readonly<Record<string, string>>,
) => Promise<Response>;

/**
 * Creates a responder that caches the compressed form of the last text. Each URL path therefore needs its own responder. Compression does
 * not block the event loop.
 */
export function createGzipResponder(): GzipResponder {
  let last: { readonly text: string; readonly bytes: Promise<Uint8Array<ArrayBuffer>> } | undefined;
  return async (request, text, headers) => {
    const all = new Headers({ ...headers, vary: "accept-encoding" });
    if (!acceptsGzip(request.headers.get("accept-encoding") ?? "")) return new Response(text, { headers: all });
    if (last?.text !== text) last = { text, bytes: compress(text).then((bytes) => new Uint8Array(bytes)) };
    all.set("content-encoding", "gzip");
    // Two representations of a text cannot have the same strong ETag (RFC 9110, section 8.8.1).
    const etag = all.get("etag");
    if (etag !== null) all.set("etag", `W/${etag}`);
    return new Response(await last.bytes, { headers: all });
  };
}

/** Returns true if the `accept-encoding` header names gzip with a weight other than 0. */
export function acceptsGzip(accepted: string): boolean {
  const [, weight = "1"] = /(?:^|,)\s*gzip\s*(?:;\s*q=([\d.]+)\s*)?(?:,|$)/i.exec(accepted) ?? ["", "0"];
  return Number(weight) > 0;
}
