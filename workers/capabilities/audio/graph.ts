/** Processes audio in one FFmpeg filter graph with one encode. For child processes only. */
import { stat } from "node:fs/promises";
import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";
import { countSeconds } from "#workers/children/count-seconds.ts";
import { splitChain } from "#workers/children/ogg-links.ts";
import { type Container, type FileSource, fileSource, isDecoded, whitelists } from "#workers/children/file-source.ts";
import { loadFfmpeg } from "#workers/children/ffmpeg.ts";
import { type FilterGraphPlan, runFilterGraph } from "#workers/children/filter-graph.ts";
import { tagsOf } from "#workers/children/tags.ts";
import { VORBIS_RATE_MAX, vorbisBitrate } from "#workers/children/vorbis.ts";

import type { InputFile, RunOutput } from "../define.ts";
import { choice, integer, type ParamsOf } from "../params.ts";

/** Maximum length of an input and of a result, in seconds. */
export const SECONDS_MAX = 4 * 3_600;
const CHANNELS_MAX = 8;

export const FORMATS = ["mp3", "m4a", "aac", "opus", "ogg", "flac", "wav", "aiff"] as const;
export type AudioFormat = (typeof FORMATS)[number];

interface Encoding {
  readonly encoder: string;
  readonly muxer: string;
  readonly mediaType: string;
  readonly isLossless?: true;
  readonly options?: Readonly<Record<string, string>>;
}

export const ENCODINGS: Readonly<Record<AudioFormat, Encoding>> = {
  mp3: { encoder: "libmp3lame", muxer: "mp3", mediaType: "audio/mpeg" },
  m4a: { encoder: "aac", muxer: "ipod", mediaType: "audio/mp4", options: { movflags: "+faststart" } },
  aac: { encoder: "aac", muxer: "adts", mediaType: "audio/aac" },
  opus: { encoder: "libopus", muxer: "ogg", mediaType: "audio/ogg" },
  ogg: { encoder: "libvorbis", muxer: "ogg", mediaType: "audio/ogg" },
  flac: { encoder: "flac", muxer: "flac", mediaType: "audio/flac", isLossless: true },
  wav: { encoder: "pcm_s16le", muxer: "wav", mediaType: "audio/wav", isLossless: true },
  aiff: { encoder: "pcm_s16be", muxer: "aiff", mediaType: "audio/aiff", isLossless: true },
};

/** Output params of most audio capabilities. */
export const OUTPUT = {
  format: choice("Format of the result. Default: same as the input.", FORMATS, {}),
  bitrate: integer(
    "Bitrate of lossy formats. Default: 128. Vorbis uses the nearest bitrate that its sample rate supports; Opus is limited to 256 for mono.",
    { min: 16, max: 320, unit: "kbit/s" },
  ),
  sample_rate: integer(
    "Sample rate. Default: same as the input. Formats that do not support it use the next higher rate they do; Opus is always 48000.",
    { min: 8_000, max: 96_000, unit: "Hz" },
  ),
  channels: choice("Number of channels. Default: same as the input, at most 2.", [1, 2], {
    labels: { 1: "Mono", 2: "Stereo" },
  }),
};
export type Output = ParamsOf<typeof OUTPUT>;

export const AUDIO_PRICE = { unit: "per_second", second_price: "0.01" } as const;
export const TUNE = { audio: { file_id: "file-sample-tune" } } as const;

export interface AudioFacts {
  readonly source: FileSource;
  readonly format: AudioFormat;
  readonly seconds: number;
  readonly sampleRate: number;
  readonly channels: number;
  readonly codec: string;
  readonly isDecoded: boolean;
  /** Bitrate in bit/s. */
  readonly bitrate: number;
  readonly tags: Readonly<Record<string, string>>;
}

const CONTAINERS: Readonly<Record<string, readonly [Container, AudioFormat]>> = {
  "audio/wav": ["wav", "wav"],
  "audio/mpeg": ["mp3", "mp3"],
  "audio/flac": ["flac", "flac"],
  "audio/ogg": ["ogg", "ogg"],
  "audio/opus": ["ogg", "opus"],
  "application/ogg": ["ogg", "ogg"],
  "video/ogg": ["ogg", "ogg"],
  "audio/aac": ["aac", "aac"],
  "audio/aiff": ["aiff", "aiff"],
  "audio/mp4": ["mov", "m4a"],
  "video/mp4": ["mov", "m4a"],
  "video/quicktime": ["mov", "m4a"],
  "audio/webm": ["matroska", "opus"],
  "video/webm": ["matroska", "opus"],
  "video/x-msvideo": ["avi", "mp3"],
  "video/x-matroska": ["matroska", "m4a"],
  "video/mp2t": ["mpegts", "m4a"],
  "video/x-flv": ["flv", "m4a"],
  "audio/x-caf": ["caf", "wav"],
  "audio/ac3": ["ac3", "m4a"],
  "audio/eac3": ["eac3", "m4a"],
  "audio/x-matroska": ["matroska", "opus"],
};

const TAKEN = "mp3, m4a, aac, ogg, opus, flac, wav, aiff, caf, ac3, eac3, mp4, mov, webm, mkv, avi, flv or ts";

/** Codecs whose results are written as Ogg, regardless of the container of the input. */
const OGG_FORMATS: Readonly<Record<string, AudioFormat>> = { opus: "opus", vorbis: "ogg" };

/** Supported audio codecs, by their common names. */
const DECODED = "AAC, AC-3, ALAC, FLAC, MP3, Opus, PCM or Vorbis";

/**
 * Reads facts about an audio file, and rejects audio that cannot be decoded.
 * @throws the errors of `readAudioFacts`
 */
export async function probeAudio(file: InputFile, sound = 0): Promise<AudioFacts> {
  const facts = await readAudioFacts(file, sound);
  if (facts.isDecoded) return facts;
  throw new MediaError("unsupported", `Expected audio in ${DECODED}, got ${facts.codec}.`);
}

/**
 * Reads facts about an audio file with any codec. For a chained Ogg file, the facts cover all chained recordings.
 * @param sound index of the audio stream, from 0
 * @throws MediaError invalid (no such stream), unsupported, corrupt, too_large
 */
export async function readAudioFacts(file: InputFile, sound = 0): Promise<AudioFacts> {
  const [container, usual] = CONTAINERS[file.mediaType] ?? [];
  if (container === undefined || usual === undefined) {
    throw new MediaError("unsupported", `Expected audio in ${TAKEN}, got ${file.mediaType}.`);
  }
  const links: AudioFacts[] = [];
  for (const path of container === "ogg" ? await splitChain(file.path) : []) {
    links.push(await readLinkFacts({ ...file, path }, container, usual, sound));
  }
  const [first] = links;
  const facts = first ? chained(first, links, file) : await readLinkFacts(file, container, usual, sound);
  const { seconds, channels } = facts;
  if (seconds > SECONDS_MAX)
    throw new MediaError("too_large", `Expected at most ${SECONDS_MAX} seconds, got ${Math.ceil(seconds)}.`);
  if (channels > CHANNELS_MAX)
    throw new MediaError("too_large", `Expected at most ${CHANNELS_MAX} channels, got ${channels}.`);
  return facts;
}

/** Combines the facts of a chained file's recordings. The sample rate and number of channels are the highest of all recordings. */
function chained(first: AudioFacts, links: readonly AudioFacts[], { path, bytes }: InputFile): AudioFacts {
  const seconds = links.reduce((sum, link) => sum + link.seconds, 0);
  const sampleRate = Math.max(...links.map((link) => link.sampleRate));
  const channels = Math.max(...links.map((link) => link.channels));
  const parts = links.map(({ source, channels: own }) => ({
    path: source.path,
    filters: [...(own === 1 ? channelFilters(1, Math.min(2, channels)) : []), `aformat=sample_rates=${sampleRate}`],
  }));
  return {
    ...first,
    source: { ...first.source, path, links: parts },
    seconds,
    sampleRate,
    channels,
    codec: links.find(({ isDecoded: isKnown }) => !isKnown)?.codec ?? first.codec,
    isDecoded: links.every(({ isDecoded: isKnown }) => isKnown),
    bitrate: seconds > 0 ? Math.round((bytes * 8) / seconds) : 0,
  };
}

/** Reads facts about a file that contains one recording. */
async function readLinkFacts(
  file: InputFile,
  container: Container,
  usual: AudioFormat,
  sound: number,
): Promise<AudioFacts> {
  const { lib, constants } = await loadFfmpeg();
  const { Demuxer } = await import("node-av/api");
  const demuxer = await Demuxer.open(file.path, { format: container, options: whitelists(container) }).catch(
    (error: unknown) => {
      throw new MediaError("corrupt", "The audio cannot be read: its container is damaged.", { cause: error });
    },
  );
  try {
    const sounds = demuxer.streams.filter(({ codecpar: { codecType } }) => codecType === constants.AVMEDIA_TYPE_AUDIO);
    const stream = sounds[sound];
    if (stream === undefined && sounds.length > 0) {
      throw new MediaError("invalid", `Expected params.stream below ${sounds.length}, got ${sound}.`);
    }
    // FFmpeg reports 0 channels if the number in the file is out of its range.
    if (stream === undefined || stream.codecpar.sampleRate <= 0 || stream.codecpar.channels <= 0)
      throw new MediaError("corrupt", "The file contains no audio.");
    const { codecId, sampleRate, channels } = stream.codecpar;
    const codec = lib.avGetCodecName(codecId) ?? "unknown";
    // FFmpeg includes the samples that players skip at the start of Opus (RFC 7845, section 4.2).
    const paddingSeconds = container === "ogg" && codec === "opus" ? stream.codecpar.initialPadding / sampleRate : 0;
    const stated = Math.max(0, demuxer.duration - paddingSeconds);
    const seconds = stated > 0 ? stated : await countSeconds(demuxer, stream);
    const known = Math.round(demuxer.bitRate * 1_000);
    return {
      source: { path: file.path, container, sound },
      format: OGG_FORMATS[codec] ?? usual,
      seconds,
      sampleRate,
      channels,
      codec,
      isDecoded: isDecoded(container, lib.Codec.findDecoder(codecId)?.name),
      bitrate: known > 0 || seconds === 0 ? known : Math.round((file.bytes * 8) / seconds),
      // Ogg stores tags with its stream.
      tags: { ...tagsOf(demuxer.getFormatContext().metadata), ...tagsOf(stream.metadata) },
    };
  } finally {
    await demuxer.close();
  }
}

/** Returns a filter chain of the source and the filters, with the output label `[a]`. */
export function chainOf(facts: Pick<AudioFacts, "source">, filters: readonly string[]): string {
  return `${[soundOf(facts), ...filters].join(",")}[a]`;
}

/**
 * Returns the FFmpeg source filter for the audio. Timestamps are shifted to begin at 0, because those of an MP3 may begin later. Audio of a
 * video file keeps its timestamps, so that it stays in sync.
 */
export function soundOf({ source }: Pick<AudioFacts, "source">): string {
  const isBesidePictures = ["mov", "matroska", "avi", "mpegts", "flv"].includes(source.container);
  return `${fileSource("audio", source)}${isBesidePictures ? "" : ",asetpts=PTS-STARTPTS"}`;
}

/**
 * Returns filters that change the number of channels. Mono is copied to both channels, because FFmpeg's own conversion lowers it by 3 dB. A
 * downmix is scaled so that it does not clip, regardless of the encoder's sample format.
 */
export function channelFilters(from: number, to: number): string[] {
  if (from === to) return [];
  const layout = to === 1 ? "mono" : "stereo";
  return from === 1 ? ["pan=stereo|c0=c0|c1=c0"] : [`aresample=ochl=${layout}:rematrix_maxval=1`];
}

/**
 * Returns filters that change the sample rate and number of channels. For a downmix, the encoder's sample format decides whether the audio
 * is scaled.
 */
export function shapeFilters(from: number, rate: number, to: number): string {
  const both = from === 1 ? channelFilters(from, to) : [];
  return [...both, `aformat=sample_rates=${rate}:channel_layouts=${to === 1 ? "mono" : "stereo"}`].join(",");
}

/** Returns the number of channels of a result: as requested, otherwise as in the input, but at most 2. */
export function channelsOf(facts: Pick<AudioFacts, "channels">, output: Pick<Output, "channels">): number {
  return output.channels ?? Math.min(2, facts.channels);
}

export function mediaTypeOf(format: AudioFormat): string {
  return ENCODINGS[format].mediaType;
}

export interface Encode {
  readonly folder: string;
  /** FFmpeg filter graph with the output label `[a]`. */
  readonly graph: string;
  readonly from: Pick<AudioFacts, "format" | "seconds" | "sampleRate" | "channels">;
  readonly output: Output;
  /** Expected length of the result in seconds, for progress reports. Default: the length of the input. */
  readonly seconds?: number;
  readonly name?: string;
  readonly progress?: (share: number) => void;
  /** Called with each line that a filter prints. */
  readonly onLog?: (line: string) => void;
}

/** Runs the graph and encodes its output. */
export async function encodeAudio(encode: Encode): Promise<RunOutput> {
  const { folder, from, output, seconds = from.seconds, progress } = encode;
  const format = output.format ?? from.format;
  const { encoder, muxer, mediaType, isLossless, options } = ENCODINGS[format];
  const name = encode.name ?? `audio.${format}`;
  const path = join(folder, name);
  const rate = output.sample_rate ?? from.sampleRate;
  const channels = channelsOf(from, output);
  const ownRate = rateOf(format, rate);
  const shape = shapeFilters(from.channels, ownRate, channels);
  const wanted = output.bitrate ?? 128;
  const kilobits =
    format === "ogg"
      ? vorbisBitrate(wanted, ownRate, channels)
      : Math.min(wanted, format === "opus" ? channels * OPUS_BITRATE_MAX : Infinity);
  const bitrate = isLossless === true ? {} : { b: `${kilobits}k` };
  let written = 0;
  await runAudioGraph({
    graph: encode.graph.replace(/\[a\]$/, `,${shape}[a]`),
    streams: [{ label: "a", encoder, options: bitrate }],
    output: { path, muxer, ...(options === undefined ? {} : { options }) },
    secondsMax: SECONDS_MAX,
    onSeconds: (at) => {
      written = at;
      if (seconds > 0) progress?.(Math.min(0.99, at / seconds));
    },
    ...(encode.onLog === undefined ? {} : { onLog: encode.onLog }),
  });
  const { size } = await stat(path);
  return {
    output: { format, seconds: round(written), sample_rate: ownRate, channels, bytes: size },
    files: [{ path, mediaType, name }],
  };
}

/** Highest bitrate that Opus supports in mono, in kbit/s. */
const OPUS_BITRATE_MAX = 256;

/** Sample rates of MP3, in hertz; AAC supports more. */
const RATES = [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const;
const AAC_RATES = [...RATES, 64_000, 88_200, 96_000] as const;

/** Returns the sample rate of a result: 48 kHz for Opus, at most 48 kHz for Vorbis, else the next higher supported one. */
function rateOf(format: AudioFormat, rate: number): number {
  if (format === "opus") return 48_000;
  if (format === "ogg") return Math.min(VORBIS_RATE_MAX, rate);
  if (format === "mp3") return RATES.find((one) => one >= rate) ?? 48_000;
  return format === "m4a" || format === "aac" ? (AAC_RATES.find((one) => one >= rate) ?? 96_000) : rate;
}

/** Runs a graph as `runFilterGraph` does; a failure means damaged audio. @throws MediaError corrupt, too_large */
export async function runAudioGraph(plan: FilterGraphPlan): Promise<void> {
  await runFilterGraph(plan).catch((error: unknown) => {
    if (!(error instanceof MediaError)) throw error;
    // The graph is generated from probed facts, so a failure means damaged data.
    if (error.fault === "failed") throw new MediaError("corrupt", "The audio cannot be decoded.", { cause: error });
    if (error.fault !== "corrupt") throw error;
    throw new MediaError("corrupt", "No part of the audio can be decoded.", { cause: error });
  });
}

/** Runs a graph, discards its audio, and returns the lines that its filters printed. */
export async function measured(folder: string, graph: string, seconds: number): Promise<string> {
  const lines: string[] = [];
  await runAudioGraph({
    graph,
    streams: [{ label: "a", encoder: "pcm_s16le" }],
    output: { path: join(folder, "measured.wav"), muxer: "null" },
    secondsMax: Math.max(SECONDS_MAX, seconds),
    onLog: (line) => lines.push(line),
  });
  return lines.join("");
}

export function round(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}
