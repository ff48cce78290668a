/** Bodies as they were before their server compressed them. */
import { type Duplex, pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

/** We ask for plain bytes; servers that keep files compressed send them so all the same. Undefined for an unknown encoding. */
export function inflated(body: Readable, contentEncoding = "identity"): Readable | undefined {
  const encoding = contentEncoding.trim().toLowerCase();
  if (encoding === "identity" || encoding === "") return body;
  const decoder = DECODERS.get(encoding);
  // Whichever end fails, the loop over the decoder hears of it.
  return decoder && pipeline(body, decoder(), () => undefined);
}

const DECODERS: ReadonlyMap<string, () => Duplex> = new Map<string, () => Duplex>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);
