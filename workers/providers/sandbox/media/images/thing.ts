/** What a thing is: drawn in a box of 100 × 100, standing on its lower edge. */
import type { Colour } from "./colours.ts";
import { circle } from "./svg.ts";

export interface Thing {
  readonly where: "sky" | "ground" | "water";
  /** Its own colour, where the prompt names none. */
  readonly colour: Colour;
  /** Against other things: a tree is larger than a cat. */
  readonly size: number;
  readonly draw: (colour: Colour) => string;
  /** From the top of its box: where feet come of what stands on it, and of what is in it and hidden by its front. */
  readonly top?: number;
  readonly inside?: number;
  /** Of its box's width, how much it fills. */
  readonly wide?: number;
  /** Where it is at home, if the prompt says nothing else. */
  readonly home?: "room" | "studio" | "underwater" | "desert" | "space";
}

export const wood: Colour = "#7a4f2e";
export const night: Colour = "#2b2f45";

export const eye = (x: number, y: number, r = 2.6): string =>
  circle(x, y, r, "#1d1d26") + circle(x - 0.8, y - 0.9, r * 0.35, "#fff");
export const eyes = (x: number, y: number, r = 2.6): string => eye(x, y, r) + eye(100 - x, y, r);
