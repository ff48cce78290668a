/**
 * A given picture, changed after a prompt: what the mask covers stays as it is, pixel for pixel; the rest is repainted.
 */
import { MediaError } from "#shared/media/media-error.ts";

import { encodePicture, fromPixels, type Encoding } from "./encode.ts";
import { fillIn } from "./fill-in.ts";
import { readPrompt } from "./prompt.ts";
import { rasterise } from "./raster.ts";
import { scenePalette } from "./scene.ts";
import { decodePicture, type Pixels } from "./source.ts";

export interface PictureEdit extends Encoding {
  readonly prompt: string;
  readonly seed: number;
  /** 0 leaves the picture, 1 repaints it wholly. */
  readonly strength: number;
  /** undefined keeps the picture's own size. */
  readonly size?: { readonly width: number; readonly height: number } | undefined;
}

/**
 * @returns the file and its size
 * @throws MediaError unsupported, too_large, corrupt; invalid for a mask of another size or without transparency
 */
export async function editPicture(
  edit: PictureEdit,
  image: Uint8Array,
  mask: Uint8Array | undefined,
): Promise<{ readonly bytes: Uint8Array; readonly width: number; readonly height: number }> {
  const source = await decodePicture(image, "image");
  const weights = mask === undefined ? null : await readMask(mask, source);
  const painted = await repaint(edit, source, weights);
  const data = blend(source, painted, weights, edit.strength);
  const channels = source.hasAlpha ? 4 : 3;
  const picture = fromPixels(source.hasAlpha ? data : withoutAlpha(data), source.width, source.height, channels);
  const { width, height } = edit.size ?? source;
  const isResized = width !== source.width || height !== source.height;
  const bytes = await encodePicture(isResized ? picture.resize(width, height, { fit: "cover" }) : picture, edit);
  return { bytes, width, height };
}

/** For each pixel how far it is to be repainted: 255 where the mask is transparent, 0 where it is opaque. */
async function readMask(bytes: Uint8Array, source: Pixels): Promise<Uint8Array> {
  const mask = await decodePicture(bytes, "mask");
  if (mask.width !== source.width || mask.height !== source.height) {
    throw new MediaError(
      "invalid",
      `The mask must have the size of the image, ${source.width} × ${source.height} pixels; it has ${mask.width} × ${mask.height}.`,
    );
  }
  if (!mask.hasAlpha) {
    throw new MediaError("invalid", "The mask must have an alpha channel whose transparent part is to be repainted.");
  }
  return Uint8Array.from({ length: mask.width * mask.height }, (_, index) => 255 - (mask.data[4 * index + 3] ?? 255));
}

const REMOVE = /\b(remove|erase|delete|clean up|get rid of)\b/i;
const ADD = /\b(add|put|place|insert|draw)\b/i;

/** The first that the prompt names is done instead of painting. */
const FILTERS: readonly (readonly [RegExp, (source: Pixels) => Promise<Uint8Array> | Uint8Array])[] = [
  [/\b(black[ -]and[ -]white|grayscale|greyscale|monochrome|desaturate)\b/i, tint([0.299, 0.587, 0.114], [1, 1, 1])],
  [/\b(sepia|vintage|old photo)\b/i, tint([0.35, 0.6, 0.15], [1.02, 0.86, 0.66])],
  [/\b(invert|negative)\b/i, eachChannel((value) => 255 - value)],
  [/\b(brighten|brighter|lighter)\b/i, eachChannel((value) => 255 - (255 - value) * 0.7)],
  [/\b(darken|darker|dimmer)\b/i, eachChannel((value) => value * 0.65)],
  [/\b(blur|blurry|out of focus|soften)\b/i, blurred],
];

async function repaint(edit: PictureEdit, source: Pixels, weights: Uint8Array | null): Promise<Uint8Array> {
  const filter = FILTERS.find(([words]) => words.test(edit.prompt))?.[1];
  if (filter !== undefined) return filter(source);
  if (weights !== null && REMOVE.test(edit.prompt)) return fillIn(source, weights);
  const box =
    weights === null ? { left: 0, top: 0, width: source.width, height: source.height } : bounds(weights, source);
  if (box === null) return source.data;
  const isOverlay = weights === null || ADD.test(edit.prompt);
  // "Add a boat" leaves the rest alone; any other wish for the whole picture also changes its colours.
  const isRecoloured = weights === null && !ADD.test(edit.prompt);
  const below = isRecoloured ? recolour(source, edit) : source.data.slice();
  if (isRecoloured && readPrompt(edit.prompt).wishes.length === 0) return below;
  const scene = await rasterise({
    prompt: edit.prompt,
    seed: edit.seed,
    width: box.width,
    height: box.height,
    isTransparent: isOverlay,
    hasCaption: false,
  });
  const drawn = new Uint8Array(await scene.ensureAlpha().raw({ depth: "uchar" }).toBuffer());
  for (let y = 0; y < box.height; y += 1) {
    for (let x = 0; x < box.width; x += 1) {
      const from = 4 * (y * box.width + x);
      const to = 4 * ((y + box.top) * source.width + x + box.left);
      const alpha = (drawn[from + 3] ?? 0) / 255;
      for (let channel = 0; channel < 3; channel += 1) {
        below[to + channel] = Math.round(
          (drawn[from + channel] ?? 0) * alpha + (below[to + channel] ?? 0) * (1 - alpha),
        );
      }
      below[to + 3] = Math.max(below[to + 3] ?? 0, drawn[from + 3] ?? 0);
    }
  }
  return below;
}

/** Shadows to lights in the shades of the prompt's scene: forms stay, colours follow the prompt. */
function recolour({ data }: Pixels, { prompt, seed }: PictureEdit): Uint8Array {
  const { shades } = scenePalette(prompt, seed);
  const ramp = shades.map((shade) => [1, 3, 5].map((at) => Number.parseInt(shade.slice(at, at + 2), 16)));
  const table = Array.from({ length: 256 }, (_, light) => {
    const at = (light / 255) * (ramp.length - 1);
    const [low, high] = [ramp[Math.floor(at)], ramp[Math.ceil(at)]];
    return [0, 1, 2].map((channel) => {
      const from = low?.[channel] ?? 0;
      return from + ((high?.[channel] ?? from) - from) * (at % 1);
    });
  });
  const result = data.slice();
  for (let at = 0; at < data.length; at += 4) {
    const light = Math.round(0.299 * (data[at] ?? 0) + 0.587 * (data[at + 1] ?? 0) + 0.114 * (data[at + 2] ?? 0));
    const colour = table[light];
    for (let channel = 0; channel < 3; channel += 1) result[at + channel] = Math.round(colour?.[channel] ?? 0);
  }
  return result;
}

function blend(source: Pixels, painted: Uint8Array, weights: Uint8Array | null, strength: number): Uint8Array {
  const result = source.data.slice();
  for (let at = 0; at < result.length; at += 1) {
    const weight = strength * (weights === null ? 1 : (weights[at >> 2] ?? 0) / 255);
    if (weight === 0) continue;
    const before = source.data[at] ?? 0;
    result[at] = Math.round(before + ((painted[at] ?? 0) - before) * weight);
  }
  return result;
}

/** The smallest box around what is to be repainted; null where nothing is. */
function bounds(
  weights: Uint8Array,
  { width, height }: Pixels,
): { readonly left: number; readonly top: number; readonly width: number; readonly height: number } | null {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let index = 0; index < weights.length; index += 1) {
    if (weights[index] === 0) continue;
    const [x, y] = [index % width, Math.floor(index / width)];
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return right < 0 ? null : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

async function blurred({ data, width, height }: Pixels): Promise<Uint8Array> {
  const sigma = Math.max(0.5, Math.max(width, height) / 80);
  return new Uint8Array(await fromPixels(data, width, height, 4).blur(sigma).raw().toBuffer());
}

function tint(
  weights: readonly [number, number, number],
  colour: readonly [number, number, number],
): (source: Pixels) => Uint8Array {
  return ({ data }) => {
    const result = data.slice();
    for (let at = 0; at < data.length; at += 4) {
      const light = weights.reduce((sum, weight, channel) => sum + weight * (data[at + channel] ?? 0), 0);
      colour.forEach((share, channel) => {
        result[at + channel] = Math.min(255, Math.round(light * share));
      });
    }
    return result;
  };
}

function eachChannel(change: (value: number) => number): (source: Pixels) => Uint8Array {
  const table = Uint8Array.from({ length: 256 }, (_, value) => Math.round(change(value)));
  return ({ data }) => data.map((value, at) => ((at & 3) === 3 ? value : (table[value] ?? value)));
}

function withoutAlpha(data: Uint8Array): Uint8Array {
  const result = new Uint8Array((data.length / 4) * 3);
  for (let from = 0, to = 0; from < data.length; from += 4, to += 3) {
    result[to] = data[from] ?? 0;
    result[to + 1] = data[from + 1] ?? 0;
    result[to + 2] = data[from + 2] ?? 0;
  }
  return result;
}
