import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input, type OutputFile } from "../define.ts";
import { checkFiles, PACK, packed } from "../pack.ts";
import { choice, list, number } from "../params.ts";
import { AUDIO_PRICE, type AudioFacts, chainOf, encodeAudio, OUTPUT, round, SECONDS_MAX, TUNE } from "./graph.ts";
import { type Before, beforeOf, shapedAudio } from "./operation.ts";
import { silencesOf } from "./silences.ts";

const PARTS_MAX = 2_000;

const params = {
  by: choice("How to split: by `length`, at each `silence`, or at given `times`.", ["length", "silence", "times"], {
    default: "length",
  }),
  length: number("Duration of each part in seconds, for `by: length`.", { min: 1, max: 3_600, unit: "s", default: 60 }),
  times: list(
    "Times in seconds at which to split, for `by: times`; in any order, before the end.",
    number("A time.", { min: 0.01, max: SECONDS_MAX, unit: "s", required: true }),
    { max: 199 },
  ),
  threshold: number("Level below which audio counts as silence, for `by: silence`.", {
    min: -90,
    max: -10,
    unit: "dB",
    default: -40,
  }),
  min_silence: number("Minimum duration of a silence in seconds, for `by: silence`. Cuts are made in its middle.", {
    min: 0.05,
    max: 10,
    unit: "s",
    default: 0.5,
  }),
  pack: PACK,
  ...OUTPUT,
};

export default defineCapability({
  id: "audio.split",
  display_name: "Split audio",
  description: "Splits audio into parts: of a fixed length, at silences, or at given times.",
  output_modality: "archive",
  input: { audio: input("audio", "The audio.") },
  params,
  sample_input: TUNE,
  examples: [
    { title: "Every second", params: { length: 1 } },
    {
      title: "At a given time, as separate files",
      params: { by: "times", times: [0.8], format: "wav", pack: "files" },
    },
  ],
  price: AUDIO_PRICE,
  engine: "ffmpeg",
  async run({ params: wanted, inputs, folder, progress }) {
    const { facts, shape } = await shapedAudio(inputs.audio, wanted);
    const cuts = apart(await cutsOf(facts, beforeOf(folder, facts, shape, facts.seconds), wanted), facts);
    const ends = [...cuts, facts.seconds];
    checkFiles(wanted.pack, ends.length);
    if (ends.length > PARTS_MAX)
      throw new MediaError("too_large", `Expected at most ${PARTS_MAX} pieces, got ${ends.length}.`);
    const files: OutputFile[] = [];
    for (const [at, end] of ends.entries()) {
      const start = ends[at - 1] ?? 0;
      const graph = chainOf(facts, [...shape, `atrim=start=${start}:end=${end}`, "asetpts=PTS-STARTPTS"]);
      const name = `part-${String(at + 1).padStart(3, "0")}.${wanted.format ?? facts.format}`;
      const encoded = await encodeAudio({ folder, graph, from: facts, output: wanted, name });
      files.push(...(encoded.files ?? []));
      progress((at + 1) / ends.length);
    }
    const output = { parts: files.length, times: cuts.map(round) };
    return { output, files: await packed(folder, files, wanted.pack, "parts.zip") };
  },
});

interface Wanted {
  readonly by: "length" | "silence" | "times";
  readonly length: number;
  readonly times: readonly number[] | undefined;
  readonly threshold: number;
  readonly min_silence: number;
}

/**
 * Returns the positions of cuts that leave at least one sample in each section. Duplicate cuts and cuts at the start or end of the audio
 * are omitted.
 */
function apart(cuts: readonly number[], { seconds, sampleRate }: AudioFacts): number[] {
  const least = 1 / sampleRate;
  const kept: number[] = [];
  for (const at of cuts) if (at - (kept.at(-1) ?? 0) >= least && seconds - at >= least) kept.push(at);
  return kept;
}

async function cutsOf(
  facts: AudioFacts,
  before: Before,
  { by, length, times, threshold, min_silence: least }: Wanted,
): Promise<number[]> {
  if (by === "times") {
    if (times === undefined) throw new MediaError("invalid", "Expected params.times for params.by times, got none.");
    const late = times.find((at) => at >= facts.seconds);
    if (late !== undefined) {
      throw new MediaError(
        "invalid",
        `Expected params.times before the end at ${round(facts.seconds)} s, got ${late}.`,
      );
    }
    return times.toSorted((one, other) => one - other);
  }
  if (by === "length")
    return Array.from({ length: Math.ceil(facts.seconds / length) - 1 }, (_, at) => (at + 1) * length);
  const silences = await silencesOf(before, threshold, least);
  return silences.map(({ start, end }) => (start + end) / 2);
}
