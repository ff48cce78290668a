/** Converts a caller's video. It is cut or repeated to the requested length, tinted by the seed and captioned with the prompt. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { MediaError } from "#shared/children/media-error.ts";
import { probeVideo, type VideoFacts } from "#shared/media/probe/video.ts";
import { fileSource, readFileFacts, type FileSource } from "#workers/children/file-source.ts";
import { filterText } from "#workers/children/filter-graph.ts";

import { createRandom, hashText } from "../../random.ts";
import { MEDIA_LIMITS, checkMax } from "../limits.ts";
import { FRAMES_PER_SECOND, type VideoTask } from "./params.ts";

export interface InputVideo extends FileSource {
  /** Format, duration and size of the video. Width and height are those of the upright picture; `seconds` is the duration of its frames. */
  readonly facts: VideoFacts;
  readonly hasAudio: boolean;
  /** Number of times that the video is repeated. */
  readonly times: number;
}

const CONTAINERS = { mp4: "mov", webm: "matroska" } as const;
const FONT = fileURLToPath(import.meta.resolve("dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf"));
const CAPTION_CHARACTERS_MAX = 48;
/** Strength of the tint, from 0 to 255. The value is visible on any video. */
const TINT_STRENGTH = 24;

/**
 * Checks a caller's video and writes it to the task's directory.
 * @throws MediaError unsupported, too_large, corrupt
 */
export async function openInputVideo({ directory, seconds }: VideoTask, bytes: Uint8Array): Promise<InputVideo> {
  const { sourceVideoBytesMax, sourceVideoPixelsMax, sourceVideoSideMaxPixels } = MEDIA_LIMITS;
  checkMax("The video", bytes.byteLength, sourceVideoBytesMax, "bytes");
  const facts = probeVideo(bytes);
  const source = { path: join(directory, "input"), container: CONTAINERS[facts.format] };
  await writeFile(source.path, bytes);
  const { video, hasAudio } = await readFileFacts(source);
  if (video === null) throw new MediaError("unsupported", "The video uses an unsupported codec.");
  // The frames may be larger than the container's header declares.
  for (const { width, height } of [facts, video]) {
    checkMax("The video", width * height, sourceVideoPixelsMax, "pixels");
    checkMax("The video", Math.max(width, height), sourceVideoSideMaxPixels, "pixels a side");
  }
  return { ...source, facts, hasAudio, times: Math.ceil(seconds / facts.seconds) };
}

/** Filter that continues timestamps where the file repeats. A frame at a repetition lasts as long as the previous one. */
const RISING_TIMES =
  "setpts='if(isnan(PREV_INPTS),0,PREV_OUTPTS+if(gt(PTS,PREV_INPTS),st(0,PTS-PREV_INPTS),max(1,ld(0))))'";
const TURNS = { 0: [], 90: ["transpose=clock"], 180: ["hflip", "vflip"], 270: ["transpose=cclock"] } as const;

/**
 * Builds the FFmpeg filter chain that transforms a caller's video.
 * @returns the filter chain without its output label
 */
export async function transformedVideo(task: VideoTask, video: InputVideo): Promise<string> {
  const { width, height, seconds, prompt, seed } = task;
  const { facts, times } = video;
  const scale = Math.max(width / facts.width, height / facts.height);
  const cover = (side: number, least: number): number => Math.max(least, Math.round(scale * side));
  const angle = (createRandom(hashText(prompt, seed >>> 0)).below(12) / 12) * 2 * Math.PI;
  const [u, v] = [Math.round(TINT_STRENGTH * Math.cos(angle)), Math.round(TINT_STRENGTH * Math.sin(angle))];
  return [
    fileSource("video", video, times),
    RISING_TIMES,
    `fps=${FRAMES_PER_SECOND}`,
    ...TURNS[facts.rotation],
    `scale=${cover(facts.width, width)}:${cover(facts.height, height)}:flags=bilinear+accurate_rnd+bitexact:out_color_matrix=bt709:out_range=tv`,
    `crop=${width}:${height}`,
    "format=yuv420p",
    `lutyuv=u='clip(val+${u},16,240)':v='clip(val+${v},16,240)'`,
    await caption(task),
    // A file may contain fewer frames than it declares.
    "tpad=stop=-1:stop_mode=clone",
    `trim=end_frame=${seconds * FRAMES_PER_SECOND}`,
  ].join(",");
}

/** Writes the caption to a file. `drawtext` would interpret an inline text as options. */
async function caption({ prompt, width, height, directory }: VideoTask): Promise<string> {
  const text = prompt
    .slice(0, CAPTION_CHARACTERS_MAX)
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim();
  if (text === "") return "null";
  const textfile = join(directory, "caption.txt");
  await writeFile(textfile, text);
  // A character of the font is 0.7 of its size wide.
  const size = Math.max(6, Math.round(Math.min(height / 14, width / (0.75 * text.length))));
  return filterText("drawtext", {
    textfile,
    expansion: "none",
    fontfile: FONT,
    fontsize: size,
    fontcolor: "white",
    box: 1,
    boxcolor: "black@0.45",
    boxborderw: size >> 1,
    x: "(w-text_w)/2",
    y: `h-text_h-${2 * size}`,
  });
}
