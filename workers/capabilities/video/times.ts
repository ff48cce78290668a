/** Start and end time at which an overlay is shown. */
import { MediaError } from "#shared/children/media-error.ts";

import { number } from "../params.ts";
import { VIDEO_SECONDS_MAX } from "./limits.ts";

const TIME = { min: 0, max: VIDEO_SECONDS_MAX, unit: "s" } as const;

export const TIMES = {
  start: number("Time in seconds at which it appears. Default: start of the video.", TIME),
  end: number("Time in seconds at which it disappears. Default: end of the video.", TIME),
};

/**
 * Returns FFmpeg's `enable` condition for an overlay; undefined if the overlay is shown during the whole video.
 * @param seconds length of the video; 0 if unknown
 * @throws MediaError invalid if the start is after the end of the video
 */
export function enableCondition(
  start: number | undefined,
  end: number | undefined,
  seconds: number,
): string | undefined {
  if (start === undefined && end === undefined) return undefined;
  if (seconds > 0 && (start ?? 0) >= seconds) {
    throw new MediaError("invalid", `Expected params.start before the end at ${seconds} s, got ${start}.`);
  }
  return `gte(t,${start ?? 0})*lt(t,${end ?? VIDEO_SECONDS_MAX * 2})`;
}
