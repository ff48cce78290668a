/** Encodes a scene (a filter graph for video and audio) once, after all operations. For child processes only. */
import { stat } from "node:fs/promises";
import { join } from "node:path";

import type { Rule } from "#shared/calls/capabilities/entry.ts";
import { MediaError } from "#shared/children/media-error.ts";
import { runFilterGraph } from "#workers/children/filter-graph.ts";
import { VORBIS_RATE_MAX, vorbisBitrate } from "#workers/children/vorbis.ts";
import type { FfmpegOptions, StreamPlan } from "#workers/children/graph-streams.ts";

import type { RunOutput } from "../define.ts";
import { choice, integer, type ParamsOf } from "../params.ts";

import type { VideoFacts } from "./facts.ts";
import { checkSides, evened, muted, openScene, type Scene } from "./scene.ts";
import { VIDEO_LONG_SIDE_MAX, VIDEO_SHORT_SIDE_MAX, VIDEO_SECONDS_MAX } from "./limits.ts";

const FORMATS = ["mp4", "webm", "mkv", "mov"] as const;
export type VideoFormat = (typeof FORMATS)[number];
const VIDEO_CODECS = ["h264", "h265", "vp8", "vp9", "av1"] as const;
type VideoCodec = (typeof VIDEO_CODECS)[number];
const AUDIO_CODECS = ["aac", "opus", "mp3", "vorbis", "none"] as const;
type AudioCodec = (typeof AUDIO_CODECS)[number];
const PRESETS = ["ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow"] as const;

interface Container {
  readonly muxer: string;
  readonly mediaType: string;
  readonly options?: FfmpegOptions;
  /** Codecs that the container supports; the first one is the default. */
  readonly video: readonly VideoCodec[];
  readonly audio: readonly AudioCodec[];
}

const FASTSTART = { movflags: "+faststart" } as const;

export const CONTAINERS: Readonly<Record<VideoFormat, Container>> = {
  mp4: {
    muxer: "mp4",
    mediaType: "video/mp4",
    options: FASTSTART,
    video: ["h264", "h265", "vp9", "av1"],
    audio: ["aac", "mp3", "opus", "none"],
  },
  webm: { muxer: "webm", mediaType: "video/webm", video: ["vp9", "vp8", "av1"], audio: ["opus", "vorbis", "none"] },
  mkv: {
    muxer: "matroska",
    mediaType: "video/x-matroska",
    video: ["h264", "h265", "vp8", "vp9", "av1"],
    audio: ["aac", "opus", "mp3", "vorbis", "none"],
  },
  mov: {
    muxer: "mov",
    mediaType: "video/quicktime",
    options: FASTSTART,
    video: ["h264", "h265"],
    audio: ["aac", "mp3", "none"],
  },
};

/** Output params of most video capabilities. */
export const OUTPUT = {
  format: choice("Container of the result. Default: same as the input, or MP4.", FORMATS, {
    labels: { mp4: "MP4", webm: "WebM", mkv: "Matroska", mov: "QuickTime" },
  }),
  video_codec: choice("Video codec. Default: H.264, or VP9 in WebM.", VIDEO_CODECS, {
    labels: { h264: "H.264", h265: "H.265", vp8: "VP8", vp9: "VP9", av1: "AV1" },
  }),
  crf: integer(
    "Constant rate factor: lower is better quality and a larger file, 0 is the best. H.264 and H.265 treat values above 51 as 51.",
    {
      min: 0,
      max: 63,
      default: 23,
    },
  ),
  preset: choice("Encoder speed. Slower presets make smaller files.", PRESETS, { default: "veryfast" }),
  audio_codec: choice("Audio codec. Default: AAC, or Opus in WebM.", AUDIO_CODECS, {
    labels: { aac: "AAC", opus: "Opus", mp3: "MP3", vorbis: "Vorbis", none: "No audio" },
  }),
  audio_bitrate: integer("Audio bitrate. Opus is limited to 256, Vorbis to 240.", {
    min: 32,
    max: 320,
    unit: "kbit/s",
    default: 128,
  }),
};
export type Output = ParamsOf<typeof OUTPUT>;

/** Returns rules for the output parameters. @param at location of the output parameters: `params`, or `params.output` in a pipeline */
export function outputRules(at = "params"): readonly Rule[] {
  const fits = (kind: "video" | "audio"): Rule => ({
    rule: "fits",
    path: `${at}.${kind}_codec`,
    by: `${at}.format`,
    values: Object.fromEntries(FORMATS.map((format) => [format, CONTAINERS[format][kind]])),
  });
  return [fits("video"), fits("audio")];
}

interface Coder {
  readonly encoder: string;
  readonly tag?: string;
  readonly options: (crf: number, preset: (typeof PRESETS)[number]) => FfmpegOptions;
}

/** Encoders and their options. Each encoder uses one thread, because with several threads the output differs between runs. */
const VIDEO_CODERS: Readonly<Record<VideoCodec, Coder>> = {
  // Disables x264's macroblock tree, which reads uninitialised memory: equal frames sometimes gave different bytes.
  h264: {
    encoder: "libx264",
    options: (crf, preset) => ({ crf: `${Math.min(51, crf)}`, preset, "x264-params": "mbtree=0" }),
  },
  h265: {
    encoder: "libx265",
    tag: "hvc1",
    options: (crf, preset) => ({
      crf: `${Math.min(51, crf)}`,
      preset,
      "x265-params": "log-level=none:pools=none:frame-threads=1",
    }),
  },
  vp8: {
    encoder: "libvpx",
    options: (crf, preset) => ({
      crf: `${Math.max(4, crf)}`,
      b: "8M",
      deadline: "good",
      "cpu-used": vpxSpeed(preset, 5),
    }),
  },
  vp9: {
    encoder: "libvpx-vp9",
    options: (crf, preset) => ({ crf: `${crf}`, b: "0", deadline: "good", "cpu-used": vpxSpeed(preset, 5) }),
  },
  av1: {
    encoder: "libsvtav1",
    options: (crf, preset) => ({ crf: `${crf}`, preset: `${12 - PRESETS.indexOf(preset)}`, "svtav1-params": "lp=1" }),
  },
};

function vpxSpeed(preset: (typeof PRESETS)[number], fastest: number): string {
  return `${Math.max(0, fastest - Math.floor(PRESETS.indexOf(preset) / 2))}`;
}

const AUDIO_ENCODERS: Readonly<Record<Exclude<AudioCodec, "none">, string>> = {
  aac: "aac",
  opus: "libopus",
  mp3: "libmp3lame",
  vorbis: "libvorbis",
};

export const VIDEO_PRICE = { unit: "per_second", second_price: "0.02" } as const;
export const CLIP = { video: { file_id: "file-sample-clip" } } as const;

export interface EncodeVideo {
  readonly folder: string;
  readonly scene: Scene;
  /** Container format that is used if `output` has none. */
  readonly format: VideoFormat;
  readonly output: Output;
  readonly progress?: (share: number) => void;
  /** Further options of the video encoder, such as a bitrate instead of `crf`. */
  readonly options?: FfmpegOptions;
}

/** Codecs for results with 10 bits per sample. Few players decode H.264 with 10 bits. */
const DEEP_CODECS: readonly VideoCodec[] = ["h265", "vp9", "av1"];

/**
 * Opens a video as a scene. The bit depth and colours of the file are kept if the result's codec supports them.
 * @param keepsDepth true if all operations support more than 8 bits
 * @throws the errors of `codecsOf`
 */
export function openDeepScene(facts: VideoFacts, output: Output, keepsDepth: boolean): Scene {
  const [codec] = codecsOf(output.format ?? facts.format, output);
  return openScene(facts, "", keepsDepth && DEEP_CODECS.includes(codec));
}

/** Encodes a scene to a video file. @throws MediaError invalid, corrupt, too_large */
export async function encodeVideo(encode: EncodeVideo): Promise<RunOutput> {
  const { folder, output, progress } = encode;
  const format = output.format ?? encode.format;
  const { muxer, mediaType, options } = CONTAINERS[format];
  const [videoCodec, audioCodec] = codecsOf(format, output);
  const scene = finished(encode.scene, audioCodec);
  const isSilent = scene.audio === null || audioCodec === "none";
  const picture: StreamPlan = {
    ...coderOf(videoCodec, format, output, scene.seconds > 0 ? scene.seconds * scene.fps : Infinity),
    label: scene.video,
    ...(scene.color === undefined ? {} : { color: scene.color }),
    ...(scene.isDeep === true ? { pixelFormat: "yuv420p10le" } : {}),
    ...(scene.origin !== undefined && scene.seconds > 0 ? { endsAt: scene.seconds } : {}),
  };
  const name = `video.${format}`;
  const path = join(folder, name);
  let written = 0;
  await runScene({
    scene: isSilent ? muted(scene) : scene,
    streams: [
      { ...picture, options: { ...picture.options, ...encode.options } },
      ...(isSilent || scene.audio === null ? [] : [soundPlan(scene.audio, audioCodec, output)]),
    ],
    output: { path, muxer, ...(options === undefined ? {} : { options }) },
    onSeconds: (at) => {
      written = at;
      if (scene.seconds > 0) progress?.(Math.min(0.99, at / scene.seconds));
    },
  });
  const { size } = await stat(path);
  const facts = {
    format,
    seconds: round(written),
    width: scene.width,
    height: scene.height,
    video_codec: videoCodec,
    audio_codec: isSilent ? null : audioCodec,
    bytes: size,
  };
  return { output: facts, files: [{ path, mediaType, name }], notes: scene.notes };
}

/**
 * Returns the requested video and audio codecs, or the format's defaults. @throws MediaError invalid if the format does not support a
 * requested codec
 */
export function codecsOf(format: VideoFormat, output: Output): [VideoCodec, AudioCodec] {
  const { video, audio } = CONTAINERS[format];
  const [usualVideo = "h264"] = video;
  const [usualAudio = "aac"] = audio;
  const chosen = [output.video_codec ?? usualVideo, output.audio_codec ?? usualAudio] as const;
  for (const [name, known, codec] of [
    ["video_codec", video, chosen[0]],
    ["audio_codec", audio, chosen[1]],
  ] as const) {
    if ((known as readonly string[]).includes(codec)) continue;
    throw new MediaError(
      "invalid",
      `Expected params.${name} to be one of ${known.join(", ")} in ${format}, got ${codec}.`,
    );
  }
  return [...chosen];
}

const X265_FRAMES_MIN = 8;

function coderOf(codec: VideoCodec, format: VideoFormat, output: Output, frames: number): Omit<StreamPlan, "label"> {
  const { encoder, tag, options: optionsOf } = VIDEO_CODERS[codec];
  const options = optionsOf(output.crf ?? 23, output.preset ?? "veryfast");
  // With few frames, x265 takes decode times from uninitialised memory, unless B-frames are disabled.
  const inOrder = codec === "h265" && frames < X265_FRAMES_MIN ? { bf: "0" } : {};
  // Apple's players require this tag for H.265 in MP4.
  const named = tag !== undefined && (format === "mp4" || format === "mov") ? { tag } : {};
  return { encoder, options: { ...options, ...inOrder }, ...named };
}

function soundPlan(label: string, codec: Exclude<AudioCodec, "none"> | "none", { audio_bitrate }: Output): StreamPlan {
  const encoder = AUDIO_ENCODERS[codec === "none" ? "aac" : codec];
  const wanted = audio_bitrate ?? 128;
  const kilobits = bitrateOf(codec, wanted);
  return { label, encoder, options: { b: `${kilobits}k` } };
}

/**
 * Returns the supported bitrate that is nearest to the requested one, in kbit/s. The codec must support the returned bitrate both in mono
 * and in stereo, at its highest sample rate.
 */
function bitrateOf(codec: AudioCodec, wanted: number): number {
  if (codec === "vorbis") return vorbisBitrate(Math.min(wanted, VORBIS_BITRATE_MAX), VORBIS_RATE_MAX, 2);
  return codec === "opus" ? Math.min(wanted, OPUS_BITRATE_MAX) : wanted;
}

/** Highest bitrate that Vorbis supports in mono, in kbit/s. */
const VORBIS_BITRATE_MAX = 240;
const OPUS_BITRATE_MAX = 256;

/** Supported sample rates in hertz, limited by encoder or container. For example, MP4 supports no MP3 audio below 16 kHz. */
const RATES: Readonly<Partial<Record<AudioCodec, string>>> = {
  vorbis: `:sample_rates=${VORBIS_RATE_MAX}`,
  mp3: ":sample_rates=16000|22050|24000|32000|44100|48000",
};

/**
 * Prepares a scene for encoding. Limits it to even side lengths, the maximum frame rate, two audio channels, and sample rates that the
 * codec supports.
 * @throws MediaError too_large
 */
function finished(scene: Scene, codec: AudioCodec): Scene {
  const evenScene = evened(scene);
  checkSides(evenScene, VIDEO_LONG_SIDE_MAX, VIDEO_SHORT_SIDE_MAX);
  if (evenScene.audio === null) return evenScene;
  return {
    ...evenScene,
    chains: [...evenScene.chains, `[${evenScene.audio}]aformat=channel_layouts=mono|stereo${RATES[codec] ?? ""}[out]`],
    audio: "out",
  };
}

export interface SceneRun {
  readonly scene: Scene;
  readonly streams: readonly StreamPlan[];
  readonly output: Parameters<typeof runFilterGraph>[0]["output"];
  readonly onSeconds?: (seconds: number) => void;
  readonly onLog?: (line: string) => void;
}

/** Runs the filter graph of a scene, and writes its outputs named in `streams` into one file. @throws MediaError corrupt, too_large */
export async function runScene({ scene, streams, output, onSeconds, onLog }: SceneRun): Promise<void> {
  await runFilterGraph({
    graph: scene.chains.join(";"),
    streams,
    output,
    secondsMax: VIDEO_SECONDS_MAX,
    ...(onSeconds === undefined ? {} : { onSeconds }),
    ...(onLog === undefined ? {} : { onLog }),
  }).catch((error: unknown) => {
    // The graph is generated from probed facts, so a failure means damaged data.
    throw error instanceof MediaError && error.fault === "failed"
      ? new MediaError("corrupt", "The video cannot be decoded.", { cause: error })
      : error;
  });
}

export function round(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}
