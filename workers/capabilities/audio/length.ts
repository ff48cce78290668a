/** The length of audio, exact to the sample. */
import { MediaError } from "#shared/children/media-error.ts";

import type { Before } from "./operation.ts";

/**
 * Seconds of what comes from the steps before, counted: headers of MP3 and AAC are guesses, and steps round.
 * @throws MediaError corrupt
 */
export async function lengthOf(before: Before): Promise<number> {
  const rate = before.facts.sampleRate;
  const printed = await before.measure([
    `aresample=${rate}`,
    "astats=measure_perchannel=none:measure_overall=Number_of_samples",
  ]);
  const samples = /Number of samples: (\d+)/.exec(printed)?.[1];
  if (samples === undefined) throw new MediaError("corrupt", "The audio cannot be decoded.");
  return Number(samples) / rate;
}
