/** The prompt in a slim strip at the lower edge, so that whoever looks at the picture knows what it was made from. */
import { escapeText, n, rect } from "./svg.ts";

/** Letters below this many pixels cannot be read; a picture with less room has no caption. */
const LETTER_MIN_PIXELS = 10;
const SIDE_MIN_PIXELS = 96;
const LINES_MAX = 2;
/** Mean width of a letter of DejaVu Sans against its height; capitals and CJK are wider, so lines are cut early. */
const LETTER_WIDTH = 0.59;
/** The maker's line against the prompt's, and how much of the width it may have before it is left out. */
const CREDIT_SIZE = 0.8;
const CREDIT_SHARE_MAX = 0.4;

/** @param pixels of one unit of the drawing */
export function drawCaption(text: string, seed: number, width: number, height: number, pixels: number): string {
  const { lines, credit, size, strip } = layOut(text, seed, width, height, pixels);
  if (strip === 0) return "";
  const top = height - strip;
  const baseline = (index: number): number => top + size * (1.3 * index + 1.17);
  const write = (words: string, attributes: string, y: number): string =>
    `<text ${attributes} y="${n(y)}" font-family="DejaVu Sans" fill="#ffffff">${escapeText(words)}</text>`;
  return (
    rect(0, top, width, strip, "#0d1024", { "fill-opacity": 0.62 }) +
    lines.map((line, index) => write(line, `x="${n(size * 0.7)}" font-size="${n(size)}"`, baseline(index))).join("") +
    (credit === ""
      ? ""
      : write(
          credit,
          `x="${n(width - size * 0.7)}" text-anchor="end" fill-opacity="0.75" font-size="${n(size * CREDIT_SIZE)}"`,
          baseline(lines.length - 1),
        ))
  );
}

/** How much of the drawing's height the caption takes. */
export function captionHeight(text: string, seed: number, width: number, height: number, pixels: number): number {
  return layOut(text, seed, width, height, pixels).strip;
}

function layOut(
  text: string,
  seed: number,
  width: number,
  height: number,
  pixels: number,
): { readonly lines: readonly string[]; readonly credit: string; readonly size: number; readonly strip: number } {
  const size = Math.max(24, (LETTER_MIN_PIXELS + 1) / pixels);
  if (Math.min(width, height) * pixels < SIDE_MIN_PIXELS) return { lines: [], credit: "", size, strip: 0 };
  const name = `Sluice sandbox · seed ${seed}`;
  const nameWidth = displayWidth(name) * size * CREDIT_SIZE * LETTER_WIDTH + size;
  const credit = nameWidth <= width * CREDIT_SHARE_MAX ? name : "";
  const room = width - size * 1.4 - (credit === "" ? 0 : nameWidth);
  const lines = wrap(
    text,
    Math.max(4, Math.floor(room / (size * LETTER_WIDTH))),
    size * 3 > height * 0.2 ? 1 : LINES_MAX,
  );
  const shown = lines.length === 0 ? [""] : lines;
  return { lines: shown, credit, size, strip: size * (1.3 * shown.length + 0.45) };
}

function wrap(text: string, perLine: number, linesMax: number): string[] {
  const lines: string[] = [];
  let current = "";
  for (const word of text.split(" ")) {
    const next = current === "" ? word : `${current} ${word}`;
    if (displayWidth(next) <= perLine) {
      current = next;
      continue;
    }
    if (current !== "") lines.push(current);
    current = word;
    if (lines.length > linesMax) break;
  }
  if (current !== "") lines.push(current);
  const kept = lines.slice(0, linesMax).map((line) => cut(line, perLine));
  if (lines.length > linesMax) kept[linesMax - 1] = `${cut(kept[linesMax - 1] ?? "", perLine - 1)}…`;
  return kept;
}

function cut(line: string, perLine: number): string {
  if (displayWidth(line) <= perLine) return line;
  let width = 1;
  let kept = "";
  for (const character of line) {
    width += displayWidth(character);
    if (width > perLine) break;
    kept += character;
  }
  return `${kept}…`;
}

/** In letters of the Latin kind; those of East Asia take two. */
function displayWidth(text: string): number {
  return Bun.stringWidth(text);
}
