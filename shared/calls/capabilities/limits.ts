/** Limits of one run of a capability. They determine its hold and are enforced while it runs. */
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
/** Timeout of the longest runs, in milliseconds. */
export const CAPABILITY_RUN_MS_MAX = Math.max(...Object.values(CAPABILITY_RUN_MS));

/** Maximum number of pixels of one image, of all its frames together, and of one side. */
export const IMAGE_PIXELS_MAX = 64_000_000;
export const IMAGE_FRAMES_PIXELS_MAX = 256_000_000;
export const IMAGE_SIDE_PIXELS_MAX = 16_384;
