/** A prompt and a seed as an SVG picture: backdrop, things, caption. */
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import { createRandom, hashText, type Random } from "../../random.ts";
import { definitions, drawBackdrop, type Painted } from "./backdrops.ts";
import { captionHeight, drawCaption } from "./caption.ts";
import { widthOf } from "./cluster.ts";
import { choosePalette, type Palette } from "./colours.ts";
import { drawComposition } from "./composition.ts";
import { placeThings, type Placed } from "./layout.ts";
import { readPrompt } from "./prompt.ts";
import type { Stage } from "./sky.ts";
import { circle, ellipse, group, n, path, starPath } from "./svg.ts";

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
  const caption = wish.hasCaption ? captionHeight(text, wish.seed, width, height, shorter / UNIT) : 0;
  const words = wish.hasCaption ? drawCaption(text, wish.seed, width, height, shorter / UNIT) : "";
  const body = wish.isTransparent ? cutOut(stage, caption) : fullPicture(stage, text, caption);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${wish.width}" height="${wish.height}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">` +
    `<defs>${defs}</defs>${body}${words}</svg>`
  );
}

function fullPicture(stage: Stage, text: string, caption: number): string {
  const { wishes, scenery } = stage.motif;
  if (wishes.length === 0 && scenery === "abstract") return drawComposition(stage, text);
  const backdrop = drawBackdrop(stage);
  return backdrop.svg + drawThings(stage, backdrop, caption) + backdrop.front;
}

/** Things alone, on nothing. */
function cutOut(stage: Stage, caption: number): string {
  const things = drawThings(stage, { svg: "", ground: stage.height * 0.9 }, caption);
  return things === "" ? emblem(stage) : things;
}

/** Room between feet and caption, in heights. */
const FOOT_MARGIN = 0.03;

function drawThings(stage: Stage, backdrop: Painted, caption: number): string {
  const { height, random, motif } = stage;
  const lowest = height * (1 - FOOT_MARGIN) - caption;
  const { ground, footing = [0, 1] } = backdrop;
  return placeThings(stage, { ground, lowest, footing })
    .map((placed) => put(placed, random, motif.light === "night" ? "#2c4a7c" : "#ffffff"))
    .join("");
}

/** A thing with its feet at x, y; some look the other way. */
function put({ thing, colour, x, foot, size, foil }: Placed, random: Random, foam: string): string {
  const scale = size / 100;
  const flip = random.below(2) === 0 ? -1 : 1;
  const wide = size * widthOf(thing) * 0.46;
  const shadow = foil === "shadow" ? ellipse(x, foot, wide, size * 0.05, "#0d1024", { opacity: 0.22 }) : "";
  const wake =
    foil === "wake"
      ? ellipse(x, foot - size * 0.015, wide * 1.06, size * 0.035, foam, { opacity: 0.5 }) +
        ellipse(x, foot + size * 0.015, wide * 0.8, size * 0.02, foam, { opacity: 0.35 })
      : "";
  const move = `translate(${n(x - flip * 50 * scale)} ${n(foot - 100 * scale)}) scale(${n(flip * scale)} ${n(scale)})`;
  return shadow + group({ transform: move }, thing.draw(colour)) + wake;
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
