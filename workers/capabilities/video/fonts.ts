/** The packaged fonts, as files: a machine may have none. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

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
