/**
 * Decodes untrusted audio to samples through FFmpeg (node-av). FFmpeg does not detect the container itself; the detected one is passed.
 * Playlists and other formats that open further files are therefore unreachable. Bytes are passed in memory, so that no file can refer to
 * another by name. For child processes only.
 */
import { loadFfmpeg } from "./ffmpeg.ts";
import { joinTagTexts } from "./id3.ts";
import { MediaError } from "#shared/children/media-error.ts";

/** Allowed audio containers, by FFmpeg's demuxer names. */
export type AudioContainer = "wav" | "mp3" | "aac" | "flac" | "ogg" | "mov" | "matroska";

export interface DecodedAudio {
  /** Samples from -1 to 1, with all channels mixed into one. */
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

/** Matches the allowed decoders for common audio. A video codec in the file is never opened. */
const CODECS =
  /^(?:mp[123]|mp3float|aac|flac|opus|libopus|vorbis|libvorbis|alac|pcm_.*|adpcm_ms|adpcm_ima_wav|libspeex|speex)$/;

/** Decodes audio. @throws MediaError corrupt, or unsupported for a codec that is not allowed */
export async function decodeAudio(
  bytes: Uint8Array,
  container: AudioContainer,
  secondsMax: number,
): Promise<DecodedAudio> {
  const { lib, constants } = await loadFfmpeg();
  const { Demuxer } = await import("node-av/api");
  joinTagTexts(bytes);
  const demuxer = await Demuxer.open(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
    format: container,
  }).catch((error: unknown) => {
    throw new MediaError("corrupt", "The audio cannot be read: its container is damaged.", { cause: error });
  });
  const stream = demuxer.audio();
  const codec = stream === undefined ? null : lib.Codec.findDecoder(stream.codecpar.codecId);
  if (stream === undefined || codec === null || !CODECS.test(codec.name ?? "")) {
    throw new MediaError("unsupported", "The audio uses an unsupported codec.");
  }
  const context = new lib.CodecContext();
  context.allocContext3(codec);
  context.parametersToContext(stream.codecpar);
  context.threadCount = 1;
  if ((await context.open2(codec, null)) < 0) throw new MediaError("corrupt", "The audio cannot be decoded.");
  const frame = new lib.Frame();
  frame.alloc();
  const pieces: Float32Array[] = [];
  let sampleRate = 0;
  let length = 0;
  const drain = (): void => {
    while (context.receiveFrameSync(frame) >= 0) {
      sampleRate ||= frame.sampleRate;
      const piece = mixDown(frame.data ?? [], frame.nbSamples, frame.channelLayout.nbChannels, frame.format, constants);
      pieces.push(piece);
      length += piece.length;
      frame.unref();
    }
  };
  for await (const packet of demuxer.packets(stream.index)) {
    if (packet === null) break;
    context.sendPacketSync(packet);
    packet.free();
    drain();
    if (length > secondsMax * sampleRate && sampleRate > 0) break;
  }
  context.sendPacketSync(null);
  drain();
  if (length === 0) throw new MediaError("corrupt", "The audio cannot be decoded.");
  const samples = new Float32Array(length);
  let at = 0;
  for (const piece of pieces) {
    samples.set(piece, at);
    at += piece.length;
  }
  return { samples: samples.subarray(0, Math.ceil(secondsMax * sampleRate)), sampleRate };
}

type Constants = Awaited<ReturnType<typeof loadFfmpeg>>["constants"];

function mixDown(
  planes: readonly Buffer[],
  samples: number,
  channels: number,
  format: number,
  constants: Constants,
): Float32Array {
  const kind = KINDS.find(({ names }) => names.some((name) => constants[name] === format));
  const mixed = new Float32Array(samples);
  if (kind === undefined) throw new MediaError("unsupported", "The audio uses an unsupported sample format.");
  const isPlanar = constants[kind.names[1]] === format;
  for (let channel = 0; channel < channels; channel += 1) {
    const plane = isPlanar ? planes[channel] : planes[0];
    if (plane === undefined) continue;
    const view = new DataView(plane.buffer, plane.byteOffset, plane.byteLength);
    const step = isPlanar ? kind.bytes : kind.bytes * channels;
    const start = isPlanar ? 0 : kind.bytes * channel;
    for (let index = 0; index < samples; index += 1) {
      mixed[index] = (mixed[index] ?? 0) + kind.read(view, start + index * step) / channels;
    }
  }
  return mixed;
}

/** FFmpeg's sample formats, each with its interleaved and planar name, its size, and its conversion to the range from -1 to 1. */
const KINDS = [
  {
    names: ["AV_SAMPLE_FMT_U8", "AV_SAMPLE_FMT_U8P"],
    bytes: 1,
    read: (view: DataView, at: number) => (view.getUint8(at) - 128) / 128,
  },
  {
    names: ["AV_SAMPLE_FMT_S16", "AV_SAMPLE_FMT_S16P"],
    bytes: 2,
    read: (view: DataView, at: number) => view.getInt16(at, true) / 32_768,
  },
  {
    names: ["AV_SAMPLE_FMT_S32", "AV_SAMPLE_FMT_S32P"],
    bytes: 4,
    read: (view: DataView, at: number) => view.getInt32(at, true) / 2_147_483_648,
  },
  {
    names: ["AV_SAMPLE_FMT_FLT", "AV_SAMPLE_FMT_FLTP"],
    bytes: 4,
    read: (view: DataView, at: number) => within(view.getFloat32(at, true)),
  },
  {
    names: ["AV_SAMPLE_FMT_DBL", "AV_SAMPLE_FMT_DBLP"],
    bytes: 8,
    read: (view: DataView, at: number) => within(view.getFloat64(at, true)),
  },
] as const;

/** Limits a sample to the range from -1 to 1. Floating point samples can have any value; NaN becomes silence. */
function within(sample: number): number {
  return Number.isNaN(sample) ? 0 : Math.min(1, Math.max(-1, sample));
}
