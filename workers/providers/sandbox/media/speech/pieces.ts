/** Cuts a text into what is spoken in one go, and spells what an English synthesiser cannot read. */
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

/**
 * Sentences, or parts of long ones. Put together again they are the text, character for character.
 */
export function cutIntoPieces(text: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  let at = 0;
  while (at < text.length) {
    if (!SENTENCE_END.has(text.charAt(at))) {
      at += 1;
      continue;
    }
    const mark = text.charAt(at);
    while (SENTENCE_END.has(text.charAt(at)) || CLOSING.has(text.charAt(at))) at += 1;
    const isFollowed = at >= text.length || /\s/.test(text.charAt(at)) || mark === "\n" || mark > "\u007f";
    while (at < text.length && /\s/.test(text.charAt(at))) at += 1;
    const piece = text.slice(start, at);
    if (!isFollowed || piece.trim().length < 4 || ABBREVIATION.test(piece)) continue;
    pieces.push(piece);
    start = at;
  }
  if (start < text.length) pieces.push(text.slice(start));
  return pieces.flatMap(cutLong);
}

const SENTENCE_END = new Set(".!?…。！？\n");
const CLOSING = new Set("\"'”’)]");
/** "Dr. Smith", "e.g. this", "J. Doe": no ends of sentences. */
const ABBREVIATION = /(?:^|[\s.])(?:[A-Za-z]|Dr|Mr|Mrs|Ms|St|vs|etc)\.\s+$/;

function cutLong(piece: string): string[] {
  const parts: string[] = [];
  let rest = piece;
  while (rest.length > MEDIA_LIMITS.pieceCharactersMax) {
    const window = rest.slice(0, MEDIA_LIMITS.pieceCharactersMax);
    const comma = window.search(/[,;:，；、]\s*\S*$/);
    const space = window.lastIndexOf(" ");
    let at = comma > window.length / 2 ? comma + 1 : space > 0 ? space + 1 : window.length;
    // Half of a surrogate pair is no character.
    if (/[\uD800-\uDBFF]/.test(rest.charAt(at - 1))) at -= 1;
    parts.push(rest.slice(0, at));
    rest = rest.slice(at);
  }
  if (rest !== "") parts.push(rest);
  return parts;
}

const CYRILLIC = "абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґ";
const CYRILLIC_SOUNDS =
  "a b v g d ye yo zh z ee y k l m n o p r s t oo f h ts ch sh shch  i  e yoo ya ee yee ye g".split(" ");
const GREEK = "αβγδεζηθικλμνξοπρσςτυφχψω";
const GREEK_SOUNDS = "a v g d e z i th i k l m n x o p r s s t i f h ps o".split(" ");
const LETTERS = new Map<string, string>();
CYRILLIC.split("").forEach((letter, index) => LETTERS.set(letter, CYRILLIC_SOUNDS[index] ?? ""));
GREEK.split("").forEach((letter, index) => LETTERS.set(letter, GREEK_SOUNDS[index] ?? ""));
for (const [letter, sound] of [
  ["ß", "ss"],
  ["æ", "ae"],
  ["ø", "oe"],
  ["œ", "oe"],
  ["ł", "w"],
  ["đ", "d"],
  ["ð", "th"],
  ["þ", "th"],
  ["ı", "i"],
] as const) {
  LETTERS.set(letter, sound);
}
const ONSETS = ["m", "n", "t", "k", "s", "d", "b", "l", "r", "g"];
const VOWELS = ["ah", "ee", "oo", "oh", "ay"];

/**
 * A word in letters that flite reads: accents go, Cyrillic and Greek are spelt by sound, any other letter becomes a
 * syllable of its own, always the same one. Empty for what has no sound, such as a dash or an emoji.
 */
export function spell(word: string): string {
  let spelt = "";
  for (const character of word.normalize("NFKD").toLowerCase().replaceAll(/\p{M}/gu, "")) {
    if (/[\x21-\x7e]/.test(character)) spelt += character;
    else if (LETTERS.has(character)) spelt += LETTERS.get(character) ?? "";
    else if (/[‘’]/.test(character)) spelt += "'";
    else if (/\p{L}|\p{N}/u.test(character)) {
      const code = character.codePointAt(0) ?? 0;
      spelt += `${ONSETS[code % ONSETS.length]}${VOWELS[Math.floor(code / ONSETS.length) % VOWELS.length]} `;
    }
  }
  // Angle brackets and backslashes have a meaning for some of flite's readers, and no sound.
  spelt = spelt
    .replaceAll(/[<>\\{}[\]|^~`*_#"]/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return /[a-z0-9$%&+@=]/.test(spelt) ? spelt : "";
}
