/** What cameras write, kept through operations that make new pixels. For child processes only. */
import sharp, { type Sharp } from "sharp";

import type { InputFile } from "../define.ts";

/**
 * The image with EXIF and XMP: its own, or those of the file that its pixels were made of. The profile stays with its own
 * pixels alone; GIF has no place for one, so its colours are written as the others are read: as sRGB.
 * @param image upright, unless its own metadata says how it is turned
 */
export async function withMetadata(image: Sharp, format: string, source: InputFile | undefined): Promise<Sharp> {
  if (format === "gif") return image;
  if (source === undefined) return image.keepMetadata();
  const { exif, xmp, icc, pages = 1 } = await image.metadata();
  if (pages > 1 || [exif, xmp, icc].some((one) => one !== undefined)) return image.keepMetadata();
  const told = sharp(source.path).autoOrient().keepExif().keepXmp();
  const carrier = await told.resize({ width: 1, height: 1, fit: "fill" }).png().toBuffer();
  const { data, info } = await image
    .toColourspace("srgb")
    .png({ compressionLevel: 1 })
    .toBuffer({ resolveWithObject: true });
  const laid = sharp(carrier)
    .resize({ width: info.width, height: info.height, fit: "fill", kernel: "nearest" })
    .ensureAlpha()
    .composite([{ input: data, blend: "source" }]);
  const whole = info.channels === 4 ? laid : laid.removeAlpha();
  // Afresh: in one chain sharp would flatten before it composes.
  return sharp(await whole.keepExif().keepXmp().png({ compressionLevel: 1 }).toBuffer())
    .keepExif()
    .keepXmp();
}
