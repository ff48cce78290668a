/**
 * Encodes samples as an audio file with FFmpeg's encoders and muxers (node-av). Equal samples give equal bytes. For child processes only,
 * because a crash of FFmpeg must not end a server.
 */
import type { FFEncoderCodec } from "node-av/constants";

import { MediaError } from "#shared/children/media-error.ts";

import { loadFfmpeg } from "./ffmpeg.ts";

export type AudioFileFormat = keyof typeof FORMATS;
export type ChannelCount = 1 | 2;

export interface AudioFileOptions {
  readonly sampleRate: number;
  readonly channels: ChannelCount;
  /** Tags that are stored in the file. The formats wav and pcm cannot store tags. */
  readonly tags?: Readonly<Record<string, string>>;
  /** True if bytes are returned as they are written. The file's header then contains no length, and an mp3 has no seek table. */
  readonly isStreamed?: boolean;
}

export interface AudioEncoder {
  /**
   * Encodes samples.
   * @param samples samples of all channels; for two channels, left and right alternate
   * @returns the encoded bytes that are complete; always empty if `isStreamed` is false
   */
  push(samples: Int16Array): Uint8Array;
  /** Finishes the file and returns the remaining bytes. The encoder cannot be used afterwards. */
  end(): Uint8Array;
}

/**
 * Bitrate in bit/s by number of channels. With it, speech in one channel and music in two channels sound like the original. Lossless
 * formats have no bitrate.
 */
const LOSSY_BITS = { 1: 64_000n, 2: 192_000n } as const;
const LOSSLESS_BITS = { 1: 0n, 2: 0n } as const;

const FORMATS = {
  mp3: { encoder: "libmp3lame", muxer: "mp3", sampleFormat: "AV_SAMPLE_FMT_FLTP", bitRates: LOSSY_BITS },
  aac: { encoder: "aac", muxer: "adts", sampleFormat: "AV_SAMPLE_FMT_FLTP", bitRates: LOSSY_BITS },
  // Opus has the same quality at two thirds of the rate.
  opus: {
    encoder: "libopus",
    muxer: "ogg",
    sampleFormat: "AV_SAMPLE_FMT_FLT",
    bitRates: { 1: 40_000n, 2: 128_000n },
  },
  flac: { encoder: "flac", muxer: "flac", sampleFormat: "AV_SAMPLE_FMT_S16", bitRates: LOSSLESS_BITS },
  wav: { encoder: "pcm_s16le", muxer: "wav", sampleFormat: "AV_SAMPLE_FMT_S16", bitRates: LOSSLESS_BITS },
  pcm: { encoder: "pcm_s16le", muxer: "s16le", sampleFormat: "AV_SAMPLE_FMT_S16", bitRates: LOSSLESS_BITS },
} as const;

/** FFmpeg's channel masks by number of channels: front centre, or front left and right. */
const LAYOUT_MASKS = { 1: 4n, 2: 3n } as const;
/** Number of samples per frame, for encoders that accept frames of any length. */
const USUAL_FRAME_SAMPLES = 1_024;

/** Opens an encoder. @throws MediaError failed if no FFmpeg binary is installed for this system */
export async function openAudioEncoder(
  name: AudioFileFormat,
  { sampleRate, channels, tags = {}, isStreamed = false }: AudioFileOptions,
): Promise<AudioEncoder> {
  const { lib, constants } = await loadFfmpeg();
  const { encoder, muxer, sampleFormat, bitRates } = FORMATS[name];
  const format = constants[sampleFormat];
  const layout = { nbChannels: channels, order: constants.AV_CHANNEL_ORDER_NATIVE, mask: LAYOUT_MASKS[channels] };

  const codec = lib.Codec.findEncoderByName(encoder as FFEncoderCodec);
  if (codec === null) throw new MediaError("failed", `FFmpeg has no encoder ${encoder}`);
  const context = new lib.CodecContext();
  context.allocContext3(codec);
  context.sampleRate = sampleRate;
  context.sampleFormat = format;
  context.channelLayout = layout;
  context.bitRate = bitRates[channels];
  context.timeBase = new lib.Rational(1, sampleRate);
  context.setFlags(constants.AV_CODEC_FLAG_BITEXACT);
  check(context.open2Sync(codec, null), encoder);

  const file = createMemoryFile();
  const io = new lib.IOContext();
  io.allocContextWithCallbacks(65_536, 1, undefined, file.write, isStreamed ? undefined : file.seek);
  const output = new lib.FormatContext();
  check(output.allocOutputContext2(null, muxer, null), muxer);
  output.pb = io;
  output.setFlags(constants.AVFMT_FLAG_CUSTOM_IO, constants.AVFMT_FLAG_BITEXACT);
  output.metadata = lib.Dictionary.fromObject({ ...tags });
  if (muxer === "adts" && Object.keys(tags).length > 0) check(output.setOption("write_id3v2", 1), muxer);
  const stream = output.newStream(null);
  check(stream.codecpar.fromContext(context), muxer);
  stream.timeBase = context.timeBase;
  check(output.writeHeaderSync(null), muxer);

  const packet = new lib.Packet();
  packet.alloc();
  const step = (context.frameSize || USUAL_FRAME_SAMPLES) * channels;
  let waiting = new Int16Array(0);
  let position = 0;

  function drain(): void {
    while (context.receivePacketSync(packet) >= 0) {
      packet.streamIndex = 0;
      packet.rescaleTs(context.timeBase, stream.timeBase);
      check(output.writeFrameSync(packet), muxer);
      packet.unref();
    }
  }

  function send(samples: Int16Array): void {
    const nbSamples = samples.length / channels;
    const frame = lib.Frame.fromAudioBuffer(samplesAs(sampleFormat, samples, channels), {
      nbSamples,
      format,
      sampleRate,
      channelLayout: layout,
      timeBase: { num: 1, den: sampleRate },
      pts: BigInt(position),
    });
    position += nbSamples;
    check(context.sendFrameSync(frame), encoder);
    frame.free();
    drain();
  }

  return {
    push: (samples) => {
      const all = new Int16Array(waiting.length + samples.length);
      all.set(waiting);
      all.set(samples, waiting.length);
      let at = 0;
      for (; at + step <= all.length; at += step) send(all.subarray(at, at + step));
      waiting = all.slice(at);
      if (!isStreamed) return new Uint8Array(0);
      io.flushSync();
      return file.take();
    },
    end: () => {
      if (waiting.length > 0) send(waiting);
      check(context.sendFrameSync(null), encoder);
      drain();
      check(output.writeTrailerSync(), muxer);
      io.flushSync();
      packet.free();
      context.freeContext();
      // Freeing an output that still refers to its input and output crashes the process.
      output.pb = null;
      output.freeContext();
      io.freeContext();
      return file.take();
    },
  };
}

/** Encodes all samples as one file. */
export async function encodeAudio(
  format: AudioFileFormat,
  samples: Int16Array,
  options: Omit<AudioFileOptions, "isStreamed">,
): Promise<Uint8Array> {
  const encoder = await openAudioEncoder(format, options);
  encoder.push(samples);
  return encoder.end();
}

/**
 * Special `whence` value of FFmpeg's file interface that requests the file size. Other values are 0 (from the start), 1 (from the current
 * position) and 2 (from the end).
 */
const SEEK_SIZE = 65_536;

function createMemoryFile() {
  let bytes = Buffer.alloc(1 << 16);
  let length = 0;
  let position = 0;
  return {
    write: (data: Buffer): number => {
      const end = position + data.length;
      if (end > bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(end)]);
      data.copy(bytes, position);
      position = end;
      length = Math.max(length, end);
      return data.length;
    },
    seek: (offset: bigint, whence: number): bigint => {
      if (whence === SEEK_SIZE) return BigInt(length);
      position = Number(offset) + ([0, position, length][whence] ?? 0);
      return BigInt(position);
    },
    /** Returns the bytes that were written since the last call, and removes them from the buffer. */
    take: (): Uint8Array => {
      const taken = Uint8Array.from(bytes.subarray(0, length));
      length = 0;
      position = 0;
      return taken;
    },
  };
}

/**
 * Converts samples to an encoder's sample format. Integers are unchanged, and floats range from -1 to 1. Planar formats contain one channel
 * after the other.
 */
function samplesAs(sampleFormat: string, samples: Int16Array, channels: number): Buffer {
  if (sampleFormat === "AV_SAMPLE_FMT_S16") return Buffer.from(samples.slice().buffer);
  const planes = sampleFormat === "AV_SAMPLE_FMT_FLTP" ? channels : 1;
  const length = samples.length / planes;
  const floats = new Float32Array(samples.length);
  for (let plane = 0; plane < planes; plane += 1) {
    for (let index = 0; index < length; index += 1) {
      floats[plane * length + index] = (samples[index * planes + plane] ?? 0) / 32_768;
    }
  }
  return Buffer.from(floats.buffer);
}

function check(code: number, what: string): void {
  if (code < 0) throw new MediaError("failed", `FFmpeg's ${what} answered ${code}`);
}
