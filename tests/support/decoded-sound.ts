/** Decodes the six audio formats with other libraries than those that encoded them. */
import { FLACDecoder } from "@wasm-audio-decoders/flac";
import { MPEGDecoder } from "mpg123-decoder";
import { OggOpusDecoder } from "ogg-opus-decoder";

import { loadFfmpeg } from "#workers/children/ffmpeg.ts";
import type { SpeechFormat } from "#workers/providers/media.ts";

export interface Sound {
  /** Samples of each channel, as numbers from -1 to 1. */
  readonly channels: readonly Float32Array[];
  /** Samples of the first channel. */
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

/** Decoder of each format. @throws Error if the bytes have another format or are damaged */
export const decoders: Readonly<Record<SpeechFormat, (bytes: Uint8Array) => Promise<Sound>>> = {
  mp3: async (bytes) => {
    const decoder = new MPEGDecoder();
    await decoder.ready;
    const { channelData, sampleRate, errors } = decoder.decode(bytes);
    decoder.free();
    check("no broken frame", errors.length === 0);
    return sound(channelData, sampleRate);
  },
  opus: (bytes) => decodeFile(new OggOpusDecoder(), bytes),
  flac: (bytes) => decodeFile(new FLACDecoder(), bytes),
  aac: decodeWithFraunhofer,
  wav: async (bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    check("a wave", /^RIFF....WAVEfmt /s.test(new TextDecoder("latin1").decode(bytes.subarray(0, 16))));
    check("16 bits of PCM", view.getUint16(20, true) === 1 && view.getUint16(34, true) === 16);
    // A header that was sent before the last sample contains no length.
    const isOpen = view.getUint32(40, true) === 0xffff_ffff;
    check("its own length", isOpen || view.getUint32(40, true) === bytes.length - 44);
    return fromPcm(bytes.subarray(44), view.getUint16(22, true), view.getUint32(24, true));
  },
  pcm: async (bytes) => fromPcm(bytes, 1, 24_000),
};

function fromPcm(bytes: Uint8Array, channels: number, sampleRate: number): Sound {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = (channel: number): Float32Array =>
    Float32Array.from(
      { length: bytes.length / 2 / channels },
      (_, at) => view.getInt16(2 * (at * channels + channel), true) / 32_768,
    );
  return sound(
    Array.from({ length: channels }, (_, channel) => read(channel)),
    sampleRate,
  );
}

function sound(channels: readonly Float32Array[], sampleRate: number): Sound {
  return { channels, samples: channels[0] ?? new Float32Array(0), sampleRate };
}

async function decodeFile(decoder: FLACDecoder | OggOpusDecoder, bytes: Uint8Array): Promise<Sound> {
  await decoder.ready;
  const { channelData, sampleRate } = await decoder.decodeFile(bytes);
  decoder.free();
  return sound(channelData, sampleRate);
}

/** Decodes AAC with Fraunhofer's decoder; the encoder is FFmpeg's own. */
async function decodeWithFraunhofer(bytes: Uint8Array): Promise<Sound> {
  const { lib } = await loadFfmpeg();
  const { Demuxer } = await import("node-av/api");
  const demuxer = await Demuxer.open(Buffer.from(bytes), { format: "aac" });
  const stream = demuxer.audio();
  const codec = lib.Codec.findDecoderByName("libfdk_aac" as Parameters<typeof lib.Codec.findDecoderByName>[0]);
  if (stream === undefined || codec === null) throw new Error("no decoder");
  const context = new lib.CodecContext();
  context.allocContext3(codec);
  context.parametersToContext(stream.codecpar);
  check("a decoder", (await context.open2(codec, null)) === 0);
  const frame = new lib.Frame();
  frame.alloc();
  const parts: Uint8Array[] = [];
  for await (const packet of demuxer.packets(stream.index)) {
    if (packet === null) break;
    check("no broken packet", context.sendPacketSync(packet) >= 0);
    packet.free();
    while (context.receiveFrameSync(frame) >= 0) {
      const bytesOf = 2 * frame.nbSamples * frame.channelLayout.nbChannels;
      parts.push(Uint8Array.from(frame.data?.[0]?.subarray(0, bytesOf) ?? []));
      frame.unref();
    }
  }
  const { sampleRate } = context;
  const { nbChannels } = context.channelLayout;
  await demuxer.close();
  return fromPcm(Buffer.concat(parts), nbChannels, sampleRate);
}

function check(what: string, isSo: boolean): void {
  if (!isSo) throw new Error(`expected ${what}`);
}
