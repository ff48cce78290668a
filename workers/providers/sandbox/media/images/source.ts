/**
 * A given picture, decoded with care: kind and size are read from its own bytes before any decoder sees it, and a file
 * that is something else besides a picture is refused.
 */
import sharp from "sharp";

import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";

import { readImageHeader } from "#shared/media/image-header.ts";

export interface Pixels {
  /** Four bytes a pixel: red, green, blue, alpha. */
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly hasAlpha: boolean;
}

/**
 * Turned upright as its EXIF says, in sRGB, 8 bits a channel; of an animation the first picture.
 * @param what how errors name it, such as "image" or "mask"
 * @throws MediaError unsupported, too_large, corrupt
 */
export async function decodePicture(bytes: Uint8Array, what: string): Promise<Pixels> {
  checkPicture(bytes, what);
  const input = { limitInputPixels: MEDIA_LIMITS.sourcePixelsMax, failOn: "warning", pages: 1 } as const;
  try {
    const picture = sharp(bytes, input).timeout({ seconds: MEDIA_LIMITS.imageSeconds });
    const { hasAlpha } = await picture.metadata();
    const { data, info } = await picture
      .autoOrient()
      .toColourspace("srgb")
      .ensureAlpha()
      .raw({ depth: "uchar" })
      .toBuffer({ resolveWithObject: true });
    return { data: new Uint8Array(data), width: info.width, height: info.height, hasAlpha };
  } catch (error) {
    throw new MediaError("corrupt", `The ${what} cannot be decoded: its data are damaged or cut off.`, {
      cause: error,
    });
  }
}

function checkPicture(bytes: Uint8Array, what: string): void {
  const { sourceBytesMax, sourcePixelsMax, sourceSideMaxPixels } = MEDIA_LIMITS;
  if (bytes.byteLength > sourceBytesMax) {
    throw new MediaError(
      "too_large",
      `The ${what} has ${bytes.byteLength} bytes; at most ${sourceBytesMax} are taken.`,
    );
  }
  const header = readImageHeader(bytes);
  if (header === null || header.format === "GIF") {
    throw new MediaError("unsupported", `The ${what} is neither PNG nor JPEG nor WebP.`);
  }
  const { width, height, format } = header;
  if (width * height > sourcePixelsMax || Math.max(width, height) > sourceSideMaxPixels) {
    throw new MediaError(
      "too_large",
      `The ${what} has ${width} × ${height} pixels; at most ${sourcePixelsMax} pixels and ${sourceSideMaxPixels} a side are taken.`,
    );
  }
  const end = { PNG: pngEnd, JPEG: jpegEnd, WebP: webpEnd }[format](bytes);
  if (end === null) throw new MediaError("corrupt", `The ${what} is cut off before its end.`);
  if (!isPadding(bytes.subarray(end))) {
    throw new MediaError("unsupported", `The ${what} has other data behind its end.`);
  }
}

/** Zeros and line ends are left by careless writers; a second JPEG is the preview that cameras append. */
function isPadding(rest: Uint8Array): boolean {
  if (rest[0] === 0xff && rest[1] === 0xd8 && rest[2] === 0xff) {
    const end = jpegEnd(rest);
    return end !== null && isPadding(rest.subarray(end));
  }
  return rest.every((byte) => byte === 0 || byte === 0x0a || byte === 0x0d);
}

/** Where a PNG ends; null if before its IEND. */
function pngEnd(bytes: Uint8Array): number | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 8; at + 12 <= bytes.byteLength;) {
    const next = at + 12 + view.getUint32(at);
    if (view.getUint32(at + 4) === 0x49454e44) return next <= bytes.byteLength ? next : null;
    at = next;
  }
  return null;
}

function webpEnd(bytes: Uint8Array): number | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = 8 + view.getUint32(4, true);
  // Some writers leave the last byte of padding out.
  return size <= bytes.byteLength + 1 ? Math.min(bytes.byteLength, size + (size & 1)) : null;
}

/** Walks the segments, and through the coded data to the next marker. */
function jpegEnd(bytes: Uint8Array): number | null {
  for (let at = 2; at + 1 < bytes.byteLength;) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xd9) return at + 2;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const hasLength = marker !== 0x01 && !(marker >= 0xd0 && marker <= 0xd7);
    at += 2 + (hasLength ? ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0) : 0);
    if (marker !== 0xda) continue;
    for (;;) {
      at = bytes.indexOf(0xff, at);
      if (at < 0) return null;
      const next = bytes[at + 1] ?? 0;
      if (next !== 0 && !(next >= 0xd0 && next <= 0xd7)) break;
      at += 2;
    }
  }
  return null;
}
