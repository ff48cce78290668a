/**
 * Checks that a media file has content after its header: a picture, sound, frames or a shape. Reads the file's structure without decoding,
 * so that a damaged file may pass. Sources: PNG (W3C), T.81, GIF89a, RFC 9649, RFC 3533, RFC 9639, ISO/IEC 14496-12, RFC 8794, glTF 2.0.
 */

/** Maximum number of segments read of a file, and maximum bytes searched. A longer file counts as having content. */
const PARTS_MAX = 4_096;
const SEARCH_BYTES_MAX = 8 * 1_048_576;

/**
 * Returns false if a file of a known format has no content. Unknown formats count as having content.
 * @param contentType type detected from the first bytes
 */
export function hasPayload(bytes: Uint8Array, contentType: string): boolean {
  const check = CHECKS[contentType];
  if (check === undefined) return bytes.length > 0;
  try {
    return check(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  } catch (error) {
    // Reading past the end: the file ends before its content begins.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

const CHECKS: Readonly<Record<string, (file: Buffer) => boolean>> = {
  "image/png": (file) => parts(file, 8, pngChunk, ({ name, size }) => name === "IDAT" && size > 0),
  "image/jpeg": jpegHasScan,
  "image/gif": gifHasImage,
  "image/webp": (file) =>
    parts(file, 12, riffChunk, ({ name, size }) => ["VP8 ", "VP8L", "ANMF"].includes(name) && size > 0),
  "audio/wav": (file) =>
    // A stream's size is unknown, and written as 0 or as the maximum.
    parts(file, 12, riffChunk, ({ name, from }) => name === "data" && file.length > from),
  "audio/flac": flacHasFrames,
  "audio/mpeg": (file) => file.length > id3Bytes(file) + 4,
  // Each frame has a header of seven bytes.
  "audio/aac": (file) => file.length > id3Bytes(file) + 7,
  "audio/ogg": oggHasSound,
  "video/mp4": (file) => parts(file, 0, box, ({ name, size }) => name === "mdat" && size > 0),
  "video/quicktime": (file) => parts(file, 0, box, ({ name, size }) => name === "mdat" && size > 0),
  "video/webm": (file) => contains(file, Buffer.from("1f43b675", "hex")),
  "model/gltf-binary": glbHasMesh,
  "model/gltf+json": (file) => contains(file, '"meshes"'),
  "model/obj": (file) => contains(file, "\nv ") || file.toString("latin1", 0, 2) === "v ",
  "model/stl": (file) =>
    file.toString("latin1", 0, 5) === "solid" && contains(file, "facet")
      ? true
      : file.readUInt32LE(80) > 0 && file.length > 84,
  "application/zip": hasEntries,
  "model/vnd.usdz+zip": hasEntries,
};

interface Part {
  readonly name: string;
  /** Offset of the segment's content, and number of its bytes in the file. */
  readonly from: number;
  readonly size: number;
  /** Offset of the next segment. */
  readonly next: number;
}

/** Returns true if a segment of the file matches, or if the file has more than PARTS_MAX segments. */
function parts(
  file: Buffer,
  start: number,
  read: (file: Buffer, at: number) => Part,
  fits: (part: Part) => boolean,
): boolean {
  let at = start;
  for (let count = 0; count < PARTS_MAX; count++) {
    if (at >= file.length) return false;
    const part = read(file, at);
    if (fits(part)) return true;
    if (part.next <= at) return false;
    at = part.next;
  }
  return true;
}

function pngChunk(file: Buffer, at: number): Part {
  const size = file.readUInt32BE(at);
  return part(file, file.toString("latin1", at + 4, at + 8), at + 8, size, at + 12 + size);
}

function riffChunk(file: Buffer, at: number): Part {
  const size = file.readUInt32LE(at + 4);
  return part(file, file.toString("latin1", at, at + 4), at + 8, size, at + 8 + size + (size % 2));
}

function box(file: Buffer, at: number): Part {
  const size = file.readUInt32BE(at);
  const name = file.toString("latin1", at + 4, at + 8);
  // 1: a 64-bit size follows; 0: the box extends to the end.
  if (size === 1) {
    const whole = Number(file.readBigUInt64BE(at + 8));
    return part(file, name, at + 16, whole - 16, at + whole);
  }
  const end = size === 0 ? file.length : at + size;
  return part(file, name, at + 8, end - at - 8, end);
}

function part(file: Buffer, name: string, from: number, size: number, next: number): Part {
  return { name, from, size: Math.min(size, file.length - from), next };
}

function contains(file: Buffer, what: string | Buffer): boolean {
  return file.length > SEARCH_BYTES_MAX || file.includes(what);
}

/** Returns true if a JPEG contains a scan with data after its headers. */
function jpegHasScan(file: Buffer): boolean {
  let at = 2;
  for (let count = 0; count < PARTS_MAX; count++) {
    const marker = file.readUInt16BE(at) & 0xff;
    if (marker === 0xff) at += 1;
    else if (marker === 0xd9) return false;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else {
      const end = at + 2 + file.readUInt16BE(at + 2);
      if (marker === 0xda) return file.length > end;
      at = end;
    }
  }
  return true;
}

/** Returns true if a GIF contains an image block with data after its screen descriptor. */
function gifHasImage(file: Buffer): boolean {
  let at = 13 + colorsBytes(file.readUInt8(10));
  for (let count = 0; count < PARTS_MAX; count++) {
    const kind = file.readUInt8(at);
    if (kind === 0x2c) return file.readUInt8(at + 10 + colorsBytes(file.readUInt8(at + 9)) + 1) > 0;
    if (kind !== 0x21) return false;
    // An extension: its label, then blocks up to an empty one.
    at += 2;
    while (file.readUInt8(at) > 0) at += 1 + file.readUInt8(at);
    at += 1;
  }
  return true;
}

function colorsBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

function id3Bytes(file: Buffer): number {
  if (file.toString("latin1", 0, 3) !== "ID3") return 0;
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (file.readUInt8(at) & 0x7f), 0);
  return 10 + size;
}

/** Returns true if bytes follow the last metadata block of a FLAC file. */
function flacHasFrames(file: Buffer): boolean {
  let at = id3Bytes(file) + 4;
  for (let count = 0; count < PARTS_MAX; count++) {
    const head = file.readUInt32BE(at);
    at += 4 + (head & 0xff_ffff);
    if (head >>> 31 === 1) return file.length > at;
  }
  return true;
}

/** Returns true if an Ogg file has a page that ends after the first sample. Header pages have position 0. */
function oggHasSound(file: Buffer): boolean {
  let at = 0;
  for (let count = 0; count < PARTS_MAX && at < file.length; count++) {
    if (file.toString("latin1", at, at + 4) !== "OggS") return false;
    // -1: no packet ends on the page, so it is part of a large one.
    if (file.readBigInt64LE(at + 6) > 0n) return true;
    const segments = file.readUInt8(at + 26);
    let size = 27 + segments;
    for (let segment = 0; segment < segments; segment++) size += file.readUInt8(at + 27 + segment);
    at += size;
  }
  return at < file.length;
}

/** Returns false if a ZIP archive is empty, because it begins with its end record. */
function hasEntries(file: Buffer): boolean {
  return file.readUInt32BE(0) !== 0x504b0506;
}

/** Returns true if the scene of a GLB file has meshes, and bytes or a URI for them. */
function glbHasMesh(file: Buffer): boolean {
  const scene = file.subarray(20, 20 + file.readUInt32LE(12));
  if (!contains(scene, '"meshes"')) return false;
  return file.length > 20 + scene.length + 8 || contains(scene, '"uri"');
}
