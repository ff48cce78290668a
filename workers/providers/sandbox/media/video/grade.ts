/** Colours of a whole frame, changed after the words of a prompt. */
import type { Colour, Palette } from "../images/colours.ts";
import { toYuv, type Frame } from "./frame.ts";

/** Tables by value: what becomes of light, and of the two colour differences. */
interface Grade {
  readonly light: Uint8Array;
  readonly colour: Uint8Array;
  /** Drawn towards, by light. */
  readonly tint: { readonly u: Uint8Array; readonly v: Uint8Array; readonly share: number } | null;
}

/** The first that the prompt names is done. */
const GRADES: readonly (readonly [RegExp, () => Grade])[] = [
  [/\b(black[ -]and[ -]white|gr[ae]yscale|monochrome|desaturated?|noir)\b/i, () => grade((y) => y, 0)],
  [
    /\b(sepia|vintage|old (?:film|photo|movie)|retro|nostalgic)\b/i,
    () => grade((y) => 0.94 * y, 0.2, ramp(["#24170d", "#a67c52", "#f6e7c9"], 0.85)),
  ],
  [/\b(invert(?:ed)?|negative)\b/i, () => grade((y) => 1 - y, -1)],
  [/\b(brighten|brighter|lighter|overexposed)\b/i, () => grade((y) => 1 - (1 - y) * 0.72, 1)],
  [
    /\b(night|darken|darker|dimmer|moonlit)\b/i,
    () => grade((y) => 0.5 * y, 0.6, ramp(["#060a1c", "#33508f", "#b9cbee"], 0.5)),
  ],
  [
    /\b(sunset|golden hour|warm(?:er)?|autumn)\b/i,
    () => grade((y) => 0.96 * y, 1, ramp(["#2c1128", "#e0763f", "#ffe3ad"], 0.42)),
  ],
  [
    /\b(cold(?:er)?|winter|icy|frozen|underwater)\b/i,
    () => grade((y) => y, 0.8, ramp(["#081a33", "#4f95c9", "#e9f7ff"], 0.45)),
  ],
  [/\b(vivid|colou?rful|vibrant|pop art)\b/i, () => grade((y) => contrast(y, 1.15), 1.6)],
  [/\b(cartoon|anime|comic|poster|painting|watercolou?r)\b/i, () => grade((y) => Math.round(y * 6) / 6, 1.35)],
  [/\b(cyberpunk|neon)\b/i, () => grade((y) => contrast(y, 1.25), 1.2, ramp(["#12052b", "#b1249b", "#5ef2ff"], 0.6))],
];

/** null where the prompt names no change of colours. */
export function namedGrade(text: string): Grade | null {
  return GRADES.find(([words]) => words.test(text))?.[1]() ?? null;
}

/** Forms stay, colours go over to the prompt's own. */
export function paletteGrade({ shades }: Palette): Grade {
  return grade((y) => contrast(y, 1.08), 0.75, ramp(shades, 0.55));
}

export function applyGrade({ width, planes: [y, u, v] }: Frame, { light, colour, tint }: Grade): void {
  const half = u.width;
  for (let row = 0; row < u.height; row += 1) {
    for (let column = 0; column < half; column += 1) {
      const at = row * half + column;
      const plainU = colour[u.data[at] ?? 0] ?? 0;
      const plainV = colour[v.data[at] ?? 0] ?? 0;
      if (tint === null) {
        u.data[at] = plainU;
        v.data[at] = plainV;
        continue;
      }
      const bright = y.data[2 * row * width + 2 * column] ?? 0;
      u.data[at] = plainU + (((tint.u[bright] ?? 0) - plainU) * tint.share) / 256;
      v.data[at] = plainV + (((tint.v[bright] ?? 0) - plainV) * tint.share) / 256;
    }
  }
  for (let at = 0; at < y.data.length; at += 1) y.data[at] = light[y.data[at] ?? 0] ?? 0;
}

const [BLACK, LIGHT_RANGE] = [16, 219];

/** @param change of light, from 0 to 1. @param saturation below 0 for the opposite colours */
function grade(change: (light: number) => number, saturation: number, tint: Grade["tint"] = null): Grade {
  return {
    light: table((value) => BLACK + LIGHT_RANGE * clamp(change(clamp((value - BLACK) / LIGHT_RANGE)))),
    colour: table((value) => Math.max(16, Math.min(240, 128 + saturation * (value - 128)))),
    tint,
  };
}

/** Colours from shadow to light. */
function ramp(colours: readonly Colour[], share: number): Grade["tint"] {
  const points = colours.map((colour) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
    return toYuv(red, green, blue);
  });
  const between = (channel: 1 | 2) => (value: number) => {
    const at = clamp((value - BLACK) / LIGHT_RANGE) * (points.length - 1);
    const [low = 128, high = 128] = [points[Math.floor(at)]?.[channel], points[Math.ceil(at)]?.[channel]];
    return low + (high - low) * (at % 1);
  };
  return { u: table(between(1)), v: table(between(2)), share: Math.round(256 * share) };
}

function contrast(light: number, strength: number): number {
  return 0.5 + (light - 0.5) * strength;
}

function table(value: (index: number) => number): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, index) => Math.round(value(index)));
}

function clamp(value: number): number {
  return Math.max(0, Math.min(1, value));
}
