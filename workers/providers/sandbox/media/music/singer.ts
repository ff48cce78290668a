/** Words as a voice that keeps time and pitch. */
import type { Flite, Utterance } from "../speech/flite.ts";
import { resample } from "../speech/resample.ts";
import type { SungWord } from "./lyrics.ts";
import { hertz } from "./theory.ts";
import { SAMPLE_RATE } from "./tones.ts";
import { sing } from "./vocoder.ts";

export interface Singer {
  readonly speaker: "slt" | "rms";
  /** Pitch around which it sings. */
  readonly centre: number;
}

export const SINGERS = {
  woman: { speaker: "slt", centre: 58 },
  man: { speaker: "rms", centre: 49 },
} as const satisfies Record<string, Singer>;

/** Speech is made at 16 kHz; at this rate nothing of it is lost. */
const VOICE_RATE = 24_000;
/** Of the voice as spoken, beside the voice as sung: it keeps the words clear. */
const SPOKEN = 0.5;
const SUNG = 5;
/** A syllable as flite says it, and how far it can be stretched. */
const SYLLABLE_SECONDS = 0.24;
const STRETCH_MIN = 0.45;
const STRETCH_MAX = 2.2;
const EDGE_SECONDS = 0.008;

/** One channel at 48 kHz, `seconds` long; silent between the words. */
export function singWords(
  flite: Flite,
  { speaker }: Singer,
  words: readonly SungWord[],
  beatSeconds: number,
  seconds: number,
): Float32Array {
  const length = Math.ceil(seconds * VOICE_RATE);
  const spoken = new Float32Array(length);
  const pitches = new Float32Array(length);
  pitches.fill(hertz(words[0]?.pitch ?? 60));
  // Choruses come back.
  const known = new Map<string, Float32Array>();
  for (const word of words) {
    const start = Math.round(word.beat * beatSeconds * VOICE_RATE);
    const wanted = word.beats * beatSeconds;
    const key = `${word.text} ${word.beats} ${word.pitch}`;
    const sound = known.get(key) ?? say(flite, speaker, word, wanted * 0.97);
    known.set(key, sound);
    const most = Math.min(sound.length, Math.round(wanted * 1.15 * VOICE_RATE), length - start);
    const edge = Math.round(EDGE_SECONDS * VOICE_RATE);
    for (let at = 0; at < most; at += 1) {
      const fade = Math.min(1, at / edge, (most - at) / edge);
      spoken[start + at] = (spoken[start + at] ?? 0) + (sound[at] ?? 0) * fade;
    }
    // A tone lasts until the next word's begins.
    pitches.fill(hertz(word.pitch), Math.min(start, length));
  }
  glide(pitches);
  const sung = sing(spoken, pitches, VOICE_RATE);
  for (let at = 0; at < length; at += 1) sung[at] = SUNG * (sung[at] ?? 0) + SPOKEN * (spoken[at] ?? 0);
  return resample(sung, SAMPLE_RATE / VOICE_RATE);
}

/** A word in about the seconds wanted, without silence around it. */
function say(
  flite: Flite,
  speaker: Singer["speaker"],
  { text, syllables, pitch }: SungWord,
  seconds: number,
): Float32Array {
  const call = { text, voice: speaker, pitchHz: hertz(pitch) } as const;
  const bounded = (stretch: number): number => Math.max(STRETCH_MIN, Math.min(STRETCH_MAX, stretch));
  const guess = bounded(seconds / (syllables * SYLLABLE_SECONDS));
  const first = bare(flite({ ...call, stretch: guess }));
  const off = first.length / VOICE_RATE / seconds;
  const better = bounded(guess / off);
  if ((off > 0.8 && off < 1.1) || Math.abs(better - guess) < 0.05) return first;
  return bare(flite({ ...call, stretch: better }));
}

function bare({ samples, sampleRate, phones }: Utterance): Float32Array {
  const first = phones.findIndex(({ name }) => name !== "pau");
  const last = phones.findLastIndex(({ name }) => name !== "pau");
  const start = (phones[first - 1]?.endSeconds ?? 0) * sampleRate;
  const end = (phones[last]?.endSeconds ?? samples.length / sampleRate) * sampleRate;
  const word = Float32Array.from(samples.subarray(Math.round(start), Math.round(end)), (sample) => sample / 32_768);
  return resample(word, VOICE_RATE / sampleRate);
}

const GLIDE_SECONDS = 0.03;

function glide(pitches: Float32Array): void {
  const share = 1 - Math.exp(-1 / (GLIDE_SECONDS * VOICE_RATE));
  let now = pitches[0] ?? 0;
  for (let at = 0; at < pitches.length; at += 1) {
    now += share * ((pitches[at] ?? 0) - now);
    pitches[at] = now;
  }
}
