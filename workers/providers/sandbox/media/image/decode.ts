/** Decodes the caller's image. Type and size are checked in the first bytes before any decoder runs. */
import sharp from "sharp";

import { readImageHeader } from "#shared/media/image-header.ts";
import { MediaError } from "#shared/children/media-error.ts";
import { MEDIA_LIMITS, checkMax } from "#workers/providers/sandbox/media/limits.ts";

export interface Pixels {
  /** Pixel data, four bytes per pixel: red, green, blue, alpha. */
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  /** True if the file itself has an alpha channel. */
  readonly hasAlpha: boolean;
}

/**
 * Decodes an image to sRGB with 8 bits per channel, rotated by its EXIF orientation. For an animation, the first frame is used.
 * @param what subject of error messages, such as "The image"
 * @throws MediaError unsupported, too_large, corrupt
 */
export async function decodeImage(bytes: Uint8Array, what: string): Promise<Pixels> {
  checkImage(bytes, what);
  const input = { limitInputPixels: MEDIA_LIMITS.sourcePixelsMax, failOn: "warning", pages: 1 } as const;
  try {
    const image = sharp(bytes, input).timeout({ seconds: MEDIA_LIMITS.imageSeconds });
    const { hasAlpha } = await image.metadata();
    const { data, info } = await image
      .autoOrient()
      .toColourspace("srgb")
      .ensureAlpha()
      .raw({ depth: "uchar" })
      .toBuffer({ resolveWithObject: true });
    return { data, width: info.width, height: info.height, hasAlpha };
  } catch (error) {
    throw new MediaError("corrupt", `${what} cannot be decoded: its data are damaged or cut off.`, {
      cause: error,
    });
  }
}

/**
 * Checks type and size of an image in its first bytes, without a decoder.
 * @param what subject of error messages, such as "The image"
 * @throws MediaError unsupported, too_large
 */
function checkImage(bytes: Uint8Array, what: string): void {
  const { sourceBytesMax, sourcePixelsMax, sourceSideMaxPixels } = MEDIA_LIMITS;
  checkMax(what, bytes.byteLength, sourceBytesMax, "bytes");
  const header = readImageHeader(bytes);
  if (header === null || header.format === "GIF") {
    throw new MediaError("unsupported", `${what} is neither PNG nor JPEG nor WebP.`);
  }
  const { width, height } = header;
  checkMax(what, width * height, sourcePixelsMax, "pixels");
  checkMax(what, Math.max(width, height), sourceSideMaxPixels, "pixels a side");
}
