import { loadFfmpeg } from "#workers/children/ffmpeg.ts";
import type { FileSource } from "#workers/children/file-source.ts";

import { type AudioFacts, chainOf, encodeAudio, OUTPUT, probeAudio } from "../audio/graph.ts";
import { beforeOf } from "../audio/operation.ts";
import { operation as trim } from "../audio/trim.ts";
import { defineCapability, input } from "../define.ts";
import { integer, number } from "../params.ts";

import { CLIP, VIDEO_PRICE } from "./encode.ts";
import { endOf, openSource } from "./facts.ts";
import { STEADY_SOUND } from "./scene.ts";
import { VIDEO_SECONDS_MAX } from "./limits.ts";

const TIME = { min: 0, max: VIDEO_SECONDS_MAX, unit: "s" } as const;

export default defineCapability({
  id: "video.extract_audio",
  display_name: "Extract audio",
  description: "Extracts the audio of a video. If the audio starts later than the picture, silence fills the gap.",
  output_modality: "audio",
  input: { video: input("video", "The video.") },
  params: {
    stream: integer("Index of the audio stream, starting at 0.", { min: 0, max: 15, default: 0 }),
    start: number("Start of the section in seconds. Default: start of the video.", TIME),
    end: number("End of the section in seconds. Default: end of the video.", TIME),
    ...OUTPUT,
  },
  rules: [{ rule: "less", of: ["params.start", "params.end"] }],
  sample_input: CLIP,
  examples: [
    { title: "The whole audio", params: {} },
    { title: "The first second, as MP3", params: { end: 1, format: "mp3" } },
  ],
  price: VIDEO_PRICE,
  engine: "ffmpeg",
  async run({ params, inputs, folder, progress }) {
    const facts = await probeAudio(inputs.video, params.stream);
    const { startsAt, end } = facts.source.links ? { startsAt: 0, end: facts.seconds } : await clockOf(facts.source);
    const own = { ...facts, seconds: end };
    const { filters, seconds } = await spanOf(own, folder, params);
    const shift = startsAt > 0 ? [`asetpts=PTS-${startsAt}/TB`] : [];
    const graph = chainOf(facts, [...shift, STEADY_SOUND, ...filters]);
    return encodeAudio({ folder, graph, from: own, output: params, seconds, progress });
  },
});

/**
 * Returns the start of a video file on the file's clock, and the time from there to the end of its audio. Both are in seconds; 0 if the
 * file does not state the time.
 */
async function clockOf(source: FileSource): Promise<{ readonly startsAt: number; readonly end: number }> {
  const demuxer = await openSource(source);
  try {
    const { constants } = await loadFfmpeg();
    const startsAt = Math.max(0, demuxer.startTime);
    const sounds = demuxer.streams.filter(({ codecpar }) => codecpar.codecType === constants.AVMEDIA_TYPE_AUDIO);
    const stream = sounds[source.sound ?? 0];
    const own = stream === undefined ? 0 : endOf(stream) - startsAt;
    const whole = demuxer.duration - (source.container === "matroska" ? startsAt : 0);
    return { startsAt, end: Math.max(0, Math.round((own > 0 ? own : whole) * 1e6) / 1e6) };
  } finally {
    await demuxer.close();
  }
}

function spanOf(
  facts: AudioFacts,
  folder: string,
  { start = 0, end }: { readonly start: number | undefined; readonly end: number | undefined },
) {
  return trim.apply(beforeOf(folder, facts, [], facts.seconds), { start, end, duration: undefined });
}
