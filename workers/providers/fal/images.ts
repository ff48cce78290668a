/** Requests and responses of fal's image models. Source: the models' own pages under fal.ai/models. */
import type { Members } from "../json.ts";
import { type Fields, isMedia, type PlacedInput, setField, urlOf } from "../fields.ts";
import { placeInputs } from "../image-fields.ts";
import type { Artifact, ImageEditInput, ImageInput, MediaCall, MediaResult } from "../media.ts";
import { ProviderError } from "../provider.ts";

import type { FalBody } from "./body.ts";
import { computeOf, type Delivery, readFiles } from "./files.ts";

/** Default fields for inputs. Nearly all image models of fal have these fields. */
const USUAL: Fields = { n: "num_images", seed: "seed" };

const DELIVERY: Delivery = { members: ["images", "image"], family: "image", name: "image" };

export function generationBody(call: MediaCall<ImageInput>): FalBody {
  return bodyOf(call, placeInputs(call, USUAL));
}

/**
 * Builds the request body of an image edit.
 * @throws ProviderError `misconfigured` when the source has no field for the image
 */
export function editBody(call: MediaCall<ImageEditInput>): FalBody {
  const placed = placeInputs(call, USUAL);
  if (placed.some(({ ours }) => ours === "image")) return bodyOf(call, placed);
  throw new ProviderError("misconfigured", "the source has no field for an image");
}

function bodyOf(call: MediaCall<ImageInput>, placed: readonly PlacedInput[]): FalBody {
  const input: Record<string, unknown> = { prompt: call.input.prompt };
  for (const { ours, theirs, value } of placed) {
    setField(input, theirs, isMedia(value) ? urlOf(value) : ours === "size" ? sizeOf(value) : value);
  }
  return { input, asked: call.input.n, usual: USUAL };
}

/** Converts a size such as `1024x768` to width and height. Other values, such as `auto`, stay unchanged. */
function sizeOf(value: PlacedInput["value"]): unknown {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(typeof value === "string" ? value : "") ?? [];
  return width === undefined || height === undefined ? value : { width: Number(width), height: Number(height) };
}

/**
 * Returns the images of a response. Returns undefined in the same cases as `readFiles`.
 * @throws the errors of `readFiles`
 */
export function readImages(answer: Members, asked: number): MediaResult<readonly Artifact[]> | undefined {
  const files = readFiles(answer, DELIVERY, asked);
  return (
    files && { output: files.map(({ artifact }) => artifact), usage: { images: files.length, ...computeOf(answer) } }
  );
}
