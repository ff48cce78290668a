import { join } from "node:path";

import { LIMITS } from "#shared/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";

import { chainOf, probeAudio } from "../audio/graph.ts";
import { defineCapability, input, type InputFile, inputs } from "../define.ts";
import { openImage } from "../image/sharp.ts";
import { choice, integer, number } from "../params.ts";

import { encodeVideo, OUTPUT, outputRules, VIDEO_PRICE } from "./encode.ts";
import { even } from "./fit.ts";
import type { Scene } from "./scene.ts";
import { stillSource } from "./stills.ts";

const FADE_S = 1;
/** How much nearer a picture comes while it is shown. */
const ZOOM = 0.25;

export default defineCapability({
  id: "video.from_images",
  display_name: "Video from images",
  description: "Shows images one after the other as a video, with sound if there is some.",
  output_modality: "video",
  input: {
    images: inputs("image", "The images, in their order.", [1, 200]),
    audio: input("audio", "The sound; it ends with the images.", { optional: true }),
  },
  params: {
    seconds_each: number("How long each is shown.", { min: 0.1, max: 60, unit: "s", default: 3 }),
    transition: choice("How one becomes the next.", ["none", "fade"], { default: "none" }),
    motion: choice("Whether the picture moves.", ["none", "ken_burns"], {
      default: "none",
      labels: { none: "It stands still", ken_burns: "It comes slowly nearer" },
    }),
    width: integer("Of the video; images are fitted into it.", { min: 16, max: 3_840, unit: "px", default: 1_280 }),
    height: integer("Of the video.", { min: 16, max: 3_840, unit: "px", default: 720 }),
    fps: integer("Frames a second.", { min: 1, max: LIMITS.videoFpsMax, unit: "fps", default: 30 }),
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
      title: "Small, nearer and nearer, fading",
      params: { seconds_each: 1.5, transition: "fade", motion: "ken_burns", width: 320, height: 240, fps: 15 },
    },
  ],
  price: VIDEO_PRICE,
  engine: "ffmpeg",
  async run({ params, inputs: given, folder, progress }) {
    const size = { width: even(params.width), height: even(params.height) };
    const stills: string[] = [];
    for (const [at, image] of given.images.entries()) stills.push(await still(image, folder, at, size));
    const shown = { ...params, ...size };
    const seconds = secondsOf(stills.length, shown);
    if (seconds > LIMITS.videoSecondsMax) {
      throw new MediaError(
        "too_large",
        `Expected at most ${LIMITS.videoSecondsMax} seconds, got ${Math.ceil(seconds)}.`,
      );
    }
    const chains = [...stills.map((path, at) => chain(path, at, shown)), ...joined(stills.length, shown)];
    const sound = given.audio === undefined ? undefined : await probeAudio(given.audio);
    const heard = sound === undefined ? [] : [chainOf(sound, [`atrim=end=${seconds}`])];
    const scene: Scene = {
      chains: [...chains, ...heard],
      video: "all",
      audio: sound === undefined ? null : "a",
      ...size,
      fps: params.fps,
      seconds,
      ...(sound === undefined ? {} : { channels: sound.channels }),
    };
    return encodeVideo({ folder, scene, format: "mp4", output: params, progress });
  },
});

interface Shown {
  readonly seconds_each: number;
  readonly transition: "none" | "fade";
  readonly motion: "none" | "ken_burns";
  readonly width: number;
  readonly height: number;
  readonly fps: number;
}

/** Decoded by sharp, within its bounds, and as large as the video. */
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

/** Half of what is shown goes into a fade at most. */
function fadeOf({ transition, seconds_each: each }: Shown): number {
  return transition === "fade" ? Math.min(FADE_S, each / 2) : 0;
}

function secondsOf(count: number, shown: Shown): number {
  return count * shown.seconds_each - (count - 1) * fadeOf(shown);
}

function chain(path: string, at: number, { seconds_each: each, motion, width, height, fps }: Shown): string {
  const frames = Math.max(1, Math.round(each * fps));
  const zoom = `zoompan=z='1+${ZOOM}*on/${frames}':x='(iw-iw/zoom)/2':y='(ih-ih/zoom)/2':d=${frames}:s=${width}x${height}:fps=${fps}`;
  // Twice as large before it moves: steps of whole pixels would be seen.
  const moves =
    motion === "none"
      ? [`loop=loop=-1:size=1`, "settb=AVTB", `fps=${fps}`]
      : [`scale=${width * 2}:${height * 2}`, zoom];
  const steady = [
    `trim=end_frame=${frames}`,
    `setpts=N/${fps}/TB`,
    "settb=AVTB",
    `fps=${fps}`,
    "format=yuv420p",
    "setsar=1",
  ];
  return `${[stillSource(path), ...moves, ...steady].join(",")}[i${at}]`;
}

function joined(count: number, shown: Shown): string[] {
  const fade = fadeOf(shown);
  if (count === 1) return ["[i0]null[all]"];
  if (fade === 0)
    return [`${Array.from({ length: count }, (_, at) => `[i${at}]`).join("")}concat=n=${count}:v=1:a=0[all]`];
  return Array.from({ length: count - 1 }, (_, at) => {
    const offset = (at + 1) * (shown.seconds_each - fade);
    const from = at === 0 ? "i0" : `x${at}`;
    const to = at === count - 2 ? "all" : `x${at + 1}`;
    return `[${from}][i${at + 1}]xfade=transition=fade:duration=${fade}:offset=${offset.toFixed(4)}[${to}]`;
  });
}
