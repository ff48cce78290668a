/** Calculates a section of audio or video from its start and its end or duration, in seconds. */
import { MediaError } from "#shared/children/media-error.ts";

interface Wanted {
  readonly start: number;
  readonly end?: number | undefined;
  readonly duration?: number | undefined;
}

/**
 * Returns the end and the length of a section, in seconds.
 * @param all total duration in seconds; 0 if unknown
 * @throws MediaError invalid if the section starts after the end of the file
 */
export function spanOf(
  all: number,
  { start, end, duration }: Wanted,
): { readonly until: number | undefined; readonly seconds: number } {
  if (all > 0 && start >= all) {
    throw new MediaError("invalid", `Expected params.start before the end at ${all} s, got ${start}.`);
  }
  const until = end ?? (duration === undefined ? undefined : start + duration);
  return { until, seconds: Math.max(0, Math.min(until ?? all, all) - start) };
}
