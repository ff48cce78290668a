/** Estimates the usage of a run (time and pixels) in advance from its params and the known properties of its inputs. */
import type { ImageExtent } from "#shared/media/image-extent.ts";

import type { Capability } from "./entry.ts";
import { croppedTo, resizedTo, rotatedTo, type Size } from "./image-size.ts";
import { CAPABILITY_RUN_MS, IMAGE_FRAMES_PIXELS_MAX, IMAGE_PIXELS_MAX, IMAGE_SIDE_PIXELS_MAX } from "./limits.ts";
import type { Measured } from "./price.ts";

/** Length and frame size of audio or video. */
interface MediaLength {
  readonly seconds: number;
  /** Width of a frame in pixels; 0 for audio. */
  readonly width: number;
  readonly height: number;
}

/** Properties read from the first bytes of an input. Undefined if the input was not read or has an unknown format. */
export interface InputFacts {
  readonly image?: ImageExtent;
  readonly media?: MediaLength;
}

/** Known properties of the inputs, in order, by member of `input`. */
export type KnownInputs = Readonly<Record<string, readonly InputFacts[]>>;

interface Range {
  readonly usual: number;
  readonly most: number;
}

export interface Expected {
  /** Estimated usual time and pixels of the run. */
  readonly usual: Measured;
  /** Maximum time and pixels that can be charged for the run. */
  readonly most: Measured;
}

type Params = Readonly<Record<string, unknown>>;

const USUAL_MS = 2_000;
const USUAL_PIXELS = 2_000_000;

/**
 * Estimates the usual and maximum usage of a run. For the usual value, an unknown input counts as two seconds or two megapixels. For the
 * maximum, an unknown input counts as the largest that the limits allow.
 */
export function expectedOf(
  { id, category }: Pick<Capability, "id" | "category">,
  params: Params,
  known: KnownInputs,
): Expected {
  const operations = operationsOf(params);
  const pixelsMax = IMAGE_FRAMES_PIXELS_MAX * operations;
  const pixels = expectedPixels(id, params, known) ?? { usual: USUAL_PIXELS * operations, most: pixelsMax };
  const msMax = CAPABILITY_RUN_MS[category];
  const ms = expectedMs(id, params, known) ?? { usual: USUAL_MS, most: msMax };
  const within = ({ usual, most }: Range, max: number): Range => ({
    usual: Math.min(usual, most, max),
    most: Math.min(most, max),
  });
  const [time, size] = [within(ms, msMax), within(pixels, pixelsMax)];
  return { usual: { ms: time.usual, pixels: size.usual }, most: { ms: time.most, pixels: size.most } };
}

/** Returns the number of operations of a pipeline; 1 for any other run. */
function operationsOf({ operations }: Params): number {
  return Array.isArray(operations) ? operations.length : 1;
}

// Expected time of audio and video capabilities. Rough, because machines and contents differ: the maximum is ten times the estimate plus
// half a minute. A longer run is charged for the maximum.

/** Ratio of the maximum to the usual time. It covers busy machines, noise in the media and slow drives. */
const MOST_TIMES = 10;
const MOST_MORE_MS = 30_000;
/** Time to start a run and open its files, in milliseconds. */
const BEGIN_MS = 300;

/** Capabilities that run a caller's script. Most scripts end immediately; others may use their whole time limit. */
const SCRIPTS = new Set(["code.run_javascript", "code.run_python"]);
const SCRIPT_MS = 200;

/** Estimates the usual and maximum time of a run, in milliseconds. Returns undefined if the time cannot be estimated. */
function expectedMs(id: string, params: Params, known: KnownInputs): Range | undefined {
  const [category, operation = ""] = id.split(".");
  if (SCRIPTS.has(id)) return { usual: SCRIPT_MS, most: Infinity };
  if (category !== "audio" && category !== "video") return undefined;
  const inputs = inputsOf(known, category);
  if (inputs === undefined) return undefined;
  const work = category === "audio" ? audioMs(operation, params, inputs) : videoMs(operation, params, inputs);
  const usual = BEGIN_MS + work;
  return { usual, most: usual * MOST_TIMES + MOST_MORE_MS };
}

/** Returns the lengths of all audio or video inputs; undefined if there are none or one of them is unknown. */
function inputsOf(known: KnownInputs, category: "audio" | "video"): readonly MediaLength[] | undefined {
  const files = known[category] ?? known[`${category}s`] ?? [];
  const media = files.flatMap((one) => (one.media === undefined ? [] : [one.media]));
  return media.length === 0 || media.length < files.length ? undefined : media;
}

function sum(values: readonly number[]): number {
  return values.reduce((all, one) => all + one, 0);
}

function numberOf(params: Params, name: string): number | undefined {
  const value = params[name];
  return typeof value === "number" ? value : undefined;
}

function textOf(params: Params, name: string): string | undefined {
  const value = params[name];
  return typeof value === "string" ? value : undefined;
}

/**
 * Returns the end of the section that the params `start`, `end` and `duration` select, in seconds from the start of the input. Returns
 * undefined if the section lasts until the end of the input.
 */
function endOf(params: Params): number | undefined {
  const start = numberOf(params, "start") ?? 0;
  const duration = numberOf(params, "duration");
  return numberOf(params, "end") ?? (duration === undefined ? undefined : start + duration);
}

/** Returns how many seconds of the input are decoded: the selected section and everything before it. */
function decodedSeconds(params: Params, seconds: number): number {
  return Math.min(seconds, endOf(params) ?? seconds);
}

function steps(params: Params): readonly { readonly operation: string; readonly params: Params }[] {
  const { operations } = params;
  if (!Array.isArray(operations)) return [];
  return (operations as readonly { operation: string; params?: Params }[]).map((one) => ({ params: {}, ...one }));
}

/** Time for decoding and encoding a second of stereo sound, in milliseconds. */
const SOUND_MS = 35;
/** Additional time of an operation per second of sound, in milliseconds. `LOUDNESS_MS` applies to `normalize`, which works at 192 kHz. */
const SOUND_STEP_MS = 10;
const LOUDNESS_MS = 170;

function audioMs(operation: string, params: Params, inputs: readonly MediaLength[]): number {
  const seconds = sum(inputs.map((one) => (operation === "trim" ? decodedSeconds(params, one.seconds) : one.seconds)));
  const names = operation === "pipeline" ? steps(params).map((step) => step.operation) : [operation];
  const each = sum(names.map((name) => (name === "normalize" ? LOUDNESS_MS : SOUND_STEP_MS)));
  return seconds * (SOUND_MS + each);
}

/** Time per megapixel of a frame in milliseconds, for decoding and for encoding at `veryfast`. */
const DECODE_MS = 12;
const ENCODE_MS: Readonly<Record<string, number>> = { h264: 16, h265: 64, vp8: 32, vp9: 64, av1: 48 };
const PRESETS: Readonly<Record<string, number>> = {
  ultrafast: 0.5,
  superfast: 0.7,
  veryfast: 1,
  faster: 1.5,
  fast: 2,
  medium: 2.5,
  slow: 6,
};
/** Frames per second assumed for a video. Most videos have fewer; few have more than twice as many. */
const FPS = 30;

function videoMs(operation: string, params: Params, inputs: readonly MediaLength[]): number {
  if (params["mode"] === "copy") return 0;
  const own = operation === "pipeline" ? steps(params) : [{ operation, params }];
  const output = operation === "pipeline" ? ((params["output"] ?? {}) as Params) : params;
  let [decode, encode, sound] = [0, 0, 0];
  for (const { seconds, width, height } of inputs) {
    const trim = own.findIndex((step) => step.operation === "trim" || step.operation === "to_gif");
    const piece = trim === 0 ? decodedSeconds(own[0]?.params ?? {}, seconds) : seconds;
    const start = trim === 0 ? (numberOf(own[0]?.params ?? {}, "start") ?? 0) : 0;
    const slow = Math.max(
      1,
      ...own.map((step) => (step.operation === "speed" ? 1 / (numberOf(step.params, "rate") ?? 1) : 1)),
    );
    sound += piece * SOUND_MS;
    decode += piece * FPS * ((width * height) / 1_000_000);
    encode += Math.max(0, piece - start) * slow * FPS * (largest(own, { width, height }) / 1_000_000);
  }
  const encoder = ENCODE_MS[encoderOf(output)] ?? 0;
  const preset = PRESETS[textOf(output, "preset") ?? "veryfast"] ?? 1;
  const copies = Array.isArray(params["heights"]) ? params["heights"].length : 1;
  return decode * DECODE_MS + (STILLS.has(operation) ? 0 : encode * encoder * preset * copies) + sound;
}

/** Video operations whose result is not a video: images of some frames, or sound alone. */
const STILLS = new Set(["thumbnail", "frames", "extract_audio"]);

function encoderOf(output: Params): string {
  return textOf(output, "video_codec") ?? (output["format"] === "webm" ? "vp9" : "h264");
}

/** Returns the largest number of pixels that a frame has during processing. */
function largest(
  steps: readonly { readonly params: Params }[],
  { width, height }: { width: number; height: number },
): number {
  const sizes = steps.map(({ params }) => {
    const across = numberOf(params, "width");
    const down = numberOf(params, "height");
    if (across !== undefined && down !== undefined) return across * down;
    if (across !== undefined) return (across * across * height) / Math.max(1, width);
    return down === undefined ? 0 : (down * down * width) / Math.max(1, height);
  });
  return Math.max(width * height, ...sizes);
}

// Pixels that image capabilities count: the larger of input and output, times the operations.

interface Step {
  readonly operation: string;
  readonly params?: Params;
}

/** Estimates the usual and maximum number of charged pixels of a run. Returns undefined if they cannot be estimated. */
function expectedPixels(id: string, params: Params, known: KnownInputs): Range | undefined {
  const [first] = known["image"] ?? known["images"] ?? [];
  switch (id) {
    case "image.barcode":
      return barcode(params);
    case "image.render_svg":
      return ofSides(params["width"], params["height"]);
    case "image.montage":
      return first?.image && ofBoth(first.image, (own) => montage(own, params, known["images"]?.length ?? 0));
    case "image.palette":
    case "image.compare":
      return first?.image && same(first.image, 1);
    case "image.pipeline": {
      const steps = (params["operations"] ?? []) as readonly Step[];
      const { format } = (params["output"] ?? {}) as { readonly format?: string };
      return first?.image && ofSteps(first.image, steps, keepsFrames(first.image, format, false));
    }
    case "image.strip_metadata":
      return first?.image && same(first.image, first.image.frames, first.image.framesMax);
    case "image.optimize": {
      const { format } = params as { readonly format?: string };
      const keeps = first?.image?.isTiff === false && ["same", "auto", "webp"].includes(format ?? "");
      return first?.image && ofSteps(first.image, [], keeps);
    }
    default: {
      const operation = /^image\.(.*)$/.exec(id)?.[1];
      if (operation === undefined || !OPERATIONS.has(operation) || !first?.image) return undefined;
      const keeps = keepsFrames(first.image, params["format"] as string | undefined, TAKES_FRAMES.has(operation));
      return ofSteps(first.image, [{ operation, params }], keeps);
    }
  }
}

/** Operations on one image. Each is a capability and, except for `convert`, also a step of a pipeline. */
const OPERATIONS = new Set([
  "convert",
  "resize",
  "crop",
  "rotate",
  "adjust",
  "filter",
  "watermark",
  "composite",
  "chroma_key",
]);
/** Operations that can keep all pages of a TIFF. */
const TAKES_FRAMES = new Set(["convert", "resize", "adjust"]);

/** Returns true if the output keeps all frames of the input. workers/capabilities/image/operation.ts applies the same rule. */
function keepsFrames({ isTiff }: ImageExtent, format: string | undefined, takesFrames: boolean): boolean {
  if (isTiff) return takesFrames && (format === undefined || format === "tiff");
  return format === undefined || format === "gif" || format === "webp";
}

function same({ width, height }: Size, frames: number, framesMax = frames): Range {
  return { usual: width * height * frames, most: width * height * framesMax };
}

/**
 * Calculates the pixels for both orientations of an image and uses the larger result as maximum. The header of a photo does not always
 * state that the photo is rotated.
 */
function ofBoth({ width, height }: Size, pixels: (own: Size) => number): Range {
  const both = [pixels({ width, height }), pixels({ width: height, height: width })];
  return { usual: both[0] ?? 0, most: Math.max(...both) };
}

function ofSteps(image: ImageExtent, steps: readonly Step[], keeps: boolean): Range {
  const [frames, framesMax] = keeps ? [image.frames, image.framesMax] : [1, 1];
  const operations = Math.max(1, steps.length);
  const larger = (own: Size, resultArea: number): number => Math.max(areaOf(own), resultArea) * operations;
  const { usual } = ofBoth(image, (own) => larger(own, areaOf(sizesAfter(own, steps, 0)?.most ?? own)));
  const { most } = ofBoth(image, (own) => larger(own, mostAfter(own, steps)));
  return { usual: usual * frames, most: most * framesMax };
}

/** Returns the maximum number of pixels that one frame of an image has after the operations `steps`. */
function mostAfter(own: Size, steps: readonly Step[]): number {
  const resultSizes = sizesAfter(own, steps, 1);
  return resultSizes ? Math.min(areaOf(resultSizes.most), IMAGE_PIXELS_MAX) : IMAGE_PIXELS_MAX;
}

function areaOf({ width, height }: Size): number {
  return width * height;
}

/** Range of an image's size. Each side is between its values in `least` and `most`. */
interface SizeRange {
  readonly least: Size;
  readonly most: Size;
}

/**
 * Calculates the range of the image size after all steps. Returns undefined if the size depends on the image's content.
 * @param slack pixels by which each step may change a side beyond the calculated size
 */
function sizesAfter(own: Size, steps: readonly Step[], slack: number): SizeRange | undefined {
  let range: SizeRange | undefined = { least: own, most: own };
  for (const { operation, params = {} } of steps) range = range && afterStep(range, operation, params, slack);
  return range;
}

function afterStep(own: SizeRange, operation: string, params: Params, slack: number): SizeRange | undefined {
  switch (operation) {
    case "resize":
      // Steps come without the defaults that a validator adds.
      return rangeOf(own, (size) => resizedTo(size, { fit: "cover", enlarge: true, ...params }), slack);
    case "crop":
      return params["trim"] === true ? undefined : rangeOf(own, (size) => croppedTo(size, params), 0);
    case "rotate": {
      const { angle = 0 } = params as { readonly angle?: number };
      return rangeOf(own, (size) => rotatedTo(size, angle), angle % 90 === 0 ? 0 : slack);
    }
    default:
      return own;
  }
}

/**
 * Applies `change` to all combinations of the smallest and largest sides, and returns the range of the results. All are needed, because a
 * longer side may make the other side shorter.
 */
function rangeOf({ least, most }: SizeRange, change: (own: Size) => Size, slack: number): SizeRange {
  const changedSizes = [least, { ...least, width: most.width }, { ...least, height: most.height }, most].map(change);
  const [widths, heights] = [changedSizes.map(({ width }) => width), changedSizes.map(({ height }) => height)];
  return {
    least: { width: Math.max(1, Math.min(...widths) - slack), height: Math.max(1, Math.min(...heights) - slack) },
    most: { width: Math.max(...widths) + slack, height: Math.max(...heights) + slack },
  };
}

function montage(own: Size, params: Params, count: number): number {
  const width = (params["cell_width"] as number | undefined) ?? own.width;
  return width * Math.max(1, Math.round((width * own.height) / own.width)) * count;
}

/** Width and height of the largest barcodes at the smallest scale, in pixels, by type: the largest matrices, and 512 letters in one row. */
const CODE_SIDES: Readonly<Record<string, readonly [width: number, height: number]>> = {
  qr: [354, 354],
  aztec: [302, 302],
  datamatrix: [288, 288],
  pdf417: [600, 600],
  ean13: [130, 90],
  ean8: [130, 90],
  upca: [130, 90],
  code128: [5_700, 90],
};

/** Estimates the pixels of a barcode. Most barcodes are smaller than the minimum charge. */
function barcode({ type, scale = 4, margin = 10 }: Params): Range | undefined {
  const sides = CODE_SIDES[type as string];
  const [across = 0, down = 0] = (sides ?? []).map((side) => (side + 2 * Number(margin)) * Number(scale));
  return sides && { usual: 0, most: across * down };
}

/**
 * Estimates the pixels of an SVG, which is rendered at the requested size. If only one side is given, the SVG's shape determines the other
 * side.
 */
function ofSides(width: unknown, height: unknown): Range | undefined {
  const sides = [width, height].filter((side) => typeof side === "number");
  const [one, other] = sides;
  if (one !== undefined && other !== undefined) return { usual: one * other, most: one * other };
  const most = IMAGE_PIXELS_MAX;
  return one === undefined
    ? { usual: 2_000_000, most }
    : { usual: one * one, most: Math.min(most, one * IMAGE_SIDE_PIXELS_MAX) };
}
