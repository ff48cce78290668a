/** Opens and writes images of capabilities with sharp. For child processes only. */
import { join } from "node:path";

import sharp, { type Metadata, type Sharp } from "sharp";

import { MediaError } from "#shared/children/media-error.ts";
import { IMAGE_PIXELS_MAX, IMAGE_FRAMES_PIXELS_MAX } from "#shared/calls/capabilities/limits.ts";

import type { InputFile, RunOutput } from "../define.ts";
import { asMediaError } from "../faults.ts";
import { noteInput } from "../input-notes.ts";
import { choice, color, flag, integer, type ParamsOf } from "../params.ts";
import { upright } from "./frames.ts";
import { withMetadata } from "./kept.ts";

// One thread per child: other children use the other cores.
sharp.concurrency(1);
sharp.cache(false);

export const FORMATS = ["jpeg", "png", "webp", "avif", "gif", "tiff"] as const;
export type Format = (typeof FORMATS)[number];

export const MEDIA_TYPES: Readonly<Record<Format, string>> = {
  jpeg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
  avif: "image/avif",
  gif: "image/gif",
  tiff: "image/tiff",
};

/** Output params of most image capabilities. */
export const OUTPUT = {
  format: choice("Format of the result. Default: same as the input.", FORMATS, {}),
  quality: integer("Quality of lossy formats (JPEG, WebP, AVIF, TIFF).", { min: 1, max: 100, default: 80 }),
  lossless: flag("Encode WebP and AVIF without loss.", false),
  background: color("Background behind transparent areas, for formats without transparency.", { default: "white" }),
  keep_metadata: flag(
    "Keep EXIF and XMP metadata (camera, location) and, where the pixels still use it, the colour profile. By default all metadata is removed.",
    false,
  ),
};
export type Output = ParamsOf<typeof OUTPUT>;

/** Timing of an animation: the duration of each frame in milliseconds, and the number of repetitions, where 0 means forever. */
export interface Timing {
  readonly delay?: number[];
  readonly loop?: number;
}

interface Writing {
  readonly operations?: number;
  readonly name?: string;
  readonly timing?: Timing;
  readonly source?: InputFile;
}

export interface OpenedImage {
  readonly image: Sharp;
  readonly width: number;
  readonly height: number;
  readonly format: Format;
  readonly hasAlpha: boolean;
  readonly pages: number;
  /** Number of frames in the file that were not opened. */
  readonly dropped: number;
  /** Colourspace with 16 bits per sample, if the image was opened with it; undefined for 8 bits. */
  readonly deep?: DeepSpace;
  /** True if the file has 16 bits per sample, but is opened in 8 bits. */
  readonly isShallow?: boolean;
}

export type DeepSpace = "rgb16" | "grey16";

/** Formats that support 16 bits per sample. */
const DEEP_FORMATS: readonly Format[] = ["png", "tiff"];

/** Maximum size of an image with 16 bits per sample, in bytes. It equals the size of the largest 8-bit image. */
const DEEP_BYTES_MAX = IMAGE_PIXELS_MAX * 4;

const HEADERS: Readonly<Record<string, Format>> = {
  jpeg: "jpeg",
  png: "png",
  webp: "webp",
  gif: "gif",
  tiff: "tiff",
  heif: "avif",
};

/**
 * Opens an image, and rotates it by its EXIF orientation unless `asStored` is set.
 * @param options `frames`: opens all frames of an animation, stacked vertically; `headOnly`: true if the pixels are not needed; `depthFor`:
 * keeps 16 bits of a still image if this output format, or the file's own, supports them
 * @throws MediaError unsupported, corrupt, too_large
 */
export async function openImage(
  file: InputFile,
  options: {
    readonly frames?: boolean;
    readonly asStored?: boolean;
    readonly headOnly?: boolean;
    readonly depthFor?: { readonly format: Format | undefined };
  } = {},
): Promise<OpenedImage> {
  const { frames = false, asStored = false, headOnly = false, depthFor } = options;
  const opening = { limitInputPixels: false, animated: frames, failOn: "error", sequentialRead: true } as const;
  try {
    const facts = await sharp(file.path, opening).metadata();
    const format = HEADERS[facts.format ?? ""];
    if (format === undefined || file.mediaType === "image/svg+xml") {
      throw new MediaError("unsupported", `Expected an image in ${FORMATS.join(", ")}, got ${file.mediaType}.`);
    }
    if (!headOnly && !isDecoded(facts)) throw notDecoded(file.mediaType);
    const pages = frames ? (facts.pages ?? 1) : 1;
    const dropped = Math.max(facts.pages ?? 1, format === "png" ? await pngFrames(file.path) : 1) - pages;
    const height = frames ? (facts.pageHeight ?? facts.height) : facts.height;
    checkSize(facts.width, height, pages);
    // Callers that choose the frames report dropped ones in `dropped_frames`.
    if (dropped > 0 && !headOnly && options.frames === undefined) {
      noteInput(file, `Only the first of ${dropped + pages} frames or pages is read.`);
    }
    const isTurned = !asStored && (facts.orientation ?? 1) >= 5;
    const image = sharp(file.path, opening);
    const keepsDepth = depthFor !== undefined && pages === 1 && DEEP_FORMATS.includes(depthFor.format ?? format);
    const deep = keepsDepth ? deepSpaceOf(facts) : undefined;
    const depth = { ...(deep && { deep }), isShallow: facts.depth === "ushort" && deep === undefined };
    // Operations add 8-bit values to pixels, so the pipeline converts other depths.
    if (facts.depth !== "uchar") image.pipelineColourspace(deep ?? "srgb");
    if (deep) image.toColourspace(deep);
    const { width, hasAlpha, orientation = 1 } = facts;
    // Sharp cannot rotate several frames at once.
    if (pages > 1 && orientation > 1 && !asStored) {
      return await upright({ image, width, height, format, hasAlpha, pages, dropped, ...depth }, orientation);
    }
    return {
      image: asStored ? image : image.autoOrient(),
      width: isTurned ? height : facts.width,
      height: isTurned ? facts.width : height,
      format,
      hasAlpha: facts.hasAlpha,
      pages,
      dropped,
      ...depth,
    };
  } catch (error) {
    throw asMediaError(error);
  }
}

/**
 * Returns the 16-bit colourspace of an image. Returns undefined if the image does not have 16 bits per sample, or has too many pixels for
 * 16 bits.
 */
function deepSpaceOf({ depth, space, width, height, channels }: Metadata): DeepSpace | undefined {
  if (depth !== "ushort" || width * height * channels * 2 > DEEP_BYTES_MAX) return undefined;
  return space === "rgb16" || space === "grey16" ? space : undefined;
}

/** True if the pixels of the image can be decoded. False for HEIC, which has the same container as AVIF: only its header can be read. */
function isDecoded({ compression }: Pick<Metadata, "compression">): boolean {
  return compression !== "hevc";
}

function notDecoded(mediaType: string): MediaError {
  return new MediaError(
    "unsupported",
    `Expected an image in ${FORMATS.join(", ")}, got ${mediaType}, which is not decoded here.`,
  );
}

/** Returns the number of frames in an animated PNG's header; 1 for any other file. Plain PNG decoders read only the first frame. */
export async function pngFrames(path: string): Promise<number> {
  const head = Buffer.from(await Bun.file(path).slice(0, PNG_HEAD_BYTES).arrayBuffer());
  const data = head.indexOf("IDAT", 0, "latin1");
  const control = head.subarray(0, data < 0 ? head.length : data).indexOf("acTL", 0, "latin1");
  return control < 0 || control + 8 > head.length ? 1 : Math.max(1, head.readUInt32BE(control + 4));
}

/**
 * Number of bytes at the start of a PNG in which its animation header is searched. Before the pixels, a PNG usually contains nothing larger
 * than a colour profile.
 */
const PNG_HEAD_BYTES = 4 * 1_048_576;

/** Checks the size and number of frames of an image. @throws MediaError too_large */
export function checkSize(width: number, height: number, pages: number): void {
  if (width * height > IMAGE_PIXELS_MAX) {
    throw new MediaError("too_large", `Expected at most ${IMAGE_PIXELS_MAX} pixels, got ${width * height}.`);
  }
  if (width * height * pages > IMAGE_FRAMES_PIXELS_MAX) {
    const got = width * height * pages;
    throw new MediaError("too_large", `Expected at most ${IMAGE_FRAMES_PIXELS_MAX} pixels in all frames, got ${got}.`);
  }
}

/**
 * Writes the result image to a file in its output format.
 * @param from source image, from which the default format and the size for the price are taken
 * @param operations number of operations for the price
 * @param name file name without extension
 * @param timing timing of an animation, if the image does not contain it
 * @param source file whose metadata is added to an image without its own
 * @throws MediaError invalid (the background colour), corrupt, too_large
 */
export async function writeImage(
  folder: string,
  image: Sharp,
  from: Pick<OpenedImage, "format" | "width" | "height" | "pages" | "deep" | "isShallow"> &
    Partial<Pick<OpenedImage, "dropped">>,
  output: Output,
  { operations = 1, name: stem = "image", timing = {}, source }: Writing = {},
): Promise<RunOutput> {
  checkColor("params.background", output.background);
  const format = output.format ?? from.format;
  const name = nameOf(stem, format);
  const path = join(folder, name);
  try {
    if (from.deep) image.toColourspace(from.deep);
    const kept = output.keep_metadata ? await withMetadata(image, format, source) : image;
    const flat = { ...output, background: await opaque(output.background) };
    const { width, height, pages = 1, pageHeight } = await encoded(kept, format, flat, timing).toFile(path);
    const side = pageHeight ?? height;
    return {
      output: { width, height: side, format, ...framesOf(pages, from.dropped) },
      files: [{ path, mediaType: MEDIA_TYPES[format], name }],
      pixels: Math.max(from.width * from.height * from.pages, width * height) * operations,
      notes: from.isShallow === true ? ["The image has 8 instead of 16 bits per sample."] : [],
    };
  } catch (error) {
    throw asMediaError(error);
  }
}

/** Returns output members: `frames` if there are several frames, and `dropped_frames` if frames were dropped. */
export function framesOf(frames: number, dropped = 0): object {
  return { ...(frames > 1 ? { frames } : {}), ...(dropped > 0 ? { dropped_frames: dropped } : {}) };
}

export function nameOf(stem: string, format: Format): string {
  return `${stem}.${format === "jpeg" ? "jpg" : format}`;
}

interface Rgb {
  readonly r: number;
  readonly g: number;
  readonly b: number;
}

function encoded(
  image: Sharp,
  format: Format,
  { quality, lossless, background }: Omit<Output, "background"> & { readonly background: Rgb },
  timing: Timing,
): Sharp {
  switch (format) {
    case "jpeg":
      return image.flatten({ background }).jpeg({ quality, mozjpeg: false });
    case "png":
      return image.png();
    case "webp":
      return image.webp({ quality, lossless, ...timing });
    case "avif":
      return image.avif({ quality, lossless, effort: 3 });
    case "gif":
      return image.gif(timing);
    case "tiff":
      return image.tiff({ quality, compression: "deflate" });
    default:
      return format satisfies never;
  }
}

/** Returns the background colour without transparency; a transparent colour is blended with white. */
async function opaque(color: string): Promise<Rgb> {
  const pixel = sharp({ create: { width: 1, height: 1, channels: 4, background: color } });
  const [r = 255, g = 255, b = 255] = await pixel.flatten({ background: "white" }).raw().toBuffer();
  return { r, g, b };
}

/** Checks that a value is a CSS colour that sharp supports. @throws MediaError invalid */
export function checkColor(name: string, value: string): void {
  try {
    sharp({ create: { width: 1, height: 1, channels: 4, background: value } });
  } catch (error) {
    throw new MediaError("invalid", `Expected ${name} to be a colour, got ${value.slice(0, 30)}.`, { cause: error });
  }
}
