/** A film of given footage: its colours follow the prompt, and what the prompt adds moves on it. */
import { decodeVideo } from "#workers/children/video-decoder.ts";

import { FRAMES_PER_SECOND, type Film, type FilmWish, type Script } from "./film.ts";
import { applyGrade, namedGrade, paletteGrade } from "./grade.ts";
import { additions } from "./overlay.ts";
import type { Footage } from "./make.ts";

/** Footage that is shorter than the film begins again. */
export async function footageFilm(wish: FilmWish, script: Script, { bytes, facts }: Footage): Promise<Film> {
  const shape = { width: wish.width, height: wish.height, framesPerSecond: FRAMES_PER_SECOND };
  const grade = namedGrade(script.text) ?? paletteGrade(script.palette);
  const overlays = await additions(wish, script);
  let frames = decodeVideo(bytes, facts, shape);
  return {
    draw: async (frame, index) => {
      let next = await frames.next();
      if (next.done === true) {
        // What has given frames once does so again; what has given none has thrown.
        frames = decodeVideo(bytes, facts, shape);
        next = await frames.next();
      }
      if (next.value !== undefined) frame.data.set(next.value);
      applyGrade(frame, grade);
      for (const overlay of overlays) overlay(frame, index);
    },
    close: async () => {
      await frames.return();
    },
  };
}
