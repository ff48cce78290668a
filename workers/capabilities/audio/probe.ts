import { defineCapability, input } from "../define.ts";
import { flag } from "../params.ts";
import { probeAudio, readAudioFacts, round, TUNE } from "./graph.ts";
import { loudnessOf } from "./normalize.ts";
import { beforeOf } from "./operation.ts";

export default defineCapability({
  id: "audio.probe",
  display_name: "Probe audio",
  description:
    "Returns duration, codec, sample rate, channels and tags of an audio file and, on request, its loudness.",
  output_modality: "text",
  input: { audio: input("audio", "The audio.") },
  params: { loudness: flag("Measure the loudness by decoding the whole file.", false) },
  sample_input: TUNE,
  examples: [
    { title: "Basic facts", params: {} },
    { title: "With loudness", params: { loudness: true } },
  ],
  price: { unit: "per_operation", operation_price: "0.02" },
  engine: "ffmpeg",
  async run({ params, inputs, folder }) {
    const facts = await (params.loudness ? probeAudio : readAudioFacts)(inputs.audio);
    const { seconds, codec, sampleRate, channels, bitrate, tags } = facts;
    const properties = {
      seconds: round(seconds),
      codec,
      sample_rate: sampleRate,
      channels,
      bitrate,
      bytes: inputs.audio.bytes,
      tags,
    };
    if (!params.loudness) return { output: properties };
    const { input_i, input_tp, input_lra } = await loudnessOf(beforeOf(folder, facts, [], seconds), "loudnorm=I=-16");
    const known = (value: number): number | null => (Number.isFinite(value) ? value : null);
    return {
      output: {
        ...properties,
        loudness: { integrated: known(input_i), true_peak: known(input_tp), range: known(input_lra) },
      },
    };
  },
});
