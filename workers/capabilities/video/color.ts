/** Parses colours in the caller's parameters, for FFmpeg and subtitles. */
import { MediaError } from "#shared/children/media-error.ts";

interface Color {
  /** Colour in FFmpeg's syntax. */
  readonly text: string;
  /** Red, green, blue and opacity, from 0 to 255. */
  readonly rgba: readonly [number, number, number, number];
}

/** Parses a CSS colour. @param param name of the parameter in the error. @throws MediaError invalid */
export function colorOf(param: string, value: string): Color {
  const rgba = Bun.color(value, "[rgba]");
  if (!rgba) throw new MediaError("invalid", `Expected ${param} to be a colour, got ${value.slice(0, 30)}.`);
  const text = rgba.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("");
  return { text: `0x${text}`, rgba };
}
