/** Inputs of calls for images, for the tests of all families. */
import type { ImageEditInput, ImageInput } from "#workers/providers/media.ts";

import { pngOf } from "#tests/support/png.ts";

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
  strength: 0.6,
} as const satisfies ImageEditInput;

export const MASK = { bytes: pngOf(2, 2), contentType: "image/png" } as const;
