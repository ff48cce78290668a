/** Measures the length of audio, exact to one sample. */
import { MediaError } from "#shared/children/media-error.ts";

import type { Before } from "./operation.ts";

/**
 * Returns the exact length of the previous steps' output in seconds, by decoding it. Lengths in MP3 and AAC headers are estimates, and
 * steps round.
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
