/** Limits on inputs and results of video capabilities. */

export const VIDEO_SECONDS_MAX = 2 * 3_600;

/** Maximum long and short side of an input, in pixels, in either orientation. */
export const VIDEO_INPUT_LONG_SIDE_MAX = 4_096;
export const VIDEO_INPUT_SHORT_SIDE_MAX = 2_304;
export const VIDEO_INPUT_FPS_MAX = 120;

/** Maximum long and short side of a result, in pixels, in either orientation. */
export const VIDEO_LONG_SIDE_MAX = 3_840;
export const VIDEO_SHORT_SIDE_MAX = 2_160;
export const VIDEO_FPS_MAX = 60;

/**
 * Maximum size of the frames that a filter buffers at once, for example to reverse a video, in bytes. It is less than the memory limit of a
 * child process.
 */
export const VIDEO_HELD_BYTES_MAX = 1_000_000_000;
