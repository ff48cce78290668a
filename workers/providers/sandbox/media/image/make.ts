/** Generates an image from a prompt: a seeded scene with the prompt as its caption. */
import sharp, { type Sharp } from "sharp";

import { encodeImage, type Encoding } from "./encode.ts";
import { paintScene, type SceneParams } from "./scene.ts";

export interface ImageParams extends Omit<SceneParams, "isTransparent">, Encoding {
  readonly background?: "transparent" | "opaque" | undefined;
  readonly style?: "vivid" | "natural" | undefined;
}

const SATURATION = { vivid: 1.3, natural: 0.8 } as const;

/** Returns a file of exactly the requested size and format. Equal parameters produce equal bytes. */
export async function makeImage(params: ImageParams): Promise<Uint8Array> {
  const isTransparent = params.background === "transparent";
  const scene = await paintScene({ ...params, isTransparent });
  const coloured = params.style === undefined ? scene : scene.modulate({ saturation: SATURATION[params.style] });
  const captioned = await addCaption(coloured, params);
  return encodeImage(isTransparent ? captioned : captioned.removeAlpha(), params);
}

// Writes the prompt into a strip at the lower edge, so that an image shows its prompt.

interface Captioned {
  readonly prompt: string;
  readonly width: number;
  readonly height: number;
}

/** Minimum legible letter size, in pixels. Images too small for it have no caption. */
const LETTER_MIN_PIXELS = 11;
const SIDE_MIN_PIXELS = 96;
const LINES_MAX = 3;
/** Width of a letter relative to its size. DejaVu Sans averages 0.6. Capitals are wider, so texts are cut slightly early. */
const LETTER_WIDTH = 0.66;
const STRIP_SHARE_MAX = 0.4;
const STRIP = { r: 12, g: 14, b: 30, alpha: 0.62 } as const;

async function addCaption(image: Sharp, { prompt, width, height }: Captioned): Promise<Sharp> {
  const size = Math.max(LETTER_MIN_PIXELS, Math.round(Math.min(width, height) / 38));
  const margin = Math.round(0.7 * size);
  const text = shortened(prompt, (LINES_MAX * (width - 2 * margin)) / (size * LETTER_WIDTH));
  if (text === "" || Math.min(width, height) < SIDE_MIN_PIXELS) return image;
  const box = { width: width - 2 * margin, height: Math.floor(STRIP_SHARE_MAX * height) - 2 * margin };
  const drawn = await sharp({
    text: {
      text: `<span foreground="white">${escaped(text)}</span>`,
      font: `DejaVu Sans ${size}px`,
      width: box.width,
      wrap: "word-char",
      spacing: Math.round(0.2 * size),
      rgba: true,
    },
  })
    .resize({ ...box, fit: "inside", withoutEnlargement: true })
    .png()
    .toBuffer({ resolveWithObject: true })
    .catch((error: unknown) => {
      if (/no text to render/.test(String(error))) return undefined;
      throw error;
    });
  // Characters such as the Hangul filler are invisible.
  if (!drawn) return image;
  const { data, info } = drawn;
  const strip = { width, height: info.height + 2 * margin, channels: 4, background: STRIP } as const;
  const top = height - strip.height;
  return image.composite([
    { input: { create: strip }, left: 0, top },
    { input: data, left: margin, top: top + margin },
  ]);
}

/** Returns the prompt as one line of visible text, cut to the width of `lettersMax` Latin letters. */
function shortened(prompt: string, lettersMax: number): string {
  const plain = prompt
    .slice(0, 4 * Math.ceil(lettersMax))
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim();
  if (Bun.stringWidth(plain) <= lettersMax) return plain;
  let [kept, width] = ["", 1];
  for (const character of plain) {
    width += Bun.stringWidth(character);
    if (width > lettersMax) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

/** Escapes a text for Pango markup. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
