/** A filter graph that grows by one operation after the other, and what comes out at its open ends. */
import { MediaError } from "#shared/children/media-error.ts";
import { fileSource } from "#workers/children/file-source.ts";
import type { StreamColor } from "#workers/children/graph-streams.ts";

import { FPS_MIN, type VideoFacts } from "./facts.ts";
import { shownSignal } from "./signal.ts";
import { VIDEO_FPS_MAX, VIDEO_INPUT_LONG_SIDE_MAX, VIDEO_INPUT_SHORT_SIDE_MAX, VIDEO_SECONDS_MAX } from "./limits.ts";

export interface Scene {
  /** Chains of FFmpeg's notation, for `;` between them. */
  readonly chains: readonly string[];
  /** Open ends, without brackets. */
  readonly video: string;
  readonly audio: string | null;
  readonly width: number;
  readonly height: number;
  /** 0 where it is not known. */
  readonly fps: number;
  readonly seconds: number;
  /** Time in the source at the scene's time 0; undefined once frames no longer have the times of their file. */
  readonly origin: number | undefined;
  /** Number of audio channels, if it is known. */
  readonly channels?: number;
  /** Colours of the samples, if all are of one file. */
  readonly color?: StreamColor;
  /** True for pictures that are to be encoded in 10 bits; 8 otherwise. */
  readonly isDeep?: boolean;
  /** Sentences on what of the inputs the scene lacks. */
  readonly notes: readonly string[];
}

type Change = Partial<Pick<Scene, "width" | "height" | "fps" | "seconds" | "origin">>;

/**
 * Upright, with square pixels, from time 0. HDR is mapped to SDR unless it is kept.
 * @param name sets the labels of several sources apart. @param keepsDepth the encoder and all operations take 10 bits
 */
export function openScene(facts: VideoFacts, name = "", keepsDepth = false): Scene {
  const { source, startsAt, picturesEnd, upright, audio, width, height, fps, seconds, dropped } = facts;
  const { filters, notes, ...signal } = shownSignal(facts.signal, keepsDepth);
  const [shift, soundShift] =
    startsAt === 0 ? [[], []] : [[`setpts=round(PTS-${startsAt}/TB)`], [`asetpts=round(PTS-${startsAt}/TB)`]];
  // FFmpeg ends a file with the time of its last frame: how long that one is seen must be added there.
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

/** Silence where a file has no sound at its beginning or between: filters that count samples would come too early. */
export const STEADY_SOUND = "aresample=async=1:first_pts=0";

/** Filters on the picture. */
export function onVideo(scene: Scene, filters: readonly string[], change: Change = {}): Scene {
  if (filters.length === 0) return { ...scene, ...change };
  const video = next(scene, "v");
  return { ...scene, ...change, chains: [...scene.chains, `[${scene.video}]${filters.join(",")}[${video}]`], video };
}

/** Filters on the sound, where there is any. */
export function onAudio(scene: Scene, filters: readonly string[]): Scene {
  if (scene.audio === null || filters.length === 0) return scene;
  const audio = next(scene, "a");
  return { ...scene, chains: [...scene.chains, `[${scene.audio}]${filters.join(",")}[${audio}]`], audio };
}

/** Every open end must be taken: sound that is not wanted goes nowhere. */
export function muted(scene: Scene): Scene {
  if (scene.audio === null) return scene;
  const { channels: _, ...rest } = scene;
  return { ...rest, chains: [...scene.chains, `[${scene.audio}]anullsink`], audio: null };
}

/** Sound in two channels, in place of the scene's own or, by a filter such as `amix`, with it. @param source a chain without its open end */
export function withSound(scene: Scene, source: string, filter?: string): Scene {
  const rest = filter === undefined ? muted(scene) : scene;
  const second = next(rest, "t");
  const chains = [...rest.chains, `${source}[${second}]`];
  if (filter === undefined || rest.audio === null) return { ...rest, chains, audio: second, channels: 2 };
  const audio = next({ ...rest, chains }, "a");
  return { ...rest, chains: [...chains, `[${rest.audio}][${second}]${filter}[${audio}]`], audio, channels: 2 };
}

/** A filter of two pictures, such as `overlay`. @param source a chain without its open end */
export function withPicture(scene: Scene, source: string, filter: string): Scene {
  const second = next(scene, "s");
  const chains = [...scene.chains, `${source}[${second}]`];
  const video = next({ ...scene, chains }, "v");
  return { ...scene, chains: [...chains, `[${scene.video}][${second}]${filter}[${video}]`], video };
}

/** Notes of several inputs, each with the place of its input. */
export function notesOfAll(scenes: readonly Pick<Scene, "notes">[]): string[] {
  return scenes.flatMap(({ notes }, at) => notes.map((note) => `input.videos[${at}]: ${note}`));
}

function next({ chains }: Scene, kind: string): string {
  return `${kind}${chains.length}`;
}

/** Even sides, and no more frames a second than a result may have: as the operation alone would have written it. */
export function evened(scene: Scene): Scene {
  const [width, height] = [scene.width - (scene.width % 2), scene.height - (scene.height % 2)];
  const isOdd = width !== scene.width || height !== scene.height;
  const isFast = scene.fps > VIDEO_FPS_MAX + 0.5;
  const filters = [...(isOdd ? [`crop=${width}:${height}:0:0`] : []), ...(isFast ? atRate(scene, VIDEO_FPS_MAX) : [])];
  return onVideo(scene, filters, { width, height, fps: isFast ? VIDEO_FPS_MAX : scene.fps });
}

/** Filters to a constant rate, faster or slower by a factor, from time 0: the first frame is held where it comes late. */
export function atRate({ fps: from, seconds }: Pick<Scene, "fps" | "seconds">, fps: number, factor = 1): string[] {
  // An end that comes with the time of the last frame, as in `openScene`.
  const time = from > 0 ? `PTS+if(eq(PTS,PREV_INPTS),round(1/(${from}*TB)),0)` : "PTS";
  // What is shorter than one frame is one, not none.
  const isShort = seconds > 0 && (seconds / factor) * fps < 1;
  return [`setpts='round((${time})/${factor})'`, `fps=${fps}:start_time=0${isShort ? ":eof_action=pass" : ""}`];
}

/** Frames at an even rate, for what comes and goes at times of its own: it is drawn on frames. */
export function steady(scene: Scene, { isUneven }: Pick<VideoFacts, "isUneven">): Scene {
  if (!isUneven || scene.origin === undefined) return scene;
  const fps = Math.max(FPS_MIN, scene.fps);
  return onVideo(scene, atRate(scene, fps), { fps, origin: undefined });
}

/** The length of a scene, for what cannot be done without it. @throws MediaError unsupported */
export function secondsOf({ seconds }: Scene): number {
  if (seconds > 0) return seconds;
  throw new MediaError("unsupported", "Expected video with a known duration.");
}

/** Held after each operation, so that none between makes more than an input may have. @throws MediaError too_large */
export function checkScene(scene: Scene): void {
  checkSides(scene, VIDEO_INPUT_LONG_SIDE_MAX, VIDEO_INPUT_SHORT_SIDE_MAX);
  if (scene.seconds <= VIDEO_SECONDS_MAX) return;
  const got = Math.ceil(scene.seconds);
  throw new MediaError("too_large", `Expected at most ${VIDEO_SECONDS_MAX} seconds, got ${got}.`);
}

/** Whichever way it lies. @throws MediaError too_large */
export function checkSides({ width, height }: Pick<Scene, "width" | "height">, long: number, short: number): void {
  if (Math.max(width, height) <= long && Math.min(width, height) <= short) return;
  throw new MediaError("too_large", `Expected video of at most ${long} × ${short} pixels, got ${width} × ${height}.`);
}
