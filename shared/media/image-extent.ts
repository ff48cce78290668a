/**
 * Reads upper limits of an image's size and frames from its header, so that processing can be priced in advance. Sources besides those of
 * `image-header.ts`: GIF89a, TIFF 6.0, HEIF (ISO/IEC 23008-12), whose container AVIF uses.
 */
import { readImageHeader } from "./image-header.ts";

export interface ImageExtent {
  /** Width in pixels before rotation. No decoder produces a larger image. */
  readonly width: number;
  readonly height: number;
  /** Number of frames, or of pages of a TIFF. Exact if the format states it, otherwise the maximum that its bytes can contain. */
  readonly frames: number;
  readonly framesMax: number;
  readonly isTiff: boolean;
}

/**
 * Reads the extent of an image. Returns undefined for an unknown format, and if the header is longer than the given bytes.
 * @param head the first bytes of the image
 * @param total size of the image in bytes; `head` may be all of it
 */
export function readImageExtent(head: Uint8Array, total: number): ImageExtent | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length);
  const isWhole = head.length === total;
  try {
    const extent = readHead(bytes, total, isWhole);
    return extent && extent.width > 0 && extent.height > 0 ? extent : undefined;
  } catch (error) {
    // Reading past the end: the header is longer than the given bytes.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Reads the size of a BMP. Older headers have 12 bytes. A negative height means rows from top to bottom (Windows GDI, BITMAPINFOHEADER).
 */
function readBmp(bytes: Buffer): ImageExtent {
  const isOld = bytes.readUInt32LE(14) === 12;
  const width = isOld ? bytes.readUInt16LE(18) : bytes.readInt32LE(18);
  const height = isOld ? bytes.readUInt16LE(20) : Math.abs(bytes.readInt32LE(22));
  return { width, height, frames: 1, framesMax: 1, isTiff: false };
}

function readHead(bytes: Buffer, total: number, isWhole: boolean): ImageExtent | undefined {
  const start = bytes.toString("latin1", 0, 12);
  if (start.startsWith("GIF8")) return isWhole ? readGif(bytes) : undefined;
  if (start.startsWith("II*\0") || start.startsWith("MM\0*")) return readTiff(bytes, 0, bytes, total, isWhole);
  if (start.slice(4, 8) === "ftyp") return readHeif(bytes);
  if (start.startsWith("BM")) return readBmp(bytes);
  const header = readImageHeader(bytes);
  if (header === null) return undefined;
  const { width, height, format } = header;
  const frames = format === "WebP" ? webpFrames(bytes, total, isWhole) : 1;
  return { width, height, frames, framesMax: frames, isTiff: false };
}

/** Returns the offset of the first directory of a TIFF, which contains the image's size. Returns undefined for other formats. */
export function tiffDirectoryAt(head: Uint8Array): number | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length);
  const order = bytes.toString("latin1", 0, 4);
  if (bytes.length < 8) return undefined;
  if (order === "II*\0") return bytes.readUInt32LE(4);
  return order === "MM\0*" ? bytes.readUInt32BE(4) : undefined;
}

/**
 * Reads the extent of a TIFF, like `readImageExtent`, if its first directory is not in the head.
 * @param piece bytes from offset `at`
 */
export function readTiffExtent(
  head: Uint8Array,
  piece: Uint8Array,
  at: number,
  total: number,
): ImageExtent | undefined {
  try {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    const extent = readTiff(Buffer.from(head.subarray(0, 8)), at, bytes, total, false);
    return extent.width > 0 && extent.height > 0 ? extent : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Size of a TIFF directory entry in bytes: tag, type, count and value. */
const ENTRY_BYTES = 12;
const [WIDTH, HEIGHT] = [256, 257];
const SHORT = 3;
/** Size of a TIFF directory with one entry, in bytes. */
const DIRECTORY_BYTES_MIN = 2 + ENTRY_BYTES + 4;
const DIRECTORIES_MAX = 10_000;

function readTiff(head: Buffer, base: number, bytes: Buffer, total: number, isWhole: boolean): ImageExtent {
  const isLittle = head[0] === 0x49;
  const short = (at: number): number => (isLittle ? bytes.readUInt16LE(at - base) : bytes.readUInt16BE(at - base));
  const long = (at: number): number => (isLittle ? bytes.readUInt32LE(at - base) : bytes.readUInt32BE(at - base));
  const first = isLittle ? head.readUInt32LE(4) : head.readUInt32BE(4);
  const entries = short(first);
  let [width, height] = [0, 0];
  for (let entry = first + 2; entry < first + 2 + entries * ENTRY_BYTES; entry += ENTRY_BYTES) {
    const value = short(entry + 2) === SHORT ? short(entry + 8) : long(entry + 8);
    if (short(entry) === WIDTH) width = value;
    if (short(entry) === HEIGHT) height = value;
  }
  const extent = { width, height, isTiff: true };
  const most = Math.max(1, Math.floor(total / DIRECTORY_BYTES_MIN));
  if (!isWhole) return { ...extent, frames: 1, framesMax: most };
  let frames = 1;
  for (let at = long(first + 2 + entries * ENTRY_BYTES); at > 0 && frames < DIRECTORIES_MAX; frames++) {
    at = long(at + 2 + short(at) * ENTRY_BYTES);
  }
  return { ...extent, frames, framesMax: frames < DIRECTORIES_MAX ? frames : most };
}

/** Reads the extent of a GIF. Includes frames that exceed the screen size of the header, because decoders allocate memory for them. */
function readGif(bytes: Buffer): ImageExtent {
  let [width, height, frames] = [bytes.readUInt16LE(6), bytes.readUInt16LE(8), 0];
  let at = 13 + tableBytes(bytes.readUInt8(10));
  while (at < bytes.length) {
    const kind = bytes.readUInt8(at);
    if (kind === 0x3b) break;
    if (kind === 0x2c) {
      frames += 1;
      width = Math.max(width, bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5));
      height = Math.max(height, bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7));
      at = endOfBlocks(bytes, at + 11 + tableBytes(bytes.readUInt8(at + 9)));
    } else if (kind === 0x21) {
      at = endOfBlocks(bytes, at + 2);
    } else {
      // Not a block: decoders stop here, or behave arbitrarily.
      throw new RangeError("no block of GIF");
    }
  }
  return { width, height, frames: Math.max(1, frames), framesMax: Math.max(1, frames), isTiff: false };
}

function tableBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

function endOfBlocks(bytes: Buffer, from: number): number {
  let at = from;
  // A file truncated within its last frame is read up to the truncation.
  while (at < bytes.length && bytes.readUInt8(at) !== 0) at += bytes.readUInt8(at) + 1;
  return at + 1;
}

const ANIMATION_FLAG = 0x02;
/** Minimum size of a WebP frame chunk with header and fields, in bytes. */
const ANMF_BYTES_MIN = 24;

function webpFrames(bytes: Buffer, total: number, isWhole: boolean): number {
  const isAnimated = bytes.toString("latin1", 12, 16) === "VP8X" && (bytes.readUInt8(20) & ANIMATION_FLAG) !== 0;
  if (!isAnimated) return 1;
  if (!isWhole) return Math.ceil(total / ANMF_BYTES_MIN);
  let frames = 0;
  for (let at = 12; at + 8 <= bytes.length;) {
    if (bytes.toString("latin1", at, at + 4) === "ANMF") frames += 1;
    const size = bytes.readUInt32LE(at + 4);
    at += 8 + size + (size % 2);
  }
  return Math.max(1, frames);
}

/** Returns the largest size in the `meta` box of a HEIF file: of the image, its parts and its thumbnails. */
function readHeif(bytes: Buffer): ImageExtent | undefined {
  const at = boxAt(bytes, "meta");
  if (at === undefined) return undefined;
  const end = at + bytes.readUInt32BE(at);
  if (end > bytes.length) return undefined;
  const meta = bytes.subarray(at, end);
  let [width, height] = [0, 0];
  for (const place of placesOf(meta, "ispe")) {
    const [own, other] = [meta.readUInt32BE(place + 8), meta.readUInt32BE(place + 12)];
    if (own * other > width * height) [width, height] = [own, other];
  }
  // Items that are not images count too.
  const framesMax = Math.max(1, placesOf(meta, "infe").length);
  return { width, height, frames: 1, framesMax, isTiff: false };
}

/** Returns the offset of the top-level box with this name; undefined if there is none. */
function boxAt(bytes: Buffer, name: string): number | undefined {
  for (let at = 0; at + 8 <= bytes.length;) {
    if (bytes.toString("latin1", at + 4, at + 8) === name) return at;
    const size = bytes.readUInt32BE(at);
    if (size < 8) return undefined;
    at += size;
  }
  return undefined;
}

const PLACES_MAX = 10_000;

function placesOf(bytes: Buffer, name: string): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(name, 0, "latin1"); at >= 0 && places.length < PLACES_MAX;) {
    if (at + 16 <= bytes.length) places.push(at);
    at = bytes.indexOf(name, at + 4, "latin1");
  }
  return places;
}
