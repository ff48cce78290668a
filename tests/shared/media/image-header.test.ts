import { expect, test } from "bun:test";

import { readImageHeader } from "#shared/media/image-header.ts";

type Bytes = readonly number[];

const u16 = (value: number): Bytes => [value >> 8, value & 255];
const u32 = (value: number): Bytes => [...u16(value >>> 16), ...u16(value & 0xffff)];
const le = (bytes: Bytes): Bytes => bytes.toReversed();
const text = (value: string): Bytes => [...Buffer.from(value, "latin1")];
const webp = (chunk: string, rest: Bytes): Bytes => [...text(`RIFF\0\0\0\0WEBP${chunk}\0\0\0\0`), ...rest];

const IMAGES: readonly (readonly [format: string, bytes: Bytes])[] = [
  ["PNG", [0x89, ...text("PNG\r\n\x1a\n"), 0, 0, 0, 13, ...text("IHDR"), ...u32(64), ...u32(48), 8, 6]],
  ["GIF", [...text("GIF89a"), ...le(u16(64)), ...le(u16(48)), 0]],
  ["GIF", [...text("GIF87a"), ...le(u16(64)), ...le(u16(48)), 0]],
  // A comment and a Huffman table come before the frame header, one marker is padded, the frame is progressive.
  ["JPEG", [...Buffer.from("ffd8fffe0004ffc0ffffc4000301ffc20011080030004003", "hex")]],
  ["WebP", webp("VP8 ", [0, 0, 0, 0x9d, 0x01, 0x2a, ...le(u16(64)), ...le(u16(48))])],
  ["WebP", webp("VP8L", [0x2f, 63, (47 << 6) & 255, 47 >> 2, 0])],
  ["WebP", webp("VP8X", [0, 0, 0, 0, 63, 0, 0, 47, 0, 0])],
];

test.each(IMAGES)("reads the size of a %s, and nothing of one whose header is cut off", (format, bytes) => {
  expect(readImageHeader(Uint8Array.from(bytes))).toEqual({ format: format as "PNG", width: 64, height: 48 });
  for (let length = 0; length < 10; length += 1) {
    expect(readImageHeader(Uint8Array.from(bytes.slice(0, length)))).toBeNull();
  }
});
