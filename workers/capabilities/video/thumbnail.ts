import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { OUTPUT, writeImage } from "../image/sharp.ts";
import { choice, integer, number } from "../params.ts";

import { CLIP, VIDEO_PRICE } from "./encode.ts";
import { probeVideo, type VideoFacts } from "./facts.ts";
import { fixed, framesAround, TICK_SECONDS } from "./piece.ts";
import { onVideo, openScene, type Scene } from "./scene.ts";
import { writeStills } from "./stills.ts";
import { VIDEO_SECONDS_MAX, VIDEO_INPUT_LONG_SIDE_MAX } from "./limits.ts";

/** Maximum number of frames that are compared. The filter buffers all of them in memory. */
const FRAMES_MAX = 60;
const FRAMES_BYTES_MAX = 200_000_000;
/** Length of the section that is searched for a thumbnail, in seconds. A title that fades in takes some of the first seconds. */
const SEARCHED_SECONDS = 60;

export default defineCapability({
  id: "video.thumbnail",
  display_name: "Video thumbnail",
  description:
    "Takes a still image from a video: its most representative frame, or the frame at a given time. Times after the end are refused.",
  output_modality: "image",
  input: { video: input("video", "The video.") },
  params: {
    mode: choice(
      "`best` picks the most representative frame of the first minute; `time` takes the frame at `time`.",
      ["best", "time"],
      {
        default: "best",
        labels: { best: "Most representative of the first minute", time: "At a given time" },
      },
    ),
    time: number("Time of the frame in seconds, for `mode: time`.", { min: 0, max: VIDEO_SECONDS_MAX, unit: "s" }),
    width: integer("Width of the image. Default: follows from the height.", {
      min: 16,
      max: VIDEO_INPUT_LONG_SIDE_MAX,
      unit: "px",
    }),
    height: integer(
      "Height of the image. Default: follows from the width. If both are given, the image is cropped to fit.",
      {
        min: 16,
        max: VIDEO_INPUT_LONG_SIDE_MAX,
        unit: "px",
      },
    ),
    ...OUTPUT,
  },
  sample_input: CLIP,
  examples: [
    { title: "The most representative frame", params: {} },
    { title: "At 1 second, small, as WebP", params: { mode: "time", time: 1, width: 160, format: "webp" } },
  ],
  price: VIDEO_PRICE,
  engine: "ffmpeg",
  async run({ params, inputs, folder, progress }) {
    const facts = await probeVideo(inputs.video);
    const { mode, time, width, height, ...output } = params;
    if (mode === "time" && time === undefined) {
      throw new MediaError("invalid", "Expected params.time for params.mode time, got none.");
    }
    const [path] = await (mode === "time" ? stillAt(folder, facts, time ?? 0) : bestStill(folder, facts, progress));
    if (path === undefined) throw new MediaError("corrupt", "The video has no frame there.");
    return { ...(await pictureOf(folder, path, facts, { width, height, output })), pixels: 0 };
  },
});

/** Writes the frame that is shown at a time as an image. @throws MediaError invalid if the time is after the end */
async function stillAt(folder: string, facts: VideoFacts, time: number): Promise<readonly string[]> {
  const { displayed, next } = await framesAround(facts, time);
  const last = (displayed ?? 0) + (facts.fps > 0 ? 1 / facts.fps : Infinity);
  const end = facts.seconds > 0 ? facts.seconds : next === undefined ? last : Infinity;
  if (time >= end) throw new MediaError("invalid", `Expected params.time before the end at ${end} s, got ${time}.`);
  // If the video begins after its audio, the first frame is shown until then.
  const from = Math.max(0, (displayed ?? next ?? 0) - TICK_SECONDS);
  const still = onVideo(openScene(facts), [`trim=start=${fixed(from)}`, "trim=end_frame=1", "setpts=PTS-STARTPTS"]);
  return writeStills(folder, still, { name: "still" });
}

function bestStill(folder: string, facts: VideoFacts, progress: (share: number) => void): Promise<readonly string[]> {
  const { width, height, fps, seconds } = facts;
  const count = Math.max(2, Math.min(FRAMES_MAX, Math.floor(FRAMES_BYTES_MAX / (width * height * 1.5))));
  const searchedSeconds = Math.min(seconds > 0 ? seconds : SEARCHED_SECONDS, SEARCHED_SECONDS);
  const sparse = fps * searchedSeconds > count ? [`fps=${(count / searchedSeconds).toFixed(4)}`] : [];
  const scene = onVideo(openScene(facts), [`trim=end=${fixed(searchedSeconds)}`, ...sparse]);
  const best = onVideo({ ...scene, video: "looked" }, [
    `thumbnail=n=${count}`,
    "trim=end_frame=1",
    "setpts=PTS-STARTPTS",
  ]);
  const ticks = [`[${scene.video}]split[looked][read]`, "[read]scale=16:16[clock]"];
  return writeStills(
    folder,
    { ...best, chains: [...best.chains, ...ticks] },
    { name: "still", clock: "clock", onSeconds: (at) => progress(Math.min(0.99, at / searchedSeconds)) },
  );
}

interface Picture {
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly output: Parameters<typeof writeImage>[3];
}

async function pictureOf(folder: string, path: string, from: Pick<Scene, "width" | "height">, picture: Picture) {
  const { default: sharp } = await import("sharp");
  const { width, height, output } = picture;
  const image = sharp(path);
  const sized =
    width === undefined && height === undefined
      ? image
      : image.resize({
          ...(width === undefined ? {} : { width }),
          ...(height === undefined ? {} : { height }),
          fit: "cover",
        });
  return writeImage(folder, sized, { format: "jpeg", width: from.width, height: from.height, pages: 1 }, output);
}
