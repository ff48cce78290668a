/** A still image as a video: a camera moves over it. */
import { join } from "node:path";

import sharp, { type Sharp } from "sharp";

import { fileSource } from "#workers/children/file-source.ts";

import { createRandom, hashText } from "../../random.ts";
import { decodeImage } from "../image/decode.ts";
import { paintScene } from "../image/scene.ts";
import { FRAMES_PER_SECOND, type VideoTask } from "./params.ts";

/** `zoompan` moves by whole pixels of its input: with one twice as large as the frame the steps are not seen. */
const OVERSAMPLING = 2;

/** Over T, which goes from 0 to 1: zoom, and how far the view is right and down in the room the zoom leaves. */
const MOVES: readonly [Move, ...Move[]] = [
  ["1+0.2*T", "0.5", "0.5"],
  ["1.2-0.2*T", "0.5", "0.5"],
  ["1+0.2*T", "0.25", "0.4"],
  ["1+0.2*T", "0.75", "0.4"],
  ["1.2", "T", "0.5"],
  ["1.2", "1-T", "0.5"],
  ["1.2", "0.5", "1-T"],
];
type Move = readonly [zoom: string, right: string, down: string];

/** @returns a filter chain without its label @throws MediaError unsupported, too_large, corrupt, for the input image */
export async function movingImage(task: VideoTask, input: Uint8Array): Promise<string> {
  const { prompt, seed, seconds, width, height, directory } = task;
  const path = join(directory, "image.png");
  const size = { width: OVERSAMPLING * width, height: OVERSAMPLING * height };
  const scene = { prompt, seed, ...size, isTransparent: false };
  const still = task.source === "image" ? await opaque(input) : (await paintScene(scene)).removeAlpha();
  await still
    .resize({ ...size, fit: "cover" })
    .png({ compressionLevel: 1 })
    .toFile(path);
  const frames = seconds * FRAMES_PER_SECOND;
  // Slow at both ends.
  const time = `(0.5-0.5*cos(PI*on/${Math.max(1, frames - 1)}))`;
  const move = createRandom(hashText(prompt, seed >>> 0)).pick(MOVES);
  const [zoom, right, down] = move.map((term) => `(${term.replace("T", time)})`);
  return [
    fileSource("video", { path, container: "png_pipe" }),
    "scale=out_color_matrix=bt709:out_range=tv:flags=bicubic+accurate_rnd+bitexact,format=yuv420p",
    `zoompan=z='${zoom}':x='(iw-iw/zoom)*${right}':y='(ih-ih/zoom)*${down}':d=${frames}:s=${width}x${height}:fps=${FRAMES_PER_SECOND}`,
  ].join(",");
}

async function opaque(input: Uint8Array): Promise<Sharp> {
  const { data, width, height } = await decodeImage(input, "The image");
  return sharp(data, { raw: { width, height, channels: 4 } }).flatten({ background: "#ffffff" });
}
