import { join } from "node:path";

import sharp from "sharp";

import { MediaError } from "#shared/media/media-error.ts";
import { runFilterGraph } from "#workers/children/filter-graph.ts";

import { defineCapability, input } from "../define.ts";
import { choice, color, integer } from "../params.ts";
import { checkColor } from "../image/sharp.ts";
import { AUDIO_PRICE, chainOf, probeAudio, SECONDS_MAX, TUNE } from "./graph.ts";

const RATE = 8_000;
const PEAKS = 200;

export default defineCapability({
  id: "audio.waveform",
  display_name: "Draw a waveform",
  description: "Draws audio as a waveform, and tells its peaks as numbers.",
  output_modality: "image",
  input: { audio: input("audio", "The audio.") },
  params: {
    width: integer("Of the image.", { min: 64, max: 4_096, unit: "px", default: 1_200 }),
    height: integer("Of the image.", { min: 16, max: 2_160, unit: "px", default: 200 }),
    color: color("Of the wave.", { default: "#3366ff" }),
    background: color("Behind it.", { default: "transparent" }),
    format: choice("Format of the image.", ["png", "webp"], { default: "png" }),
  },
  sample_input: TUNE,
  examples: [
    { title: "In blue", params: {} },
    { title: "A small one, white on black", params: { width: 300, height: 60, color: "white", background: "black" } },
  ],
  price: AUDIO_PRICE,
  engine: "ffmpeg",
  async run({ params, inputs, folder }) {
    const { width, height, format } = params;
    for (const name of ["color", "background"] as const) checkColor(`params.${name}`, params[name]);
    const samples = await samplesOf(await probeAudio(inputs.audio), folder);
    const columns = rangesOf(samples, width);
    const middle = height / 2;
    const bars = columns.map(([low, high], x) => {
      const top = middle - high * middle;
      return `<rect x="${x}" y="${top.toFixed(2)}" width="1" height="${Math.max(1, (high - low) * middle).toFixed(2)}"/>`;
    });
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><g fill="${params.color}">${bars.join("")}</g></svg>`;
    const name = `waveform.${format}`;
    const path = join(folder, name);
    const drawn = sharp(Buffer.from(svg), { unlimited: true });
    await (params.background === "transparent" ? drawn : drawn.flatten({ background: params.background }))
      .toFormat(format)
      .toFile(path);
    const peaks = rangesOf(samples, Math.min(PEAKS, samples.length)).map(
      ([low, high]) => Math.round(Math.max(-low, high) * 1_000) / 1_000,
    );
    return { output: { width, height, peaks }, files: [{ path, mediaType: `image/${format}`, name }] };
  },
});

/** Mono, from -1 to 1. */
async function samplesOf(facts: Awaited<ReturnType<typeof probeAudio>>, folder: string): Promise<Int16Array> {
  const path = join(folder, "samples.raw");
  await runFilterGraph({
    graph: chainOf(facts, [`aresample=${RATE}`, `aformat=sample_rates=${RATE}:channel_layouts=mono`]),
    streams: [{ label: "a", encoder: "pcm_s16le" }],
    output: { path, muxer: "s16le" },
    secondsMax: SECONDS_MAX,
  }).catch((error: unknown) => {
    throw new MediaError("corrupt", "The audio cannot be decoded.", { cause: error });
  });
  return new Int16Array(await Bun.file(path).arrayBuffer());
}

/** The lowest and the highest sample of each of so many equal pieces. */
function rangesOf(samples: Int16Array, count: number): [low: number, high: number][] {
  return Array.from({ length: count }, (_, at) => {
    const from = Math.floor((at * samples.length) / count);
    const to = Math.max(from + 1, Math.floor(((at + 1) * samples.length) / count));
    let [low, high] = [0, 0];
    for (let index = from; index < to; index++) {
      const value = (samples[index] ?? 0) / 32_768;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    return [low, high];
  });
}
