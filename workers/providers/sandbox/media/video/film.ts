/** A film before it is encoded: something that fills one frame after the other. */
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import { createRandom, hashText, type Random } from "../../random.ts";
import { readPrompt, type Motif } from "../images/prompt.ts";
import { choosePalette, type Palette } from "../images/colours.ts";
import type { Frame } from "./frame.ts";

export const FRAMES_PER_SECOND = 24;
/** The shorter side of a drawing in its own units. */
export const UNIT = 1_000;

export interface FilmWish {
  readonly prompt: string;
  readonly negativePrompt?: string | undefined;
  /** Whole seconds. */
  readonly seconds: number;
  /** Pixels, both even. */
  readonly width: number;
  readonly height: number;
  readonly seed: number;
}

export interface Film {
  /** Called once for each frame, in order. */
  draw(frame: Frame, index: number): Promise<void> | void;
  /** Lets go of what it reads from. */
  close?(): Promise<void>;
}

/** What a prompt and a seed decide for all that belongs to a film. */
export interface Script {
  readonly text: string;
  readonly motif: Motif;
  readonly palette: Palette;
  readonly random: Random;
}

export function readScript({ prompt, negativePrompt, seed }: FilmWish): Script {
  const text = prompt.slice(0, MEDIA_LIMITS.promptCharactersMax).trim().replaceAll(/\s+/g, " ");
  const random = createRandom(hashText(text.toLowerCase(), seed >>> 0));
  const motif = readPrompt(text, negativePrompt);
  return { text, motif, random, palette: choosePalette(motif.colours, random) };
}
