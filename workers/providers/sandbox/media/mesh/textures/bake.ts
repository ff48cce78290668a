/** A pattern in its colours as pictures: what a material shows, how its surface leans, where it shines or glows. */
import sharp from "sharp";

import type { Colour } from "../../images/colours.ts";
import { darker, lighter } from "../../images/colours.ts";
import { clamp } from "../kit/vector.ts";
import type { Noise } from "./noise.ts";
import type { Pattern } from "./patterns.ts";

export interface Baked {
  /** JPEG files. */
  readonly base: Uint8Array;
  readonly normal: Uint8Array | null;
  /** Roughness in green, metal in blue. */
  readonly surface: Uint8Array | null;
  readonly glow: Uint8Array | null;
}

export interface BakeWish {
  readonly pattern: Pattern;
  readonly colour: Colour;
  readonly second: Colour;
  readonly depth: number;
  /** What the second colour's places are: their own roughness and no metal, or light. */
  readonly secondIs: "matt" | "glowing" | undefined;
  readonly metallic: number;
  readonly roughness: number;
}

/** 512 pixels a repeat: fine enough for a screen, and 60 to 120 KB a picture. */
const SIDE = 512;
/** Below this the light does not show that the surface is not flat. */
const LEAST_DEPTH = 0.05;

export async function bake(wish: BakeWish, noise: Noise): Promise<Baked> {
  const { pattern, secondIs, metallic, roughness, depth } = wish;
  const [base, heights] = [new Uint8Array(3 * SIDE * SIDE), new Float32Array(SIDE * SIDE)];
  const seconds = new Float32Array(SIDE * SIDE);
  const [dark, plain, light, second] = [
    channels(darker(wish.colour, 0.55)),
    channels(wish.colour),
    channels(lighter(wish.colour, 0.42)),
    channels(wish.second),
  ];
  for (let at = 0; at < SIDE * SIDE; at += 1) {
    const texel = pattern(noise, (at % SIDE) / SIDE, Math.floor(at / SIDE) / SIDE);
    heights[at] = texel.height;
    seconds[at] = texel.second;
    const [edge, share] = texel.shade < 0 ? [dark, -texel.shade] : [light, texel.shade];
    for (let channel = 0; channel < 3; channel += 1) {
      const from = plain[channel] ?? 0;
      const value = from + ((edge[channel] ?? 0) - from) * share;
      base[3 * at + channel] = Math.round(value + ((second[channel] ?? 0) - value) * texel.second);
    }
  }
  return {
    base: await jpeg(base),
    normal: depth < LEAST_DEPTH ? null : await jpeg(normalsOf(heights, depth)),
    surface:
      secondIs === "matt"
        ? await jpeg(
            eachPixel((at) => [
              255,
              255 * (roughness + (0.95 - roughness) * (seconds[at] ?? 0)),
              255 * metallic * (1 - (seconds[at] ?? 0)),
            ]),
          )
        : null,
    glow:
      secondIs === "glowing" ? await jpeg(eachPixel((at) => second.map((value) => value * (seconds[at] ?? 0)))) : null,
  };
}

/** Slopes of a height field as tangent-space normals; it closes over its edges. */
function normalsOf(heights: Float32Array, depth: number): Uint8Array {
  const pixels = new Uint8Array(3 * SIDE * SIDE);
  // A height of 1 is a fiftieth of a repeat.
  const steep = (depth * SIDE) / 50 / 2;
  for (let y = 0; y < SIDE; y += 1) {
    const row = y * SIDE;
    const above = ((y + SIDE - 1) % SIDE) * SIDE;
    const below = ((y + 1) % SIDE) * SIDE;
    for (let x = 0; x < SIDE; x += 1) {
      const left = x === 0 ? SIDE - 1 : x - 1;
      const right = x === SIDE - 1 ? 0 : x + 1;
      const dx = ((heights[row + right] ?? 0) - (heights[row + left] ?? 0)) * steep;
      const dy = ((heights[below + x] ?? 0) - (heights[above + x] ?? 0)) * steep;
      const size = Math.sqrt(dx * dx + dy * dy + 1);
      const at = 3 * (row + x);
      // Green points up, image rows go down.
      pixels[at] = Math.round(127.5 * (1 - dx / size));
      pixels[at + 1] = Math.round(127.5 * (1 + dy / size));
      pixels[at + 2] = Math.round(127.5 * (1 + 1 / size));
    }
  }
  return pixels;
}

function eachPixel(colour: (at: number) => readonly number[]): Uint8Array {
  const pixels = new Uint8Array(3 * SIDE * SIDE);
  for (let at = 0; at < SIDE * SIDE; at += 1) {
    colour(at).forEach((value, channel) => {
      pixels[3 * at + channel] = Math.round(clamp(value, 0, 255));
    });
  }
  return pixels;
}

export async function jpeg(pixels: Uint8Array, width = SIDE, height = SIDE): Promise<Uint8Array> {
  const picture = sharp(pixels, { raw: { width, height, channels: 3 } });
  // Colour at half the size would smear normals.
  return new Uint8Array(await picture.jpeg({ quality: 88, chromaSubsampling: "4:4:4" }).toBuffer());
}

function channels(colour: Colour): readonly number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}
