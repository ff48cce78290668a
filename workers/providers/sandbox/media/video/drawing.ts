/** Pieces of SVG as covers for a film. */
import sharp from "sharp";

import { n } from "../images/svg.ts";
import { toCover, type Cover } from "./frame.ts";

/** librsvg is asked for tiles of 2,000 pixels and draws all of it again for each: what is larger is drawn at this size and enlarged. */
const DRAWN_SIDE_MAX = 2_000;

export interface Canvas {
  /** The drawing's own units. */
  readonly width: number;
  readonly height: number;
  /** Gradients that the content names. */
  readonly definitions: string;
}

/** Pixels, both even. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

export async function drawCover(canvas: Canvas, content: string, size: Size): Promise<Cover> {
  const scale = Math.min(1, DRAWN_SIDE_MAX / Math.max(size.width, size.height));
  const [width, height] = [Math.round(size.width * scale), Math.round(size.height * scale)];
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${n(canvas.width)} ${n(canvas.height)}" preserveAspectRatio="none">` +
    `<defs>${canvas.definitions}</defs>${content}</svg>`;
  // From a buffer, where librsvg can follow no reference out of the drawing.
  const drawn = await sharp(Buffer.from(svg)).ensureAlpha().raw().toBuffer();
  if (scale === 1) return toCover(drawn, width, height);
  // In one chain sharp would have the drawing itself enlarged.
  const enlarged = await sharp(drawn, { raw: { width, height, channels: 4 } })
    .resize(size.width, size.height, { fit: "fill" })
    .raw()
    .toBuffer();
  return toCover(enlarged, size.width, size.height);
}

/** The elements that stand side by side in a piece of SVG without text. */
export function elementsOf(svg: string): string[] {
  const elements: string[] = [];
  let depth = 0;
  let start = 0;
  for (const { 0: tag, index } of svg.matchAll(/<[^>]*>/g)) {
    if (depth === 0) start = index;
    if (tag.startsWith("</")) depth -= 1;
    else if (!tag.endsWith("/>")) depth += 1;
    if (depth === 0) elements.push(svg.slice(start, index + tag.length));
  }
  return elements;
}
