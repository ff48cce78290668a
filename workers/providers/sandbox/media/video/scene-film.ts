/** A film of a prompt alone: a camera passes along a painted scene whose things move. */
import { definitions, drawBackdrop } from "../images/backdrops.ts";
import type { Stage } from "../images/sky.ts";
import { castActors } from "./cast.ts";
import { drawCover } from "./drawing.ts";
import { FRAMES_PER_SECOND, UNIT, type Film, type FilmWish, type Script } from "./film.ts";
import { createFrame } from "./frame.ts";
import { slide } from "./lay.ts";
import { caption, fallingWeather } from "./overlay.ts";
import { takeApart, type Part } from "./parts.ts";

/** How much wider than the frame the scene is painted: that far the camera can go. */
const ROOM = 0.16;
/** Of the frame's width in a second, for what is nearest. */
const CAMERA_SPEED = 0.035;

export async function sceneFilm(wish: FilmWish, script: Script): Promise<Film> {
  const { width, height } = wish;
  const { text, random, motif, palette } = script;
  const pixelsPerUnit = Math.min(width, height) / UNIT;
  const wide = 2 * Math.round((width * (1 + ROOM)) / 2);
  const stage: Stage = {
    width: wide / pixelsPerUnit,
    height: height / pixelsPerUnit,
    palette,
    motif,
    random,
    detail: 1 + ROOM,
  };
  const canvas = { width: stage.width, height: stage.height, definitions: definitions(stage) };
  const backdrop = drawBackdrop(stage);
  const { base, parts } = takeApart(backdrop.svg, stage.width, stage.height);
  const size = { width: wide, height };
  const still = createFrame(width, height);
  slide(still, await drawCover(canvas, base, size), (wide - width) / 2);
  // Chance is asked before anything is waited for: drawings may be finished in any order.
  const moved = parts.map((part, index) => ({ part, shift: travel(part, index, script, wide - width) }));
  const layers = await Promise.all(
    moved.map(async ({ part, shift }) => ({ kind: part.kind, shift, cover: await drawCover(canvas, part.svg, size) })),
  );
  const air = layers.filter(({ kind }) => kind === "air");
  const land = layers.filter(({ kind }) => kind !== "air");
  const actors = await castActors(stage, backdrop.ground, { width, height, pixelsPerUnit });
  const overlays = [await fallingWeather(stage, wish), await caption(text, wish, "bottom")];
  const direction = random.below(2) === 0 ? 1 : -1;
  const reach = Math.min((wide - width) * 0.9, CAMERA_SPEED * width * wish.seconds) * direction;
  const frames = wish.seconds * FRAMES_PER_SECOND;
  return {
    draw: (frame, index) => {
      const seconds = index / FRAMES_PER_SECOND;
      const camera = reach * (index / Math.max(1, frames - 1) - 0.5);
      frame.data.set(still.data);
      for (const { cover, shift } of air) slide(frame, cover, shift(seconds, camera));
      for (const actor of actors) if (actor.isBehindLand) actor.draw(frame, seconds, camera);
      for (const { cover, shift } of land) slide(frame, cover, shift(seconds, camera));
      for (const actor of actors) if (!actor.isBehindLand) actor.draw(frame, seconds, camera);
      for (const overlay of overlays) overlay(frame, index);
    },
  };
}

/** From which pixel on a layer is seen. */
type Shift = (seconds: number, camera: number) => number;

/** Waves and ribbons swing by this share of the frame's room, each in its own time. */
const SWING = 0.4;
/** Clouds, in the frame's room a second. */
const WIND = 0.02;

function travel({ depth, kind }: Part, index: number, { motif, random }: Script, room: number): Shift {
  const isFlowing = kind === "land" && (motif.scenery === "sea" || motif.scenery === "abstract");
  const [period, phase] = [5 + (index % 3) * 1.3, random.below(1_000) / 1_000];
  const wind = kind === "air" && motif.light !== "night" ? (random.below(2) === 0 ? WIND : -WIND) : 0;
  const swing = kind === "shape" ? SWING / 2 : isFlowing ? SWING / (2 - depth) : 0;
  const along = isFlowing ? depth / 2 : depth;
  return (seconds, camera) => {
    const blown = Math.max(-0.4, Math.min(0.4, wind * seconds));
    const swung = swing * Math.sin(2 * Math.PI * (seconds / period + phase));
    return room * (0.5 + blown + swung) + along * camera;
  };
}
