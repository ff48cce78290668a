import { LIMITS } from "#shared/limits.ts";

import { type AudioFacts, chainOf, encodeAudio, OUTPUT, probeAudio } from "../audio/graph.ts";
import { beforeOf } from "../audio/operation.ts";
import { operation as trim } from "../audio/trim.ts";
import { defineCapability, input } from "../define.ts";
import { integer, number } from "../params.ts";

import { CLIP, VIDEO_PRICE } from "./encode.ts";

const TIME = { min: 0, max: LIMITS.videoSecondsMax, unit: "s" } as const;

export default defineCapability({
  id: "video.extract_audio",
  display_name: "Sound of a video",
  description: "Takes the sound out of a video.",
  output_modality: "audio",
  input: { video: input("video", "The video.") },
  params: {
    stream: integer("Which of its sounds, from 0.", { min: 0, max: 15, default: 0 }),
    start: number("Where it begins; at the beginning where it is not given.", TIME),
    end: number("Where it ends; at the end where it is not given.", TIME),
    ...OUTPUT,
  },
  rules: [{ rule: "less", of: ["params.start", "params.end"] }],
  sample_input: CLIP,
  examples: [
    { title: "All of it", params: {} },
    { title: "The first second, as MP3", params: { end: 1, format: "mp3" } },
  ],
  price: VIDEO_PRICE,
  engine: "ffmpeg",
  async run({ params, inputs, folder, progress }) {
    const facts = await probeAudio(inputs.video, params.stream);
    const { filters, seconds } = await spanOf(facts, folder, params);
    return encodeAudio({ folder, graph: chainOf(facts, filters), from: facts, output: params, seconds, progress });
  },
});

function spanOf(
  facts: AudioFacts,
  folder: string,
  { start = 0, end }: { readonly start: number | undefined; readonly end: number | undefined },
) {
  return trim.apply(beforeOf(folder, facts, [], facts.seconds), { start, end, duration: undefined });
}
