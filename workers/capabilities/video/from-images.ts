import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";

import { chainOf, probeAudio } from "../audio/graph.ts";
import { defineCapability, input, type InputFile, inputs } from "../define.ts";
import { openImage } from "../image/sharp.ts";
import { choice, integer, number } from "../params.ts";

import { encodeVideo, OUTPUT, outputRules, round, VIDEO_PRICE } from "./encode.ts";
import { even } from "./fit.ts";
import { checkSides, type Scene } from "./scene.ts";
import { stillSource } from "./stills.ts";
import { VIDEO_FPS_MAX, VIDEO_LONG_SIDE_MAX, VIDEO_SHORT_SIDE_MAX, VIDEO_SECONDS_MAX } from "./limits.ts";

const FADE_S = 1;
/** Enlargement of an image by the end of its display, as a fraction: 0.25 means 25 %. */
const ZOOM = 0.25;

export default defineCapability({
  id: "video.from_images",
  display_name: "Video from images",
  description: "Makes a slideshow video from images, with optional audio.",
  output_modality: "video",
  input: {
    images: inputs("image", "The images, in playback order.", [1, 200]),
    audio: input("audio", "The audio. It is cut where the images end.", { optional: true }),
  },
  params: {
    seconds_each: number("Seconds to show each image; at least one frame.", {
      min: 0.1,
      max: 60,
      unit: "s",
      default: 3,
    }),
    transition: choice("Transition between images.", ["none", "fade"], { default: "none" }),
    motion: choice("Camera motion within each image.", ["none", "ken_burns"], {
      default: "none",
      labels: { none: "None", ken_burns: "Slow zoom in (Ken Burns effect)" },
    }),
    width: integer("Width of the video. Images are fitted into it with borders.", {
      min: 16,
      max: 3_840,
      unit: "px",
      default: 1_280,
    }),
    height: integer("Height of the video.", { min: 16, max: 3_840, unit: "px", default: 720 }),
    fps: integer("Frames per second.", { min: 1, max: VIDEO_FPS_MAX, unit: "fps", default: 30 }),
    ...OUTPUT,
  },
  rules: outputRules(),
  sample_input: {
    images: [{ file_id: "file-sample-photo" }, { file_id: "file-sample-chart" }],
    audio: { file_id: "file-sample-tune" },
  },
  examples: [
    { title: "Three seconds each", params: {} },
    {
      title: "Small, with a slow zoom and crossfades",
      params: { seconds_each: 1.5, transition: "fade", motion: "ken_burns", width: 320, height: 240, fps: 15 },
    },
  ],
  price: VIDEO_PRICE,
  engine: "ffmpeg",
  async run({ params, inputs: runInputs, folder, progress }) {
    const size = { width: even(params.width), height: even(params.height) };
    checkSides(size, VIDEO_LONG_SIDE_MAX, VIDEO_SHORT_SIDE_MAX);
    const settings = { ...params, ...size };
    const turns = turnsOf(runInputs.images.length, settings);
    const seconds = turns.frames / params.fps;
    if (seconds > VIDEO_SECONDS_MAX) {
      throw new MediaError("too_large", `Expected at most ${VIDEO_SECONDS_MAX} seconds, got ${Math.ceil(seconds)}.`);
    }
    const sound = runInputs.audio === undefined ? undefined : await probeAudio(runInputs.audio);
    const stills: string[] = [];
    for (const [at, image] of runInputs.images.entries()) stills.push(await still(image, folder, at, size));
    const chains = [
      ...stills.map((path, at) => chain(path, at, turns.lengths[at] ?? 1, settings)),
      ...joined(turns, settings),
    ];
    // Audio begins with the images, whatever its start time in its file.
    const audioChains = sound === undefined ? [] : [chainOf(sound, ["asetpts=N/SR/TB", `atrim=end=${seconds}`])];
    const scene: Scene = {
      chains: [...chains, ...audioChains],
      video: "all",
      audio: sound === undefined ? null : "a",
      ...size,
      origin: undefined,
      fps: params.fps,
      seconds,
      notes: [],
      ...(sound === undefined ? {} : { channels: sound.channels }),
    };
    return encodeVideo({ folder, scene, format: "mp4", output: params, progress });
  },
});

interface SlideshowSettings {
  readonly seconds_each: number;
  readonly transition: "none" | "fade";
  readonly motion: "none" | "ken_burns";
  readonly width: number;
  readonly height: number;
  readonly fps: number;
}

/** Decodes an image with sharp within sharp's limits, and scales it to the video's size. */
async function still(
  file: InputFile,
  folder: string,
  at: number,
  size: { width: number; height: number },
): Promise<string> {
  const { image } = await openImage(file);
  const path = join(folder, `still-${at}.png`);
  const fitted = image.resize({ ...size, fit: "contain", background: "black" }).flatten({ background: "black" });
  await fitted.toColourspace("srgb").removeAlpha().png({ compressionLevel: 1 }).toFile(path);
  return path;
}

/**
 * Timing of the images in whole frames from the start of the video. Rounding the duration of each image separately would accumulate errors.
 */
interface Turns {
  /** Index of each image's first frame. */
  readonly starts: readonly number[];
  /** Number of frames of each image, including fades. */
  readonly lengths: readonly number[];
  readonly fade: number;
  /** Total number of frames of the video. */
  readonly frames: number;
}

/**
 * Calculates the first frame and the number of frames of each image.
 * @throws MediaError invalid if an image would be displayed for less than one frame
 */
function turnsOf(count: number, { seconds_each: seconds, transition, fps }: SlideshowSettings): Turns {
  const each = seconds * fps;
  if (each < 1) {
    throw new MediaError(
      "invalid",
      `Expected params.seconds_each of one frame at least, ${round(1 / fps)} s, got ${seconds}.`,
    );
  }
  // A fade takes at most half of an image's duration.
  const fade = transition === "fade" ? Math.floor(Math.min(FADE_S * fps, each / 2)) : 0;
  const startOf = (at: number): number => Math.round(at * (each - fade));
  const places = Array.from({ length: count }, (_, at) => at);
  return {
    starts: places.map(startOf),
    lengths: places.map((at) => startOf(at + 1) - startOf(at) + fade),
    fade,
    frames: startOf(count) + fade,
  };
}

function chain(path: string, at: number, frames: number, { motion, width, height, fps }: SlideshowSettings): string {
  const zoom = `zoompan=z='1+${ZOOM}*on/${frames}':x='(iw-iw/zoom)/2':y='(ih-ih/zoom)/2':d=${frames}:s=${width}x${height}:fps=${fps}`;
  // Zooms at twice the size, because steps of whole pixels would be visible.
  const moves =
    motion === "none"
      ? [`loop=loop=-1:size=1`, "settb=AVTB", `fps=${fps}`]
      : [`scale=${width * 2}:${height * 2}`, zoom];
  // Stated explicitly: players would assume RGB, and guess the rest from the size.
  const colors = ["scale=out_color_matrix=bt709:out_range=tv", "format=yuv420p", "setparams=colorspace=bt709:range=tv"];
  // Counted in frames: times are truncated to microseconds, which would drop the last frame.
  const steady = [`trim=end_frame=${frames}`, `settb=1/${fps}`, "setpts=N", ...colors, "setsar=1"];
  return `${[stillSource(path), ...moves, ...steady].join(",")}[i${at}]`;
}

function joined({ starts, fade }: Turns, { fps }: SlideshowSettings): string[] {
  const count = starts.length;
  if (count === 1) return ["[i0]null[all]"];
  if (fade === 0)
    return [
      `${Array.from({ length: count }, (_, at) => `[i${at}]`).join("")}concat=n=${count}:v=1:a=0,settb=1/${fps},setpts=N[all]`,
    ];
  return Array.from({ length: count - 1 }, (_, at) => {
    const offset = (starts[at + 1] ?? 0) / fps;
    const from = at === 0 ? "i0" : `x${at}`;
    const to = at === count - 2 ? "all" : `x${at + 1}`;
    return `[${from}][i${at + 1}]xfade=transition=fade:duration=${(fade / fps).toFixed(6)}:offset=${offset.toFixed(6)}[${to}]`;
  });
}
