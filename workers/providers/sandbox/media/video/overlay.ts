/** What lies over a film: falling snow or rain, things that a prompt adds, and the prompt in small letters. */
import { drawCaption } from "../images/caption.ts";
import { weather, type Stage } from "../images/sky.ts";
import { castActors } from "./cast.ts";
import { drawCover } from "./drawing.ts";
import { FRAMES_PER_SECOND, UNIT, type FilmWish, type Script } from "./film.ts";
import { ROW, type Cover, type Frame } from "./frame.ts";
import { slide } from "./lay.ts";

export type Overlay = (frame: Frame, index: number) => void;

/** Nearer drops fall faster. Frame heights a second. */
const FALL = { snow: [0.13, 0.2], rain: [1.1, 1.5] } as const;
/** How far snow goes sideways, in widths, and how long it takes to come back. */
const DRIFT_WIDTHS = 0.02;
const DRIFT_SECONDS = 4;

/** @param stage as wide as the frame, or wider: then there is room for snow to drift */
export async function fallingWeather(stage: Stage, { width, height }: FilmWish): Promise<Overlay> {
  const kind = stage.motif.weather;
  if (kind === "clear") return () => {};
  const pixelsPerUnit = height / stage.height;
  const size = { width: Math.max(width, 2 * Math.round((stage.width * pixelsPerUnit) / 2)), height };
  const canvas = { width: stage.width, height: stage.height, definitions: "" };
  const covers = await Promise.all(FALL[kind].map(() => drawCover(canvas, weather(stage), size)));
  const room = size.width - width;
  return (frame, index) => {
    covers.forEach((cover, layer) => {
      // A whole, even number of pixels each frame: it falls without trembling.
      const step = 2 * Math.max(1, Math.round(((FALL[kind][layer] ?? 1) * height) / FRAMES_PER_SECOND / 2));
      const fallen = (index * step) % height;
      const turn = (2 * Math.PI * index) / (DRIFT_SECONDS * FRAMES_PER_SECOND) + layer;
      const shift = kind === "snow" ? Math.min(room / 2, DRIFT_WIDTHS * width) * (1 + Math.sin(turn)) : 0;
      slide(frame, cover, shift, fallen);
      slide(frame, cover, shift, fallen - height);
    });
  };
}

/** @param edge what was given may have a caption of its own, at the bottom */
export async function caption(
  text: string,
  { seed, width, height }: FilmWish,
  edge: "top" | "bottom",
): Promise<Overlay> {
  const pixelsPerUnit = Math.min(width, height) / UNIT;
  const canvas = { width: width / pixelsPerUnit, height: height / pixelsPerUnit, definitions: "" };
  const svg = drawCaption(text, seed, canvas.width, canvas.height, pixelsPerUnit);
  if (svg === "") return () => {};
  const cover: Cover = await drawCover(canvas, svg, { width, height });
  const rows = cover.planes[0].rows;
  const room =
    rows.findIndex((kind) => kind !== ROW.empty) - (rows.length - 1 - rows.findLastIndex((kind) => kind !== ROW.empty));
  const top = edge === "top" ? -2 * Math.floor(room / 2) : 0;
  return (frame) => slide(frame, cover, 0, top);
}

/** Words that ask for something that is not in a given picture yet. */
const ADD = /\b(adds?|adding|appears?|enters?|fl(?:y|ies|ying)|falls?|falling|floats?|floating|passes|passing by)\b/i;

/** For films of what was given: weather and caption, and the prompt's things where it says that they come in. */
export async function additions(wish: FilmWish, { text, motif, palette, random }: Script): Promise<Overlay[]> {
  const { width, height } = wish;
  const pixelsPerUnit = Math.min(width, height) / UNIT;
  const stage: Stage = {
    width: width / pixelsPerUnit,
    height: height / pixelsPerUnit,
    palette,
    motif,
    random,
    detail: 1,
  };
  const ground = stage.height * 0.88;
  const actors = ADD.test(text) ? await castActors(stage, ground, { width, height, pixelsPerUnit }) : [];
  return [
    (frame, index) => {
      for (const actor of actors) actor.draw(frame, index / FRAMES_PER_SECOND, 0);
    },
    await fallingWeather(stage, wish),
    await caption(text, wish, "top"),
  ];
}
