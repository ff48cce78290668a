/** FFmpeg filter graph of a video and its audio. Operations extend it one after the other, and its output properties are tracked. */
import { MediaError } from "#shared/children/media-error.ts";
import { fileSource } from "#workers/children/file-source.ts";
import type { StreamColor } from "#workers/children/graph-streams.ts";

import { FPS_MIN, type VideoFacts } from "./facts.ts";
import { outputSignalOf } from "./signal.ts";
import { VIDEO_FPS_MAX, VIDEO_INPUT_LONG_SIDE_MAX, VIDEO_INPUT_SHORT_SIDE_MAX, VIDEO_SECONDS_MAX } from "./limits.ts";

export interface Scene {
  /** Filter chains in FFmpeg's syntax, to be joined with `;`. */
  readonly chains: readonly string[];
  /** Label of the video output; `audio` is that of the audio output, or null without audio. Labels have no brackets. */
  readonly video: string;
  readonly audio: string | null;
  readonly width: number;
  readonly height: number;
  /** Frames per second; 0 if unknown. */
  readonly fps: number;
  readonly seconds: number;
  /** Time in the source at which the scene's time 0 is, in seconds; undefined if frames no longer have the times of their file. */
  readonly origin: number | undefined;
  /** Number of audio channels; undefined if unknown. */
  readonly channels?: number;
  /** Colour properties of the samples; undefined if they come from several files. */
  readonly color?: StreamColor;
  /** True to encode with 10 bits per sample; otherwise 8 bits. */
  readonly isDeep?: boolean;
  /** Sentences for the caller about parts of the inputs that the scene omits. */
  readonly notes: readonly string[];
}

type Change = Partial<Pick<Scene, "width" | "height" | "fps" | "seconds" | "origin">>;

/**
 * Opens a scene for a video: upright, with square pixels, and starting at time 0. HDR is mapped to SDR unless it is kept.
 * @param name prefix of labels, for scenes with several sources
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

/** Filter that inserts silence at the start and in gaps. Without it, filters that count samples would act too early. */
export const STEADY_SOUND = "aresample=async=1:first_pts=0";

/** Appends filters to the video of a scene. */
export function onVideo(scene: Scene, filters: readonly string[], change: Change = {}): Scene {
  if (filters.length === 0) return { ...scene, ...change };
  const video = next(scene, "v");
  return { ...scene, ...change, chains: [...scene.chains, `[${scene.video}]${filters.join(",")}[${video}]`], video };
}

/** Appends filters to the audio of a scene, if it has audio. */
export function onAudio(scene: Scene, filters: readonly string[]): Scene {
  if (scene.audio === null || filters.length === 0) return scene;
  const audio = next(scene, "a");
  return { ...scene, chains: [...scene.chains, `[${scene.audio}]${filters.join(",")}[${audio}]`], audio };
}

/** Removes the audio of a scene. The audio is connected to a null sink, because every output of a graph must be connected. */
export function muted(scene: Scene): Scene {
  if (scene.audio === null) return scene;
  const { channels: _, ...rest } = scene;
  return { ...rest, chains: [...scene.chains, `[${scene.audio}]anullsink`], audio: null };
}

/**
 * Adds stereo audio to a scene. The audio replaces the scene's audio, or is mixed with it by a filter such as `amix`. @param source chain
 * without output label
 */
export function withSound(scene: Scene, source: string, filter?: string): Scene {
  const base = filter === undefined ? muted(scene) : scene;
  const second = next(base, "t");
  const chains = [...base.chains, `${source}[${second}]`];
  if (filter === undefined || base.audio === null) return { ...base, chains, audio: second, channels: 2 };
  const audio = next({ ...base, chains }, "a");
  return { ...base, chains: [...chains, `[${base.audio}][${second}]${filter}[${audio}]`], audio, channels: 2 };
}

/** Adds a filter that combines the scene with a second video, such as `overlay`. @param source chain without output label */
export function withPicture(scene: Scene, source: string, filter: string): Scene {
  const second = next(scene, "s");
  const chains = [...scene.chains, `${source}[${second}]`];
  const video = next({ ...scene, chains }, "v");
  return { ...scene, chains: [...chains, `[${scene.video}][${second}]${filter}[${video}]`], video };
}

/** Returns the notes of several inputs, each with the index of its input. */
export function notesOfAll(scenes: readonly Pick<Scene, "notes">[]): string[] {
  return scenes.flatMap(({ notes }, at) => notes.map((note) => `input.videos[${at}]: ${note}`));
}

function next({ chains }: Scene, kind: string): string {
  return `${kind}${chains.length}`;
}

/** Limits a scene to even sides and the maximum frame rate, as the encode of a single operation would. */
export function evened(scene: Scene): Scene {
  const [width, height] = [scene.width - (scene.width % 2), scene.height - (scene.height % 2)];
  const isOdd = width !== scene.width || height !== scene.height;
  const isFast = scene.fps > VIDEO_FPS_MAX + 0.5;
  const filters = [...(isOdd ? [`crop=${width}:${height}:0:0`] : []), ...(isFast ? atRate(scene, VIDEO_FPS_MAX) : [])];
  return onVideo(scene, filters, { width, height, fps: isFast ? VIDEO_FPS_MAX : scene.fps });
}

/**
 * Returns filters that convert a scene to a constant frame rate, and change its speed by a factor. If the first frame is late, it is shown
 * from time 0.
 */
export function atRate({ fps: from, seconds }: Pick<Scene, "fps" | "seconds">, fps: number, factor = 1): string[] {
  // Adds the duration of the last frame, as in `openScene`.
  const time = from > 0 ? `PTS+if(eq(PTS,PREV_INPTS),round(1/(${from}*TB)),0)` : "PTS";
  // A scene shorter than one frame gets one frame instead of none.
  const isShort = seconds > 0 && (seconds / factor) * fps < 1;
  return [`setpts='round((${time})/${factor})'`, `fps=${fps}:start_time=0${isShort ? ":eof_action=pass" : ""}`];
}

/** Converts an uneven frame rate to a constant one. An overlay can start and end only with a frame, so uneven frames would shift it. */
export function steady(scene: Scene, { isUneven }: Pick<VideoFacts, "isUneven">): Scene {
  if (!isUneven || scene.origin === undefined) return scene;
  const fps = Math.max(FPS_MIN, scene.fps);
  return onVideo(scene, atRate(scene, fps), { fps, origin: undefined });
}

/** Returns the length of a scene in seconds, for operations that require it. @throws MediaError unsupported */
export function secondsOf({ seconds }: Scene): number {
  if (seconds > 0) return seconds;
  throw new MediaError("unsupported", "Expected video with a known duration.");
}

/** Checks the limits of a scene after each operation. Intermediate results have the same limits as inputs. @throws MediaError too_large */
export function checkScene(scene: Scene): void {
  checkSides(scene, VIDEO_INPUT_LONG_SIDE_MAX, VIDEO_INPUT_SHORT_SIDE_MAX);
  if (scene.seconds <= VIDEO_SECONDS_MAX) return;
  const got = Math.ceil(scene.seconds);
  throw new MediaError("too_large", `Expected at most ${VIDEO_SECONDS_MAX} seconds, got ${got}.`);
}

/** Checks the long and short side of a scene, in either orientation. @throws MediaError too_large */
export function checkSides({ width, height }: Pick<Scene, "width" | "height">, long: number, short: number): void {
  if (Math.max(width, height) <= long && Math.min(width, height) <= short) return;
  throw new MediaError("too_large", `Expected video of at most ${long} × ${short} pixels, got ${width} × ${height}.`);
}
