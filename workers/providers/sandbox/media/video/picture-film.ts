/** A film of a given picture: a camera moves over it, and what the prompt adds moves on it. */
import sharp from "sharp";

import type { Pixels } from "../images/source.ts";
import { FRAMES_PER_SECOND, type Film, type FilmWish, type Script } from "./film.ts";
import { toCover } from "./frame.ts";
import { applyGrade, namedGrade } from "./grade.ts";
import { zoom } from "./lay.ts";
import { additions } from "./overlay.ts";

/** The picture is kept this much larger than the frame, so that coming closer shows more and not larger pixels. */
const ROOM = 1.2;

/** A part of the picture: its middle, and how much closer than the whole. */
interface Shot {
  readonly x: number;
  readonly y: number;
  readonly closeness: number;
}

const WHOLE: Shot = { x: 0.5, y: 0.5, closeness: 1 };
const CLOSE: Shot = { x: 0.5, y: 0.47, closeness: 1.17 };

/** The first that the prompt names. */
const MOVES: readonly (readonly [RegExp, readonly [Shot, Shot]])[] = [
  [/\b(zoom(?:s|ing)? out|pull(?:s|ing)? (?:back|out)|reveal)/i, [CLOSE, WHOLE]],
  [/\bpan(?:s|ning)? (?:to the )?left/i, [shot(0.57, 0.5), shot(0.43, 0.5)]],
  [/\bpan(?:s|ning)?\b|\btracking\b/i, [shot(0.43, 0.5), shot(0.57, 0.5)]],
  [/\btilt(?:s|ing)? down/i, [shot(0.5, 0.43), shot(0.5, 0.57)]],
  [/\btilt/i, [shot(0.5, 0.57), shot(0.5, 0.43)]],
  [/\bzoom|\bpush(?:es|ing)? in|\bclose-?up/i, [WHOLE, CLOSE]],
];

export async function pictureFilm(wish: FilmWish, script: Script, picture: Pixels): Promise<Film> {
  const { width, height, seconds } = wish;
  const size = { width: 2 * Math.round((width * ROOM) / 2), height: 2 * Math.round((height * ROOM) / 2) };
  const { data } = await sharp(picture.data, { raw: { width: picture.width, height: picture.height, channels: 4 } })
    .flatten({ background: "#ffffff" })
    .resize(size.width, size.height, { fit: "cover" })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const source = toCover(data, size.width, size.height);
  const [from, to] = MOVES.find(([words]) => words.test(script.text))?.[1] ?? usualMove(script);
  const grade = namedGrade(script.text);
  const overlays = await additions(wish, script);
  const last = Math.max(1, seconds * FRAMES_PER_SECOND - 1);
  return {
    draw: (frame, index) => {
      const share = eased(index / last);
      const between = (one: number, other: number): number => one + (other - one) * share;
      const closeness = between(from.closeness, to.closeness);
      const [partWidth, partHeight] = [size.width / closeness, size.height / closeness];
      const left = between(from.x, to.x) * size.width - partWidth / 2;
      const top = between(from.y, to.y) * size.height - partHeight / 2;
      zoom(
        frame,
        source,
        within(left, size.width - partWidth),
        within(top, size.height - partHeight),
        partWidth,
        partHeight,
      );
      if (grade !== null) applyGrade(frame, grade);
      for (const overlay of overlays) overlay(frame, index);
    },
  };
}

function usualMove({ random }: Script): readonly [Shot, Shot] {
  const aside = { x: 0.44 + random.below(13) / 100, y: 0.45 + random.below(10) / 100, closeness: CLOSE.closeness };
  return random.below(3) === 0 ? [aside, WHOLE] : [WHOLE, aside];
}

function shot(x: number, y: number): Shot {
  return { x, y, closeness: 1.15 };
}

/** Slowly at both ends. */
function eased(share: number): number {
  return share * share * (3 - 2 * share);
}

function within(value: number, max: number): number {
  return Math.max(0, Math.min(max, value));
}
