import { stat } from "node:fs/promises";
import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { choice, integer, number } from "../params.ts";

import { CLIP, round, runScene, VIDEO_PRICE } from "./encode.ts";
import { probeVideo } from "./facts.ts";
import { pieceOf } from "./piece.ts";
import { atRate, muted, onVideo, openScene, type Scene, withPicture } from "./scene.ts";
import { stillSource, writeStills } from "./stills.ts";
import { VIDEO_SECONDS_MAX } from "./limits.ts";

export default defineCapability({
  id: "video.to_gif",
  display_name: "Video to GIF",
  description:
    "Converts a section of a video to an animated GIF or WebP. A start after the end of the video is refused.",
  output_modality: "image",
  input: { video: input("video", "The video.") },
  params: {
    start: number("Start of the section in seconds.", { min: 0, max: VIDEO_SECONDS_MAX, unit: "s", default: 0 }),
    duration: number("Duration of the section in seconds.", { min: 0.1, max: 30, unit: "s", default: 5 }),
    fps: number("Frames per second.", { min: 1, max: 30, unit: "fps", default: 10 }),
    width: integer("Width of the animation. Smaller videos are not enlarged.", {
      min: 16,
      max: 1_280,
      unit: "px",
      default: 480,
    }),
    format: choice("Format of the animation.", ["gif", "webp"], { default: "gif" }),
    loop: integer("Number of times to play; 0 loops forever.", { min: 0, max: 100, default: 0 }),
  },
  sample_input: CLIP,
  examples: [
    { title: "Five seconds", params: {} },
    { title: "One second, 160 pixels wide, as WebP", params: { duration: 1, width: 160, format: "webp" } },
  ],
  price: VIDEO_PRICE,
  engine: "ffmpeg",
  async run({ params, inputs, folder, progress }) {
    const { start, duration, fps, width: wanted, format, loop } = params;
    const facts = await probeVideo(inputs.video);
    if (facts.seconds > 0 && start >= facts.seconds) {
      throw new MediaError("invalid", `Expected params.start before the end at ${facts.seconds} s, got ${start}.`);
    }
    const width = Math.min(wanted, facts.width);
    const height = Math.max(1, Math.round((facts.height * width) / facts.width));
    const length = facts.seconds > 0 ? Math.min(duration, facts.seconds - start) : 0;
    const piece = await pieceOf(facts, openScene(facts), { start, until: start + duration, seconds: length });
    const scaled = `scale=${width}:${height}:flags=lanczos`;
    const scene = onVideo(piece, [...atRate(piece, fps), ...asLong(length * fps), scaled], { width, height });
    let seconds = 0;
    const onSeconds = (at: number): void => {
      seconds = at;
      progress(Math.min(0.99, at / duration));
    };
    const name = `animation.${format}`;
    const path = join(folder, name);
    const run = { path, loop, onSeconds };
    await (format === "gif" ? writeGif(folder, scene, run) : writeWebp(scene, run));
    const { size } = await stat(path);
    const output = { format, width, height, seconds: round(seconds), bytes: size };
    return { output, files: [{ path, mediaType: `image/${format}`, name }] };
  },
});

/**
 * Returns filters that give the animation exactly `frames` frames. Missing frames are copies of the last frame. Returns no filters for 0,
 * which means that the number is unknown.
 */
function asLong(frames: number): string[] {
  if (frames === 0) return [];
  return ["tpad=stop=-1:stop_mode=clone", `trim=end_frame=${Math.max(1, Math.round(frames))}`];
}

interface Run {
  readonly path: string;
  readonly loop: number;
  readonly onSeconds: (seconds: number) => void;
}

/**
 * Writes a GIF in two passes, of which the first computes the palette. A single pass would buffer all frames until the palette is known.
 */
async function writeGif(folder: string, scene: Scene, { path, loop, onSeconds }: Run): Promise<void> {
  const colours = onVideo(scene, ["palettegen=stats_mode=full"]);
  const [palette = ""] = await writeStills(folder, colours, { name: "palette", pixelFormat: "rgba" });
  const coloured = withPicture(scene, stillSource(palette), "paletteuse=dither=sierra2_4a:diff_mode=rectangle");
  await runScene({
    scene: muted(coloured),
    streams: [{ label: coloured.video, encoder: "gif", pixelFormat: "pal8" }],
    output: { path, muxer: "gif", options: { loop: `${loop === 1 ? -1 : Math.max(0, loop - 1)}` } },
    onSeconds,
  });
}

async function writeWebp(scene: Scene, { path, loop, onSeconds }: Run): Promise<void> {
  await runScene({
    scene: muted(scene),
    streams: [{ label: scene.video, encoder: "libwebp_anim", pixelFormat: "yuva420p", options: { quality: "75" } }],
    output: { path, muxer: "webp", options: { loop: `${loop}` } },
    onSeconds,
  });
}
