/** Creates images and text that are placed on other images. */
import sharp from "sharp";

import { MediaError } from "#shared/children/media-error.ts";

import type { InputFile } from "../define.ts";
import { checkLetters, languageOf, letterWidth } from "../fonts.ts";
import { checkSize, openImage } from "./sharp.ts";

export interface Overlay {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
}

/** Creates an overlay from an image, with the given opacity. @param width width in pixels; default: the image's own width */
export async function imageOverlay(file: InputFile, width: number | undefined, opacity: number): Promise<Overlay> {
  const { image, ...own } = await openImage(file);
  if (width === undefined) return faded(await image.ensureAlpha().png().toBuffer(), opacity);
  const size = {
    width: Math.max(1, Math.round(width)),
    height: Math.max(1, Math.round((width * own.height) / own.width)),
  };
  checkSize(size.width, size.height, 1);
  return faded(
    await image
      .resize({ ...size, fit: "fill" })
      .ensureAlpha()
      .png()
      .toBuffer(),
    opacity,
  );
}

/**
 * Returns the part of an overlay that is within the picture; undefined if the overlay is completely outside. Sharp rejects overlays that
 * are larger than the picture.
 */
export async function within(
  { data, ...own }: Overlay,
  left: number,
  top: number,
  picture: { readonly width: number; readonly height: number },
): Promise<{ readonly input: Buffer; readonly left: number; readonly top: number } | undefined> {
  const from = { left: Math.max(0, -left), top: Math.max(0, -top) };
  const width = Math.min(own.width - from.left, picture.width - Math.max(0, left));
  const height = Math.min(own.height - from.top, picture.height - Math.max(0, top));
  if (width < 1 || height < 1) return undefined;
  const isWhole = width === own.width && height === own.height;
  const input = isWhole
    ? data
    : await sharp(data)
        .extract({ ...from, width, height })
        .png()
        .toBuffer();
  return { input, left: Math.max(0, left), top: Math.max(0, top) };
}

export interface TextStyle {
  /** Font size in pixels. */
  readonly size: number;
  readonly fill: string;
  readonly opacity?: number;
  readonly family?: string;
  readonly align?: "start" | "middle" | "end";
}

/**
 * Draws lines of text with the installed fonts, trimmed to their size. Pango shapes the text and selects a font for each character.
 * @throws MediaError invalid: a character without a font, or text that is too large
 */
export async function textOverlay(
  text: string,
  { size, fill, opacity = 1, family = "DejaVu Sans", align = "start" }: TextStyle,
): Promise<Overlay> {
  checkLetters("params.text", text);
  const lines = text.split("\n");
  const width = Math.ceil(size * (1 + Math.max(...lines.map(widthAtMost))));
  const height = Math.ceil(size * 1.3 * lines.length + size * 0.6);
  if (width > 16_384 || height > 16_384)
    throw new MediaError("invalid", "The text does not fit; shorten params.text or lower params.size.");
  const x = { start: size * 0.3, middle: width / 2, end: width - size * 0.3 }[align];
  const language = languageOf(text);
  const rows = lines.map((line, at) => `<text x="${x}" y="${size * (1.25 + at * 1.3)}">${escaped(line)}</text>`);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="${family}" font-size="${size}" fill="${escaped(fill)}" text-anchor="${align}"${language ? ` xml:lang="${language}"` : ""}>${rows.join("")}</svg>`;
  const drawn = await sharp(Buffer.from(svg)).ensureAlpha().png().toBuffer();
  try {
    return await faded(
      await sharp(drawn)
        .trim({ background: { r: 0, g: 0, b: 0, alpha: 0 }, threshold: 1 })
        .png()
        .toBuffer(),
      opacity,
    );
  } catch (error) {
    throw new MediaError("invalid", "Expected params.text to have letters that can be drawn.", { cause: error });
  }
}

/**
 * Returns an upper bound of a line's width, in units of the font size. It adds a larger margin for non-Latin characters, because their
 * widths vary more.
 */
function widthAtMost(line: string): number {
  return Array.from(line).reduce((sum, letter) => {
    const width = letterWidth(letter);
    return sum + (width === 0 ? 0.2 : Math.max(0.72, width) * (letter < "\u{0590}" ? 1 : 1.3));
  }, 0);
}

export async function turned({ data }: Overlay, angle: number): Promise<Overlay> {
  if (angle % 360 === 0) return faded(data, 1);
  return faded(
    await sharp(data)
      .rotate(angle, { background: { r: 0, g: 0, b: 0, alpha: 0 } })
      .png()
      .toBuffer(),
    1,
  );
}

async function faded(png: Buffer, opacity: number): Promise<Overlay> {
  const image = sharp(png).ensureAlpha();
  const fading = opacity >= 1 ? image : image.linear([1, 1, 1, opacity], [0, 0, 0, 0]);
  const { data, info } = await fading.png().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

function escaped(text: string): string {
  // XML does not allow control characters.
  const clean = text.replaceAll(/\p{Cc}/gu, "");
  return clean.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
