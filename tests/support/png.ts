/** Creates PNG files of one colour with 8 bits per channel, which any decoder opens. */
import { deflateSync } from "node:zlib";

import { be, bytesOf, png, pngChunk } from "./file-parts.ts";

/** Returns a PNG. @param colour red, green and blue, each from 0 to 255 */
export function pngOf(
  width: number,
  height: number,
  colour: readonly [number, number, number] = [40, 120, 200],
): Buffer {
  const row = Buffer.concat([Buffer.of(0), Buffer.alloc(width * 3, Buffer.from(colour))]);
  return png(width, height, [8, 2], pngChunk("IDAT", deflateSync(Buffer.alloc(height * row.length, row))));
}

/** Returns the width and height in a PNG's header. */
export function pngSize(bytes: Uint8Array): readonly [width: number, height: number] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return [view.getUint32(16), view.getUint32(20)];
}

/** Returns a copy of a PNG with another size in its header and a valid checksum. */
export function pngResized(bytes: Uint8Array, width: number, height: number): Buffer {
  const head = pngChunk("IHDR", [...be(width, 4), ...be(height, 4), ...bytes.subarray(24, 29)]);
  return bytesOf(bytes.subarray(0, 8), head, bytes.subarray(33));
}
