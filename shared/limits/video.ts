/** Limits on the inputs and results of a run on video. */
export const VIDEO_LIMITS = {
  videoSecondsMax: 2 * 3_600,
  /** Sides of an input in pixels, in either orientation. */
  videoInputLongSideMax: 4_096,
  videoInputShortSideMax: 2_304,
  videoInputFpsMax: 120,
  /** Sides of a result in pixels, in either orientation. */
  videoLongSideMax: 3_840,
  videoShortSideMax: 2_160,
  videoFpsMax: 60,
  /** Frames that a filter must hold all at once, as when a film is turned round: less than a child may use. */
  videoHeldBytesMax: 1_000_000_000,
  /** Subtitles of one file, and characters of one of them. */
  subtitlesMax: 10_000,
  subtitleCharactersMax: 1_000,
} as const;
