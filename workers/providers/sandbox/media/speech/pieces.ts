/** Splits a text into pieces for the synthesiser. Spells words that an English synthesiser cannot read. */
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

/** Returns the sentences of a text; long sentences are split. Joined, they are the whole text. */
export function cutIntoPieces(text: string): string[] {
  const sentences = new Intl.Segmenter("en", { granularity: "sentence" }).segment(text);
  const max = MEDIA_LIMITS.pieceCharactersMax;
  const part = new RegExp(String.raw`[^]{1,${max - 1}}(?:\s|$)|[^]{1,${max}}`, "gu");
  return Array.from(sentences).flatMap(({ segment }) => segment.match(part) ?? []);
}

export function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

const ONSETS = ["m", "n", "t", "k", "s", "d", "b", "l", "r", "g"];
const VOWELS = ["ah", "ee", "oo", "oh", "ay"];

/**
 * Returns a word in letters that flite can read. Accents are removed, and a letter of another script becomes a fixed syllable. Empty for a
 * word without a sound, such as a dash or an emoji.
 */
export function spell(word: string): string {
  const spelt = word
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[‘’]/g, "'")
    // Flite interprets some characters as markup.
    .replaceAll(/[<>\\{}[\]|^~`*_#"]|\p{M}/gu, "")
    .replaceAll(/[^\x21-\x7e]/gu, syllable)
    .trim();
  return /[a-z0-9$%&+@=]/.test(spelt) ? spelt : "";
}

function syllable(character: string): string {
  if (!/\p{L}|\p{N}/u.test(character)) return "";
  const code = character.codePointAt(0) ?? 0;
  return `${ONSETS[code % ONSETS.length]}${VOWELS[Math.floor(code / ONSETS.length) % VOWELS.length]} `;
}
