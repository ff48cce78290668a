/** Limits on one run of a capability, used both for its hold and for its execution. */
import type { Category } from "./entry.ts";

/** Timeout of one run in its child, in milliseconds; a longer run fails as too large. */
export const CAPABILITY_RUN_MS: Readonly<Record<Category, number>> = {
  video: 900_000,
  audio: 300_000,
  image: 60_000,
  document: 120_000,
  archive: 300_000,
  web: 60_000,
  code: 10_000,
};

/** Maximum pixels of one image, and of all its frames. */
export const IMAGE_PIXELS_MAX = 64_000_000;
export const IMAGE_FRAMES_PIXELS_MAX = 256_000_000;
export const IMAGE_SIDE_PIXELS_MAX = 16_384;
