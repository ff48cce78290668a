import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input, type RunOutput } from "../define.ts";
import { integer, number, type ParamsOf } from "../params.ts";

import {
  CLIP,
  codecsOf,
  type EncodeVideo,
  encodeVideo,
  openDeepScene,
  OUTPUT,
  outputRules,
  VIDEO_PRICE,
} from "./encode.ts";
import { probeVideo, type VideoFacts } from "./facts.ts";
import { boxOf } from "./fit.ts";
import { atRate, checkScene, onVideo, type Scene, secondsOf, steady } from "./scene.ts";
import { VIDEO_LONG_SIDE_MAX, VIDEO_FPS_MAX } from "./limits.ts";

const KBPS_MAX = 50_000;
const SIDE = { min: 16, max: VIDEO_LONG_SIDE_MAX, unit: "px" } as const;

const params = {
  video_bitrate: integer("Average bitrate of the video stream, instead of `crf`.", {
    min: 50,
    max: KBPS_MAX,
    unit: "kbit/s",
  }),
  target_bytes: integer("Maximum file size, instead of `crf`. Audio gets at most a quarter of it.", {
    min: 100_000,
    unit: "bytes",
  }),
  fps: number("Frames per second. Default: same as the input.", { min: 1, max: VIDEO_FPS_MAX, unit: "fps" }),
  max_width: integer("Maximum width. Wider videos are scaled down.", SIDE),
  max_height: integer("Maximum height. Taller videos are scaled down.", SIDE),
  ...OUTPUT,
  // No default, because a bitrate or a target size can replace `crf`.
  crf: integer(
    "Constant rate factor: lower is better quality and a larger file, 0 is the best. Default: 23, unless a bitrate or a file size is given. H.264 and H.265 treat values above 51 as 51.",
    {
      min: 0,
      max: 63,
    },
  ),
};

export default defineCapability({
  id: "video.transcode",
  display_name: "Convert video",
  description: "Converts a video to another container, codec, size, frame rate, bitrate or file size.",
  long_description:
    "Choose one of three ways to control quality and size. `crf` keeps the quality constant and lets the size vary. `video_bitrate` keeps " +
    "the bitrate of the video stream near a value. `target_bytes` is a maximum file size: the video is encoded at a bitrate that should fit " +
    "and, if it does not, once more at a lower one; a size that no bitrate can reach is refused.\n\n" +
    "`max_width` and `max_height` scale larger videos down, keep the aspect ratio and never enlarge. Metadata is dropped.",
  output_modality: "video",
  input: { video: input("video", "The video.") },
  params,
  valueSources: ["crf", "video_bitrate", "target_bytes"],
  rules: outputRules(),
  sample_input: CLIP,
  examples: [
    { title: "As WebM", params: { format: "webm" } },
    { title: "At most 100 kB, 240 pixels wide", params: { target_bytes: 100_000, max_width: 240 } },
  ],
  price: VIDEO_PRICE,
  engine: "ffmpeg",
  async run({ params: own, inputs, folder, progress }) {
    const facts = await probeVideo(inputs.video);
    const output = { ...own, crf: own.crf ?? 23 };
    const sized = smaller(openDeepScene(facts, output, true), own);
    checkScene(sized);
    const [codec] = codecsOf(own.format ?? facts.format, output);
    const isPlanned = own.video_bitrate !== undefined || own.target_bytes !== undefined;
    const scene = codec === "av1" && isPlanned ? forAv1Rate(sized, facts) : sized;
    const encode = { folder, scene, format: facts.format, output, progress };
    if (own.target_bytes !== undefined) return encodeWithin(encode, own.target_bytes);
    if (own.video_bitrate === undefined) return encodeVideo(encode);
    return encodeVideo({ ...encode, options: rateOptions(encode, own.video_bitrate) });
  },
});

function smaller(scene: Scene, { fps, max_width: across, max_height: down }: ParamsOf<typeof params>): Scene {
  const [wide, high] = [(across ?? Infinity) / scene.width, (down ?? Infinity) / scene.height];
  const size = wide <= high ? boxOf(scene, across, undefined) : boxOf(scene, undefined, down);
  const sized = Math.min(wide, high) < 1 ? onVideo(scene, [`scale=${size.width}:${size.height}`], size) : scene;
  return fps === undefined ? sized : onVideo(sized, atRate(sized, fps), { fps, origin: undefined });
}

/** Returns encoder options for a bitrate instead of a constant quality (`crf`). The value that disables `crf` differs between encoders. */
function rateOptions({ format, output }: EncodeVideo, kbps: number): NonNullable<EncodeVideo["options"]> {
  const [codec] = codecsOf(output.format ?? format, output);
  const rate = { crf: codec === "av1" ? "0" : "-1", b: `${kbps}k` };
  // The other encoders treat a maximum rate as a constant bitrate, or do not support one.
  return codec === "h264" || codec === "h265" ? { ...rate, maxrate: `${kbps}k`, bufsize: `${kbps}k` } : rate;
}

/** Minimum side length of frames for which SVT-AV1 can keep a bitrate, in pixels. */
const AV1_SIDE_MIN = 64;

/**
 * Prepares a video for AV1 at a given bitrate. An uneven frame rate becomes constant, because SVT-AV1 divides by zero below one frame per
 * second.
 * @throws MediaError invalid if a side is below `AV1_SIDE_MIN`
 */
function forAv1Rate(scene: Scene, facts: VideoFacts): Scene {
  const { width, height } = scene;
  if (Math.min(width, height) >= AV1_SIDE_MIN) return steady(scene, facts);
  const least = `${AV1_SIDE_MIN} × ${AV1_SIDE_MIN}`;
  throw new MediaError(
    "invalid",
    `Expected params.crf instead of a bitrate or file size for AV1 below ${least} pixels, got ${width} × ${height}.`,
  );
}

const TRIES = 4;
const AUDIO_KBPS_MIN = 32;
/** Fraction of the requested file size that the streams may use. The remainder covers container overhead and deviations of the encoder. */
const STREAMS_SHARE = 0.95;

/** Encodes a video with a bitrate that keeps the file within a size. @throws MediaError invalid if no bitrate fits */
async function encodeWithin(encode: EncodeVideo, bytes: number): Promise<RunOutput> {
  const { scene, output } = encode;
  const seconds = secondsOf(scene);
  const whole = (bytes * 8 * STREAMS_SHARE) / 1_000 / seconds;
  const isSilent = scene.audio === null || output.audio_codec === "none";
  const audio = isSilent ? 0 : Math.floor(Math.max(AUDIO_KBPS_MIN, Math.min(output.audio_bitrate, whole / 4)));
  let kbps = Math.min(KBPS_MAX, Math.floor(whole - audio));
  for (let at = 0; at < TRIES && kbps >= 1; at++) {
    const fitting = { ...output, audio_bitrate: audio === 0 ? output.audio_bitrate : audio };
    const encoded = await encodeVideo({ ...encode, output: fitting, options: rateOptions(encode, kbps) });
    const got = Number(encoded.output?.["bytes"]);
    if (got <= bytes) return encoded;
    const sound = (audio * seconds * 1_000) / 8;
    kbps = Math.floor(
      kbps * Math.min(0.85, Math.max(0.05, (bytes * STREAMS_SHARE - sound) / Math.max(1, got - sound))),
    );
  }
  const size = `${scene.width} × ${scene.height} pixels for ${Math.ceil(seconds)} s`;
  throw new MediaError("invalid", `Expected params.target_bytes to be enough for ${size}, got ${bytes}.`);
}
