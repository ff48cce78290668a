/** Drums and cymbals as short sounds of their own. */
import type { Drum } from "./patterns.ts";
import { createNoise, SAMPLE_RATE } from "./tones.ts";

/** A tone that falls, noise that is filtered, or both. */
interface DrumSpec {
  readonly seconds: number;
  /** Hz at the beginning and in the end, seconds between them, seconds until it has faded to a third, strength. */
  readonly tone?: readonly [from: number, to: number, bend: number, fade: number, level: number];
  /** Hz below and above which there is little, seconds until it has faded to a third, strength. */
  readonly noise?: readonly [from: number, to: number, fade: number, level: number];
  /** Seconds apart, for hands that do not clap at once. */
  readonly echoes?: readonly number[];
  /** Ratios of a cymbal's clang over its base, in Hz. */
  readonly clang?: { readonly hertz: number; readonly fade: number; readonly level: number };
}

const DRUMS: Readonly<Record<Drum, DrumSpec>> = {
  kick: { seconds: 0.5, tone: [165, 46, 0.035, 0.16, 1], noise: [800, 4_000, 0.004, 0.25] },
  snare: { seconds: 0.35, tone: [240, 180, 0.03, 0.07, 0.5], noise: [900, 8_500, 0.085, 0.75] },
  clap: { seconds: 0.35, noise: [900, 5_500, 0.06, 0.85], echoes: [0, 0.011, 0.023] },
  hat: { seconds: 0.12, noise: [6_500, 15_000, 0.022, 0.6], clang: { hertz: 420, fade: 0.02, level: 0.15 } },
  open: { seconds: 0.5, noise: [6_000, 15_000, 0.13, 0.5], clang: { hertz: 420, fade: 0.12, level: 0.14 } },
  ride: { seconds: 1.2, noise: [5_000, 14_000, 0.1, 0.16], clang: { hertz: 540, fade: 0.38, level: 0.26 } },
  crash: { seconds: 2.4, noise: [3_500, 14_000, 0.55, 0.5], clang: { hertz: 380, fade: 0.6, level: 0.16 } },
  tom: { seconds: 0.6, tone: [190, 105, 0.08, 0.17, 0.9], noise: [300, 3_000, 0.02, 0.2] },
  rim: { seconds: 0.1, tone: [1_700, 1_650, 0.01, 0.012, 0.5], noise: [1_500, 6_000, 0.01, 0.4] },
  shaker: { seconds: 0.14, noise: [5_000, 12_000, 0.03, 0.4] },
  brush: { seconds: 0.25, noise: [2_200, 9_000, 0.07, 0.42] },
  timpani: { seconds: 1.6, tone: [112, 98, 0.1, 0.5, 1], noise: [150, 1_200, 0.02, 0.3] },
};

/** How loud each is in the band, and where: -1 left, 1 right. */
export const DRUM_SEATS: Readonly<Record<Drum, { readonly gain: number; readonly pan: number }>> = {
  kick: { gain: 0.85, pan: 0 },
  snare: { gain: 0.6, pan: 0.05 },
  clap: { gain: 0.5, pan: -0.05 },
  hat: { gain: 0.32, pan: 0.3 },
  open: { gain: 0.27, pan: 0.3 },
  ride: { gain: 0.8, pan: -0.35 },
  crash: { gain: 0.4, pan: -0.3 },
  tom: { gain: 0.5, pan: -0.2 },
  rim: { gain: 0.34, pan: 0.2 },
  shaker: { gain: 0.4, pan: -0.4 },
  brush: { gain: 0.8, pan: 0.1 },
  timpani: { gain: 0.4, pan: 0.1 },
};

/** Not whole numbers, as in metal. */
const CLANG_RATIOS = [1, 1.342, 1.571, 2.137, 2.663, 3.417];

export function renderDrum(drum: Drum): Float32Array {
  const { seconds, tone, noise, echoes = [0], clang } = DRUMS[drum];
  const output = new Float32Array(Math.round(seconds * SAMPLE_RATE));
  if (tone !== undefined) addTone(output, tone);
  if (noise !== undefined) for (const echo of echoes) addNoise(output, noise, echo);
  if (clang !== undefined) {
    for (let at = 0; at < output.length; at += 1) {
      const time = at / SAMPLE_RATE;
      let sum = 0;
      for (const ratio of CLANG_RATIOS) sum += Math.sign(Math.sin(2 * Math.PI * clang.hertz * ratio * 8 * time));
      output[at] = (output[at] ?? 0) + (sum / CLANG_RATIOS.length) * clang.level * Math.exp(-time / clang.fade);
    }
  }
  const fadeFrom = output.length - Math.round(0.02 * SAMPLE_RATE);
  for (let at = fadeFrom; at < output.length; at += 1) {
    output[at] = ((output[at] ?? 0) * (output.length - at)) / (output.length - fadeFrom);
  }
  return output;
}

function addTone(output: Float32Array, [from, to, bend, fade, level]: NonNullable<DrumSpec["tone"]>): void {
  let phase = 0;
  for (let at = 0; at < output.length; at += 1) {
    const time = at / SAMPLE_RATE;
    phase += (2 * Math.PI * (to + (from - to) * Math.exp(-time / bend))) / SAMPLE_RATE;
    const value = Math.sin(phase) * Math.exp(-time / fade) * Math.min(1, at / 40);
    output[at] = (output[at] ?? 0) + Math.tanh(1.6 * value) * 0.72 * level;
  }
}

/** Noise between two gentle slopes. */
function addNoise(output: Float32Array, [from, to, fade, level]: NonNullable<DrumSpec["noise"]>, echo: number): void {
  const noise = createNoise(Math.round(from + to + echo * 1_000));
  const start = Math.round(echo * SAMPLE_RATE);
  const [open, close] = [
    1 - Math.exp((-2 * Math.PI * to) / SAMPLE_RATE),
    1 - Math.exp((-2 * Math.PI * from) / SAMPLE_RATE),
  ];
  let [high, low, lower] = [0, 0, 0];
  for (let at = start; at < output.length; at += 1) {
    high += open * (noise() - high);
    low += close * (high - low);
    lower += close * (high - low - lower);
    output[at] = (output[at] ?? 0) + (high - low - lower) * level * Math.exp(-(at - start) / (fade * SAMPLE_RATE));
  }
}
