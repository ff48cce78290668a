/** The packaged fonts, as files: a machine may have none. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readFile } from "node:fs/promises";

const FONTS = { sans: "DejaVuSans", serif: "DejaVuSerif", mono: "DejaVuSansMono" } as const;
export type Font = keyof typeof FONTS;
export const FONT_NAMES = Object.keys(FONTS) as readonly Font[];

export function fontsFolder(): string {
  return dirname(fileURLToPath(import.meta.resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf")));
}

export function fontFile(font: Font): string {
  return join(fontsFolder(), `${FONTS[font]}.ttf`);
}

/** Lines that fit a width, broken between words, by what letters are wide on average: none is cut off at the picture's edge. */
export function brokenLines(words: string, font: Font, size: number, width: number): string[] {
  const room = Math.max(1, width / size);
  return words.split("\n").flatMap((line) => brokenLine(line, font, room));
}

function brokenLine(line: string, font: Font, room: number): string[] {
  const lines: string[] = [];
  let current = "";
  for (const word of pieces(line, font, room)) {
    if (current !== "" && widthOf(`${current} ${word}`, font) > room) {
      lines.push(current);
      current = word;
    } else current = current === "" ? word : `${current} ${word}`;
  }
  return [...lines, current];
}

/** Words, those that are wider than a line in several pieces. */
function pieces(line: string, font: Font, room: number): string[] {
  return line.split(" ").flatMap((word) => {
    if (widthOf(word, font) <= room) return [word];
    const parts = [""];
    for (const letter of word) {
      const longer = (parts.at(-1) ?? "") + letter;
      if (longer !== letter && widthOf(longer, font) > room) parts.push(letter);
      else parts[parts.length - 1] = longer;
    }
    return parts;
  });
}

/** In units of the font's size. */
function widthOf(words: string, font: Font): number {
  let width = 0;
  for (const letter of words) width += letterWidth(letter, font);
  return width;
}

function letterWidth(letter: string, font: Font): number {
  if (letter >= "\u{2e80}") return 1;
  if (font === "mono") return 0.602;
  if (/[ijlt.,:;'|!()[\] ]/.test(letter)) return 0.4;
  if (/[mwMW@%&]/.test(letter)) return 1;
  return /[A-Z]/.test(letter) ? 0.77 : 0.64;
}

/** The first letter that the font has no picture of: it would be drawn as an empty box. */
export async function missingLetter(words: string, font: Font): Promise<string | undefined> {
  const ranges = rangesOf(await readFile(fontFile(font)));
  const isThere = (code: number): boolean => ranges.some(([first, last]) => first <= code && code <= last);
  return Array.from(words).find((letter) => !UNSEEN.test(letter) && !isThere(letter.codePointAt(0) ?? 0));
}

/** Line ends, and what joins or varies the letters beside it. */
const UNSEEN = /[\n\p{Default_Ignorable_Code_Point}]/u;

type Range = readonly [first: number, last: number];

/** Ranges of code points, from the two kinds of tables that fonts of today have (formats 4 and 12). */
function rangesOf(font: Buffer): Range[] {
  const cmap = tableOf(font, "cmap");
  const tables = Array.from({ length: cmap.readUInt16BE(2) }, (_, at) => cmap.subarray(cmap.readUInt32BE(8 + at * 8)));
  return tables.flatMap((table) => {
    if (table.readUInt16BE(0) === 12) return groupsOf(table);
    return table.readUInt16BE(0) === 4 ? segmentsOf(table) : [];
  });
}

function tableOf(font: Buffer, name: string): Buffer {
  for (let at = 12; at < 12 + font.readUInt16BE(4) * 16; at += 16) {
    if (font.toString("latin1", at, at + 4) === name) return font.subarray(font.readUInt32BE(at + 8));
  }
  throw new Error(`the font has no table ${name}`);
}

/** Format 12: all of Unicode. */
function groupsOf(table: Buffer): Range[] {
  return Array.from({ length: table.readUInt32BE(12) }, (_, at) => {
    const group = 16 + at * 12;
    return [table.readUInt32BE(group), table.readUInt32BE(group + 4)] as const;
  });
}

/** Format 4: its first 65,536; the last segment is a mark of the end. */
function segmentsOf(table: Buffer): Range[] {
  const bytes = table.readUInt16BE(6);
  return Array.from({ length: bytes / 2 - 1 }, (_, at) => {
    const end = 14 + at * 2;
    return [table.readUInt16BE(end + bytes + 2), table.readUInt16BE(end)] as const;
  });
}
