/** Finds silent sections of audio. */
import { MediaError } from "#shared/children/media-error.ts";

import type { Before } from "./operation.ts";

export interface Silence {
  readonly start: number;
  readonly end: number;
}

/** Maximum number of silences in an input; more are rejected. Each silence adds an expression to the filter graph. */
const SILENCES_MAX = 500;

/** Returns the silences in the previous steps' output, with times in seconds. @throws MediaError too_large */
export async function silencesOf(before: Before, thresholdDb: number, least: number): Promise<readonly Silence[]> {
  const printed = await before.measure([`silencedetect=noise=${thresholdDb}dB:d=${least}`]);
  const found: Silence[] = [];
  let start: number | undefined;
  for (const [, what, at] of printed.matchAll(/silence_(start|end): (-?[\d.]+)/g)) {
    if (what === "start") start = Math.max(0, Number(at));
    else if (start !== undefined) {
      found.push({ start, end: Number(at) });
      start = undefined;
    }
  }
  if (start !== undefined) found.push({ start, end: before.seconds });
  if (found.length > SILENCES_MAX)
    throw new MediaError(
      "too_large",
      `Expected at most ${SILENCES_MAX} pauses, got ${found.length}; raise params.min_silence.`,
    );
  return found;
}
