/** Expected measures of a run, computed in advance from its params and the known properties of its inputs. */
import type { ImageExtent } from "#shared/media/image-extent.ts";

import type { Capability } from "./entry.ts";
import { expectedMs } from "./expected-ms.ts";
import { expectedPixels } from "./expected-pixels.ts";
import type { Measured } from "./price.ts";
import { IMAGE_FRAMES_PIXELS_MAX, CAPABILITY_RUN_MS } from "./limits.ts";

/** Length and frame size of audio or video. */
export interface MediaLength {
  readonly seconds: number;
  /** Pixels; 0 for audio. */
  readonly width: number;
  readonly height: number;
}

/** Properties read from an input's beginning; undefined if it was not read, or has an unknown format. */
export interface InputFacts {
  readonly image?: ImageExtent;
  readonly media?: MediaLength;
}

/** By member of `input`, in order. */
export type KnownInputs = Readonly<Record<string, readonly InputFacts[]>>;

export interface Range {
  readonly usual: number;
  readonly most: number;
}

export interface Expected {
  /** Usual measures of such a run. */
  readonly usual: Measured;
  /** Maximum that is charged. */
  readonly most: Measured;
}

type Params = Readonly<Record<string, unknown>>;

const USUAL_MS = 2_000;
const USUAL_PIXELS = 2_000_000;

/** Returns the usual and the maximum measures. Unknown inputs count as two seconds or two megapixels, and at the limits for the maximum. */
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

/** Number of operations: of a pipeline, or one for any other run. */
function operationsOf({ operations }: Params): number {
  return Array.isArray(operations) ? operations.length : 1;
}
