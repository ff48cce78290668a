/** Limits on the work of one run of a capability that both who holds credits for it and who does it must know. */
import type { Category } from "./entry.ts";

/** Wall clock of one run's work in its child: what outlasts it is refused as too large. */
export const CAPABILITY_RUN_MS: Readonly<Record<Category, number>> = {
  video: 900_000,
  audio: 300_000,
  image: 60_000,
  document: 120_000,
  archive: 300_000,
  web: 60_000,
  code: 10_000,
};

/** Pixels of one image, and of all frames of one. */
export const IMAGE_PIXELS_MAX = 64_000_000;
export const IMAGE_FRAMES_PIXELS_MAX = 256_000_000;
export const IMAGE_SIDE_PIXELS_MAX = 16_384;
