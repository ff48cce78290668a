/** The picture that came with a prompt: worn by the thing, or made into a relief. */
import sharp from "sharp";

import { decodePicture } from "../images/source.ts";
import type { Picture, Skin } from "./finishes.ts";
import { pictureProjected, wrapProjected } from "./kit/project.ts";
import { boundsOf, type Bounds, type Shape } from "./kit/shape.ts";
import type { Part, Thing } from "./things/thing.ts";

export interface GivenPicture extends Picture {
  /** One byte a pixel: 0 where nothing is; null where the picture is everywhere. */
  readonly alpha: Uint8Array | null;
}

/** Pixels of the longer side of a texture: more than a screen shows of it, 100 to 300 KB. */
const TEXTURE_SIDE = 1_024;
/** A picture with less than this share of clear pixels is taken as a whole. */
const CLEAR_SHARE_MIN = 0.04;

/** @throws MediaError unsupported, too_large, corrupt */
export async function readGivenPicture(bytes: Uint8Array): Promise<GivenPicture> {
  const { data, width, height, hasAlpha } = await decodePicture(bytes, "image");
  const small = sharp(data, { raw: { width, height, channels: 4 } }).resize(TEXTURE_SIDE, TEXTURE_SIDE, {
    fit: "inside",
    withoutEnlargement: true,
  });
  const { data: pixels, info } = await small
    .clone()
    .flatten({ background: "#ffffff" })
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true });
  const picture = { name: "given picture", width: info.width, height: info.height, pixels: new Uint8Array(pixels) };
  if (!hasAlpha) return { ...picture, alpha: null };
  const alpha = new Uint8Array(await small.clone().extractChannel(3).raw({ depth: "uchar" }).toBuffer());
  const clear = alpha.reduce((count, value) => count + (value < 128 ? 1 : 0), 0);
  const isCutOut = clear > CLEAR_SHARE_MIN * alpha.length && clear < 0.98 * alpha.length;
  return { ...picture, alpha: isCutOut ? alpha : null };
}

/** The thing's main parts wear the picture; where it has none, its largest part does. */
export function wearing(parts: readonly Part[], { picture: how }: Thing, picture: Picture): readonly Part[] {
  const isMain = (part: Part): boolean => part.skin.isMain === true;
  const largest = parts.toSorted((a, b) => b.shape.indices.length - a.shape.indices.length)[0];
  const dressed = parts.some(isMain) ? parts.filter(isMain) : parts.filter((part) => part === largest);
  const bounds = boundsOf(dressed.map(({ shape }) => shape));
  return parts.map((part) => {
    if (!dressed.includes(part)) return part;
    const shape: Shape = { ...part.shape, colours: null };
    return {
      ...part,
      skin: pictured(part.skin, picture),
      shape:
        how === "around"
          ? wrapped(shape, bounds, picture)
          : pictureProjected(shape, bounds, picture.width / picture.height),
    };
  });
}

/** Metal and glass would hide the picture: they become glossy paint. */
export function pictured({ isSheet }: Pick<Skin, "isSheet">, { name, width, height, pixels }: Picture): Skin {
  return {
    finish: "glossy",
    colour: "#ffffff",
    isMain: true,
    picture: { name, width, height, pixels },
    ...(isSheet === undefined ? {} : { isSheet }),
  };
}

/** As often around the thing as keeps the picture's proportions. */
export function wrapped(shape: Shape, bounds: Bounds, { width, height }: Picture): Shape {
  const around = (Math.PI * (bounds.max[0] - bounds.min[0] + bounds.max[2] - bounds.min[2])) / 2;
  const high = bounds.max[1] - bounds.min[1] || 1;
  const repeats = Math.max(1, Math.round(around / ((high * width) / height)));
  return wrapProjected(shape, bounds, repeats);
}
