/**
 * Answers that come compressed, though we ask for none: Bun would inflate a whole piece of one at once, and a few kilobytes
 * can be a gigabyte. Here they are inflated bit by bit, as fast as they are read.
 */
import { pipeline, Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

import { ProviderError } from "./provider.ts";

/** An answer may grow to this size, and beyond it by this factor: text shrinks to a tenth, a bomb to a thousandth. */
const GROWN_BYTES_MIN = 1_048_576;
const GROWTH_MAX = 100;

const INFLATERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * The response with its body inflated; itself when it is not compressed. Leaving the body ends the connection.
 * @throws ProviderError `failed` for an encoding that is not known
 */
export function inflated(response: Response): Response {
  const encoding = response.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity" || response.body === null) return response;
  const inflate = INFLATERS[encoding]?.();
  if (!inflate) throw new ProviderError("failed", "the answer has an unknown encoding", { status: response.status });
  const source = Readable.fromWeb(response.body);
  let packed = 0;
  let grown = 0;
  const packedCount = passing((bytes) => {
    packed += bytes;
    return true;
  });
  const grownCount = passing((bytes) => {
    grown += bytes;
    return grown <= GROWN_BYTES_MIN + packed * GROWTH_MAX;
  });
  // The reader of the inflated bytes gets the fault.
  pipeline(source, packedCount, inflate, grownCount, () => undefined);
  const body = Readable.toWeb(grownCount) as unknown as ReadableStream<Uint8Array>;
  return new Response(body, { status: response.status, headers: response.headers });
}

/** Passes on what `mayPass`, and fails at what may not. */
function passing(mayPass: (bytes: number) => boolean): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (mayPass(chunk.length)) done(null, chunk);
      else done(new ProviderError("failed", "the answer grows beyond measure when it is inflated"));
    },
  });
}
