/** Renders notes and drums as samples at 48 kHz and adds them to two channels. */
import { createRandom } from "../../random.ts";

export const SAMPLE_RATE = 48_000;

/** Samples of two channels, from -1 to 1 before mastering. Samples beyond the end are dropped. */
export interface Stereo {
  readonly left: Float32Array;
  readonly right: Float32Array;
}

/** Number of samples in one period of a wave; a power of two. */
const CYCLE = 2_048;

interface Tone {
  /** Samples of one period of the wave, with a peak of 1. */
  readonly cycle: Float32Array;
  readonly attackSeconds: number;
  /** Time in which a sustained note decays to a third, in seconds. */
  readonly decaySeconds: number;
  readonly releaseSeconds: number;
  /** Depth of the vibrato, as a share of the pitch. Its rate is five times per second. */
  readonly vibrato: number;
}

const TONES = {
  piano: tone([1, 0.5, 0.3, 0.18, 0.1, 0.06], 0.004, 1.1, 0.25),
  pluck: tone([1, 0.5, 0.33, 0.25, 0.2, 0.16, 0.14, 0.12], 0.003, 0.5, 0.12),
  organ: tone([1, 0.7, 0.2, 0.4, 0, 0.1], 0.01, 4, 0.06),
  synth: tone([1, 0, 0.33, 0, 0.2, 0, 0.14], 0.005, 0.9, 0.1, 0.002),
  brass: tone([0.7, 1, 0.8, 0.5, 0.3, 0.15], 0.04, 3, 0.1, 0.003),
  strings: tone([1, 0.5, 0.33, 0.25, 0.2, 0.16, 0.14, 0.12], 0.15, 8, 0.4, 0.003),
  pad: tone([1, 0.3, 0.15, 0.05], 0.3, 8, 0.8, 0.001),
  bass: tone([1, 0.6, 0.3, 0.1], 0.005, 0.8, 0.05),
} as const;

function tone(
  partials: readonly number[],
  attackSeconds: number,
  decaySeconds: number,
  releaseSeconds: number,
  vibrato = 0,
): Tone {
  const wave = Float32Array.from({ length: CYCLE }, (_, at) =>
    partials.reduce((sum, strength, n) => sum + strength * Math.sin((2 * Math.PI * (n + 1) * at) / CYCLE), 0),
  );
  const peak = Math.max(...wave);
  return { cycle: wave.map((value) => value / peak), attackSeconds, decaySeconds, releaseSeconds, vibrato };
}

export type ToneName = keyof typeof TONES;

export interface Note {
  /** Pitch as a MIDI number; 60 is middle C. */
  readonly pitch: number;
  readonly startSeconds: number;
  readonly seconds: number;
  readonly gain: number;
  /** Stereo position, from -1 (left) to 1 (right). */
  readonly pan: number;
}

const VIBRATO_HERTZ = 5;

export function addNote(to: Stereo, name: ToneName, { pitch, startSeconds, seconds, gain, pan }: Note): void {
  const { cycle, attackSeconds, decaySeconds, releaseSeconds, vibrato } = TONES[name];
  const step = (CYCLE * 440 * 2 ** ((pitch - 69) / 12)) / SAMPLE_RATE;
  const sound = new Float32Array(Math.round((seconds + releaseSeconds) * SAMPLE_RATE));
  let phase = 0;
  for (let at = 0; at < sound.length; at += 1) {
    const time = at / SAMPLE_RATE;
    const attack = Math.min(1, time / attackSeconds);
    const release = Math.min(1, (seconds + releaseSeconds - time) / releaseSeconds);
    sound[at] = (cycle[phase & (CYCLE - 1)] ?? 0) * attack * release * Math.exp(-time / decaySeconds);
    phase += step * (1 + vibrato * Math.sin(2 * Math.PI * VIBRATO_HERTZ * time));
  }
  addSound(to, sound, startSeconds, gain, pan);
}

/** Adds a sound to both channels. Its total power is the same at every stereo position. */
export function addSound(
  { left, right }: Stereo,
  sound: Float32Array,
  startSeconds: number,
  gain: number,
  pan: number,
): void {
  const start = Math.round(startSeconds * SAMPLE_RATE);
  const end = Math.min(sound.length, left.length - start);
  const angle = ((pan + 1) * Math.PI) / 4;
  const [leftGain, rightGain] = [gain * Math.cos(angle), gain * Math.sin(angle)];
  for (let at = 0; at < end; at += 1) {
    left[start + at] = (left[start + at] ?? 0) + leftGain * (sound[at] ?? 0);
    right[start + at] = (right[start + at] ?? 0) + rightGain * (sound[at] ?? 0);
  }
}

/** Returns the sample of a drum at a time in seconds. `noise` is white noise, `hiss` its upper part. */
type Drum = (time: number, noise: number, hiss: number) => number;

const DRUMS = {
  kick: (time) => Math.sin(2 * Math.PI * (50 * time - 4 * Math.exp(-25 * time))) * Math.exp(-9 * time),
  snare: (time, noise) => (0.6 * noise + 0.5 * Math.sin(2 * Math.PI * 190 * time)) * Math.exp(-18 * time),
  hat: (time, _noise, hiss) => 0.5 * hiss * Math.exp(-55 * time),
} as const satisfies Record<string, Drum>;
const DRUM_SECONDS = 0.35;
export type DrumName = keyof typeof DRUMS;

/** Renders a drum. It fades in over one millisecond and out over twenty, so that no drum clicks. */
export function renderDrum(name: DrumName): Float32Array {
  const drum: Drum = DRUMS[name];
  const random = createRandom(1);
  let before = 0;
  return Float32Array.from({ length: DRUM_SECONDS * SAMPLE_RATE }, (_, index) => {
    const time = index / SAMPLE_RATE;
    const noise = random.below(65_536) / 32_768 - 1;
    const value = drum(time, noise, noise - before) * Math.min(1, 1_000 * time, 50 * (DRUM_SECONDS - time));
    before = noise;
    return value;
  });
}
