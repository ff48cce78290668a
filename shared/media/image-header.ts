/** Reads format and size from the first bytes of an image. Sources: PNG (W3C), GIF89a, JPEG (T.81), WebP (RFC 9649). */

export interface ImageHeader {
  readonly format: "PNG" | "JPEG" | "GIF" | "WebP";
  /** Width in pixels. Width and height are at least 1. */
  readonly width: number;
  readonly height: number;
}

/** Reads the header of an image. Returns null if the format is unknown, or if the bytes end before the image's size. */
export function readImageHeader(bytes: Uint8Array): ImageHeader | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const header = readPng(view) ?? readGif(view) ?? readWebp(view) ?? readJpeg(view);
    return header !== null && header.width > 0 && header.height > 0 ? header : null;
  } catch (error) {
    // Reading past the end: the header is truncated.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function readPng(view: DataView): ImageHeader | null {
  if (view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a || ascii(view, 12, 4) !== "IHDR")
    return null;
  return { format: "PNG", width: view.getUint32(16), height: view.getUint32(20) };
}

function readGif(view: DataView): ImageHeader | null {
  const signature = ascii(view, 0, 6);
  if (signature !== "GIF87a" && signature !== "GIF89a") return null;
  return { format: "GIF", width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

function readWebp(view: DataView): ImageHeader | null {
  if (ascii(view, 0, 4) !== "RIFF" || ascii(view, 8, 4) !== "WEBP") return null;
  switch (ascii(view, 12, 4)) {
    case "VP8 ":
      if (view.getUint8(23) !== 0x9d || view.getUint16(24) !== 0x012a) return null;
      return { format: "WebP", width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case "VP8L": {
      if (view.getUint8(20) !== 0x2f) return null;
      const bits = view.getUint32(21, true);
      return { format: "WebP", width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { format: "WebP", width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 };
    default:
      return null;
  }
}

/** Reads the size of a JPEG from its frame header. Comments and thumbnails may precede the frame header. */
function readJpeg(view: DataView): ImageHeader | null {
  if (view.getUint16(0) !== 0xffd8) return null;
  for (let at = 2; ;) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at += 1;
    } else if (isFrameHeader(marker)) {
      return { format: "JPEG", width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    } else if (marker === 0xda || marker === 0xd9) {
      return null;
    } else {
      at += marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7) ? 2 : 2 + view.getUint16(at + 2);
    }
  }
}

/** Returns true for the JPEG markers SOF0 to SOF15, except the Huffman, arithmetic and reserved markers in that range. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function ascii(view: DataView, at: number, length: number): string {
  let text = "";
  for (let i = at; i < at + length; i += 1) text += String.fromCharCode(view.getUint8(i));
  return text;
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}
