/** Metadata of cameras, kept through operations that make new pixels. For child processes only. */
import sharp, { type Metadata, type Sharp } from "sharp";

import type { InputFile } from "../define.ts";

/**
 * The image with its metadata: its own, or EXIF and XMP of the file that its pixels were made of. GIF has no place for a
 * profile, so its colours are written as the others are read: as sRGB.
 * @param image upright, unless its own metadata says how it is turned
 */
export async function withMetadata(image: Sharp, format: string, source: InputFile | undefined): Promise<Sharp> {
  if (format === "gif") return image;
  if (source === undefined) return image.keepMetadata();
  const own = await image.metadata();
  if ((own.pages ?? 1) > 1 || [own.exif, own.xmp, own.icc].some((one) => one !== undefined)) {
    return keepsProfile(own) ? image.keepMetadata() : image.keepMetadata().withIccProfile("srgb");
  }
  const { exif, xmp } = await sharp(source.path).metadata();
  if (exif === undefined && xmp === undefined) return image;
  const told = sharp(source.path).autoOrient().keepExif().keepXmp();
  const carrier = await told.resize({ width: 1, height: 1, fit: "fill" }).png().toBuffer();
  const { data, info } = await image
    .toColourspace("srgb")
    .png({ compressionLevel: 1 })
    .toBuffer({ resolveWithObject: true });
  const laid = await sharp(carrier)
    .resize({ width: info.width, height: info.height, fit: "fill", kernel: "nearest" })
    .ensureAlpha()
    .composite([{ input: data, blend: "source" }])
    .keepExif()
    .keepXmp()
    .png({ compressionLevel: 1 })
    .toBuffer();
  // Afresh: in one chain sharp would take the alpha away before it adds it, and flatten before it composes.
  const whole = sharp(laid).keepExif().keepXmp();
  return info.channels === 4 ? whole : whole.removeAlpha();
}

/** The image with the colour profile of its file, if its pixels can have it; else its colours are those of sRGB. */
export async function withColorProfile(image: Sharp): Promise<Sharp> {
  return keepsProfile(await image.metadata()) ? image.keepIccProfile() : image;
}

/** Results are RGB: a profile of inks or of grey would be one of other colours, and sharp heeds none that it keeps. */
function keepsProfile({ icc, space }: Metadata): boolean {
  return icc === undefined || space.includes("rgb");
}
