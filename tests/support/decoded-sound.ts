/** Sound in the six formats of speech, decoded by libraries that had no part in making it. */
import { FLACDecoder } from "@wasm-audio-decoders/flac";
import { MPEGDecoder } from "mpg123-decoder";
import { OggOpusDecoder } from "ogg-opus-decoder";

import { loadFfmpeg } from "#workers/children/ffmpeg.ts";
import type { SpeechFormat } from "#workers/providers/media.ts";

const UNKNOWN = 0xffff_ffff;

export interface Sound {
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

/** @throws Error for what is no such sound, or damaged */
export const decoders: Readonly<Record<SpeechFormat, (bytes: Uint8Array) => Promise<Sound>>> = {
  mp3: (bytes) => wasm(new MPEGDecoder(), bytes),
  opus: async (bytes) => {
    const decoder = new OggOpusDecoder();
    await decoder.ready;
    const { channelData, sampleRate } = await decoder.decodeFile(bytes);
    decoder.free();
    return { samples: channelData[0] ?? new Float32Array(0), sampleRate };
  },
  flac: async (bytes) => {
    const decoder = new FLACDecoder();
    await decoder.ready;
    const { channelData, sampleRate } = await decoder.decodeFile(bytes);
    decoder.free();
    return { samples: channelData[0] ?? new Float32Array(0), sampleRate };
  },
  // Fraunhofer's decoder; the encoder is FFmpeg's own.
  aac: decodeWithFraunhofer,
  wav: async (bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    check("a wave", /^RIFF....WAVEfmt /s.test(new TextDecoder("latin1").decode(bytes.subarray(0, 16))));
    check(
      "16 bits of one channel",
      [20, 22].every((at) => view.getUint16(at, true) === 1) && view.getUint16(34, true) === 16,
    );
    // A head that was sent before the last sample was spoken names no length.
    const isOpen = view.getUint32(4, true) === UNKNOWN && view.getUint32(40, true) === UNKNOWN;
    const isWhole = view.getUint32(4, true) === bytes.length - 8 && view.getUint32(40, true) === bytes.length - 44;
    check("its own length", isOpen || isWhole);
    return { ...fromPcm(bytes.subarray(44)), sampleRate: view.getUint32(24, true) };
  },
  pcm: async (bytes) => fromPcm(bytes),
};

export function fromPcm(bytes: Uint8Array): Sound {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const samples = Float32Array.from({ length: bytes.length / 2 }, (_, at) => view.getInt16(2 * at, true) / 32_768);
  return { samples, sampleRate: 24_000 };
}

async function wasm(decoder: MPEGDecoder, bytes: Uint8Array): Promise<Sound> {
  await decoder.ready;
  const { channelData, sampleRate, errors } = decoder.decode(bytes);
  decoder.free();
  check("no broken frame", errors.length === 0);
  return { samples: channelData[0] ?? new Float32Array(0), sampleRate };
}

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
  const samples: number[] = [];
  let failed = 0;
  for await (const packet of demuxer.packets(stream.index)) {
    if (packet === null) break;
    if (context.sendPacketSync(packet) < 0) failed += 1;
    packet.free();
    while (context.receiveFrameSync(frame) >= 0) {
      const plane = frame.data?.[0];
      if (plane === undefined) continue;
      const view = new DataView(plane.buffer, plane.byteOffset, plane.byteLength);
      for (let at = 0; at < frame.nbSamples; at += 1)
        samples.push(view.getInt16(2 * at * frame.channelLayout.nbChannels, true) / 32_768);
      frame.unref();
    }
  }
  const { sampleRate } = context;
  await demuxer.close();
  check("no broken packet", failed === 0);
  return { samples: Float32Array.from(samples), sampleRate };
}

function check(what: string, isSo: boolean): void {
  if (!isSo) throw new Error(`expected ${what}`);
}
