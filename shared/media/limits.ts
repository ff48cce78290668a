/** Bounds of looking at media without decoding it. */
export const PROBE_LIMITS = {
  audioBytesMax: 100 * 1_048_576,
  /** Boxes, pages, frames or elements a probe looks at, 0.1 s of work: ten hours of MP3 frames are 1.4 million. */
  stepsMax: 1_500_000,
  /** Bytes that look like a frame and are none, and one more for every so many bytes of the file: by chance 1 in 256. */
  missesMax: 200_000,
  bytesPerMiss: 128,
} as const;
