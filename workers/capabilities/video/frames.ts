import { stat } from "node:fs/promises";
import { join } from "node:path";

import sharp from "sharp";

import { MediaError } from "#shared/children/media-error.ts";
import { IMAGE_SIDE_PIXELS_MAX, IMAGE_FRAMES_PIXELS_MAX } from "#shared/calls/capabilities/limits.ts";

import { defineCapability, input, type OutputFile } from "../define.ts";
import { OUTPUT, writeImage } from "../image/sharp.ts";
import { checkFiles, numbered, PACK, packed } from "../pack.ts";
import { choice, integer, number } from "../params.ts";

import { CLIP, round, VIDEO_PRICE } from "./encode.ts";
import { probeVideo } from "./facts.ts";
import { even, type Size } from "./fit.ts";
import { onVideo, openScene, type Scene, secondsOf } from "./scene.ts";
import { writeStills } from "./stills.ts";
import { VIDEO_INPUT_LONG_SIDE_MAX } from "./limits.ts";

const FRAMES_MAX = 2_000;

export default defineCapability({
  id: "video.frames",
  display_name: "Extract frames",
  description:
    "Extracts still images from a video at regular intervals, as separate files or as one sprite sheet with a WebVTT index for players.",
  output_modality: "archive",
  input: { video: input("video", "The video.") },
  params: {
    fps: number("Images per second of video. Default: 1, unless `count` or `interval` is given.", {
      min: 0.01,
      max: 30,
      unit: "fps",
    }),
    count: integer("Total number of images, spread evenly.", { min: 1, max: 200 }),
    interval: number("Seconds between images.", { min: 0.05, max: 3_600, unit: "s" }),
    layout: choice("Separate files, or one sprite sheet with an index.", ["files", "sheet"], { default: "files" }),
    columns: integer("Number of columns of the sprite sheet.", { min: 1, max: 20, default: 4 }),
    width: integer("Width of each image. Default: that of the video.", {
      min: 16,
      max: VIDEO_INPUT_LONG_SIDE_MAX,
      unit: "px",
    }),
    pack: PACK,
    ...OUTPUT,
  },
  valueSources: ["fps", "count", "interval"],
  sample_input: CLIP,
  examples: [
    { title: "One image per second", params: {} },
    {
      title: "A sprite sheet of six small images",
      params: { count: 6, layout: "sheet", columns: 3, width: 120, pack: "files" },
    },
  ],
  price: VIDEO_PRICE,
  engine: "ffmpeg",
  async run({ params, inputs, folder, progress }) {
    const facts = await probeVideo(inputs.video);
    const whole = openScene(facts);
    const seconds = secondsOf(whole);
    const step = stepOf(seconds, params);
    const count = Math.max(1, Math.min(params.count ?? Infinity, Math.ceil(seconds / step - 0.001)));
    if (params.layout === "files") checkFiles(params.pack, count);
    if (count > FRAMES_MAX) {
      throw new MediaError("too_large", `Expected at most ${FRAMES_MAX} frames, got ${count}.`);
    }
    const width = params.width === undefined ? facts.width : even(params.width);
    const height = params.width === undefined ? facts.height : even((facts.height * width) / facts.width);
    checkPicture("pictures", { width, height });
    if (params.layout === "sheet") checkPicture("a sheet", sheetOf({ width, height }, count, params.columns).size);
    const filters = [
      // Each image is the frame on display at its time: the first before the video begins, the last until the audio ends.
      `fps=fps=${1 / step}:round=up:start_time=0:eof_action=pass`,
      "tpad=stop=-1:stop_mode=clone",
      `trim=end_frame=${count}`,
      `scale=${width}:${height}`,
    ];
    const stills = await writeStills(folder, onVideo(whole, filters, { width, height }), {
      name: "still",
      onSeconds: (at) => progress(Math.min(0.5, at / seconds / 2)),
    });
    const pictures = { folder, stills, width, height, step, seconds };
    const { files, more } =
      params.layout === "sheet" ? await sheet(pictures, params) : await single(pictures, params, progress);
    const output = { frames: stills.length, interval: round(step), width, height, ...more };
    return { output, files: await packed(folder, files, params.pack, "frames.zip") };
  },
});

function sheetOf(
  { width, height }: Size,
  count: number,
  most: number,
): { readonly columns: number; readonly size: Size } {
  const columns = Math.min(most, count);
  return { columns, size: { width: columns * width, height: Math.ceil(count / columns) * height } };
}

/**
 * Checks the size of an image against the limits of images.
 * @throws MediaError too_large
 */
function checkPicture(what: string, { width, height }: Size): void {
  const side = IMAGE_SIDE_PIXELS_MAX;
  const pixels = IMAGE_FRAMES_PIXELS_MAX;
  if (Math.max(width, height) <= side && width * height <= pixels) return;
  throw new MediaError(
    "too_large",
    `Expected ${what} of at most ${side} pixels on a side and ${pixels} in all, got ${width} × ${height}.`,
  );
}

/** Returns the interval between images, in seconds, for the requested `count`, `interval` or `fps`. Default: 1 second. */
function stepOf(
  seconds: number,
  {
    fps,
    count,
    interval,
  }: { readonly fps: number | undefined; readonly count: number | undefined; readonly interval: number | undefined },
): number {
  if (count !== undefined) return seconds / count;
  return interval ?? 1 / (fps ?? 1);
}

interface Pictures extends Pick<Scene, "width" | "height" | "seconds"> {
  readonly folder: string;
  readonly stills: readonly string[];
  readonly step: number;
}

type Output = Parameters<typeof writeImage>[3];
interface Laid {
  readonly files: readonly OutputFile[];
  readonly more: Readonly<Record<string, unknown>>;
}

async function single(
  { folder, stills, width, height }: Pictures,
  output: Output,
  progress: (share: number) => void,
): Promise<Laid> {
  const files: OutputFile[] = [];
  for (const [at, still] of stills.entries()) {
    const from = { format: "jpeg", width, height, pages: 1 } as const;
    const name = numbered("frame", at + 1, "");
    const written = await writeImage(folder, sharp(still), from, output, { name: name.slice(0, -1) });
    files.push(...(written.files ?? []));
    progress(0.5 + at / stills.length / 2);
  }
  return { files, more: { bytes: await bytesOf(files) } };
}

async function bytesOf(files: readonly OutputFile[]): Promise<number> {
  const sizes = await Promise.all(files.map(async ({ path }) => (await stat(path)).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Writes one sprite sheet and a WebVTT index that states the time of each image. Players use this format for previews. */
async function sheet(pictures: Pictures, params: Output & { readonly columns: number }): Promise<Laid> {
  const { folder, stills, width, height, step, seconds } = pictures;
  const { columns, size } = sheetOf({ width, height }, stills.length, params.columns);
  const places = stills.map((input, at) => ({
    input,
    left: (at % columns) * width,
    top: Math.floor(at / columns) * height,
  }));
  const empty = sharp({ create: { ...size, channels: 3, background: "black" } });
  const from = { format: "jpeg", ...size, pages: 1 } as const;
  const written = await writeImage(folder, empty.composite(places), from, params, { name: "sheet" });
  const picture = written.files?.[0]?.name ?? "";
  const cues = places.map(({ left, top }, at) => {
    const [start, end] = [at * step, Math.min(seconds, (at + 1) * step)];
    return `${clock(start)} --> ${clock(end)}\n${picture}#xywh=${left},${top},${width},${height}\n`;
  });
  const path = join(folder, "sheet.vtt");
  await Bun.write(path, `WEBVTT\n\n${cues.join("\n")}`);
  return {
    files: [...(written.files ?? []), { path, mediaType: "text/vtt", name: "sheet.vtt" }],
    more: { columns, sheet: size },
  };
}

function clock(seconds: number): string {
  const ms = Math.round(seconds * 1_000);
  const part = (value: number, digits: number): string => String(Math.floor(value)).padStart(digits, "0");
  return `${part(ms / 3_600_000, 2)}:${part((ms / 60_000) % 60, 2)}:${part((ms / 1_000) % 60, 2)}.${part(ms % 1_000, 3)}`;
}
