import { join } from "node:path";

import sharp from "sharp";

import { MediaError } from "#shared/children/media-error.ts";
import { fileSource } from "#workers/children/file-source.ts";
import { filterText } from "#workers/children/filter-graph.ts";

import { brokenLines, checkLetters, fontPath, fontWith, needsShaping } from "../fonts.ts";
import { type Overlay, textOverlay } from "../image/overlay.ts";
import { choice, color, GRAVITIES, integer, text } from "../params.ts";

import { colorOf } from "./color.ts";
import { videoCapability, type VideoOperation } from "./operation.ts";
import { onVideo, steady, withPicture } from "./scene.ts";
import { TIMES, enableCondition } from "./times.ts";

const FONTS = { sans: "DejaVuSans", serif: "DejaVuSerif", mono: "DejaVuSansMono" } as const;
type Font = keyof typeof FONTS;
const FAMILIES: Readonly<Record<Font, string>> = {
  sans: "DejaVu Sans",
  serif: "DejaVu Serif",
  mono: "DejaVu Sans Mono",
};

const params = {
  text: text(
    "The text. Lines that are too wide are wrapped between words. Another font is used for characters that the typeface lacks; characters " +
      "that no font has are refused.",
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
  font: choice("Typeface.", Object.keys(FONTS) as Font[], { default: "sans" }),
  ...TIMES,
};

const LINE_HEIGHT = 1.2;

export const operation: VideoOperation<typeof params> = {
  params,
  rules: [{ rule: "less", of: ["params.start", "params.end"] }],
  async apply(
    { scene: before, facts, folder, at },
    { text: content, gravity, margin, size, font, start, end, ...colors },
  ) {
    const scene = start === undefined && end === undefined ? before : steady(before, facts);
    const fill = colorOf("params.color", colors.color);
    const box = colors.box_color === undefined ? undefined : colorOf("params.box_color", colors.box_color);
    const clean = content.replaceAll(/\r\n?/g, "\n").replaceAll(/[^\P{Cc}\n]/gu, " ");
    if (clean.trim() === "") throw new MediaError("invalid", "Expected params.text with letters, got none.");
    checkLetters("params.text", clean);
    const lines = brokenLines(clean, size, scene.width - 2 * margin, font === "mono");
    const height = Math.ceil(lines.length * size * LINE_HEIGHT);
    if (height + margin > scene.height) {
      throw new MediaError(
        "invalid",
        `Expected params.text, params.size and params.margin to take ${scene.height} pixels of height at most, got ${height + margin}.`,
      );
    }
    const when = enableCondition(start, end, before.seconds);
    if (needsShaping(clean) || fontWith(clean, `${FONTS[font]}.ttf`) !== `${FONTS[font]}.ttf`) {
      const [red, green, blue, opacity] = fill.rgba;
      const css = `rgba(${red},${green},${blue},${opacity / 255})`;
      const style = { size, fill: css, family: FAMILIES[font], align: ANCHORS[alignOf(gravity)] };
      const path = join(folder, `words-${at}.png`);
      await Bun.write(path, await boxed(await textOverlay(lines.join("\n"), style), box?.rgba, Math.ceil(size / 4)));
      const { x, y } = placeOf(gravity, margin, ["main_w", "main_h", "overlay_w", "overlay_h"]);
      const enable = when === undefined ? "" : `:enable='${when}'`;
      const picture = fileSource("video", { path, container: "png_pipe" });
      return withPicture(scene, picture, `overlay=${x}:${y}:format=yuv420${enable}`);
    }
    const path = join(folder, `words-${at}.txt`);
    await Bun.write(path, lines.join("\n"));
    const drawn = filterText("drawtext", {
      textfile: path,
      expansion: "none",
      fontfile: fontPath(`${FONTS[font]}.ttf`),
      fontsize: size,
      fontcolor: fill.text,
      text_align: alignOf(gravity),
      ...placeOf(gravity, margin),
      ...(box === undefined ? {} : { box: 1, boxcolor: box.text, boxborderw: Math.ceil(size / 4) }),
      ...(when === undefined ? {} : { enable: when }),
    });
    // Drawn in the encode's pixel format, so that a single operation and a pipeline give the same result.
    return onVideo(scene, ["format=yuv420p", drawn]);
  },
};

const ANCHORS = { L: "start", C: "middle", R: "end" } as const;

function alignOf(gravity: string): keyof typeof ANCHORS {
  if (gravity.includes("west")) return "L";
  return gravity.includes("east") ? "R" : "C";
}

/** Names of the variables in a filter's expressions for the width and height of the frame and of the text. */
type Names = readonly [width: string, height: string, textWidth: string, textHeight: string];

/**
 * Returns the position of a text as filter expressions, by the same rules as `placed`. Expressions are needed because only FFmpeg knows the
 * size of the text.
 */
function placeOf(
  gravity: string,
  margin: number,
  [w, h, tw, th]: Names = ["w", "h", "tw", "th"],
): { x: string; y: string } {
  const along = (whole: string, own: string, low: string, high: string): string => {
    if (gravity.includes(low)) return `${margin}`;
    return gravity.includes(high) ? `${whole}-${own}-${margin}` : `(${whole}-${own})/2`;
  };
  return { x: along(w, tw, "west", "east"), y: along(h, th, "north", "south") };
}

/** Draws an image on a coloured box that is larger by `border` pixels on each side. */
async function boxed(
  { data, width, height }: Overlay,
  box: readonly [number, number, number, number] | undefined,
  border: number,
): Promise<Buffer> {
  if (box === undefined) return data;
  const [r, g, b, opacity] = box;
  const background = { r, g, b, alpha: opacity / 255 };
  const size = { width: width + 2 * border, height: height + 2 * border };
  return sharp({ create: { ...size, channels: 4, background } })
    .composite([{ input: data }])
    .png()
    .toBuffer();
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
