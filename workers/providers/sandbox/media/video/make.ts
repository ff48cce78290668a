/** Generates a video from a prompt, from an image with a moving camera, or from another video. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp, { type Sharp } from "sharp";

import { MediaError } from "#shared/children/media-error.ts";
import { fileSource } from "#workers/children/file-source.ts";
import { AAC, H264, MP4, runFilterGraph } from "#workers/children/filter-graph.ts";

import { createRandom, hashText } from "../../random.ts";
import { decodeImage } from "../image/decode.ts";
import { paintScene } from "../image/scene.ts";
import { composeMusic } from "../music/compose.ts";
import type { Flite } from "../speech/flite.ts";
import { speakText } from "../speech/speak.ts";
import { type InputVideo, openInputVideo, transformedVideo } from "./input-video.ts";
import { FRAMES_PER_SECOND, type VideoTask } from "./params.ts";

/** Encoder options. A key frame every two seconds allows seeking. At most 12 Mbit/s, so that 30 s of noise are 45 MB. */
const ENCODING = { ...H264.options, g: `${2 * FRAMES_PER_SECOND}`, bf: "0", maxrate: "12M", bufsize: "12M" };

/**
 * Returns an MP4 of H.264 and AAC with exactly the requested duration and size.
 * @param onProgress called with the completed share, from 0 to 1
 * @throws MediaError unsupported, too_large, corrupt, for the input
 */
export async function makeVideo(
  task: VideoTask,
  input: Uint8Array,
  loadVoice: () => Promise<Flite>,
  onProgress: (share: number) => void,
): Promise<Uint8Array> {
  const video = task.source === "video" ? await openInputVideo(task, input) : null;
  const frames = video === null ? await movingImage(task, input) : await transformedVideo(task, video);
  const sound = await soundtrack(task, video, loadVoice);
  const path = join(task.directory, "output.mp4");
  try {
    await runFilterGraph({
      graph: `${frames}[v];${sound}[a]`,
      streams: [
        { label: "v", encoder: H264.encoder, options: ENCODING },
        { label: "a", ...AAC },
      ],
      output: { path, ...MP4 },
      secondsMax: task.seconds,
      onSeconds: (seconds) => onProgress(seconds / task.seconds),
    });
  } catch (error) {
    // With an input video, a failure of FFmpeg is caused by its frames.
    if (video === null || (error instanceof MediaError && error.fault === "too_large")) throw error;
    throw new MediaError("corrupt", "The video cannot be decoded: its data are damaged.", { cause: error });
  }
  return new Uint8Array(await readFile(path));
}

// Still image as a video with a moving camera.

/**
 * Factor by which the image is enlarged before `zoompan`, which moves by whole pixels of its input. At twice the frame's size, the steps
 * are invisible.
 */
const OVERSAMPLING = 2;

/**
 * Camera moves as expressions of T, which runs from 0 to 1. Each has the zoom, and the position to the right and down within the margin of
 * the zoom.
 */
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

/**
 * Builds the FFmpeg filter chain that moves a camera over an image.
 * @returns the filter chain without its output label
 * @throws MediaError unsupported, too_large, corrupt, for the input image
 */
async function movingImage(task: VideoTask, input: Uint8Array): Promise<string> {
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

// Soundtrack of a video: the sound of its input or else music, and the prompt's quoted words spoken over it.

const SAMPLE_RATE = 48_000;
const STEREO = `aformat=sample_fmts=fltp:sample_rates=${SAMPLE_RATE}:channel_layouts=stereo`;
const SPOKEN_TEXT_CHARACTERS_MAX = 200;
/** Volume of background music, without and with speech over it. */
const MUSIC_VOLUME = 0.6;
const UNDER_SPEECH = 0.3;
const SPEECH_STARTS_MS = 400;

/**
 * Builds the FFmpeg filter chain of the soundtrack.
 * @returns the filter chain without its output label; its sound is exactly as long as the video
 */
async function soundtrack(task: VideoTask, video: InputVideo | null, loadVoice: () => Promise<Flite>): Promise<string> {
  const samples = task.seconds * SAMPLE_RATE;
  const spokenText = /["“«]([^"”»]+)["”»]/.exec(task.prompt)?.[1]?.trim().slice(0, SPOKEN_TEXT_CHARACTERS_MAX);
  const base = video?.hasAudio === true ? ownSound(video) : await music(task, loadVoice);
  const whole = `${base},apad,atrim=end_sample=${samples}`;
  if (spokenText === undefined || spokenText === "") return whole;
  return [
    `${whole},volume=${UNDER_SPEECH}[base]`,
    `${await speech(task, spokenText, loadVoice)}[speech]`,
    `[base][speech]amix=duration=first:normalize=0`,
  ].join(";");
}

/** Returns the filter chain for the sound of the input video. The sound is repeated if it is shorter than the video. */
function ownSound(video: InputVideo): string {
  return `${fileSource("audio", video, video.times)},${STEREO},asetpts=N/SR/TB`;
}

async function music(
  { prompt, seed, seconds, directory }: VideoTask,
  loadVoice: () => Promise<Flite>,
): Promise<string> {
  const path = join(directory, "music.wav");
  const piece = { prompt, seed, seconds, format: "wav" } as const;
  await writeFile(path, await composeMusic(piece, loadVoice));
  return `${fileSource("audio", { path, container: "wav" })},${STEREO},volume=${MUSIC_VOLUME}`;
}

async function speech({ directory }: VideoTask, text: string, loadVoice: () => Promise<Flite>): Promise<string> {
  const path = join(directory, "speech.wav");
  const parts: Uint8Array[] = [];
  const call = { text, voice: "nova", speed: 1, instructions: undefined, format: "wav", isStreamed: false } as const;
  await speakText(await loadVoice(), call, (bytes) => parts.push(bytes));
  await writeFile(path, Buffer.concat(parts));
  return `${fileSource("audio", { path, container: "wav" })},${STEREO},adelay=${SPEECH_STARTS_MS}:all=1`;
}
