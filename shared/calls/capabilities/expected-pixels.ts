/** Pixels that image capabilities count: the larger of input and output, times the operations. */
import type { ImageExtent } from "#shared/media/image-extent.ts";

import type { KnownInputs, Range } from "./expected.ts";
import { croppedTo, resizedTo, rotatedTo, type Size } from "./image-size.ts";
import { IMAGE_PIXELS_MAX, IMAGE_SIDE_PIXELS_MAX } from "./limits.ts";

type Params = Readonly<Record<string, unknown>>;
interface Step {
  readonly operation: string;
  readonly params?: Params;
}

/** Returns undefined if the pixels cannot be estimated. */
export function expectedPixels(id: string, params: Params, known: KnownInputs): Range | undefined {
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

/** Operations on one image, as capabilities and as steps; `convert` is no step. */
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
/** Operations that keep the pages of a TIFF separate. */
const TAKES_FRAMES = new Set(["convert", "resize", "adjust"]);

/** Returns true if the output keeps all frames; the same rule as in workers/capabilities/image/operation.ts. */
function keepsFrames({ isTiff }: ImageExtent, format: string | undefined, takesFrames: boolean): boolean {
  if (isTiff) return takesFrames && (format === undefined || format === "tiff");
  return format === undefined || format === "gif" || format === "webp";
}

function same({ width, height }: Size, frames: number, framesMax = frames): Range {
  return { usual: width * height * frames, most: width * height * framesMax };
}

/** A photo may be rotated without a sign in its header, so the larger result of both orientations is used. */
function ofBoth({ width, height }: Size, pixels: (own: Size) => number): Range {
  const both = [pixels({ width, height }), pixels({ width: height, height: width })];
  return { usual: both[0] ?? 0, most: Math.max(...both) };
}

function ofSteps(image: ImageExtent, steps: readonly Step[], keeps: boolean): Range {
  const [frames, framesMax] = keeps ? [image.frames, image.framesMax] : [1, 1];
  const operations = Math.max(1, steps.length);
  const larger = (own: Size, made: number): number => Math.max(areaOf(own), made) * operations;
  const { usual } = ofBoth(image, (own) => larger(own, areaOf(sizesAfter(own, steps, 0)?.most ?? own)));
  const { most } = ofBoth(image, (own) => larger(own, mostAfter(own, steps)));
  return { usual: usual * frames, most: most * framesMax };
}

/** Returns the maximum pixels of one frame. */
function mostAfter(own: Size, steps: readonly Step[]): number {
  const made = sizesAfter(own, steps, 1);
  return made ? Math.min(areaOf(made.most), IMAGE_PIXELS_MAX) : IMAGE_PIXELS_MAX;
}

function areaOf({ width, height }: Size): number {
  return width * height;
}

/** Each side is between its values in `least` and `most`. */
interface SizeRange {
  readonly least: Size;
  readonly most: Size;
}

/**
 * Returns undefined if the shape of a step's result depends on the image's content.
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

/** A longer side may make the other one shorter, so all pairs of longest and shortest sides are calculated. */
function rangeOf({ least, most }: SizeRange, change: (own: Size) => Size, slack: number): SizeRange {
  const made = [least, { ...least, width: most.width }, { ...least, height: most.height }, most].map(change);
  const [widths, heights] = [made.map(({ width }) => width), made.map(({ height }) => height)];
  return {
    least: { width: Math.max(1, Math.min(...widths) - slack), height: Math.max(1, Math.min(...heights) - slack) },
    most: { width: Math.max(...widths) + slack, height: Math.max(...heights) + slack },
  };
}

function montage(own: Size, params: Params, count: number): number {
  const width = (params["cell_width"] as number | undefined) ?? own.width;
  return width * Math.max(1, Math.round((width * own.height) / own.width)) * count;
}

/** Longest sides of codes at the smallest scale: of the largest matrices, and of 512 letters in one row. */
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

/** Most are smaller than the minimum charge. */
function barcode({ type, scale = 4, margin = 10 }: Params): Range | undefined {
  const sides = CODE_SIDES[type as string];
  const [across = 0, down = 0] = (sides ?? []).map((side) => (side + 2 * Number(margin)) * Number(scale));
  return sides && { usual: 0, most: across * down };
}

/** An SVG is rendered at the requested size; for one given side, its shape determines the other. */
function ofSides(width: unknown, height: unknown): Range | undefined {
  const sides = [width, height].filter((side) => typeof side === "number");
  const [one, other] = sides;
  if (one !== undefined && other !== undefined) return { usual: one * other, most: one * other };
  const most = IMAGE_PIXELS_MAX;
  return one === undefined
    ? { usual: 2_000_000, most }
    : { usual: one * one, most: Math.min(most, one * IMAGE_SIDE_PIXELS_MAX) };
}
