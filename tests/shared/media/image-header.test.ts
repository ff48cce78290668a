import { expect, test } from "bun:test";

import { readImageHeader } from "#shared/media/image-header.ts";
import { bytesOf, le, type Part, png } from "#tests/support/file-parts.ts";

const webp = (chunk: string, ...rest: Part[]): Uint8Array => bytesOf(`RIFF\0\0\0\0WEBP${chunk}\0\0\0\0`, ...rest);

const IMAGES: readonly (readonly [format: string, bytes: Uint8Array])[] = [
  ["PNG", png(64, 48, [8, 6])],
  ["GIF", bytesOf("GIF89a", le(64, 2), le(48, 2), [0])],
  ["GIF", bytesOf("GIF87a", le(64, 2), le(48, 2), [0])],
  // A comment and a Huffman table come before the frame header, one marker is padded, the frame is progressive.
  ["JPEG", Buffer.from("ffd8fffe0004ffc0ffffc4000301ffc20011080030004003", "hex")],
  ["WebP", webp("VP8 ", [0, 0, 0, 0x9d, 0x01, 0x2a], le(64, 2), le(48, 2))],
  ["WebP", webp("VP8L", [0x2f, 63, (47 << 6) & 255, 47 >> 2, 0])],
  ["WebP", webp("VP8X", [0, 0, 0, 0, 63, 0, 0, 47, 0, 0])],
];

test.each(IMAGES)("reads the size of a %s, and nothing of a truncated header", (format, bytes) => {
  expect(readImageHeader(bytes)).toEqual({ format: format as "PNG", width: 64, height: 48 });
  for (let length = 0; length < 10; length += 1) {
    expect(readImageHeader(bytes.subarray(0, length))).toBeNull();
  }
});
