/** A piece of audio or video, by its start and its end or its length. */
import { MediaError } from "#shared/children/media-error.ts";

interface Wanted {
  readonly start: number;
  readonly end?: number | undefined;
  readonly duration?: number | undefined;
}

/** @param all seconds of the whole; 0 where they are not known. @throws MediaError invalid: a start behind the end */
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
