/** Paints a new scene into the caller's image. Pixels under the opaque part of the mask stay unchanged. */
import sharp from "sharp";

import { MediaError } from "#shared/children/media-error.ts";

import { decodeImage, type Pixels } from "./decode.ts";
import { encodeImage, type Encoding } from "./encode.ts";
import { paintScene } from "./scene.ts";

export interface ImageEditParams extends Encoding {
  readonly prompt: string;
  readonly seed: number;
  /** Strength of the change: 0 keeps the image, 1 repaints it completely. */
  readonly strength: number;
  /** Size of the result in pixels; undefined keeps the size of the image. */
  readonly size?: { readonly width: number; readonly height: number } | undefined;
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Matches prompts such as "Add a boat", which add only that object. Any other prompt paints a whole scene. */
const ADDS = /^\W*(add|put|place|insert|draw)\b/i;

/**
 * Returns the changed image as a file.
 * @throws MediaError unsupported, too_large, corrupt; invalid for a mask whose size differs from the image's or that has no transparency
 */
export async function editImage(
  { prompt, seed, strength, size, ...encoding }: ImageEditParams,
  image: Uint8Array,
  mask: Uint8Array | undefined,
): Promise<Uint8Array> {
  const source = await decodeImage(image, "The image");
  const opening = mask === undefined ? null : await readMask(mask, source);
  const box = opening === null ? { left: 0, top: 0, ...sizeOf(source) } : boundsOf(opening);
  if (box !== null) {
    const isTransparent = ADDS.test(prompt);
    const scene = await paintScene({ prompt, seed, width: box.width, height: box.height, isTransparent });
    blend(source, await scene.raw().toBuffer(), box, strength, opening);
  }
  const edited = sharp(source.data, { raw: { ...sizeOf(source), channels: 4 } });
  const result = source.hasAlpha ? edited : edited.removeAlpha();
  return encodeImage(size === undefined ? result : result.resize({ ...size, fit: "cover" }), encoding);
}

const sizeOf = ({ width, height }: Pixels) => ({ width, height });

/** Decodes a mask, which must have the image's size. Pixels with an alpha below 255 are repainted. */
async function readMask(bytes: Uint8Array, source: Pixels): Promise<Pixels> {
  const mask = await decodeImage(bytes, "The mask");
  if (mask.width !== source.width || mask.height !== source.height) {
    throw new MediaError(
      "invalid",
      `The mask must have the size of the image, ${source.width} × ${source.height} pixels; it has ${mask.width} × ${mask.height}.`,
    );
  }
  if (!mask.hasAlpha) {
    throw new MediaError("invalid", "The mask must have an alpha channel; its transparent part is repainted.");
  }
  return mask;
}

/** Returns the smallest box around the pixels to repaint; null if there are none. */
function boundsOf({ data, width, height }: Pixels): Box | null {
  let left = width;
  let right = -1;
  let top = height;
  let bottom = -1;
  for (let y = 0, at = 3; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, at += 4) {
      if (data[at] === 255) continue;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      bottom = y;
    }
  }
  return right < 0 ? null : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

/** Blends the scene into the image's pixels and changes them in place. @param opening mask; null repaints every pixel */
function blend(image: Pixels, scene: Uint8Array, box: Box, strength: number, opening: Pixels | null): void {
  for (let y = 0, from = 0; y < box.height; y += 1) {
    let to = 4 * ((box.top + y) * image.width + box.left);
    for (let x = 0; x < box.width; x += 1, from += 4, to += 4) {
      const openness = 255 - (opening?.data[to + 3] ?? 0);
      const weight = (strength * openness * (scene[from + 3] ?? 0)) / (255 * 255);
      if (weight === 0) continue;
      for (let channel = 0; channel < 4; channel += 1) {
        const before = image.data[to + channel] ?? 0;
        const after = channel === 3 ? 255 : (scene[from + channel] ?? 0);
        image.data[to + channel] = Math.round(before + (after - before) * weight);
      }
    }
  }
}
