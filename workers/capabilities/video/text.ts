import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";
import { filterText } from "#workers/children/filter-graph.ts";

import { choice, color, GRAVITIES, integer, text } from "../params.ts";

import { colorOf } from "./color.ts";
import { brokenLines, FONT_NAMES, fontFile, missingLetter } from "./fonts.ts";
import { videoCapability, type VideoOperation } from "./operation.ts";
import { onVideo, steady } from "./scene.ts";
import { TIMES, whileShown } from "./times.ts";

const params = {
  text: text(
    "The text. Lines that are too wide are wrapped between words. Characters that the font does not have are refused.",
    {
      max: 500,
      required: true,
    },
  ),
  gravity: choice("Position of the text.", GRAVITIES, { default: "south" }),
  margin: integer("Distance from the edges in pixels.", { min: 0, max: 500, unit: "px", default: 32 }),
  size: integer("Font size in pixels.", { min: 8, max: 400, unit: "px", default: 48 }),
  color: color("Text colour.", { default: "white" }),
  box_color: color("Colour of a box behind the text. Default: no box.", {}),
  font: choice("Typeface.", FONT_NAMES, { default: "sans" }),
  ...TIMES,
};

const LINE_HEIGHT = 1.2;

export const operation: VideoOperation<typeof params> = {
  params,
  rules: [{ rule: "less", of: ["params.start", "params.end"] }],
  async apply(
    { scene: before, facts, folder, at },
    { text: words, gravity, margin, size, font, start, end, ...colors },
  ) {
    const scene = start === undefined && end === undefined ? before : steady(before, facts);
    const fill = colorOf("params.color", colors.color).text;
    const box = colors.box_color === undefined ? undefined : colorOf("params.box_color", colors.box_color).text;
    const clean = words.replaceAll(/\r\n?/g, "\n").replaceAll(/[^\P{Cc}\n]/gu, " ");
    if (clean.trim() === "") throw new MediaError("invalid", "Expected params.text with letters, got none.");
    const missing = await missingLetter(clean, font);
    if (missing !== undefined) {
      const code = missing.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
      throw new MediaError(
        "invalid",
        `Expected params.text in letters of the font ${font}, got ${missing} (U+${code}).`,
      );
    }
    const lines = brokenLines(clean, font, size, scene.width - 2 * margin);
    const height = Math.ceil(lines.length * size * LINE_HEIGHT);
    if (height + margin > scene.height) {
      throw new MediaError(
        "invalid",
        `Expected params.text, params.size and params.margin to take ${scene.height} pixels of height at most, got ${height + margin}.`,
      );
    }
    const path = join(folder, `words-${at}.txt`);
    await Bun.write(path, lines.join("\n"));
    const when = whileShown(start, end, before.seconds);
    const drawn = filterText("drawtext", {
      textfile: path,
      expansion: "none",
      fontfile: fontFile(font),
      fontsize: size,
      fontcolor: fill,
      text_align: alignOf(gravity),
      ...placeOf(gravity, margin),
      ...(box === undefined ? {} : { box: 1, boxcolor: box, boxborderw: Math.ceil(size / 4) }),
      ...(when === undefined ? {} : { enable: when }),
    });
    // On what the encode writes, so that a step alone and one of many draw alike.
    return onVideo(scene, ["format=yuv420p", drawn]);
  },
};

function alignOf(gravity: string): string {
  if (gravity.includes("west")) return "L";
  return gravity.includes("east") ? "R" : "C";
}

/** Position as from `placed`, in expressions: FFmpeg alone knows the size. */
function placeOf(gravity: string, margin: number): { x: string; y: string } {
  const along = (whole: string, own: string, low: string, high: string): string => {
    if (gravity.includes(low)) return `${margin}`;
    return gravity.includes(high) ? `${whole}-${own}-${margin}` : `(${whole}-${own})/2`;
  };
  return { x: along("w", "tw", "west", "east"), y: along("h", "th", "north", "south") };
}

export default videoCapability(operation, {
  id: "video.text",
  display_name: "Add text to video",
  description: "Writes text on a video, for its whole duration or a part of it.",
  examples: [
    { title: "A line at the bottom", params: { text: "Hello", size: 24 } },
    {
      title: "A title in a box for one second",
      params: { text: "Chapter one", size: 28, gravity: "center", font: "serif", box_color: "navy", start: 0, end: 1 },
    },
  ],
});
