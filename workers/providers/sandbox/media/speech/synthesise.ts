/** One piece of text as sound at 24 kHz, with the time of each of its words. */
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";
import type { Flite, Phone } from "./flite.ts";
import { spell } from "./pieces.ts";
import { resample } from "./resample.ts";
import type { Voice } from "./voices.ts";

export const SAMPLE_RATE = 24_000;

export interface WordTime {
  readonly startMs: number;
  readonly endMs: number;
}

export interface SpokenPiece {
  readonly samples: Int16Array;
  /** One for each word of the text, words being what white space parts. */
  readonly words: readonly WordTime[];
}

/** Silence that stands for a piece without a sound in it, such as "…". */
const PAUSE_SAMPLES = 0.4 * SAMPLE_RATE;
/** Flite's voices peak at about two thirds; one gain for all keeps the pieces of a text alike. */
const GAIN = 1.2;

export function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

/** @param speed 1 is the voice's own */
export function synthesise(flite: Flite, text: string, voice: Voice, speed: number): SpokenPiece {
  const spelt = wordsOf(text).map(spell);
  const spoken = spelt.filter((word) => word !== "").join(" ");
  if (spoken === "") {
    return { samples: new Int16Array(PAUSE_SAMPLES), words: spelt.map(() => ({ startMs: 0, endMs: 0 })) };
  }
  const utterance = flite({
    text: spoken,
    voice: voice.speaker,
    stretch: voice.size / speed,
    pitchHz: voice.pitchHz / voice.size,
  });
  const floats = Float32Array.from(utterance.samples, (sample) => sample * GAIN);
  const sound = resample(floats, SAMPLE_RATE / (utterance.sampleRate * voice.size));
  const samples = Int16Array.from(sound.subarray(0, MEDIA_LIMITS.pieceSecondsMax * SAMPLE_RATE), (sample) =>
    Math.round(Math.max(-32_768, Math.min(32_767, sample))),
  );
  return { samples, words: timeWords(flite, spelt, utterance.phones, samples.length / SAMPLE_RATE) };
}

/**
 * Flite tells when each phone ends but not whose it is. How many phones a word has comes from having the words read as a
 * list, with a pause after each; where the pauses do not come out, letters are counted.
 */
function timeWords(flite: Flite, spelt: readonly string[], phones: readonly Phone[], seconds: number): WordTime[] {
  const end = phones.at(-1)?.endSeconds ?? 0;
  const scale = end > 0 ? (seconds / end) * 1_000 : 0;
  const sounds: WordTime[] = [];
  let before = 0;
  for (const { name, endSeconds } of phones) {
    if (name !== "pau") sounds.push({ startMs: before * scale, endMs: endSeconds * scale });
    before = endSeconds;
  }
  const counts = countPhones(flite, spelt);
  const total = counts.reduce((sum, count) => sum + count, 0);
  let passed = 0;
  return counts.map((count) => {
    const first = Math.round((passed / Math.max(1, total)) * sounds.length);
    passed += count;
    const last = Math.max(first, Math.round((passed / Math.max(1, total)) * sounds.length) - 1);
    const at = sounds[Math.min(first, sounds.length - 1)]?.startMs ?? 0;
    const until = count === 0 ? at : (sounds[Math.min(last, sounds.length - 1)]?.endMs ?? at);
    return { startMs: Math.round(at), endMs: Math.round(Math.max(at, until)) };
  });
}

/** Phones of each word, 0 for one without a sound. */
function countPhones(flite: Flite, spelt: readonly string[]): number[] {
  const spoken = spelt.filter((word) => word !== "");
  const list = spoken.map((word) => word.replace(/[.,;:!?]+$/, "")).join(", ");
  const { phones } = flite({ text: list, voice: "kal16", stretch: 0.5, pitchHz: 100 });
  const groups: number[] = [];
  let isInWord = false;
  for (const { name } of phones) {
    if (name === "pau") isInWord = false;
    else if (isInWord) groups[groups.length - 1] = (groups.at(-1) ?? 0) + 1;
    else {
      groups.push(1);
      isInWord = true;
    }
  }
  const counts = groups.length === spoken.length ? groups : spoken.map((word) => word.length);
  let next = 0;
  return spelt.map((word) => (word === "" ? 0 : (counts[next++] ?? 1)));
}
