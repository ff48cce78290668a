import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, inputs } from "../define.ts";
import { choice, flag, list, number } from "../params.ts";
import { AUDIO_PRICE, channelFilters, encodeAudio, OUTPUT, probeAudio, shapeFilters, soundOf } from "./graph.ts";

export default defineCapability({
  id: "audio.mix",
  display_name: "Mix audio",
  description: "Mixes audio files so that they play at the same time, each with its own volume and start time.",
  output_modality: "audio",
  input: { audios: inputs("audio", "The audio files to mix.", [2, 8]) },
  params: {
    volumes: list(
      "Gain of each file in dB, in the order of the inputs.",
      number("Value for one file.", { min: -60, max: 20, unit: "dB", required: true }),
      { max: 8 },
    ),
    offsets: list(
      "Start time of each file in seconds, in the order of the inputs.",
      number("Value for one file.", { min: 0, max: 3_600, unit: "s", required: true }),
      { max: 8 },
    ),
    duration: choice("Which file decides the duration of the result.", ["longest", "shortest", "first"], {
      default: "longest",
    }),
    normalize: flag("Scale the mix down so that it does not clip.", true),
    ...OUTPUT,
  },
  sample_input: { audios: [{ file_id: "file-sample-tune" }, { file_id: "file-sample-tune" }] },
  examples: [
    { title: "As they are", params: {} },
    { title: "The second file later and quieter", params: { volumes: [0, -12], offsets: [0, 0.5] } },
  ],
  price: AUDIO_PRICE,
  engine: "ffmpeg",
  async run({ params, inputs: runInputs, folder, progress }) {
    const all = await Promise.all(runInputs.audios.map((audio) => probeAudio(audio)));
    const [first] = all;
    if (!first) throw new MediaError("invalid", "Expected at least 2 audios, got none.");
    for (const name of ["volumes", "offsets"] as const) {
      const got = params[name]?.length ?? all.length;
      if (got !== all.length)
        throw new MediaError("invalid", `Expected params.${name} to have ${all.length} values, got ${got}.`);
    }
    const rate = params.sample_rate ?? first.sampleRate;
    const channels = all.every((facts) => facts.channels === 1) ? 1 : 2;
    const parts = all.map((facts, at) => {
      const [gain, offset] = [params.volumes?.[at] ?? 0, params.offsets?.[at] ?? 0];
      const later = offset > 0 ? `,adelay=${Math.round(offset * 1_000)}:all=1` : "";
      return `${soundOf(facts)},${[...channelFilters(facts.channels, channels), shapeFilters(channels, rate, channels)].join(",")},volume=${gain}dB${later}[p${at}]`;
    });
    const joined = `${all.map((_, at) => `[p${at}]`).join("")}amix=inputs=${all.length}:duration=${params.duration}:normalize=${params.normalize ? 1 : 0}[a]`;
    const seconds = Math.max(...all.map((facts, at) => facts.seconds + (params.offsets?.[at] ?? 0)));
    return encodeAudio({
      folder,
      graph: [...parts, joined].join(";"),
      from: { ...first, seconds, channels },
      output: params,
      progress,
    });
  },
});
