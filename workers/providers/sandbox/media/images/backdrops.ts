/** What stands behind the things: sky, land, water, a room, a studio, or a composition of shapes. */
import { INDOORS } from "./indoors.ts";
import { LANDSCAPES } from "./landscapes.ts";
import type { Scenery } from "./settings.ts";
import { weather, type Stage } from "./sky.ts";
import { WATERS } from "./waters.ts";

export { definitions } from "./definitions.ts";

export interface Painted {
  readonly svg: string;
  /** Where feet stand, from the top. */
  readonly ground: number;
  /** Shares of the width between which there is ground; all of it if not said. */
  readonly footing?: readonly [number, number];
}

export interface Backdrop extends Painted {
  /** Drawn over the things: falling snow, a hint of haze. */
  readonly front: string;
}

export type Painter = (stage: Stage) => Painted;

const BACKDROPS: Readonly<Record<Scenery, Painter>> = { ...LANDSCAPES, ...WATERS, ...INDOORS };

export function drawBackdrop(stage: Stage): Backdrop {
  return { ...BACKDROPS[stage.motif.scenery](stage), front: weather(stage) };
}
