import { join } from "node:path";

import sharp, { type Sharp } from "sharp";

import { defineCapability, input } from "../define.ts";
import { choice, color, integer } from "../params.ts";
import { checkColor } from "../image/sharp.ts";
import { AUDIO_PRICE, type AudioFacts, chainOf, probeAudio, runAudioGraph, SECONDS_MAX, TUNE } from "./graph.ts";
import { spectrogram } from "./spectrum.ts";

/** Sample rates in hertz. A spectrogram shows frequencies up to half of its rate. */
const RATES = { waveform: 8_000, spectrogram: 24_000 } as const;
const PEAKS = 200;

const KINDS = ["waveform", "spectrogram"] as const;

export default defineCapability({
  id: "audio.waveform",
  display_name: "Draw a waveform",
  description: "Draws audio as a waveform image, with its peaks as numbers, or as a spectrogram.",
  output_modality: "image",
  input: { audio: input("audio", "The audio.") },
  params: {
    kind: choice(
      "`waveform` shows the level over time; `spectrogram` shows the frequencies from 0 Hz (bottom) to 12 kHz (top).",
      KINDS,
      {
        default: "waveform",
      },
    ),
    width: integer("Width of the image.", { min: 64, max: 4_096, unit: "px", default: 1_200 }),
    height: integer("Height of the image.", { min: 16, max: 2_160, unit: "px", default: 200 }),
    color: color("Colour of the waveform, or of the loudest parts of a spectrogram.", { default: "#3366ff" }),
    background: color("Background colour.", { default: "transparent" }),
    format: choice("Format of the image.", ["png", "webp"], { default: "png" }),
  },
  sample_input: TUNE,
  examples: [
    { title: "In blue", params: {} },
    { title: "Spectrogram", params: { kind: "spectrogram" } },
    { title: "Small, white on black", params: { width: 300, height: 60, color: "white", background: "black" } },
  ],
  price: AUDIO_PRICE,
  engine: "ffmpeg",
  async run({ params, inputs, folder, progress }) {
    const { kind, width, height, format } = params;
    for (const name of ["color", "background"] as const) checkColor(`params.${name}`, params[name]);
    const samples = await samplesOf(await probeAudio(inputs.audio), folder, RATES[kind]);
    const name = `${kind}.${format}`;
    const path = join(folder, name);
    const drawn = kind === "waveform" ? waveOf(samples, params) : await pitchesOf(samples, params, progress);
    await (params.background === "transparent" ? drawn : drawn.flatten({ background: params.background }))
      .toFormat(format)
      .toFile(path);
    const files = [{ path, mediaType: `image/${format}`, name }];
    if (kind === "spectrogram") return { output: { width, height, highest_hz: RATES[kind] / 2 }, files };
    const peaks = rangesOf(samples, Math.min(PEAKS, samples.length)).map(
      ([low, high]) => Math.round(Math.max(-low, high) * 1_000) / 1_000,
    );
    return { output: { width, height, peaks }, files };
  },
});

interface Look {
  readonly width: number;
  readonly height: number;
  readonly color: string;
}

function waveOf(samples: Int16Array, { width, height, color: fill }: Look): Sharp {
  const middle = height / 2;
  const bars = rangesOf(samples, width).map(([low, high], x) => {
    const top = middle - high * middle;
    return `<rect x="${x}" y="${top.toFixed(2)}" width="1" height="${Math.max(1, (high - low) * middle).toFixed(2)}"/>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><g fill="${fill}">${bars.join("")}</g></svg>`;
  return sharp(Buffer.from(svg), { unlimited: true });
}

/** Draws a spectrogram; louder frequencies are more opaque. */
async function pitchesOf(samples: Int16Array, look: Look, progress: (share: number) => void): Promise<Sharp> {
  const { width, height } = look;
  const pixel = { width: 1, height: 1, channels: 4, background: look.color } as const;
  const [red = 0, green = 0, blue = 0, alpha = 255] = await sharp({ create: pixel }).raw().toBuffer();
  const levels = spectrogram(samples, look, (share) => progress(share * 0.9));
  const data = Buffer.alloc(width * height * 4);
  for (const [at, level] of levels.entries()) data.set([red, green, blue, Math.round(alpha * level)], at * 4);
  return sharp(data, { raw: { width, height, channels: 4 } });
}

/** Decodes audio to 16-bit mono samples. */
async function samplesOf(facts: AudioFacts, folder: string, rate: number): Promise<Int16Array> {
  const path = join(folder, "samples.raw");
  await runAudioGraph({
    graph: chainOf(facts, [`aresample=${rate}`, `aformat=sample_rates=${rate}:channel_layouts=mono`]),
    streams: [{ label: "a", encoder: "pcm_s16le" }],
    output: { path, muxer: "s16le" },
    secondsMax: SECONDS_MAX,
  });
  return new Int16Array(await Bun.file(path).arrayBuffer());
}

/** Returns the lowest and highest sample of each of `count` equal parts, from -1 to 1. */
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
