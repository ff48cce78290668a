/** Maps image inputs, under the names of our API specification, to the request fields of a source. */
import { clientParam, type FieldValues, type Fields, place, type PlacedInput } from "./fields.ts";
import type { ImageEditInput, ImageInput, MediaCall, MediaKind } from "./media.ts";
import { ProviderError } from "./provider.ts";

/** Members of an image edit that choose a price or are only checked. They are never sent to a provider (spec "POST /v1/images/edits"). */
const NEVER_IN_EDITS: ReadonlySet<string> = new Set([
  "quality",
  "style",
  "background",
  "person_generation",
  "steps",
  "prompt_extend",
]);

type ImageCall = Pick<MediaCall<ImageInput | ImageEditInput>, "input" | "fields">;

/**
 * Returns those inputs of a call for which the source has a field. The prompt is excluded, because each family places it itself.
 * @throws ProviderError `misconfigured` when several images are requested and the source has no field for their number
 */
export function placeInputs(call: ImageCall, usual: Fields): PlacedInput[] {
  if (call.input.n > 1 && (call.fields ?? usual)["n"] === undefined) {
    throw new ProviderError("misconfigured", "the source has no field for how many images are wanted");
  }
  return placeInputsOfOne(call, usual);
}

/**
 * Returns the inputs like `placeInputs`, for families that send one request per image.
 * @throws ProviderError `rejected` for a mask without a field at the source, because the whole image would be repainted
 */
export function placeInputsOfOne({ input, fields }: ImageCall, usual: Fields): PlacedInput[] {
  const placed = place(valuesOf(input), fields ?? usual);
  if ("mask" in input && input.mask && !placed.some(({ ours }) => ours === "mask")) throw noMasks();
  return "image" in input ? placed.filter(({ ours }) => !NEVER_IN_EDITS.has(ours)) : placed;
}

function valuesOf(input: ImageInput | ImageEditInput): FieldValues {
  const edit: Partial<ImageEditInput> = "image" in input ? input : {};
  return {
    n: input.n,
    size: input.size,
    quality: input.quality,
    style: input.style,
    aspect_ratio: input.aspectRatio,
    image_size: input.imageSize,
    background: input.background,
    output_format: input.outputFormat,
    output_compression: input.outputCompression,
    input_fidelity: input.inputFidelity,
    moderation: input.moderation,
    negative_prompt: input.negativePrompt,
    person_generation: input.personGeneration,
    seed: input.seed,
    steps: input.steps,
    prompt_extend: input.promptExtend,
    user: input.user,
    strength: edit.strength,
    image: edit.image,
    mask: edit.mask,
  };
}

/**
 * Returns the error for a mask that the source does not support. Such sources are already excluded when a source is selected, so this is a
 * second check (decision 0108).
 */
export function noMasks(): ProviderError {
  const say = "This model does not support a mask; remove it.";
  const about = { code: "unsupported_value", param: clientParam("mask", "imageEdits"), say } as const;
  return new ProviderError("rejected", say, about).unsent();
}

/** Returns the error for a caller's image that a provider could not use. The provider's error text is only logged. */
export function unreadableImage(
  detail: string,
  ours: string,
  facts: { readonly status?: number; readonly kind?: MediaKind } = {},
): ProviderError {
  const { kind = "imageEdits", ...about } = facts;
  return new ProviderError("rejected", detail, {
    ...about,
    code: "unprocessable_input",
    param: clientParam(ours, kind),
    say: "The model cannot read this image; send another one.",
  });
}
