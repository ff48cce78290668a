/** Paints one of the scenes in `scenes/`. Words of the prompt choose the scene and its palette; without a match, the seed does. */
import { readdirSync, readFileSync } from "node:fs";

import sharp, { type Sharp } from "sharp";

import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import { createRandom, hashText } from "../../random.ts";
import palettesFile from "./palettes.json" with { type: "json" };

export interface SceneParams {
  readonly prompt: string;
  readonly seed: number;
  readonly width: number;
  readonly height: number;
  /** True to paint only the objects of the scene, without sky and ground. */
  readonly isTransparent: boolean;
}

interface Scene {
  readonly keywords: string;
  readonly svg: string;
}

type Colours = Readonly<Record<string, string>>;

const SCENES = new URL("scenes/", import.meta.url);
/** Maximum size of a scene relative to the image. The image is a crop of it, so the framing of a scene varies. */
const ZOOM_MAX = 1.1;
/** Maximum side of a drawn scene, in pixels. Larger images are scaled up, because librsvg redraws the whole scene for each tile. */
const DRAWN_SIDE_MAX_PIXELS = 2_000;

/** Paints a scene of exactly the requested size, with an alpha channel. */
export async function paintScene(params: SceneParams): Promise<Sharp> {
  const { width, height } = params;
  const scale = Math.min(1, DRAWN_SIDE_MAX_PIXELS / Math.max(width, height));
  const drawn = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
  const { data, info } = await sharp(Buffer.from(sceneSvg({ ...params, ...drawn })))
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  // Starts a new chain: within one chain, sharp would enlarge the drawing itself.
  return sharp(data, { raw: { width: info.width, height: info.height, channels: 4 } }).resize(width, height, {
    fit: "fill",
  });
}

/** Returns the scene as SVG. It contains no text of the prompt, which only chooses among our own files. */
function sceneSvg({ prompt, seed, width, height, isTransparent }: SceneParams): string {
  const words = wordsOf(prompt);
  const random = createRandom(hashText(prompt, seed >>> 0));
  const share = (): number => random.below(1_000) / 999;
  const zoom = 1 + (ZOOM_MAX - 1) * (0.2 + 0.8 * share());
  const [x, y] = [share() * (1 - zoom) * width, share() * (1 - zoom) * height];
  const mirror = share() < 0.5 ? `translate(${width} 0) scale(-1 1)` : "";
  const scene = choose(readScenes(), words, random.below(1_000));
  // Palettes rotate with the seed, so that images of one call, which have adjacent seeds, look different.
  const palette = choose(palettesFile.palettes, words, hashText(prompt) + (seed >>> 0));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
${styleOf({ ...palette.colours, ...accentOf(words) }, isTransparent)}
<g transform="translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${zoom.toFixed(4)}) ${mirror}">${scene.svg}</g></svg>`;
}

function wordsOf(prompt: string): readonly string[] {
  const plain = prompt.slice(0, MEDIA_LIMITS.promptCharactersMax).toLowerCase();
  return plain.match(/\p{L}+/gu) ?? [];
}

/** Chooses the item with the first matching word of the prompt, in singular or plural. */
function choose<T extends { readonly keywords: string }>(
  from: readonly T[],
  words: readonly string[],
  turn: number,
): T {
  for (const word of words) {
    const stems = [word, word.replace(/s$/, ""), word.replace(/es$/, "")];
    const found = from.find(({ keywords }) => keywords.split(" ").some((keyword) => stems.includes(keyword)));
    if (found !== undefined) return found;
  }
  const chosen = from[turn % from.length];
  if (chosen === undefined) throw new Error("there is nothing to choose from");
  return chosen;
}

/** Reads the scene files; the `<desc>` of each file lists its keywords. */
function readScenes(): readonly Scene[] {
  return readdirSync(SCENES)
    .filter((name) => name.endsWith(".svg"))
    .toSorted()
    .map((name) => readFileSync(new URL(name, SCENES), "utf8"))
    .map((svg) => ({ svg, keywords: /<desc>(.*)<\/desc>/.exec(svg)?.[1] ?? "" }));
}

function accentOf(words: readonly string[]): Colours {
  const accents = new Map(Object.entries(palettesFile.accents));
  const accent = words.map((word) => accents.get(word)).find((colour) => colour !== undefined);
  return accent === undefined ? {} : { accent };
}

/**
 * Returns the CSS of a scene. It has one class per colour for fill and stroke, and `sky`, `glow` and `backdrop`, which transparent images
 * omit.
 */
function styleOf(colours: Colours, isTransparent: boolean): string {
  const classes = Object.entries(colours).map(
    ([name, colour]) => `.${name}{fill:${colour}}.${name}-line{stroke:${colour}}`,
  );
  const stop = (offset: number, colour = "", opacity = 1): string =>
    `<stop offset="${offset}" stop-color="${colour}" stop-opacity="${opacity}"/>`;
  const { top, middle, low, sun } = colours;
  return `<style>${classes.join("")}.sky{fill:url(#sky)}.glow{fill:url(#glow)}${isTransparent ? ".backdrop{display:none}" : ""}</style>
<linearGradient id="sky" x2="0" y2="1">${stop(0.1, top)}${stop(0.4, middle)}${stop(0.62, low)}</linearGradient>
<radialGradient id="glow">${stop(0, sun, 0.75)}${stop(1, sun, 0)}</radialGradient>`;
}
