/** The letters that a TrueType font has, by its table `cmap`. */
import { readFile } from "node:fs/promises";

import { fontFile, type Font } from "./fonts.ts";

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
