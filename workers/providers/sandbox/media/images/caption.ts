/** The prompt in small letters on the picture, so that whoever looks at it knows what it was made from. */
import { escapeText, n, rect } from "./svg.ts";

/** Letters below this many pixels cannot be read; a picture with less room has no caption. */
const LETTER_MIN_PIXELS = 10;
const SIDE_MIN_PIXELS = 96;
const LINES_MAX = 2;
/** Mean width of a letter of DejaVu Sans against its height; capitals and CJK are wider, so lines are cut early. */
const LETTER_WIDTH = 0.59;

/** @param pixels of one unit of the drawing */
export function drawCaption(text: string, seed: number, width: number, height: number, pixels: number): string {
  if (Math.min(width, height) * pixels < SIDE_MIN_PIXELS) return "";
  const size = Math.max(24, (LETTER_MIN_PIXELS + 1) / pixels);
  const margin = size * 0.9;
  const perLine = Math.floor((width - 4 * margin) / (size * LETTER_WIDTH));
  const lines = [...wrap(text, perLine), `Sluice sandbox · seed ${seed}`];
  const widest = Math.max(...lines.map((line) => displayWidth(line)));
  const boxWidth = Math.min(width - 2 * margin, widest * size * LETTER_WIDTH + 2 * margin);
  const boxHeight = lines.length * size * 1.3 + margin * 0.9;
  const top = height - margin - boxHeight;
  const texts = lines.map((line, index) => {
    const isLast = index === lines.length - 1;
    const y = top + margin * 0.45 + size * (1.3 * index + 1);
    return `<text x="${n(2 * margin)}" y="${n(y)}" font-family="DejaVu Sans" font-size="${n(isLast ? size * 0.8 : size)}" fill="#ffffff" fill-opacity="${isLast ? 0.75 : 1}">${escapeText(line)}</text>`;
  });
  return rect(margin, top, boxWidth, boxHeight, "#0d1024", { rx: size * 0.5, "fill-opacity": 0.62 }) + texts.join("");
}

function wrap(text: string, perLine: number): string[] {
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
    if (lines.length > LINES_MAX) break;
  }
  if (current !== "") lines.push(current);
  const kept = lines.slice(0, LINES_MAX).map((line) => cut(line, perLine));
  if (lines.length > LINES_MAX) kept[LINES_MAX - 1] = `${cut(kept[LINES_MAX - 1] ?? "", perLine - 1)}…`;
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
