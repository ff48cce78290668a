/** Reads facts about a video before a filter graph decodes it. For child processes only. */
import type { Demuxer, Stream } from "node-av";

import { MediaError } from "#shared/children/media-error.ts";
import { countSeconds } from "#workers/children/count-seconds.ts";
import { type Container, type FileSource, isDecoded, whitelists } from "#workers/children/file-source.ts";
import { loadFfmpeg } from "#workers/children/ffmpeg.ts";
import { tagsOf } from "#workers/children/tags.ts";

import type { InputFile } from "../define.ts";
import type { VideoFormat } from "./encode.ts";
import { signalOf, type VideoSignal } from "./signal.ts";
import {
  VIDEO_INPUT_FPS_MAX,
  VIDEO_INPUT_LONG_SIDE_MAX,
  VIDEO_INPUT_SHORT_SIDE_MAX,
  VIDEO_SECONDS_MAX,
} from "./limits.ts";

/** Names of the supported video codecs, for error messages. */
const DECODED = "H.264, H.265, VP8, VP9, AV1, MPEG-1, MPEG-2, MPEG-4, Sorenson H.263, VP6, Motion JPEG, ProRes or GIF";

/** Lowest frame rate that shows motion, in frames per second. The frames of a slower video are treated as still images. */
export const FPS_MIN = 10;

export interface VideoFacts {
  readonly source: FileSource;
  /** Output format if the caller sets none. */
  readonly format: VideoFormat;
  readonly seconds: number;
  /** Time of the first frame on the file's clock, in seconds; usually 0. */
  readonly startsAt: number;
  /** Time after `startsAt` at which the last frame ends, in seconds; 0 if the file does not state it. Audio may be longer. */
  readonly picturesEnd: number;
  /** Size as displayed, in pixels, after rotation by the file's metadata and with square pixels. */
  readonly width: number;
  readonly height: number;
  /** Filters that convert stored frames to the displayed size. */
  readonly upright: readonly string[];
  /** Frames per second; 0 if the file does not state it. */
  readonly fps: number;
  /** True if frames have uneven or long durations. Overlays with a start or end then need a conversion to a constant frame rate. */
  readonly isUneven: boolean;
  readonly codec: string;
  /** Clockwise rotation from the file's metadata, in degrees. */
  readonly rotation: number;
  readonly audio: { readonly codec: string; readonly sampleRate: number; readonly channels: number } | null;
  readonly signal: VideoSignal;
  readonly tracks: Readonly<Record<"video" | "audio" | "subtitles", number>>;
  /** Sentences for the caller about tracks that the result does not contain. */
  readonly dropped: readonly string[];
  /** Bitrate in bit/s. */
  readonly bitrate: number;
  readonly tags: Readonly<Record<string, string>>;
}

const CONTAINERS: Readonly<Record<string, readonly [Container, VideoFormat]>> = {
  "video/mp4": ["mov", "mp4"],
  "video/x-m4v": ["mov", "mp4"],
  "video/3gpp": ["mov", "mp4"],
  "video/quicktime": ["mov", "mov"],
  "video/webm": ["matroska", "webm"],
  "video/x-matroska": ["matroska", "mkv"],
  "video/x-msvideo": ["avi", "mp4"],
  "video/mp2t": ["mpegts", "mp4"],
  "video/x-flv": ["flv", "mp4"],
  "image/gif": ["gif", "mp4"],
};

/** Reads facts about a video file. @throws MediaError unsupported, corrupt, too_large */
export async function probeVideo(file: InputFile): Promise<VideoFacts> {
  const demuxer = await openVideo(file);
  try {
    return await factsOf(demuxer, file);
  } finally {
    await demuxer.close();
  }
}

/** Opens a demuxer for the file's container; the caller must close it. @throws MediaError unsupported, corrupt */
export async function openVideo(file: InputFile): Promise<Demuxer> {
  const [container] = containerOf(file);
  return openSource({ path: file.path, container });
}

/** Opens a demuxer for a source, as `openVideo` does. @throws MediaError corrupt */
export async function openSource({ path, container }: FileSource): Promise<Demuxer> {
  await loadFfmpeg();
  const { Demuxer: Opened } = await import("node-av/api");
  return Opened.open(path, { format: container, options: whitelists(container) }).catch((error: unknown) => {
    throw new MediaError("corrupt", "The video cannot be read: its container is damaged.", { cause: error });
  });
}

function containerOf(file: InputFile): readonly [Container, VideoFormat] {
  const known = CONTAINERS[file.mediaType];
  if (known) return known;
  throw new MediaError(
    "unsupported",
    `Expected video in mp4, mov, webm, mkv, avi, flv, ts or gif, got ${file.mediaType}.`,
  );
}

async function factsOf(demuxer: Demuxer, file: InputFile): Promise<VideoFacts> {
  const ffmpeg = await loadFfmpeg();
  const { lib } = ffmpeg;
  const [container, format] = containerOf(file);
  const stream = demuxer.video();
  if (stream === undefined) throw new MediaError("corrupt", "The file contains no video.");
  const { codecId } = stream.codecpar;
  const codec = lib.avGetCodecName(codecId) ?? "unknown";
  if (!isDecoded(container, lib.Codec.findDecoder(codecId)?.name)) {
    throw new MediaError("unsupported", `Expected video in ${DECODED}, got ${codec}.`);
  }
  const fps = rateOf(stream);
  const orientation = await uprightOf(stream);
  const startsAt = Math.max(0, demuxer.startTime);
  // Matroska states the end time, other containers the duration.
  const stated = Math.max(0, demuxer.duration - (container === "matroska" ? startsAt : 0));
  const seconds = Math.round((stated > 0 ? stated : await countSeconds(demuxer, stream)) * 1e6) / 1e6;
  checkInput(stream, fps, seconds);
  const sound = demuxer.audio()?.codecpar;
  const hasAudio = sound !== undefined && sound.sampleRate > 0 && sound.channels > 0;
  const isAudioDecoded = hasAudio && isDecoded(container, lib.Codec.findDecoder(sound.codecId)?.name);
  return {
    source: { path: file.path, container },
    format,
    seconds,
    startsAt,
    picturesEnd: Math.max(0, endOf(stream) - startsAt),
    ...orientation,
    fps,
    isUneven: isUneven(stream, fps),
    codec,
    audio: isAudioDecoded
      ? {
          codec: lib.avGetCodecName(sound.codecId) ?? "unknown",
          sampleRate: sound.sampleRate,
          channels: sound.channels,
        }
      : null,
    signal: await signalOf(stream),
    ...tracksOf(ffmpeg, demuxer, isAudioDecoded),
    bitrate: Math.round(demuxer.bitRate * 1_000),
    tags: tagsOf(demuxer.getFormatContext().metadata),
  };
}

/**
 * Counts the video, audio and subtitle tracks of a file, and describes the tracks that results omit. Results contain the first video track.
 * They contain the first audio track if its codec can be decoded.
 */
function tracksOf(
  { lib, constants }: Awaited<ReturnType<typeof loadFfmpeg>>,
  demuxer: Demuxer,
  isAudioDecoded: boolean,
): Pick<VideoFacts, "tracks" | "dropped"> {
  const kinds = [
    ["video", "Video", constants.AVMEDIA_TYPE_VIDEO, 1],
    ["audio", "Audio", constants.AVMEDIA_TYPE_AUDIO, isAudioDecoded ? 1 : 0],
    ["subtitles", "Subtitle", constants.AVMEDIA_TYPE_SUBTITLE, 0],
  ] as const;
  const counts = { video: 0, audio: 0, subtitles: 0 };
  const dropped: string[] = [];
  for (const [kind, label, type, kept] of kinds) {
    const own = demuxer.streams.filter(({ codecpar }) => codecpar.codecType === type);
    counts[kind] = own.length;
    for (const [at, { codecpar, metadata }] of own.entries()) {
      if (at < kept) continue;
      const language = /^[a-z]{3}$/.exec(tagsOf(metadata)["language"] ?? "")?.[0] ?? "und";
      const what = [lib.avGetCodecName(codecpar.codecId) ?? "unknown", ...(language === "und" ? [] : [language])];
      const why = kind === "audio" && at === 0 ? "was dropped, because its codec cannot be decoded" : "was dropped";
      dropped.push(`${label} track ${at + 1} (${what.join(", ")}) ${why}.`);
    }
  }
  return { tracks: counts, dropped };
}

/**
 * Returns the time at which the stream ends, in seconds of the file's timestamps. Returns 0 if the file does not state the stream's
 * duration.
 */
export function endOf({ startTime, duration, timeBase: { num, den } }: Stream): number {
  return duration > 0n ? (Number((startTime > 0n ? startTime : 0n) + duration) * num) / den : 0;
}

function rateOf({ avgFrameRate, rFrameRate }: Stream): number {
  const [average, guessed] = [avgFrameRate, rFrameRate].map(({ num, den }) => (num > 0 && den > 0 ? num / den : 0));
  if (average !== undefined && average > 0) return average;
  // With few frames, this value is the clock rate of the file instead of a frame rate.
  return guessed !== undefined && guessed <= VIDEO_INPUT_FPS_MAX ? guessed : 0;
}

/** True if a stream's average frame rate is below `FPS_MIN`, or differs by more than 5 % from its most common frame rate. */
function isUneven({ rFrameRate: { num, den } }: Stream, fps: number): boolean {
  const usual = num > 0 && den > 0 ? num / den : 0;
  return fps < FPS_MIN || (usual > 0 && Math.abs(usual - fps) > fps / 20);
}

function checkInput({ codecpar: { width, height } }: Stream, fps: number, seconds: number): void {
  const [short, long] = [Math.min(width, height), Math.max(width, height)];
  if (short < 1) throw new MediaError("corrupt", "The video has no frame size.");
  if (long > VIDEO_INPUT_LONG_SIDE_MAX || short > VIDEO_INPUT_SHORT_SIDE_MAX) {
    const most = `${VIDEO_INPUT_LONG_SIDE_MAX} × ${VIDEO_INPUT_SHORT_SIDE_MAX}`;
    throw new MediaError("too_large", `Expected video of at most ${most} pixels, got ${width} × ${height}.`);
  }
  if (fps > VIDEO_INPUT_FPS_MAX + 1) {
    throw new MediaError(
      "too_large",
      `Expected at most ${VIDEO_INPUT_FPS_MAX} frames a second, got ${Math.ceil(fps)}.`,
    );
  }
  if (seconds > VIDEO_SECONDS_MAX) {
    throw new MediaError("too_large", `Expected at most ${VIDEO_SECONDS_MAX} seconds, got ${Math.ceil(seconds)}.`);
  }
}

/**
 * Returns the displayed size, and filters that rotate frames by the file's metadata. FFmpeg's program rotates frames automatically, but its
 * filters do not.
 */
async function uprightOf({ codecpar }: Stream): Promise<Pick<VideoFacts, "width" | "height" | "upright" | "rotation">> {
  const { constants } = await loadFfmpeg();
  const { num, den } = codecpar.sampleAspectRatio;
  const aspect = num > 0 && den > 0 ? num / den : 1;
  const [width, height] = [Math.max(2, Math.round(codecpar.width * aspect)), codecpar.height];
  const square = aspect === 1 ? [] : [`scale=${width}:${height}`, "setsar=1"];
  const matrix = codecpar.getCodedSideData(constants.AV_PKT_DATA_DISPLAYMATRIX);
  const [filters, rotation] = matrix === null || matrix.length < 36 ? [[], 0] : turnOf(matrix);
  const lies = rotation === 90 || rotation === 270;
  return {
    width: lies ? height : width,
    height: lies ? width : height,
    upright: [...square, ...filters],
    rotation,
  };
}

/** Returns the filters for a display matrix of nine fixed-point numbers, and its rotation rounded to a quarter turn. */
function turnOf(matrix: Buffer): [string[], number] {
  const at = (place: number): number => matrix.readInt32LE(place * 4);
  const angle = Math.round((Math.atan2(at(1), at(0)) * 180) / Math.PI / 90) * 90;
  const rotation = (angle + 360) % 360;
  if (rotation === 90) return [[at(3) > 0 ? "transpose=cclock_flip" : "transpose=clock"], rotation];
  if (rotation === 270) return [[at(3) < 0 ? "transpose=clock_flip" : "transpose=cclock"], rotation];
  const flips = [...(at(0) < 0 ? ["hflip"] : []), ...(at(4) < 0 ? ["vflip"] : [])];
  return [flips, rotation];
}
