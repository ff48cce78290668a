/** The audio of a video: music, with the words that the prompt has someone say spoken over it. */
import { musicSamples } from "../music/compose.ts";
import type { Flite } from "../speech/flite.ts";
import type { FilmWish } from "./film.ts";

const QUOTE =
  /\b(?:says?|saying|said|speaks?|whispers?|shouts?|asks?|announces?)\b[^"“”«»]{0,40}["“«]([^"”»]{1,200})["”»]/i;

/** Left and right in turn at 48 kHz, as long as the video. */
export async function makeSoundtrack(
  { prompt, seconds, seed }: FilmWish,
  loadVoice: () => Promise<Flite>,
): Promise<Int16Array> {
  return musicSamples({ prompt, lyrics: QUOTE.exec(prompt)?.[1], seconds, seed }, loadVoice);
}
