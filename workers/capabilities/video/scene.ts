/**
 * FFmpeg filter graph of a video and its audio. Each operation appends filters to the graph, and records the size, frame rate and length
 * that result.
 */
import { MediaError } from "#shared/children/media-error.ts";
import { fileSource } from "#workers/children/file-source.ts";
import type { StreamColor } from "#workers/children/graph-streams.ts";

import { FPS_MIN, type VideoFacts } from "./facts.ts";
import { outputSignalOf } from "./signal.ts";
import { VIDEO_FPS_MAX, VIDEO_INPUT_LONG_SIDE_MAX, VIDEO_INPUT_SHORT_SIDE_MAX, VIDEO_SECONDS_MAX } from "./limits.ts";

export interface Scene {
  /** Filter chains in FFmpeg's syntax, to be joined with `;`. */
  readonly chains: readonly string[];
  /** Label of the graph's video output, without brackets. `audio` is the label of the audio output, or null for a video without audio. */
  readonly video: string;
  readonly audio: string | null;
  readonly width: number;
  readonly height: number;
  /** Frames per second; 0 if unknown. */
  readonly fps: number;
  readonly seconds: number;
  /**
   * Time of the source file at which the output of the graph begins, in seconds. Undefined once operations have changed the timestamps of
   * frames.
   */
  readonly origin: number | undefined;
  /** Number of audio channels; undefined if unknown. */
  readonly channels?: number;
  /** Colour properties of the graph's video output; undefined if the frames come from several files. */
  readonly color?: StreamColor;
  /** True to encode with 10 bits per sample; otherwise 8 bits. */
  readonly isDeep?: boolean;
  /** Sentences for the caller about parts of the inputs that the result omits. */
  readonly notes: readonly string[];
}

type Change = Partial<Pick<Scene, "width" | "height" | "fps" | "seconds" | "origin">>;

/**
 * Creates the filter graph of a video. Its output is upright, has square pixels and starts at time 0. HDR is converted to SDR, unless
 * `keepsDepth` is true.
 * @param name prefix of the graph's labels, for graphs with several input files
 * @param keepsDepth true if the encoder and all operations support 10 bits
 */
export function openScene(facts: VideoFacts, name = "", keepsDepth = false): Scene {
  const { source, startsAt, picturesEnd, upright, audio, width, height, fps, seconds, dropped } = facts;
  const { filters, notes, ...signal } = outputSignalOf(facts.signal, keepsDepth);
  const [shift, soundShift] =
    startsAt === 0 ? [[], []] : [[`setpts=round(PTS-${startsAt}/TB)`], [`asetpts=round(PTS-${startsAt}/TB)`]];
  // FFmpeg reports the end of a file at the start of its last frame, so the duration of that frame is added.
  const end = picturesEnd > 0 ? [`setpts='if(eq(PTS,PREV_INPTS),max(PTS,round(${picturesEnd}/TB)),PTS)'`] : [];
  const labels = { video: `${name}v`, audio: audio === null ? null : `${name}a` };
  const chains = [
    `${[fileSource("video", source), ...shift, ...end, ...filters, ...upright].join(",")}[${labels.video}]`,
    ...(audio === null
      ? []
      : [`${[fileSource("audio", source), ...soundShift, STEADY_SOUND].join(",")}[${labels.audio}]`]),
  ];
  return {
    chains,
    ...labels,
    width,
    height,
    fps,
    seconds,
    origin: 0,
    ...signal,
    notes: [...dropped, ...notes],
    ...(audio === null ? {} : { channels: audio.channels }),
  };
}

/**
 * Filter that inserts silence at the start of an audio track and in its gaps. Without it, filters that count samples would be applied too
 * early.
 */
export const STEADY_SOUND = "aresample=async=1:first_pts=0";

/**
 * Appends filters to the video output of a graph.
 * @param change properties of the video that the filters change
 */
export function onVideo(scene: Scene, filters: readonly string[], change: Change = {}): Scene {
  if (filters.length === 0) return { ...scene, ...change };
  const video = next(scene, "v");
  return { ...scene, ...change, chains: [...scene.chains, `[${scene.video}]${filters.join(",")}[${video}]`], video };
}

/** Appends filters to the audio output of a graph. A graph without audio is returned unchanged. */
export function onAudio(scene: Scene, filters: readonly string[]): Scene {
  if (scene.audio === null || filters.length === 0) return scene;
  const audio = next(scene, "a");
  return { ...scene, chains: [...scene.chains, `[${scene.audio}]${filters.join(",")}[${audio}]`], audio };
}

/**
 * Removes the audio from the output of a graph. The audio is connected to a null sink, because FFmpeg requires a target for every output.
 */
export function muted(scene: Scene): Scene {
  if (scene.audio === null) return scene;
  const { channels: _, ...rest } = scene;
  return { ...rest, chains: [...scene.chains, `[${scene.audio}]anullsink`], audio: null };
}

/**
 * Adds stereo audio to a graph. Without `filter`, it replaces the present audio. With a filter such as `amix`, both are combined.
 * @param source filter chain without an output label
 */
export function withSound(scene: Scene, source: string, filter?: string): Scene {
  const base = filter === undefined ? muted(scene) : scene;
  const second = next(base, "t");
  const chains = [...base.chains, `${source}[${second}]`];
  if (filter === undefined || base.audio === null) return { ...base, chains, audio: second, channels: 2 };
  const audio = next({ ...base, chains }, "a");
  return { ...base, chains: [...chains, `[${base.audio}][${second}]${filter}[${audio}]`], audio, channels: 2 };
}

/**
 * Adds a second video to a graph, and a filter such as `overlay` that combines both videos.
 * @param source filter chain without an output label
 */
export function withPicture(scene: Scene, source: string, filter: string): Scene {
  const second = next(scene, "s");
  const chains = [...scene.chains, `${source}[${second}]`];
  const video = next({ ...scene, chains }, "v");
  return { ...scene, chains: [...chains, `[${scene.video}][${second}]${filter}[${video}]`], video };
}

/** Returns the notes of several input videos, each prefixed with the index of its input. */
export function notesOfAll(scenes: readonly Pick<Scene, "notes">[]): string[] {
  return scenes.flatMap(({ notes }, at) => notes.map((note) => `input.videos[${at}]: ${note}`));
}

function next({ chains }: Scene, kind: string): string {
  return `${kind}${chains.length}`;
}

/**
 * Rounds the sides of a video down to even numbers, and limits its frame rate to the maximum. The encode of a single operation has the same
 * limits.
 */
export function evened(scene: Scene): Scene {
  const [width, height] = [scene.width - (scene.width % 2), scene.height - (scene.height % 2)];
  const isOdd = width !== scene.width || height !== scene.height;
  const isFast = scene.fps > VIDEO_FPS_MAX + 0.5;
  const filters = [...(isOdd ? [`crop=${width}:${height}:0:0`] : []), ...(isFast ? atRate(scene, VIDEO_FPS_MAX) : [])];
  return onVideo(scene, filters, { width, height, fps: isFast ? VIDEO_FPS_MAX : scene.fps });
}

/**
 * Returns filters that convert a video to a constant frame rate and multiply its speed by `factor`. If the first frame begins after time 0,
 * it is shown from time 0.
 */
export function atRate({ fps: from, seconds }: Pick<Scene, "fps" | "seconds">, fps: number, factor = 1): string[] {
  // Adds the duration of the last frame, as in `openScene`.
  const time = from > 0 ? `PTS+if(eq(PTS,PREV_INPTS),round(1/(${from}*TB)),0)` : "PTS";
  // A scene shorter than one frame gets one frame instead of none.
  const isShort = seconds > 0 && (seconds / factor) * fps < 1;
  return [`setpts='round((${time})/${factor})'`, `fps=${fps}:start_time=0${isShort ? ":eof_action=pass" : ""}`];
}

/**
 * Converts a video with an uneven frame rate to a constant frame rate. An overlay starts and ends only with a frame, so that long frames
 * would delay it.
 */
export function steady(scene: Scene, { isUneven }: Pick<VideoFacts, "isUneven">): Scene {
  if (!isUneven || scene.origin === undefined) return scene;
  const fps = Math.max(FPS_MIN, scene.fps);
  return onVideo(scene, atRate(scene, fps), { fps, origin: undefined });
}

/**
 * Returns the length of a video in seconds.
 * @throws MediaError unsupported if the length is unknown
 */
export function secondsOf({ seconds }: Scene): number {
  if (seconds > 0) return seconds;
  throw new MediaError("unsupported", "Expected video with a known duration.");
}

/**
 * Checks the size and length of a video after an operation. Intermediate results have the same limits as inputs.
 * @throws MediaError too_large
 */
export function checkScene(scene: Scene): void {
  checkSides(scene, VIDEO_INPUT_LONG_SIDE_MAX, VIDEO_INPUT_SHORT_SIDE_MAX);
  if (scene.seconds <= VIDEO_SECONDS_MAX) return;
  const got = Math.ceil(scene.seconds);
  throw new MediaError("too_large", `Expected at most ${VIDEO_SECONDS_MAX} seconds, got ${got}.`);
}

/**
 * Checks the longer and the shorter side of a video against two limits, in pixels.
 * @throws MediaError too_large
 */
export function checkSides({ width, height }: Pick<Scene, "width" | "height">, long: number, short: number): void {
  if (Math.max(width, height) <= long && Math.min(width, height) <= short) return;
  throw new MediaError("too_large", `Expected video of at most ${long} × ${short} pixels, got ${width} × ${height}.`);
}
