/** Limits the inflated size of a PDF's packed streams, counted before a parser meets them. */
import { inflateSync } from "node:zlib";

import { MediaError } from "#shared/children/media-error.ts";

/** One packed stream of a PDF that is no picture, inflated. */
const DOCUMENT_CONTENT_BYTES_MAX = 32 * 1_048_576;

/** One picture's stream, inflated, and all streams of the PDF together. */
export const DOCUMENT_STREAM_BYTES_MAX = 256 * 1_048_576;
const DOCUMENT_STREAMS_BYTES_MAX = 1_024 * 1_048_576;

/** Packed again and again: nothing honest is, but for pictures that were packed twice. */
const LAYERS_MAX = 3;

/** @throws MediaError too_large */
export function checkStreams(bytes: Buffer): void {
  let [at, total] = [bytes.indexOf("stream"), 0];
  while (at !== -1) {
    if (bytes.subarray(at - 3, at).toString("latin1") === "end") {
      at = bytes.indexOf("stream", at + 6);
      continue;
    }
    const start = at + 6 + (bytes[at + 6] === 13 ? 2 : 1);
    const found = bytes.indexOf("endstream", start);
    const end = found === -1 ? bytes.length : found;
    const bytesMax = isPicture(bytes, at) ? DOCUMENT_STREAM_BYTES_MAX : DOCUMENT_CONTENT_BYTES_MAX;
    total += inflated(bytes.subarray(start, end), LAYERS_MAX, bytesMax);
    if (total > DOCUMENT_STREAMS_BYTES_MAX) throw tooMuch("all streams", DOCUMENT_STREAMS_BYTES_MAX);
    at = bytes.indexOf("stream", end + 9);
  }
}

/** Drawing instructions take a renderer far more memory than pixels do. */
function isPicture(bytes: Buffer, streamAt: number): boolean {
  const before = bytes.subarray(Math.max(0, streamAt - DICTIONARY_BYTES_MAX), streamAt).toString("latin1");
  return before.slice(before.lastIndexOf(" obj") + 1).includes("/Image");
}

const DICTIONARY_BYTES_MAX = 4_096;

function inflated(bytes: Buffer, layers: number, bytesMax: number): number {
  const [first = 0, second = 0] = bytes;
  const isPacked = (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
  if (!isPacked) return 0;
  try {
    const plain = inflateSync(bytes, { maxOutputLength: bytesMax });
    return plain.length + (layers > 1 ? inflated(plain, layers - 1, bytesMax) : 0);
  } catch (error) {
    if (error instanceof MediaError) throw error;
    const isTooLarge = (error as { readonly code?: string }).code === "ERR_BUFFER_TOO_LARGE";
    if (isTooLarge) throw tooMuch("a stream", bytesMax);
    // What is broken is for the parser to judge.
    return 0;
  }
}

function tooMuch(what: string, max: number): MediaError {
  return new MediaError("too_large", `Expected at most ${max} bytes of ${what} of the PDF unpacked, got more.`);
}
