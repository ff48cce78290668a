/** Removes metadata of cameras and editors from image files. Encoded pixels are not changed. */

/** Supports JPEG (T.81), PNG (W3C) and WebP (RFC 9649); returns undefined for any other or a truncated file. */
export function withoutMetadata(bytes: Buffer, orientation: number): Buffer | undefined {
  try {
    if (bytes.readUInt16BE(0) === 0xffd8) return bareJpeg(bytes, orientation);
    if (bytes.readUInt32BE(0) === 0x8950_4e47) return barePng(bytes, orientation);
    if (bytes.toString("latin1", 0, 4) === "RIFF") return bareWebp(bytes, orientation);
    return undefined;
  } catch (error) {
    // A read past the end means a truncated file.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Returns an EXIF block with only the orientation. */
function turnOf(orientation: number): Buffer {
  const block = Buffer.alloc(26);
  block.write("II*\0\u0008\0\0\0\u0001\0", 0, "latin1");
  block.writeUInt16LE(0x0112, 10);
  block.writeUInt16LE(3, 12);
  block.writeUInt32LE(1, 14);
  block.writeUInt16LE(orientation, 18);
  return block;
}

/** True for segments needed for decoding, and for JFIF, colour profiles and Adobe's colour encoding. */
function isKeptSegment(marker: number, body: string): boolean {
  if (marker === 0xe2) return body.startsWith("ICC_PROFILE\0");
  return marker < 0xe1 || (marker > 0xef && marker !== 0xfe) || marker === 0xee;
}

/** Copies the file up to its end marker. Data after the end marker is another file with its own metadata. */
function bareJpeg(bytes: Buffer, orientation: number): Buffer {
  const head = Buffer.concat([
    Buffer.from([0xff, 0xe1, 0, 34]),
    Buffer.from("Exif\0\0", "latin1"),
    turnOf(orientation),
  ]);
  const kept = [bytes.subarray(0, 2), ...(orientation === 1 ? [] : [head])];
  for (let at = 2; ;) {
    const marker = bytes.readUInt8(at + 1);
    if (bytes.readUInt8(at) !== 0xff) throw new RangeError("no marker where one has to be");
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === 0xd9) return Buffer.concat([...kept, bytes.subarray(at, at + 2)]);
    const isAlone = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);
    let end = at + 2 + (isAlone ? 0 : bytes.readUInt16BE(at + 2));
    if (marker === 0xda) end = endOfScan(bytes, end);
    if (isKeptSegment(marker, bytes.toString("latin1", at + 4, at + 16))) kept.push(bytes.subarray(at, end));
    at = end;
  }
}

/** Returns the offset of the next marker that is not part of the scan. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes.readUInt8(at + 1);
    if (next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  throw new RangeError("a scan without an end");
}

/** Ancillary chunks that affect the display of the image. */
const PNG_KEPT = new Set(["tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "sBIT", "pHYs", "acTL", "fcTL", "fdAT"]);

function barePng(bytes: Buffer, orientation: number): Buffer {
  const kept = [bytes.subarray(0, 8)];
  for (let at = 8; ;) {
    const end = at + 12 + bytes.readUInt32BE(at);
    const name = bytes.toString("latin1", at + 4, at + 8);
    if (end > bytes.length) throw new RangeError("a chunk without an end");
    const isCritical = /^[A-Z]/.test(name);
    if (isCritical || PNG_KEPT.has(name)) kept.push(bytes.subarray(at, end));
    if (name === "IHDR" && orientation !== 1) kept.push(pngChunk("eXIf", turnOf(orientation)));
    if (name === "IEND") return Buffer.concat(kept);
    at = end;
  }
}

function pngChunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(Bun.hash.crc32(named));
  return Buffer.concat([length, named, check]);
}

const WEBP_KEPT = new Set(["VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "ICCP"]);
const [EXIF_FLAG, XMP_FLAG] = [0x08, 0x04];

function bareWebp(bytes: Buffer, orientation: number): Buffer {
  const kept: Buffer[] = [];
  const end = 8 + bytes.readUInt32LE(4);
  for (let at = 12; at + 8 <= end;) {
    const next = at + 8 + bytes.readUInt32LE(at + 4) + (bytes.readUInt32LE(at + 4) % 2);
    const name = bytes.toString("latin1", at, at + 4);
    if (next > bytes.length) throw new RangeError("a chunk without an end");
    const chunk = Buffer.from(bytes.subarray(at, next));
    if (name === "VP8X") chunk.writeUInt8((chunk.readUInt8(8) & ~(EXIF_FLAG | XMP_FLAG)) | (orientation === 1 ? 0 : EXIF_FLAG), 8); // prettier-ignore
    if (WEBP_KEPT.has(name)) kept.push(chunk);
    at = next;
  }
  if (orientation !== 1) {
    const block = turnOf(orientation);
    const head = Buffer.from("EXIF\0\0\0\0", "latin1");
    head.writeUInt32LE(block.length, 4);
    kept.push(head, block);
  }
  const body = Buffer.concat(kept);
  const head = Buffer.from("RIFF\0\0\0\0WEBP", "latin1");
  head.writeUInt32LE(body.length + 4, 4);
  return Buffer.concat([head, body]);
}
