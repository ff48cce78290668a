/** A prompt and a seed as an SVG picture: backdrop, things, caption. */
import { MEDIA_LIMITS } from "#workers/media/limits.ts";

import { createRandom, hashText, type Random } from "../../random.ts";
import { definitions, drawBackdrop } from "./backdrops.ts";
import { drawCaption } from "./caption.ts";
import { choosePalette, type Palette } from "./colours.ts";
import { readPrompt } from "./prompt.ts";
import type { Stage } from "./sky.ts";
import { circle, ellipse, group, n, path, starPath } from "./svg.ts";
import type { Thing } from "./thing.ts";
import { THINGS } from "./things.ts";

export interface SceneWish {
  readonly prompt: string;
  readonly negativePrompt?: string | undefined;
  readonly seed: number;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly isTransparent: boolean;
  readonly hasCaption: boolean;
  /** More steps, more small detail; 30 is usual. */
  readonly steps?: number | undefined;
}

/** Steps of a usual picture; 1 to 100 make a third to twice as much detail. */
const USUAL_STEPS = 30;
/** The shorter side in the drawing's own units. */
const UNIT = 1_000;

export function drawScene(wish: SceneWish): string {
  const shorter = Math.min(wish.width, wish.height);
  const [width, height] = [Math.round((UNIT * wish.width) / shorter), Math.round((UNIT * wish.height) / shorter)];
  const text = plainPrompt(wish.prompt);
  const random = createRandom(hashText(text.toLowerCase(), wish.seed >>> 0));
  const motif = readPrompt(text, wish.negativePrompt);
  const palette = choosePalette(motif.colours, random);
  const detail = Math.min(2, Math.max(0.35, Math.sqrt((wish.steps ?? USUAL_STEPS) / USUAL_STEPS)));
  const stage: Stage = { width, height, palette, motif, random, detail };
  const defs = definitions(stage);
  const backdrop = drawBackdrop(stage);
  const things = drawThings(stage, wish.isTransparent ? height * 0.9 : backdrop.ground);
  const body = wish.isTransparent ? (things === "" ? emblem(stage) : things) : backdrop.svg + things + backdrop.front;
  const caption = wish.hasCaption ? drawCaption(text, wish.seed, width, height, shorter / UNIT) : "";
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${wish.width}" height="${wish.height}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">` +
    `<defs>${defs}</defs>${body}${caption}</svg>`
  );
}

interface Placed {
  readonly thing: Thing;
  readonly colour: string;
}

function drawThings({ width, height, motif, random }: Stage, ground: number): string {
  const all = motif.wishes.flatMap(({ thing, colour, count }) => {
    const found = THINGS[thing];
    return found === undefined
      ? []
      : Array.from({ length: Math.min(count, MEDIA_LIMITS.objectsMax) }, (): Placed => ({
          thing: found,
          colour: colour ?? found.colour,
        }));
  });
  const high = all.filter(({ thing }) => thing.where === "sky");
  const low = shuffled(
    all.filter(({ thing }) => thing.where !== "sky"),
    random,
  );
  const isAlone = all.length === 1;
  const floor = motif.scenery === "space" ? ground : Math.min(ground, height * 0.9);
  const crowd = Math.max(1, Math.sqrt(low.length / (width / UNIT)));
  const lowSize =
    Math.min(height * 0.42, (width * 0.72) / Math.max(1.4, Math.sqrt(low.length) * 1.2)) /
    (low.length > 1 ? crowd ** 0.35 : 1);
  const lowSvg = low
    .map((placed, index) => {
      const share =
        (index + 0.5) / low.length +
        (low.length > 1
          ? (random.below(100) / 100 - 0.5) * (0.35 / low.length)
          : (random.below(100) / 100 - 0.5) * 0.2);
      const depth = low.length > 1 ? random.below(100) / 100 : 0.6;
      const size =
        lowSize * placed.thing.size * (0.8 + 0.25 * depth) * (isAlone && motif.scenery === "studio" ? 1.15 : 1);
      const isAfloat = motif.scenery === "sea" && placed.thing.where === "water";
      const foot = (isAfloat ? Math.min(floor, height * 0.76) : floor) + height * 0.07 * (depth - 0.4);
      return {
        svg: put(placed, width * (0.06 + 0.88 * share), foot, Math.min(size, height * 0.62), random, !isAfloat),
        foot,
      };
    })
    .toSorted((one, other) => one.foot - other.foot)
    .map(({ svg }) => svg)
    .join("");
  const highSize = Math.min(height * 0.24, (width * 0.5) / Math.max(1, Math.sqrt(high.length)));
  const alone = isAlone && high.length === 1;
  const highSvg = high
    .map((placed, index) => {
      const size = highSize * placed.thing.size * (alone ? 1.7 : 0.85 + random.below(35) / 100);
      const x =
        width * (0.08 + (0.84 * (index + 0.5)) / high.length) +
        (random.below(100) / 100 - 0.5) * width * (alone ? 0.15 : 0.4 / high.length);
      const bottom = alone ? height * 0.6 : height * (0.14 + random.below(30) / 100) + size * 0.5;
      return put(placed, x, Math.min(bottom, height * 0.66), size, random, false);
    })
    .join("");
  return highSvg + lowSvg;
}

/** A thing with its feet at x, y; some look the other way. */
function put(
  { thing, colour }: Placed,
  x: number,
  y: number,
  size: number,
  random: Random,
  hasShadow: boolean,
): string {
  const scale = size / 100;
  const flip = random.below(2) === 0 ? -1 : 1;
  const shadow = hasShadow ? ellipse(x, y, size * 0.42, size * 0.055, "#0d1024", { opacity: 0.22 }) : "";
  const move = `translate(${n(x - flip * 50 * scale)} ${n(y - 100 * scale)}) scale(${n(flip * scale)} ${n(scale)})`;
  return shadow + group({ transform: move }, thing.draw(colour));
}

/** The colours of the scene that prompt and seed would make. */
export function scenePalette(prompt: string, seed: number): Palette {
  const text = plainPrompt(prompt);
  const { wishes, colours } = readPrompt(text);
  const named = [...colours, ...wishes.flatMap(({ colour }) => (colour === null ? [] : [colour]))];
  return choosePalette(named, createRandom(hashText(text.toLowerCase(), seed >>> 0)));
}

function plainPrompt(prompt: string): string {
  return prompt.slice(0, MEDIA_LIMITS.promptCharactersMax).trim().replaceAll(/\s+/g, " ");
}

/** For a transparent picture of nothing that is known. */
function emblem({ width, height, palette, random }: Stage): string {
  const points = 5 + random.below(7);
  const turn = random.below(100) / 50;
  const [x, y] = [width / 2, height * 0.46];
  return (
    path(starPath(x, y, 380, 240, points, turn), palette.shades[2]) +
    path(starPath(x, y, 300, 190, points, turn + 0.3), palette.shades[3]) +
    circle(x, y, 150, palette.accent) +
    circle(x, y, 80, palette.shades[4])
  );
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const list = [...items];
  for (let index = list.length - 1; index > 0; index -= 1) {
    const other = random.below(index + 1);
    const [one, two] = [list[index], list[other]];
    if (one === undefined || two === undefined) continue;
    list[index] = two;
    list[other] = one;
  }
  return list;
}
