/** Builds parts of files: numbers, boxes, chunks and checksums. */
import { crc32 } from "node:zlib";

/** Part of a file as text, numbers or bytes. Text is encoded as Latin-1. */
export type Part = string | readonly number[] | Uint8Array;

export function bytesOf(...parts: readonly Part[]): Buffer {
  return Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part))),
  );
}

/** Returns the bytes of a big-endian number. `size` is their count. */
export function be(value: number, size: number): number[] {
  return Array.from({ length: size }, (_, at) => Math.floor(value / 256 ** (size - 1 - at)) % 256);
}

/** Returns the bytes of a little-endian number. `size` is their count. */
export function le(value: number, size: number): number[] {
  return be(value, size).toReversed();
}

/** Returns a box of MP4, QuickTime or HEIF (ISO/IEC 14496-12). */
export function box(kind: string, ...content: readonly Part[]): Buffer {
  const body = bytesOf(...content);
  return bytesOf(be(8 + body.length, 4), kind, body);
}

/** Encoding of an unknown size of a Matroska element, which lasts until the next element of the same level. */
const UNKNOWN = [0x01, 255, 255, 255, 255, 255, 255, 255];

/** Returns a Matroska element. @param size stated length in bytes; null for "unknown" */
export function ebml(
  id: number,
  content: Part,
  size: readonly number[] | null = [8, ...be(content.length, 4)],
): Buffer {
  return bytesOf(be(id, id > 0xff_ffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1), size ?? UNKNOWN, content);
}

export function riffChunk(kind: string, data: Uint8Array): Buffer {
  return bytesOf(kind, le(data.length, 4), data, Buffer.alloc(data.length & 1));
}

export function riff(kind: string, ...chunks: readonly Part[]): Buffer {
  const body = bytesOf(kind, ...chunks);
  return bytesOf("RIFF", le(body.length, 4), body);
}

export function pngChunk(kind: string, data: Part): Buffer {
  const body = bytesOf(kind, data);
  return bytesOf(be(body.length - 4, 4), body, be(crc32(body), 4));
}

/** Returns a PNG of the given chunks. @param colour 0 for grey, 2 for RGB */
export function png(
  width: number,
  height: number,
  [depth, colour]: readonly [number, number],
  ...chunks: Part[]
): Buffer {
  const head = [...be(width, 4), ...be(height, 4), depth, colour, 0, 0, 0];
  return bytesOf("\u0089PNG\r\n\u001a\n", pngChunk("IHDR", head), ...chunks, pngChunk("IEND", ""));
}

/** Returns a checksum of 8 or 16 bits, as in FLAC. */
export function checksumOf(bytes: Uint8Array, polynomial: number, bits: 8 | 16): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << (bits - 8);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ ((crc >> (bits - 1)) & 1 ? polynomial : 0);
    crc &= 2 ** bits - 1;
  }
  return crc;
}

/** Returns a binary glTF file (glTF 2.0, part 4) with any content in its two chunks. */
export function glbOf(description: string | Uint8Array, binary = new Uint8Array(0)): Uint8Array {
  const padded = (bytes: Uint8Array, fill: number): Buffer => bytesOf(bytes, Buffer.alloc(-bytes.length & 3, fill));
  const [text, binaryChunk] = [padded(Buffer.from(description), 0x20), padded(binary, 0)];
  const head = bytesOf("glTF", le(2, 4), le(28 + text.length + binaryChunk.length, 4), le(text.length, 4), "JSON");
  return new Uint8Array(bytesOf(head, text, le(binaryChunk.length, 4), "BIN\0", binaryChunk));
}
