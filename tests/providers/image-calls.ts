/** Calls that ask for pictures, for the tests of all families. */
import type { DirectOffer, ImageEditInput, ImageInput, MediaCall, MediaOffer } from "#workers/providers/media.ts";
import { ProviderError } from "#workers/providers/provider.ts";

import { pngOf } from "./png.ts";

/** Every input there is, the prompt and the number apart. */
export const EVERYTHING = {
  size: "1536x1024",
  quality: "high",
  style: "vivid",
  aspectRatio: "16:9",
  imageSize: "2K",
  background: "opaque",
  outputFormat: "webp",
  outputCompression: 80,
  inputFidelity: "high",
  moderation: "low",
  negativePrompt: "blur",
  personGeneration: "allow_adult",
  seed: 7,
  steps: 12,
  promptExtend: false,
  user: "someone",
} as const satisfies Omit<ImageInput, "prompt" | "n">;

export const EDIT = {
  prompt: "give it a hat",
  n: 1,
  image: { bytes: Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 1, 2, 3), contentType: "image/jpeg" },
  mask: { bytes: pngOf(2, 2), contentType: "image/png" },
  strength: 0.6,
} as const satisfies ImageEditInput;

export function callOf<Input>(input: Input, call: Partial<MediaCall<Input>> = {}): MediaCall<Input> {
  return {
    input,
    sourceModel: "m",
    signal: new AbortController().signal,
    traits: new Set(),
    adapt: () => undefined,
    ...call,
  };
}

/** @throws Error when the family does not offer this, or not in one exchange */
export function runOf<Input, Output>(offer: MediaOffer<Input, Output> | undefined): DirectOffer<Input, Output>["run"] {
  if (offer && "run" in offer) return (call) => offer.run(call);
  throw new Error("expected an offer that answers in one exchange");
}

/** @throws Error when the call succeeds, or fails with something else */
export async function failureOf(call: Promise<unknown>): Promise<ProviderError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ProviderError) return error;
  throw new Error(`expected a ProviderError, got ${String(error)}`);
}
