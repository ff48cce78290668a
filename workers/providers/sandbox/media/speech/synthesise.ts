/** Synthesises one piece of text as samples at 24 kHz, with the times of its words. */
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import type { Flite, Phone } from "./flite.ts";
import { spell, wordsOf } from "./pieces.ts";
import type { Voice } from "./voices.ts";

export const SAMPLE_RATE = 24_000;

export interface WordTime {
  readonly startMs: number;
  readonly endMs: number;
}

export interface SpokenPiece {
  readonly samples: Int16Array;
  /** Times of the words, one entry per word of the text. */
  readonly words: readonly WordTime[];
}

/** Length of the silence for a piece without a sound, such as "…", in samples. */
const PAUSE_SAMPLES = 0.4 * SAMPLE_RATE;
/** Amplification of flite's samples. Its voices peak at about two thirds of full scale. */
const GAIN = 1.2;

/**
 * Synthesises a piece of text.
 * @param speed 1 is the voice's own speed
 */
export function synthesise(flite: Flite, text: string, voice: Voice, speed: number): SpokenPiece {
  const spelt = wordsOf(text).map(spell);
  const spoken = spelt.filter((word) => word !== "").join(" ");
  if (spoken === "") {
    return { samples: new Int16Array(PAUSE_SAMPLES), words: spelt.map(() => ({ startMs: 0, endMs: 0 })) };
  }
  const stretch = 1 / (speed * voice.pace);
  const { samples, sampleRate, phones } = flite({
    text: spoken,
    voice: voice.speaker,
    stretch,
    pitchHz: voice.pitchHz,
  });
  const kept = samples.subarray(0, MEDIA_LIMITS.pieceSecondsMax * sampleRate);
  return {
    samples: upsample(kept, SAMPLE_RATE / sampleRate, GAIN),
    words: timeWords(spelt, phones, (1_000 * kept.length) / sampleRate),
  };
}

/** Number of filter taps on each side of a sample. */
const REACH = 12;
/** Number of filter phases between two samples, sufficient for the used ratios 3 : 2 and 2 : 1. */
const PHASES = 6;

/** Upsamples by windowed-sinc interpolation. @param ratio new sample rate divided by the old one: 1.5, 2 or 3 */
export function upsample(samples: Int16Array, ratio: number, gain: number): Int16Array {
  const kernels = Array.from({ length: PHASES + 1 }, (_, phase) => sincKernel(phase / PHASES, gain));
  const padded = new Int16Array(samples.length + 2 * REACH);
  padded.set(samples, REACH);
  const output = new Int16Array(Math.round(samples.length * ratio));
  for (let index = 0; index < output.length; index += 1) {
    const base = Math.floor(index / ratio);
    const kernel = kernels[Math.round((index / ratio - base) * PHASES)] ?? new Float32Array(2 * REACH);
    let sum = 0;
    for (let tap = 0; tap < 2 * REACH; tap += 1) sum += (padded[base + 1 + tap] ?? 0) * (kernel[tap] ?? 0);
    output[index] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  }
  return output;
}

/** Returns the weights of the samples around a position. The position is from 0 to 1, after the middle sample. */
function sincKernel(position: number, gain: number): Float32Array {
  return Float32Array.from({ length: 2 * REACH }, (_, tap) => {
    const x = Math.PI * (tap - REACH + 1 - position);
    return gain * (x === 0 ? 1 : (Math.sin(x) / x) * (0.5 + 0.5 * Math.cos(x / REACH)));
  });
}

/**
 * Returns the times of the words. Flite reports the end of each phone, but not its word. Therefore each word gets phones in proportion to
 * its letters.
 */
function timeWords(spelt: readonly string[], phones: readonly Phone[], durationMs: number): WordTime[] {
  const sounds = phones
    .map(({ name, endSeconds }, index) => ({
      name,
      startMs: Math.round(1_000 * (phones[index - 1]?.endSeconds ?? 0)),
      endMs: Math.round(1_000 * endSeconds),
    }))
    .filter(({ name, startMs }) => name !== "pau" && startMs < durationMs);
  const weights = spelt.map((word) => word.replaceAll(/\d/g, "four").length);
  const total = Math.max(
    1,
    weights.reduce((sum, weight) => sum + weight, 0),
  );
  let passed = 0;
  return weights.map((weight) => {
    const first = Math.min(sounds.length - 1, Math.round((passed / total) * sounds.length));
    passed += weight;
    const last = Math.max(first, Math.round((passed / total) * sounds.length) - 1);
    const startMs = sounds[first]?.startMs ?? 0;
    return { startMs, endMs: weight === 0 ? startMs : Math.min(durationMs, sounds[last]?.endMs ?? startMs) };
  });
}
