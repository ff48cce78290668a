import { MediaError } from "#shared/children/media-error.ts";

import { shapeFilters } from "../audio/graph.ts";
import { defineCapability, inputs } from "../define.ts";
import { choice, integer, number } from "../params.ts";

import { encodeVideo, OUTPUT, outputRules, VIDEO_PRICE } from "./encode.ts";
import { type VideoFacts, probeVideo } from "./facts.ts";
import { boxOf, fitInto, type Size } from "./fit.ts";
import { atRate, checkScene, notesOfAll, openScene, secondsOf } from "./scene.ts";
import { VIDEO_LONG_SIDE_MAX, VIDEO_FPS_MAX, VIDEO_HELD_BYTES_MAX } from "./limits.ts";

const SIDE = { min: 16, max: VIDEO_LONG_SIDE_MAX, unit: "px" } as const;

export default defineCapability({
  id: "video.concat",
  display_name: "Join videos",
  description:
    "Joins videos one after the other, with an optional transition. Sizes, frame rates and audio may differ.",
  output_modality: "video",
  input: { videos: inputs("video", "The videos, in playback order.", [2, 20]) },
  params: {
    transition: choice("Transition between videos.", ["none", "fade", "wipeleft", "slideleft", "dissolve"], {
      default: "none",
    }),
    transition_duration: number("Duration of each transition in seconds.", { min: 0.1, max: 5, unit: "s", default: 1 }),
    width: integer("Width of the result. Default: that of the first video.", SIDE),
    height: integer("Height of the result. Default: that of the first video.", SIDE),
    fps: number("Frames per second of the result. Default: same as the first video.", {
      min: 1,
      max: VIDEO_FPS_MAX,
      unit: "fps",
    }),
    ...OUTPUT,
  },
  rules: outputRules(),
  sample_input: { videos: [{ file_id: "file-sample-clip" }, { file_id: "file-sample-clip" }] },
  examples: [
    { title: "One after the other", params: {} },
    {
      title: "With a crossfade, 160 pixels wide",
      params: { transition: "fade", transition_duration: 0.5, width: 160 },
    },
  ],
  price: VIDEO_PRICE,
  engine: "ffmpeg",
  async run({ params, inputs: { videos }, folder, progress }) {
    const all: VideoFacts[] = [];
    for (const video of videos) all.push(await probeVideo(video));
    const [first] = all;
    if (!first) throw new MediaError("invalid", "Expected at least 2 videos, got none.");
    checkDecoders(all);
    const fps = Math.min(VIDEO_FPS_MAX, params.fps ?? (first.fps > 0 ? first.fps : 30));
    const form = {
      size: boxOf(first, params.width, params.height),
      fps,
      hasSound: all.some(({ audio }) => audio !== null),
    };
    const { transition, transition_duration: overlap } = params;
    const lengths = transition === "none" ? undefined : all.map((facts) => exactSeconds(facts, fps));
    if (lengths) checkOverlap(lengths, overlap);
    const parts = all.flatMap((facts, at) => partOf(facts, `p${at}`, form, lengths?.[at]));
    const joined = lengths ? faded(lengths, transition, overlap, form) : inTurn(all.length, form);
    const total = (lengths ?? all.map(({ seconds }) => seconds)).reduce((sum, seconds) => sum + seconds, 0);
    const scene = {
      ...form.size,
      chains: [...parts, ...joined],
      video: "joined",
      audio: form.hasSound ? "heard" : null,
      origin: undefined,
      fps,
      notes: notesOfAll(all.map((facts) => openScene(facts))),
      seconds: total - (lengths ? (all.length - 1) * overlap : 0),
    };
    checkScene(scene);
    return encodeVideo({ folder, scene, format: first.format, output: params, progress });
  },
});

/** Size, frame rate and audio format to which all videos are converted before they are joined. */
interface Form {
  readonly size: Size;
  readonly fps: number;
  readonly hasSound: boolean;
}

const RATE = 48_000;
const SILENCE_SECONDS = 0.1;

/**
 * Returns the filter chains for one video, with the outputs `<name>v` for video and `<name>a` for audio. @param seconds exact length,
 * reached by cutting or padding
 */
function partOf(facts: VideoFacts, name: string, form: Form, seconds: number | undefined): string[] {
  const opened = openScene(facts, `${name}i`);
  const { filters } = fitInto(facts, form.size, "contain", "black");
  const exact = seconds === undefined ? [] : ["tpad=stop=-1:stop_mode=clone", `trim=end=${seconds}`];
  const pictureFilters = [...atRate(facts, form.fps), ...filters, "setsar=1", "format=yuv420p", ...exact];
  const picture = `[${opened.video}]${pictureFilters.join(",")}[${name}v]`;
  const length = seconds === undefined ? [] : [`apad=whole_dur=${seconds}`, `atrim=end=${seconds}`];
  // `concat` pads short audio with silence. The generated silence must not be longer than a short video.
  const some = facts.seconds > 0 ? Math.min(SILENCE_SECONDS, facts.seconds) : SILENCE_SECONDS;
  const sound =
    opened.audio === null
      ? [`anullsrc=r=${RATE}:cl=stereo`, `atrim=end=${seconds ?? some}`]
      : [`[${opened.audio}]${shapeFilters(facts.audio?.channels ?? 2, RATE, 2)}`, ...length];
  return [...opened.chains, picture, `${sound.join(",")}[${name}a]`];
}

/**
 * Returns the filter chains that join videos one after the other with `concat`. Each video needs audio, which may be silence. Without
 * audio, FFmpeg assigns no duration to a video of one frame.
 */
function inTurn(count: number, { fps, hasSound }: Form): string[] {
  const parts = Array.from({ length: count }, (_, at) => `[p${at}v][p${at}a]`).join("");
  const ends = hasSound ? [] : ["[heard]anullsink"];
  return [`${parts}concat=n=${count}:v=1:a=1[all][heard]`, `[all]fps=${fps}[joined]`, ...ends];
}

function faded(lengths: readonly number[], transition: string, overlap: number, { hasSound }: Form): string[] {
  const chains: string[] = [];
  const last = lengths.length - 1;
  let offset = 0;
  for (let at = 1; at <= last; at++) {
    offset += (lengths[at - 1] ?? 0) - overlap;
    const [videoLabel, audioLabel] = at === 1 ? ["p0v", "p0a"] : [`x${at - 1}v`, `x${at - 1}a`];
    const fade = `xfade=transition=${transition}:duration=${overlap}:offset=${round(offset)}`;
    chains.push(`[${videoLabel}][p${at}v]${fade}[${at === last ? "joined" : `x${at}v`}]`);
    chains.push(`[${audioLabel}][p${at}a]acrossfade=d=${overlap}:c1=tri:c2=tri[${at === last ? "heard" : `x${at}a`}]`);
  }
  return hasSound ? chains : [...chains, "[heard]anullsink"];
}

function round(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}

/** Returns the length of a video in seconds, rounded down to whole frames, because a transition begins at an exact time. */
function exactSeconds(facts: VideoFacts, fps: number): number {
  const seconds = secondsOf(openScene(facts));
  return Math.max(1, Math.floor(seconds * fps + 0.01)) / fps;
}

/** Checks that each video is long enough for its transitions. @throws MediaError invalid */
function checkOverlap(lengths: readonly number[], overlap: number): void {
  for (const [at, seconds] of lengths.entries()) {
    const isEdge = at === 0 || at === lengths.length - 1;
    const most = isEdge ? seconds : seconds / 2;
    if (overlap <= most) continue;
    throw new MediaError(
      "invalid",
      `Expected params.transition_duration of at most ${round(most)} s for input.videos[${at}], got ${overlap}.`,
    );
  }
}

/** Number of frames that a decoder keeps as references. */
const DECODER_FRAMES = 8;

/** Checks the memory that all decoders need together, because they are open at the same time. @throws MediaError too_large */
function checkDecoders(all: readonly VideoFacts[]): void {
  const bytes = all.reduce((sum, { width, height }) => sum + width * height * 1.5 * DECODER_FRAMES, 0);
  if (bytes <= VIDEO_HELD_BYTES_MAX) return;
  const most = Math.floor(VIDEO_HELD_BYTES_MAX / (1.5 * DECODER_FRAMES));
  const got = bytes / (1.5 * DECODER_FRAMES);
  throw new MediaError("too_large", `Expected videos of at most ${most} pixels a frame in all, got ${got}.`);
}
