/** Copies the metadata of cameras to images with changed pixels. For child processes only. */
import sharp, { type Metadata, type Sharp } from "sharp";

import type { InputFile } from "../define.ts";

/**
 * Returns the image with its own metadata. An image without any gets the EXIF and XMP of its source file. A GIF is returned unchanged: it
 * cannot contain a colour profile, so decoders assume sRGB.
 * @param image upright image, unless its own metadata contains an orientation
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
  const metadataSource = sharp(source.path).autoOrient().keepExif().keepXmp();
  const carrier = await metadataSource.resize({ width: 1, height: 1, fit: "fill" }).png().toBuffer();
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
  // A new pipeline: a single one would remove alpha before adding it, and flatten before compositing.
  const whole = sharp(laid).keepExif().keepXmp();
  return info.channels === 4 ? whole : whole.removeAlpha();
}

/** Returns the image with the colour profile of its file if the profile fits the pixels. Otherwise the colours are converted to sRGB. */
export async function withColorProfile(image: Sharp): Promise<Sharp> {
  return keepsProfile(await image.metadata()) ? image.keepIccProfile() : image;
}

/** True if the image has no colour profile, or an RGB one. Results are RGB, so a CMYK or grey profile would not fit them. */
function keepsProfile({ icc, space }: Metadata): boolean {
  return icc === undefined || space.includes("rgb");
}
