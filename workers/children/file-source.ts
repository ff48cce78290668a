/**
 * Creates filters that read files as sources of a filter graph. FFmpeg does not detect the container itself; the detected one is passed.
 * Containers and decoders are allow-listed, because a playlist would otherwise open further files of this machine. For child processes
 * only.
 */
import { MediaError } from "#shared/children/media-error.ts";

import { loadFfmpeg } from "./ffmpeg.ts";
import { filterText } from "./filter-graph.ts";

/** Names of the allowed PCM decoders. They copy samples or convert them by a table, so their risk is low. */
const PCM =
  "pcm_u8,pcm_s8,pcm_s16le,pcm_s16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be,pcm_f32le,pcm_f32be,pcm_f64le,pcm_f64be,pcm_alaw,pcm_mulaw";

/** Allowed demuxers of FFmpeg, each with the decoders for the usual content of its files. */
const DECODERS = {
  mov: `h264,hevc,vp9,libdav1d,av1,mpeg4,mjpeg,prores,aac,ac3,eac3,mp3float,mp3,libopus,opus,flac,alac,${PCM}`,
  matroska: `h264,hevc,vp8,vp9,libdav1d,av1,mpeg4,mjpeg,aac,ac3,eac3,mp3float,mp3,libopus,opus,libvorbis,vorbis,flac,${PCM}`,
  avi: `h264,mpeg4,mjpeg,msmpeg4,aac,ac3,mp3float,mp3,${PCM}`,
  gif: "gif",
  png_pipe: "png",
  bmp_pipe: "bmp",
  // Without MP2: its decoder fails in this build of FFmpeg ("not yet implemented").
  mpegts: "h264,hevc,mpeg2video,mpeg1video,aac,aac_latm,ac3,eac3,mp3float,mp3,libopus,opus",
  flv: `h264,flv,vp6f,aac,mp3float,mp3,nellymoser,adpcm_swf,${PCM}`,
  wav: `adpcm_ms,adpcm_ima_wav,${PCM}`,
  mp3: "mp3float,mp3",
  flac: "flac",
  ogg: "libopus,opus,libvorbis,vorbis,flac",
  aac: "aac",
  aiff: PCM,
  caf: `alac,aac,libopus,opus,adpcm_ima_qt,${PCM}`,
  ac3: "ac3",
  eac3: "eac3",
} as const;

export type Container = keyof typeof DECODERS;

export interface FileSource {
  readonly path: string;
  readonly container: Container;
  /** Index of the file's audio stream, from 0; the first stream if absent. */
  readonly sound?: number;
  /** Recordings of a chained Ogg file in playback order. Each has the filters that convert it to the common format. */
  readonly links?: readonly { readonly path: string; readonly filters: readonly string[] }[];
}

/**
 * Returns the filter that reads one stream of a file `times` times; 0 means endlessly. The timestamps start again with each repetition.
 * @throws MediaError unsupported if a chained Ogg file is to be repeated
 */
export function fileSource(kind: "video" | "audio", source: FileSource, times = 1): string {
  const { path, container, sound = 0, links = [] } = source;
  if (links.length > 0) {
    if (times !== 1) throw new MediaError("unsupported", NOT_REPEATED);
    // A unique name, since one graph may contain the same file twice.
    const name = crypto.randomUUID().replaceAll("-", "");
    const parts = links.map((link, at) => {
      const own = fileSource(kind, { path: link.path, container, sound });
      return `${[own, "asetpts=N/SR/TB", ...link.filters].join(",")}[${name}${at}]`;
    });
    return `${parts.join(";")};${links.map((_, at) => `[${name}${at}]`).join("")}concat=n=${links.length}:v=0:a=1`;
  }
  const options = Object.entries(whitelists(container)).map(([name, value]) => `${name}=${value}`);
  return filterText(kind === "video" ? "movie" : "amovie", {
    filename: path,
    format_name: container,
    // Named explicitly, because FFmpeg's own choice may differ from the inspected stream.
    streams: kind === "video" ? "v:0" : `a:${sound}`,
    loop: times,
    dec_threads: 1,
    format_opts: options.join(":"),
  });
}

const NOT_REPEATED =
  "Expected one recording to repeat, got an Ogg file of several chained recordings; audio.convert joins them into one.";

/** True if a graph may use this decoder for the container. False if the decoder is missing. */
export function isDecoded(container: Container, decoder: string | null | undefined): boolean {
  return DECODERS[container].split(",").includes(decoder ?? "");
}

export interface FileFacts {
  /** Size in stored pixels, read from the video data itself. Null if no allowed decoder can read a video stream of the file. */
  readonly video: { readonly width: number; readonly height: number } | null;
  readonly hasAudio: boolean;
}

/** Reads facts about the first video and audio stream of a file, before a graph decodes them. @throws MediaError corrupt */
export async function readFileFacts({ path, container }: FileSource): Promise<FileFacts> {
  const { lib } = await loadFfmpeg();
  const { Demuxer } = await import("node-av/api");
  const demuxer = await Demuxer.open(path, { format: container, options: whitelists(container) }).catch(
    (error: unknown) => {
      throw new MediaError("corrupt", "The file cannot be read: its container is damaged.", { cause: error });
    },
  );
  const [video, audio] = [demuxer.video(), demuxer.audio()].map((stream) => {
    const name = stream === undefined ? null : lib.Codec.findDecoder(stream.codecpar.codecId)?.name;
    return isDecoded(container, name) ? stream?.codecpar : undefined;
  });
  const facts = {
    video: video === undefined ? null : { width: video.width, height: video.height },
    hasAudio: audio !== undefined && audio.sampleRate > 0,
  };
  await demuxer.close();
  return facts;
}

/** Returns options that restrict a demuxer to the given container and its allowed decoders. */
export function whitelists(container: Container): Readonly<Record<string, string>> {
  return { protocol_whitelist: "file", format_whitelist: container, codec_whitelist: DECODERS[container] };
}
