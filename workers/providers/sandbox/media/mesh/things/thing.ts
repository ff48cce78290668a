/** What a thing that can be made is, and what it is made with. */
import type { Random } from "../../../random.ts";
import type { Colour } from "../../images/colours.ts";
import type { FinishName, Skin } from "../finishes.ts";
import { merged, type Shape } from "../kit/shape.ts";
import type { Noise } from "../textures/noise.ts";

export interface Part {
  readonly name: string;
  readonly skin: Skin;
  readonly shape: Shape;
}

/** Colours and materials of the prompt meet those that a thing has by itself. */
export interface Look {
  readonly random: Random;
  readonly noise: Noise;
  /** What the prompt says it is made of; null leaves it to the thing. */
  readonly finish: FinishName | null;
  /** What the thing mostly consists of: colour and material of the prompt come first. */
  readonly main: (colour: Colour, finish: FinishName) => Skin;
  /** What sets itself off from it: the second colour of the prompt comes first. */
  readonly second: (colour: Colour, finish: FinishName) => Skin;
  /** Eyes, tyres, lights: only a statue has them of its own material. */
  readonly fixed: (colour: Colour, finish: FinishName) => Skin;
  /** What it holds: the colour that the prompt gives to flowers in a vase comes first. */
  readonly content: (colour: Colour, finish: FinishName) => Skin;
  /** Whether the prompt has one of the words. */
  readonly has: (...words: string[]) => boolean;
  /** By the seed. */
  readonly roll: (min: number, max: number) => number;
}

export interface Thing {
  /** Height in the world, without a word on size. */
  readonly metres: number;
  /** How a given picture goes onto its main part: around it, or onto each side. */
  readonly picture?: "around" | "sides";
  /** One unit is about its height or width; it stands on y = 0 and looks to z. */
  build(look: Look): readonly Part[];
}

export function part(name: string, skin: Skin, ...shapes: readonly Shape[]): Part {
  return { name, skin, shape: merged(shapes) };
}

/** A sheet has no inside: it is seen from both sides. */
export const sheet = (skin: Skin): Skin => ({ ...skin, isSheet: true });
