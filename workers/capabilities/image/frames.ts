/**
 * Runs operations on each frame of an animation separately. Applied to all stacked frames at once, these operations would mix adjacent
 * frames. For child processes only.
 */
import sharp, { type Sharp } from "sharp";

import { MediaError } from "#shared/children/media-error.ts";

import { asMediaError } from "../faults.ts";
import type { OpenedImage, Timing } from "./sharp.ts";

/** Maximum number of pixels in all frames of an input. They are kept in memory with 4 bytes each, which is half a gigabyte. */
const PIXELS_MAX = 128_000_000;

/**
 * Applies an operation to each frame.
 * @param opened image with all its frames
 * @throws MediaError too_large; invalid if the resulting frames differ in size
 */
export async function eachFrame(
  opened: OpenedImage,
  apply: (frame: OpenedImage) => Promise<Sharp> | Sharp,
): Promise<{ readonly image: Sharp; readonly timing: Timing }> {
  const { width, height, pages } = opened;
  if (width * height * pages > PIXELS_MAX) {
    const got = width * height * pages;
    throw new MediaError("too_large", `Expected at most ${PIXELS_MAX} pixels in all frames, got ${got}.`);
  }
  try {
    const { delay, loop } = await opened.image.metadata();
    const all = await opened.image.toColourspace("srgb").ensureAlpha().raw({ depth: "uchar" }).toBuffer();
    const bytes = width * height * 4;
    const frames: Buffer[] = [];
    let size = "";
    for (let at = 0; at < pages; at++) {
      const raw = { width, height, channels: 4 } as const;
      const image = sharp(all.subarray(at * bytes, (at + 1) * bytes), { raw });
      const edited = await apply({ ...opened, image, hasAlpha: true });
      const { data, info } = await edited.png({ compressionLevel: 1 }).toBuffer({ resolveWithObject: true });
      const own = `${info.width} × ${info.height}`;
      if (size !== "" && own !== size) {
        throw new MediaError("invalid", `Expected all frames to come out in one size, got ${size} and ${own}.`);
      }
      size = own;
      frames.push(data);
    }
    const timing = { ...(delay === undefined ? {} : { delay }), ...(loop === undefined ? {} : { loop }) };
    return { image: sharp(frames, { join: { animated: true } }), timing };
  } catch (error) {
    throw asMediaError(error);
  }
}

/** Rotates all frames by the EXIF orientation. @param orientation EXIF value from 1. @throws MediaError too_large */
export async function upright(opened: OpenedImage, orientation: number): Promise<OpenedImage> {
  const { image, timing } = await eachFrame(opened, async ({ image: frame }) => {
    const said = await frame.withMetadata({ orientation }).png({ compressionLevel: 1 }).toBuffer();
    return sharp(said).autoOrient();
  });
  const turned = sharp(await image.webp({ lossless: true, ...timing }).toBuffer(), { animated: true });
  const { width, height, pageHeight = height, pages = 1 } = await turned.metadata();
  return { ...opened, image: turned, width, height: pageHeight, hasAlpha: true, pages };
}
