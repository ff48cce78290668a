/** Finds the installed font that contains the characters of a text. Programs that find fonts themselves read children/fonts.conf. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { MediaError } from "#shared/children/media-error.ts";

/** Folder of links into the font packages. It omits unused weights, so that searches are faster. */
const FOLDER = fileURLToPath(new URL("../fonts", import.meta.url));

const CHINESE = "NotoSansHans-Regular.otf";
const JAPANESE = "NotoSansJP-Regular.otf";
const KOREAN = "NotoSansKR-Regular.otf";
/** Fallback fonts, in the order in which they are searched for a missing character. */
const FIRST = ["DejaVuSans.ttf", CHINESE, JAPANESE, KOREAN];

export function fontPath(font: string): string {
  return join(FOLDER, font);
}

/**
 * Returns the first font that contains every character of a text; undefined if there is none.
 * @param text text to draw; its language selects the font for Han characters
 * @param wanted font to try first
 */
export function fontWith(text: string, wanted?: string): string | undefined {
  return fontsFor(text, wanted).find((font) => missingIn(font, text) === undefined);
}

export interface FontRun {
  readonly text: string;
  readonly font: string;
}

/**
 * Splits a text into runs with one font each. A grapheme stays in one run if one font contains all of its characters.
 * @throws the errors of `checkLetters`
 */
export function fontRuns(what: string, text: string, wanted: string): readonly FontRun[] {
  checkLetters(what, text);
  if (missingIn(wanted, text) === undefined) return [{ text, font: wanted }];
  const fonts = fontsFor(text, wanted);
  const runs: { text: string; font: string }[] = [];
  for (const { segment } of new Intl.Segmenter("und", { granularity: "grapheme" }).segment(text)) {
    const last = runs.at(-1);
    const font = fonts.find((one) => missingIn(one, segment) === undefined);
    if (font === undefined) {
      for (const letter of segment) add(fonts.find((one) => missingIn(one, letter) === undefined) ?? wanted, letter);
      continue;
    }
    // A space keeps the font of the preceding text.
    if (last && /^\s+$/u.test(segment) && missingIn(last.font, segment) === undefined) last.text += segment;
    else add(font, segment);
  }
  return runs;

  function add(font: string, piece: string): void {
    const last = runs.at(-1);
    if (last?.font === font) last.text += piece;
    else runs.push({ font, text: piece });
  }
}

/**
 * Rejects a text with a character that no installed font contains. Such a character would be drawn as a box.
 * @param what name of the text in the error message
 * @throws MediaError invalid
 */
export function checkLetters(what: string, text: string): void {
  const [missing] = missingLetters(text);
  if (missing === undefined) return;
  throw new MediaError(
    "invalid",
    `Expected ${what} in letters that an installed font has, got ${named(missing)}. Remove or replace that letter.`,
  );
}

/** Returns characters of the text that no font contains, each once and at most `max` of them. */
export function missingLetters(text: string, max = 1): readonly string[] {
  const fonts = fontsFor("");
  const letters = new Set(text.normalize()).values();
  return [...letters.filter((letter) => fonts.every((font) => missingIn(font, letter) !== undefined)).take(max)];
}

/** Returns a character with its code point, such as `茶 (U+8336)`. */
export function named(letter: string): string {
  const code = letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
  return `${letter} (U+${code})`;
}

/**
 * Returns the language of a text, detected by scripts that only one language uses; undefined otherwise. The language selects the shapes of
 * Han characters.
 */
export function languageOf(text: string): "ja" | "ko" | undefined {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return "ja";
  return /\p{Script=Hangul}/u.test(text) ? "ko" : undefined;
}

/** Matches text that needs no shaping, because it has no ligatures, reordering or combining marks. */
const PLAIN =
  /^(?:(?!\p{M}|\p{RI}|\p{EMod}|[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\u200d])[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Hangul}\p{Script=Ethiopic}\p{Script=Common}])*$/u;

export function needsShaping(text: string): boolean {
  return !PLAIN.test(text);
}

/** Returns the average width of a character, in units of the font size. It is used for layout before a font measures the text. */
export function letterWidth(letter: string, isMono = false): number {
  if (/[\p{M}\p{Default_Ignorable_Code_Point}]/u.test(letter)) return 0;
  if (letter >= "\u{2e80}") return letter >= "\u{1f000}" ? 1.3 : 1;
  if (letter >= "\u{0590}" && letter < "\u{1e00}") return 0.9;
  if (isMono) return 0.602;
  if (/[ijlt.,:;'|!()[\] ]/.test(letter)) return 0.4;
  if (/[mwMW@%&]/.test(letter)) return 1;
  return /[A-Z]/.test(letter) ? 0.77 : 0.64;
}

/** Breaks a text between words into lines of a given width. It uses the average widths of characters. */
export function brokenLines(text: string, size: number, width: number, isMono = false): string[] {
  const lineWidth = Math.max(1, width / size);
  return text.split("\n").flatMap((line) => brokenLine(line, isMono, lineWidth));
}

function brokenLine(line: string, isMono: boolean, lineWidth: number): string[] {
  const lines: string[] = [];
  let current = "";
  for (const word of pieces(line, isMono, lineWidth)) {
    if (current !== "" && widthOf(`${current} ${word}`, isMono) > lineWidth) {
      lines.push(current);
      current = word;
    } else current = current === "" ? word : `${current} ${word}`;
  }
  return [...lines, current];
}

/**
 * Splits a line into words. A word that is wider than a line is split at the word boundaries of its script, otherwise between graphemes.
 */
function pieces(line: string, isMono: boolean, lineWidth: number): string[] {
  return line.split(" ").flatMap((word) => {
    if (widthOf(word, isMono) <= lineWidth) return [word];
    const parts = [""];
    const units = unitsOf(word, "word").flatMap((one) =>
      widthOf(one, isMono) <= lineWidth ? [one] : unitsOf(one, "grapheme"),
    );
    for (const unit of units) {
      const longer = (parts.at(-1) ?? "") + unit;
      if (longer !== unit && widthOf(longer, isMono) > lineWidth) parts.push(unit);
      else parts[parts.length - 1] = longer;
    }
    return parts;
  });
}

function unitsOf(word: string, granularity: "word" | "grapheme"): string[] {
  return Array.from(new Intl.Segmenter("und", { granularity }).segment(word), ({ segment }) => segment);
}

/** Returns the width of a text, in units of the font size. */
function widthOf(text: string, isMono: boolean): number {
  let width = 0;
  for (const letter of text) width += letterWidth(letter, isMono);
  return width;
}

// File names and characters of the fonts. Each font is read once per process, at its first use.

let all: readonly string[] | undefined;

/** File names of all installed fonts. */
export function allFonts(): readonly string[] {
  return (all ??= readdirSync(FOLDER).toSorted());
}

function fontsFor(text: string, wanted?: string): readonly string[] {
  const regional = { ja: [JAPANESE], ko: [KOREAN] };
  const language = languageOf(text);
  const chosen = wanted === undefined ? [] : [wanted];
  return [...new Set([...chosen, "DejaVuSans.ttf", ...(language ? regional[language] : []), ...FIRST, ...allFonts()])];
}

/** Matches characters without a glyph: controls, line separators, joiners and variation selectors. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

function missingIn(font: string, text: string): string | undefined {
  const letters = lettersOf(font);
  return Array.from(text.normalize()).find((letter) => {
    const code = letter.codePointAt(0) ?? 0;
    return !UNSEEN.test(letter) && ((letters[code >> 3] ?? 0) & (1 << (code & 7))) === 0;
  });
}

const known = new Map<string, Uint8Array>();

/** Returns the characters of a font as a bitmap with one bit per code point. */
function lettersOf(font: string): Uint8Array {
  const cached = known.get(font);
  if (cached) return cached;
  const letters = new Uint8Array(0x110000 >> 3);
  const add = (code: number): void => {
    letters[code >> 3] = (letters[code >> 3] ?? 0) | (1 << (code & 7));
  };
  const cmap = tableOf(readFileSync(fontPath(font)), "cmap");
  for (let at = 0; at < cmap.readUInt16BE(2); at++) {
    const table = cmap.subarray(cmap.readUInt32BE(8 + at * 8));
    if (table.readUInt16BE(0) === 12) addGroups(table, add);
    else if (table.readUInt16BE(0) === 4) addSegments(table, add);
  }
  known.set(font, letters);
  return letters;
}

function tableOf(font: Buffer, name: string): Buffer {
  for (let at = 12; at < 12 + font.readUInt16BE(4) * 16; at += 16) {
    if (font.toString("latin1", at, at + 4) === name) return font.subarray(font.readUInt32BE(at + 8));
  }
  throw new Error(`the font has no table ${name}`);
}

/** Calls `add` for each character in a cmap table of format 12, which covers all of Unicode. */
function addGroups(table: Buffer, add: (code: number) => void): void {
  for (let at = 16; at < 16 + table.readUInt32BE(12) * 12; at += 12) {
    const [first, last, glyph] = [table.readUInt32BE(at), table.readUInt32BE(at + 4), table.readUInt32BE(at + 8)];
    for (let code = first; code <= last; code++) if (glyph + code - first > 0) add(code);
  }
}

/**
 * Calls `add` for each character in a cmap table of format 4, which covers the first 65,536 code points. Characters with glyph 0 are
 * skipped, because the font does not contain them.
 */
function addSegments(table: Buffer, add: (code: number) => void): void {
  const bytes = table.readUInt16BE(6);
  for (let at = 14; at < 14 + bytes; at += 2) {
    const [last, first] = [table.readUInt16BE(at), table.readUInt16BE(at + bytes + 2)];
    const [delta, offset] = [table.readUInt16BE(at + 2 * bytes + 2), table.readUInt16BE(at + 3 * bytes + 2)];
    for (let code = first; code <= last && code < 0xffff; code++) {
      const listed = offset === 0 ? code : table.readUInt16BE(at + 3 * bytes + 2 + offset + (code - first) * 2);
      if (listed !== 0 && ((listed + delta) & 0xffff) !== 0) add(code);
    }
  }
}
