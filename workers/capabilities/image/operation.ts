/**
 * Defines image operations. Each operation is a capability and also a step of `image.pipeline`. A step receives exactly the pixels that the
 * previous step returned.
 */
import sharp, { type Sharp } from "sharp";

import type { Rule } from "#shared/calls/capabilities/entry.ts";
import { MediaError } from "#shared/children/media-error.ts";
import { IMAGE_SIDE_PIXELS_MAX } from "#shared/calls/capabilities/limits.ts";

import { defineCapability, type DefinedCapability, input, type InputFile, type Member } from "../define.ts";
import { asMediaError } from "../faults.ts";
import type { Params, ParamsOf } from "../params.ts";
import type { Assets } from "../steps.ts";
import { eachFrame } from "./frames.ts";
import { checkColor, type DeepSpace, type OpenedImage, openImage, OUTPUT, type Output, writeImage } from "./sharp.ts";

export interface ImageOperation<P extends Params = Params> {
  readonly params: P;
  readonly rules?: readonly Rule[];
  /**
   * True if the operation can process all frames of an animation at once, stacked vertically. Otherwise it runs separately for each frame.
   */
  readonly takesFrames?: true;
  /** True if the operation keeps 16 bits per sample; otherwise it uses 8 bits. */
  readonly keepsDepth?: (params: ParamsOf<P>) => boolean;
  /** True if the operation ignores the EXIF orientation. */
  readonly asStored?: (params: ParamsOf<P>) => boolean;
  /**
   * Applies the operation to an image.
   * @param assets files for the operation's second input
   * @throws MediaError `invalid`, `too_large`
   */
  readonly apply: (image: OpenedImage, params: ParamsOf<P>, assets: Assets) => Promise<Sharp> | Sharp;
}

interface Published {
  readonly id: string;
  readonly display_name: string;
  readonly description: string;
  readonly assets?: Readonly<Record<string, Member<unknown>>>;
  readonly sample_input?: Readonly<Record<string, unknown>>;
  readonly examples: readonly { readonly title: string; readonly params: Readonly<Record<string, unknown>> }[];
}

export const MEGAPIXEL_PRICE = { unit: "per_megapixel", megapixel_price: "0.02" } as const;
export const PHOTO = { image: { file_id: "file-sample-photo" } } as const;
const IMAGE = "image" as const;

/** Defines the capability of an operation with one image as input and output. */
export function imageCapability<const P extends Params>(
  operation: ImageOperation<P>,
  published: Published,
): DefinedCapability {
  const { assets = {}, sample_input = PHOTO, ...rest } = published;
  return defineCapability({
    ...rest,
    output_modality: IMAGE,
    input: { image: input("image", "The image."), ...assets },
    // Spread again, because an operation's own params override the output params of the same name.
    params: { ...operation.params, ...OUTPUT, ...operation.params },
    rules: operation.rules ?? [],
    sample_input,
    price: MEGAPIXEL_PRICE,
    engine: "sharp",
    async run({ params, inputs, folder }) {
      const own = params as unknown as ParamsOf<P> & Output;
      const {
        image,
        assets: named,
        ...others
      } = inputs as unknown as Assets & { readonly image: InputFile; readonly assets?: Assets };
      checkColor("params.background", own.background);
      const asStored = operation.asStored?.(own) === true;
      const frames = keepsFrames(image, own.format, operation.takesFrames);
      const depth = operation.keepsDepth?.(own) === true ? { depthFor: own } : {};
      const opened = await openImage(image, { frames, asStored, ...depth });
      const apply = (one: OpenedImage) => operation.apply(one, own, { ...others, ...named });
      if (opened.pages === 1 || operation.takesFrames) {
        return writeImage(folder, await apply(opened), opened, own, { source: image });
      }
      const { image: edited, timing } = await eachFrame(opened, apply);
      return writeImage(folder, edited, opened, own, { timing });
    },
  });
}

/**
 * True if the result contains all frames of its input. The pages of a TIFF are kept only if the operation processes stacked frames and the
 * result is a TIFF too.
 */
export function keepsFrames(file: InputFile, format: Output["format"], takesFrames = false): boolean {
  const isTiff = file.mediaType === "image/tiff";
  return isTiff
    ? takesFrames && (format === undefined || format === "tiff")
    : format === undefined || format === "gif" || format === "webp";
}

/**
 * Renders the image to pixels before the next operation. Without this, sharp would apply the operations in its own order.
 * @param pages number of frames of the animation
 * @param deep colourspace with 16 bits per sample; undefined for 8 bits
 */
export async function settled(
  image: Sharp,
  format: OpenedImage["format"] = "png",
  pages = 1,
  deep?: DeepSpace,
): Promise<OpenedImage> {
  try {
    if (deep) return await settledDeep(image, format, deep);
    const { data, info } = await image
      .toColourspace("srgb")
      .raw({ depth: "uchar" })
      .toBuffer({ resolveWithObject: true });
    const { width, height, channels } = info;
    checkSide(width, height);
    const raw = { width, height, channels } as const;
    return {
      image: sharp(data, { raw }),
      width,
      height,
      format,
      hasAlpha: channels === 2 || channels === 4,
      pages,
      dropped: 0,
    };
  } catch (error) {
    throw asMediaError(error);
  }
}

/** Renders the pixels as PNG, which keeps 16 bits and metadata. */
async function settledDeep(image: Sharp, format: OpenedImage["format"], deep: DeepSpace): Promise<OpenedImage> {
  const png = image.toColourspace(deep).keepExif().keepXmp().png({ compressionLevel: 1 });
  const { data, info } = await png.toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  checkSide(width, height);
  const opened = sharp(data, { limitInputPixels: false }).pipelineColourspace(deep).toColourspace(deep);
  const hasAlpha = channels === 2 || channels === 4;
  return { image: opened, width, height, format, hasAlpha, pages: 1, dropped: 0, deep };
}

/** Checks the side lengths of an image. @throws MediaError too_large */
export function checkSide(width: number, height: number): void {
  const max = IMAGE_SIDE_PIXELS_MAX;
  if (width <= max && height <= max) return;
  throw new MediaError("too_large", `Expected a result of at most ${max} pixels on a side, got ${width} × ${height}.`);
}
