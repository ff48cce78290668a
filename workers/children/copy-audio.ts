/**
 * Copies the audio of a file into another file of the same format, packet by packet. Audio is not decoded, so its quality is unchanged.
 * Tags and pictures are rewritten. For child processes only.
 */
import type { FormatContext, Stream } from "node-av/lib";

import { MediaError } from "#shared/children/media-error.ts";

import { loadFfmpeg } from "./ffmpeg.ts";
import { type FileSource, whitelists } from "./file-source.ts";
import { check, type Ffmpeg, type FfmpegOptions, setOptions } from "./graph-streams.ts";

/** Picture attached to an audio file. */
export interface Picture {
  readonly format: "jpeg" | "png";
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
}

export interface CopyPlan {
  readonly source: FileSource;
  readonly output: { readonly path: string; readonly muxer: string; readonly options?: FfmpegOptions };
  /** Tags by FFmpeg's names. */
  readonly tags: Readonly<Record<string, string>>;
  /** Pictures to attach; empty if the muxer does not support pictures. */
  readonly pictures: readonly Picture[];
  /** Called with the length of the audio that was written so far, in seconds. */
  readonly onSeconds?: (seconds: number) => void;
}

/** Copies the audio. @throws MediaError corrupt; failed when the muxer rejects the audio */
export async function copyAudio({ source, output, tags, pictures, onSeconds }: CopyPlan): Promise<void> {
  const ffmpeg = await loadFfmpeg();
  const { lib } = ffmpeg;
  const demuxer = await open(source);
  const file = new lib.FormatContext();
  try {
    const from = demuxer.audio();
    if (from === undefined) throw new MediaError("corrupt", "The file contains no audio.");
    check(ffmpeg, file.allocOutputContext2(null, output.muxer, output.path), `the muxer ${output.muxer}`);
    const to = file.newStream(null);
    check(ffmpeg, from.codecpar.copy(to.codecpar), "the parameters of a stream");
    to.codecpar.codecTag = 0;
    to.timeBase = from.timeBase;
    // Ogg stores tags with the stream, all other formats with the file.
    if (output.muxer === "ogg") to.metadata = lib.Dictionary.fromObject({ ...tags });
    else file.metadata = lib.Dictionary.fromObject({ ...tags });
    const pictured = pictures.map((picture) => [picture, addPicture(ffmpeg, file, picture)] as const);
    setOptions(ffmpeg, file, { fflags: "+bitexact", ...output.options });
    check(ffmpeg, file.openOutputSync(), "the output file");
    check(ffmpeg, file.writeHeaderSync(null), "the file's header");
    for (const [{ bytes }, { index }] of pictured) {
      const packet = new lib.Packet();
      packet.alloc();
      packet.data = bytes;
      packet.streamIndex = index;
      packet.pts = 0n;
      packet.dts = 0n;
      check(ffmpeg, file.interleavedWriteFrameSync(packet), "a picture");
      packet.free();
    }
    for await (const packet of demuxer.packets(from.index)) {
      if (packet === null) break;
      packet.streamIndex = to.index;
      packet.rescaleTs(from.timeBase, to.timeBase);
      if (packet.pts >= 0n) onSeconds?.((Number(packet.pts) * to.timeBase.num) / to.timeBase.den);
      check(ffmpeg, file.interleavedWriteFrameSync(packet), "a packet");
      packet.free();
    }
    check(ffmpeg, file.writeTrailerSync(), "the file's end");
  } finally {
    await demuxer.close();
    file.closeOutputSync();
    // Freeing a context whose file is already closed crashes the process.
    file.pb = null;
    file.freeContext();
  }
}

/** Returns the bytes of the pictures that are attached to a file. @throws MediaError corrupt; unsupported for a file with video */
export async function readPictures(source: FileSource): Promise<readonly Buffer[]> {
  const { constants } = await loadFfmpeg();
  const demuxer = await open(source);
  try {
    const found = new Map<number, Buffer | undefined>();
    for (const stream of demuxer.streams) {
      if (stream.codecpar.codecType !== constants.AVMEDIA_TYPE_VIDEO) continue;
      if (!stream.hasDisposition(constants.AV_DISPOSITION_ATTACHED_PIC)) {
        throw new MediaError("unsupported", "Expected audio alone, got a file with video.");
      }
      found.set(stream.index, undefined);
    }
    // Pictures precede all audio. They are read as packets: pictures from their streams would be freed twice, which crashes.
    let missing = found.size;
    for await (const packet of missing > 0 ? demuxer.packets() : []) {
      if (packet === null) break;
      if (found.has(packet.streamIndex) && packet.data) {
        found.set(packet.streamIndex, Buffer.from(packet.data));
        missing -= 1;
      }
      packet.free();
      if (missing === 0) break;
    }
    return Array.from(found.values()).filter((bytes) => bytes !== undefined);
  } finally {
    await demuxer.close();
  }
}

async function open({ path, container }: FileSource) {
  const { Demuxer } = await import("node-av/api");
  return Demuxer.open(path, { format: container, options: whitelists(container) }).catch((error: unknown) => {
    throw new MediaError("corrupt", "The audio cannot be read: its container is damaged.", { cause: error });
  });
}

function addPicture({ lib, constants }: Ffmpeg, file: FormatContext, { format, width, height }: Picture): Stream {
  const stream = file.newStream(null);
  const { codecpar } = stream;
  codecpar.codecType = constants.AVMEDIA_TYPE_VIDEO;
  codecpar.codecId = format === "png" ? constants.AV_CODEC_ID_PNG : constants.AV_CODEC_ID_MJPEG;
  codecpar.width = width;
  codecpar.height = height;
  stream.timeBase = new lib.Rational(1, 90_000);
  stream.disposition = constants.AV_DISPOSITION_ATTACHED_PIC;
  stream.metadata = lib.Dictionary.fromObject({ comment: "Cover (front)" });
  return stream;
}
