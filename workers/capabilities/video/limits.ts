/** Limits on the inputs and results of a run on video. */

export const VIDEO_SECONDS_MAX = 2 * 3_600;

/** Sides of an input in pixels, in either orientation. */
export const VIDEO_INPUT_LONG_SIDE_MAX = 4_096;
export const VIDEO_INPUT_SHORT_SIDE_MAX = 2_304;
export const VIDEO_INPUT_FPS_MAX = 120;

/** Sides of a result in pixels, in either orientation. */
export const VIDEO_LONG_SIDE_MAX = 3_840;
export const VIDEO_SHORT_SIDE_MAX = 2_160;
export const VIDEO_FPS_MAX = 60;

/** Frames that a filter must hold all at once, as when a film is turned round: less than a child may use. */
export const VIDEO_HELD_BYTES_MAX = 1_000_000_000;
