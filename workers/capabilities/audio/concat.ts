import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, inputs } from "../define.ts";
import { number } from "../params.ts";
import { AUDIO_PRICE, channelFilters, encodeAudio, OUTPUT, probeAudio, round, shapeFilters, soundOf } from "./graph.ts";

export default defineCapability({
  id: "audio.concat",
  display_name: "Join audio",
  description: "Joins audio files one after the other, with a gap or a crossfade.",
  output_modality: "audio",
  input: { audios: inputs("audio", "The audio files, in playback order.", [2, 50]) },
  params: {
    crossfade: number("Crossfade duration in seconds; at most the duration of the shortest file.", {
      min: 0,
      max: 10,
      unit: "s",
      default: 0,
    }),
    gap: number("Silence between the files in seconds.", { min: 0, max: 10, unit: "s", default: 0 }),
    ...OUTPUT,
  },
  sample_input: { audios: [{ file_id: "file-sample-tune" }, { file_id: "file-sample-tune" }] },
  examples: [
    { title: "One after the other", params: {} },
    { title: "With a gap, as WAV", params: { gap: 0.5, format: "wav" } },
  ],
  price: AUDIO_PRICE,
  engine: "ffmpeg",
  async run({ params, inputs: runInputs, folder, progress }) {
    const { crossfade, gap } = params;
    if (crossfade > 0 && gap > 0) throw new MediaError("invalid", "Expected params.crossfade or params.gap, got both.");
    const all = await Promise.all(runInputs.audios.map((audio) => probeAudio(audio)));
    const [first] = all;
    if (!first) throw new MediaError("invalid", "Expected at least 2 audios, got none.");
    const shortest = Math.min(...all.map((facts) => facts.seconds));
    if (crossfade > 0 && crossfade > shortest) {
      const most = `${round(shortest)} s, as long as the shortest audio`;
      throw new MediaError("invalid", `Expected params.crossfade to be at most ${most}, got ${crossfade}.`);
    }
    const rate = params.sample_rate ?? first.sampleRate;
    const channels = all.every((facts) => facts.channels === 1) ? 1 : 2;
    const parts = all.map((facts, at) => {
      const pause = gap > 0 && at < all.length - 1 ? `,apad=pad_dur=${gap}` : "";
      return `${soundOf(facts)},${[...channelFilters(facts.channels, channels), shapeFilters(channels, rate, channels)].join(",")}${pause}[p${at}]`;
    });
    const joined =
      crossfade > 0
        ? faded(all.length, crossfade)
        : `${all.map((_, at) => `[p${at}]`).join("")}concat=n=${all.length}:v=0:a=1[a]`;
    const seconds = all.reduce((sum, facts) => sum + facts.seconds, 0) + (all.length - 1) * (gap - crossfade);
    return encodeAudio({
      folder,
      graph: [...parts, joined].join(";"),
      from: { ...first, seconds, channels },
      output: params,
      progress,
    });
  },
});

function faded(count: number, seconds: number): string {
  let text = "";
  for (let at = 1; at < count; at++) {
    const before = at === 1 ? "[p0]" : `[x${at - 1}]`;
    text += `${at > 1 ? ";" : ""}${before}[p${at}]acrossfade=d=${seconds}:c1=tri:c2=tri${at === count - 1 ? "[a]" : `[x${at}]`}`;
  }
  return text;
}
