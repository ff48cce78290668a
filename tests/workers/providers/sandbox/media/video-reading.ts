/** Reads what was made with FFmpeg's own demuxers and decoders, which had no part in writing the containers. */
import type { DemuxerFormat, FFDecoderCodec } from "node-av/constants";

import { loadFfmpeg } from "#workers/children/ffmpeg.ts";

export interface Stereo {
  readonly left: Float32Array;
  readonly right: Float32Array;
  readonly sampleRate: number;
}

/** All of Y, then U, then V. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
  readonly seconds: number;
}

/** @param decoder by name, where it matters which */
export async function decodeSound(bytes: Uint8Array, container: DemuxerFormat, decoder?: string): Promise<Stereo> {
  const { lib, constants } = await loadFfmpeg();
  const { Demuxer } = await import("node-av/api");
  const demuxer = await Demuxer.open(Buffer.from(bytes), { format: container });
  const stream = demuxer.audio();
  if (stream === undefined) throw new Error("no sound");
  const codec =
    decoder === undefined
      ? lib.Codec.findDecoder(stream.codecpar.codecId)
      : lib.Codec.findDecoderByName(decoder as FFDecoderCodec);
  if (codec === null) throw new Error("no decoder");
  const context = new lib.CodecContext();
  context.allocContext3(codec);
  context.parametersToContext(stream.codecpar);
  context.pktTimebase = stream.timeBase;
  if ((await context.open2(codec, null)) < 0) throw new Error("the decoder does not open");
  const frame = new lib.Frame();
  frame.alloc();
  const channels: [number[], number[]] = [[], []];
  const drain = (): void => {
    while (context.receiveFrameSync(frame) >= 0) {
      const isPlanar = frame.format === constants.AV_SAMPLE_FMT_FLTP;
      for (const [index, channel] of channels.entries()) {
        const plane = frame.data?.[isPlanar ? index : 0];
        if (plane === undefined) throw new Error("not two channels");
        const view = new DataView(plane.buffer, plane.byteOffset, plane.byteLength);
        for (let at = 0; at < frame.nbSamples; at += 1) {
          channel.push(isPlanar ? view.getFloat32(4 * at, true) : view.getInt16(4 * at + 2 * index, true) / 32_768);
        }
      }
      frame.unref();
    }
  };
  for await (const packet of demuxer.packets(stream.index)) {
    if (packet === null) break;
    if (context.sendPacketSync(packet) < 0) throw new Error("a packet is damaged");
    packet.free();
    drain();
  }
  context.sendPacketSync(null);
  drain();
  const { sampleRate } = context;
  frame.free();
  context.freeContext();
  await demuxer.close();
  return { left: Float32Array.from(channels[0]), right: Float32Array.from(channels[1]), sampleRate };
}

export async function decodePictures(bytes: Uint8Array): Promise<Picture[]> {
  const { lib } = await loadFfmpeg();
  const { Demuxer } = await import("node-av/api");
  const demuxer = await Demuxer.open(Buffer.from(bytes), { format: "mov" });
  const stream = demuxer.video();
  const codec = stream === undefined ? null : lib.Codec.findDecoder(stream.codecpar.codecId);
  if (stream === undefined || codec === null) throw new Error("no pictures");
  const context = new lib.CodecContext();
  context.allocContext3(codec);
  context.parametersToContext(stream.codecpar);
  if ((await context.open2(codec, null)) < 0) throw new Error("the decoder does not open");
  const frame = new lib.Frame();
  frame.alloc();
  const { num, den } = stream.timeBase;
  const pictures: Picture[] = [];
  const drain = (): void => {
    while (context.receiveFrameSync(frame) >= 0) {
      const seconds = (Number(frame.pts) * num) / den;
      pictures.push({ width: frame.width, height: frame.height, data: new Uint8Array(frame.toBuffer()), seconds });
      frame.unref();
    }
  };
  for await (const packet of demuxer.packets(stream.index)) {
    if (packet === null) break;
    if (context.sendPacketSync(packet) < 0) throw new Error("a packet is damaged");
    packet.free();
    drain();
  }
  context.sendPacketSync(null);
  drain();
  frame.free();
  context.freeContext();
  await demuxer.close();
  return pictures;
}

/** Integrated loudness in LUFS by FFmpeg's meter (EBU R 128). */
export async function loudnessOf({ left, right, sampleRate }: Stereo): Promise<number> {
  const { lib, constants } = await loadFfmpeg();
  const graph = new lib.FilterGraph();
  graph.alloc();
  const text = `abuffer=sample_rate=${sampleRate}:sample_fmt=fltp:channel_layout=stereo:time_base=1/${sampleRate},ebur128=metadata=1,abuffersink`;
  if (graph.parsePtr(text) < 0 || graph.configSync() < 0) throw new Error("no meter");
  const source = graph.filters?.find((filter) => filter.isSource());
  const sink = graph.filters?.find((filter) => filter.isSink());
  if (source === undefined || sink === undefined) throw new Error("a meter without ends");
  const samples = new Float32Array(2 * left.length);
  samples.set(left);
  samples.set(right, left.length);
  const frame = lib.Frame.fromAudioBuffer(Buffer.from(samples.buffer), {
    nbSamples: left.length,
    format: constants.AV_SAMPLE_FMT_FLTP,
    sampleRate,
    channelLayout: { nbChannels: 2, order: constants.AV_CHANNEL_ORDER_NATIVE, mask: 3n },
    timeBase: { num: 1, den: sampleRate },
    pts: 0n,
  });
  source.buffersrcAddFrameSync(frame);
  source.buffersrcAddFrameSync(null);
  frame.free();
  const heard = new lib.Frame();
  heard.alloc();
  let loudness = Number.NaN;
  while (sink.buffersinkGetFrameSync(heard) >= 0) {
    loudness = Number(heard.getMetadata().get("lavfi.r128.I") ?? loudness);
    heard.unref();
  }
  heard.free();
  graph.free();
  return loudness;
}
