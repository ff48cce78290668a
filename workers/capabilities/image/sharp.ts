/** How image capabilities open and write images, through sharp. For child processes only. */
import { join } from "node:path";

import sharp, { type Sharp } from "sharp";

import { LIMITS } from "#shared/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";

import type { InputFile, Made } from "../define.ts";
import { asMediaError } from "../faults.ts";
import { choice, color, flag, integer, type ParamsOf } from "../params.ts";

// One image at a time on one core: what runs beside it is another child's.
sharp.concurrency(1);
sharp.cache(false);

export const FORMATS = ["jpeg", "png", "webp", "avif", "gif", "tiff"] as const;
export type Format = (typeof FORMATS)[number];

const MEDIA_TYPES: Readonly<Record<Format, string>> = {
  jpeg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
  avif: "image/avif",
  gif: "image/gif",
  tiff: "image/tiff",
};

/** What most image capabilities say about their result. */
export const OUTPUT = {
  format: choice("Format of the result; the input's where it is not given.", FORMATS, {}),
  quality: integer("Of formats that lose detail.", { min: 1, max: 100, default: 80 }),
  lossless: flag("Keeps every pixel, in webp and avif.", false),
  background: color("Stands behind transparency where the format has none.", { default: "white" }),
  keep_metadata: flag("Keeps EXIF, XMP and the colour profile; without it places and cameras are not told.", false),
};
export type Output = ParamsOf<typeof OUTPUT>;

export interface OpenedImage {
  readonly image: Sharp;
  readonly width: number;
  readonly height: number;
  readonly format: Format;
  readonly hasAlpha: boolean;
  readonly pages: number;
}

const HEADERS: Readonly<Record<string, Format>> = {
  jpeg: "jpeg",
  png: "png",
  webp: "webp",
  gif: "gif",
  tiff: "tiff",
  heif: "avif",
};

/**
 * Upright, as its camera says, unless told otherwise.
 * @param options `frames`: all frames of an animation, below one another
 * @throws MediaError unsupported, corrupt, too_large
 */
export async function openImage(
  file: InputFile,
  options: { readonly frames?: boolean; readonly asStored?: boolean } = {},
): Promise<OpenedImage> {
  const { frames = false, asStored = false } = options;
  const opening = { limitInputPixels: false, animated: frames, failOn: "error", sequentialRead: true } as const;
  try {
    const facts = await sharp(file.path, opening).metadata();
    const format = HEADERS[facts.format ?? ""];
    if (format === undefined || file.mediaType === "image/svg+xml") {
      throw new MediaError("unsupported", `Expected an image in ${FORMATS.join(", ")}, got ${file.mediaType}.`);
    }
    const pages = frames ? (facts.pages ?? 1) : 1;
    const height = frames ? (facts.pageHeight ?? facts.height) : facts.height;
    checkSize(facts.width, height, pages);
    const isTurned = !asStored && (facts.orientation ?? 1) >= 5;
    const image = sharp(file.path, opening);
    return {
      image: asStored ? image : image.autoOrient(),
      width: isTurned ? height : facts.width,
      height: isTurned ? facts.width : height,
      format,
      hasAlpha: facts.hasAlpha,
      pages,
    };
  } catch (error) {
    throw asMediaError(error);
  }
}

function checkSize(width: number, height: number, pages: number): void {
  const { imagePixelsMax, imageFramesPixelsMax } = LIMITS;
  if (width * height > imagePixelsMax) {
    throw new MediaError("too_large", `Expected at most ${imagePixelsMax} pixels, got ${width * height}.`);
  }
  if (width * height * pages > imageFramesPixelsMax) {
    const got = width * height * pages;
    throw new MediaError("too_large", `Expected at most ${imageFramesPixelsMax} pixels in all frames, got ${got}.`);
  }
}

/**
 * Writes the result in its format.
 * @param from the image that it was made of: its format where none is asked for, its size for the price
 * @param operations how many the price counts. @param name of the file, without its ending
 */
export async function writeImage(
  folder: string,
  image: Sharp,
  from: Pick<OpenedImage, "format" | "width" | "height" | "pages">,
  output: Output,
  { operations = 1, name: stem = "image" }: { readonly operations?: number; readonly name?: string } = {},
): Promise<Made> {
  const format = output.format ?? from.format;
  const name = `${stem}.${format === "jpeg" ? "jpg" : format}`;
  const path = join(folder, name);
  try {
    const { width, height, pages = 1, pageHeight } = await encoded(image, format, output).toFile(path);
    const side = pageHeight ?? height;
    return {
      output: { width, height: side, format, ...(pages > 1 ? { frames: pages } : {}) },
      files: [{ path, mediaType: MEDIA_TYPES[format], name }],
      pixels: Math.max(from.width * from.height * from.pages, width * height) * operations,
    };
  } catch (error) {
    throw asMediaError(error);
  }
}

function encoded(image: Sharp, format: Format, { quality, lossless, background, keep_metadata: keeps }: Output): Sharp {
  const kept = keeps ? image.keepMetadata() : image;
  switch (format) {
    case "jpeg":
      return kept.flatten({ background }).jpeg({ quality, mozjpeg: false });
    case "png":
      return kept.png();
    case "webp":
      return kept.webp({ quality, lossless });
    case "avif":
      return kept.avif({ quality, lossless, effort: 3 });
    case "gif":
      return kept.gif();
    case "tiff":
      return kept.tiff({ quality, compression: "deflate" });
    default:
      return format satisfies never;
  }
}

/** A CSS colour that sharp knows. @throws MediaError invalid */
export function checkColor(name: string, value: string): void {
  try {
    sharp({ create: { width: 1, height: 1, channels: 4, background: value } });
  } catch (error) {
    throw new MediaError("invalid", `Expected ${name} to be a colour, got ${value.slice(0, 30)}.`, { cause: error });
  }
}
