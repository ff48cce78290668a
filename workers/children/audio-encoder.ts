/**
 * Lossy and lossless audio codecs of FFmpeg (through node-av), one or two channels of 16 bits in, bare packets out;
 * containers are written elsewhere. Only ever loaded in child processes: a fault in it must not take a server along.
 */
import type { FFEncoderCodec } from "node-av/constants";

import { loadFfmpeg } from "./ffmpeg.ts";
import { MediaError } from "#shared/media/media-error.ts";

export type AudioCodec = "mp3" | "aac" | "opus" | "flac";
export type ChannelCount = 1 | 2;

export interface AudioPacket {
  readonly bytes: Uint8Array;
  /** Of one channel, at the encoder's rate. */
  readonly samples: number;
}

export interface AudioEncoder {
  /** What a container's header holds: OpusHead, STREAMINFO, AudioSpecificConfig; empty for MP3. */
  readonly setup: Uint8Array;
  /** Of two channels left and right in turn. */
  push(samples: Int16Array): AudioPacket[];
  /** The rest; the encoder is of no use after it. */
  end(): AudioPacket[];
}

/**
 * Bits a second that make speech in one channel and music in two sound like the original. FLAC has none to set.
 * FFmpeg's AAC is the weakest of them and gets more.
 */
const CODECS = {
  mp3: { encoder: "libmp3lame", bitRates: { 1: 64_000n, 2: 192_000n }, isFloat: true, isPlanar: true },
  aac: { encoder: "aac", bitRates: { 1: 64_000n, 2: 192_000n }, isFloat: true, isPlanar: true },
  opus: { encoder: "libopus", bitRates: { 1: 40_000n, 2: 128_000n }, isFloat: true, isPlanar: false },
  flac: { encoder: "flac", bitRates: { 1: 0n, 2: 0n }, isFloat: false, isPlanar: false },
} as const;

/** FFmpeg's bits for front centre, and for front left and right. */
const LAYOUT_MASKS = { 1: 4n, 2: 3n } as const;

/** @throws MediaError failed, where no binary of FFmpeg is installed for this system */
export async function openAudioEncoder(
  codec: AudioCodec,
  sampleRate: number,
  channels: ChannelCount = 1,
): Promise<AudioEncoder> {
  const { lib, constants } = await loadFfmpeg();
  const { encoder, bitRates, isFloat, isPlanar } = CODECS[codec];
  const found = lib.Codec.findEncoderByName(encoder as FFEncoderCodec);
  if (found === null) throw new MediaError("failed", `FFmpeg has no encoder ${encoder}`);
  const layout = { nbChannels: channels, order: constants.AV_CHANNEL_ORDER_NATIVE, mask: LAYOUT_MASKS[channels] };
  const format = isFloat
    ? isPlanar
      ? constants.AV_SAMPLE_FMT_FLTP
      : constants.AV_SAMPLE_FMT_FLT
    : constants.AV_SAMPLE_FMT_S16;
  const context = new lib.CodecContext();
  context.allocContext3(found);
  context.sampleRate = sampleRate;
  context.sampleFormat = format;
  context.channelLayout = layout;
  context.bitRate = bitRates[channels];
  context.timeBase = new lib.Rational(1, sampleRate);
  check(context.open2Sync(found, null), encoder);
  const frameLength = context.frameSize * channels;
  const packet = new lib.Packet();
  packet.alloc();
  let waiting = new Int16Array(0);
  let position = 0;

  function drain(): AudioPacket[] {
    const packets: AudioPacket[] = [];
    while (context.receivePacketSync(packet) >= 0) {
      // FLAC ends with an empty packet that carries a newer header.
      if (packet.data !== null && packet.data.length > 0) {
        packets.push({ bytes: Uint8Array.from(packet.data), samples: Number(packet.duration) });
      }
      packet.unref();
    }
    return packets;
  }

  function send(samples: Int16Array): AudioPacket[] {
    const data = isFloat ? floats(samples, isPlanar ? channels : 1) : samples.slice();
    const nbSamples = samples.length / channels;
    const frame = lib.Frame.fromAudioBuffer(Buffer.from(data.buffer), {
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
    return drain();
  }

  return {
    setup: Uint8Array.from(context.extraData ?? []),
    push: (samples) => {
      const all = new Int16Array(waiting.length + samples.length);
      all.set(waiting);
      all.set(samples, waiting.length);
      const packets: AudioPacket[] = [];
      let at = 0;
      for (; at + frameLength <= all.length; at += frameLength) {
        packets.push(...send(all.subarray(at, at + frameLength)));
      }
      waiting = all.slice(at);
      return packets;
    },
    end: () => {
      const packets = waiting.length > 0 ? send(waiting) : [];
      check(context.sendFrameSync(null), encoder);
      packets.push(...drain());
      packet.free();
      context.freeContext();
      return packets;
    },
  };
}

/** From -1 to 1; with several planes first all of the one channel, then all of the other. */
function floats(samples: Int16Array, planes: number): Float32Array {
  const result = new Float32Array(samples.length);
  const length = samples.length / planes;
  for (let plane = 0; plane < planes; plane += 1) {
    for (let index = 0; index < length; index += 1) {
      result[plane * length + index] = (samples[index * planes + plane] ?? 0) / 32_768;
    }
  }
  return result;
}

function check(code: number, what: string): void {
  if (code < 0) throw new MediaError("failed", `FFmpeg's ${what} answered ${code}`);
}
