import { join } from "node:path";
import sharp, { type Sharp } from "sharp";

import { defineCapability, input } from "../define.ts";
import { checkColor } from "../image/sharp.ts";
import { choice, color, integer } from "../params.ts";
import { AUDIO_PRICE, type AudioFacts, chainOf, probeAudio, runAudioGraph, SECONDS_MAX, TUNE } from "./graph.ts";

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

interface DrawingStyle {
  readonly width: number;
  readonly height: number;
  readonly color: string;
}

function waveOf(samples: Int16Array, { width, height, color: fill }: DrawingStyle): Sharp {
  const middle = height / 2;
  const bars = rangesOf(samples, width).map(([low, high], x) => {
    const top = middle - high * middle;
    return `<rect x="${x}" y="${top.toFixed(2)}" width="1" height="${Math.max(1, (high - low) * middle).toFixed(2)}"/>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><g fill="${fill}">${bars.join("")}</g></svg>`;
  return sharp(Buffer.from(svg), { unlimited: true });
}

/** Draws a spectrogram; louder frequencies are more opaque. */
async function pitchesOf(samples: Int16Array, style: DrawingStyle, progress: (share: number) => void): Promise<Sharp> {
  const { width, height } = style;
  const pixel = { width: 1, height: 1, channels: 4, background: style.color } as const;
  const [red = 0, green = 0, blue = 0, alpha = 255] = await sharp({ create: pixel }).raw().toBuffer();
  const levels = spectrogram(samples, style, (share) => progress(share * 0.9));
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

/** Splits the samples into `count` equal sections, and returns the lowest and highest sample of each, from -1 to 1. */
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

/** Calculates a spectrogram, which shows the level of each frequency over time. */

/** Highest and lowest drawn level, in dB relative to a full-scale sine. */
const [LOUD_DB, QUIET_DB] = [0, -90];
const WINDOW_MIN = 512;
/** Maximum number of spectra per column of the image. With only one spectrum, short sounds could be missed. */
const SPECTRA_MAX = 4;

/**
 * Returns the levels of a spectrogram, from 0 to 1. Rows are ordered from half the sample rate down to 0 Hz.
 * @param progress receives the completed fraction, from 0 to 1
 */
function spectrogram(
  samples: Int16Array,
  { width, height }: { readonly width: number; readonly height: number },
  progress: (share: number) => void,
): Float32Array {
  let size = WINDOW_MIN;
  while (size < height * 2) size *= 2;
  const transform = createTransform(size);
  const levels = new Float32Array(width * height);
  const step = samples.length / width;
  const spectra = Math.max(1, Math.min(SPECTRA_MAX, Math.ceil(step / size)));
  const bins = size / 2;
  const power = new Float64Array(bins);
  for (let x = 0; x < width; x++) {
    power.fill(0);
    for (let at = 0; at < spectra; at++) {
      const middle = Math.floor((x + (at + 0.5) / spectra) * step);
      transform(samples, middle - bins, power);
    }
    for (let row = 0; row < height; row++) {
      const from = Math.floor((row * bins) / height);
      const to = Math.max(from + 1, Math.floor(((row + 1) * bins) / height));
      let most = 0;
      for (let bin = from; bin < to; bin++) most = Math.max(most, power[bin] ?? 0);
      const decibels = 10 * Math.log10(most + 1e-12);
      const level = (decibels - QUIET_DB) / (LOUD_DB - QUIET_DB);
      levels[(height - 1 - row) * width + x] = Math.min(1, Math.max(0, level));
    }
    progress((x + 1) / width);
  }
  return levels;
}

/**
 * Creates a spectrum function for blocks of `size` samples.
 * @returns a function that raises the values in `power` to the spectrum of the block at `start`; positions outside of the samples count as
 * silence
 */
function createTransform(size: number): (samples: Int16Array, start: number, power: Float64Array) => void {
  const window = Float64Array.from({ length: size }, (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / size));
  const [cos, sin] = [Math.cos, Math.sin].map((wave) =>
    Float64Array.from({ length: size / 2 }, (_, at) => wave((-2 * Math.PI * at) / size)),
  ) as [Float64Array, Float64Array];
  const bits = Math.log2(size);
  const places = Uint32Array.from({ length: size }, (_, at) => {
    let place = 0;
    for (let bit = 0; bit < bits; bit++) place |= ((at >> bit) & 1) << (bits - 1 - bit);
    return place;
  });
  const [real, imaginary] = [new Float64Array(size), new Float64Array(size)];
  // Power of a full-scale sine under this window.
  const full = (size / 4) ** 2;
  return (samples, start, power) => {
    imaginary.fill(0);
    for (let at = 0; at < size; at++) {
      real[places[at] ?? 0] = ((samples[start + at] ?? 0) / 32_768) * (window[at] ?? 0);
    }
    for (let half = 1; half < size; half *= 2) {
      const stride = size / (half * 2);
      for (let base = 0; base < size; base += half * 2) {
        for (let at = 0; at < half; at++) {
          const [low, high] = [base + at, base + at + half];
          const [c, s] = [cos[at * stride] ?? 0, sin[at * stride] ?? 0];
          const [r, i] = [real[high] ?? 0, imaginary[high] ?? 0];
          const [turnedReal, turnedImaginary] = [r * c - i * s, r * s + i * c];
          const [lowReal, lowImaginary] = [real[low] ?? 0, imaginary[low] ?? 0];
          real[high] = lowReal - turnedReal;
          imaginary[high] = lowImaginary - turnedImaginary;
          real[low] = lowReal + turnedReal;
          imaginary[low] = lowImaginary + turnedImaginary;
        }
      }
    }
    for (let bin = 0; bin < size / 2; bin++) {
      const value = ((real[bin] ?? 0) ** 2 + (imaginary[bin] ?? 0) ** 2) / full;
      if (value > (power[bin] ?? 0)) power[bin] = value;
    }
  };
}
