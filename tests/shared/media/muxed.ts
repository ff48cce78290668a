/** Sound in the containers that people send, written by FFmpeg; the times beside its packets may be forged. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { AVSampleFormat, FFEncoderCodec } from "node-av/constants";

import { temporaryDirectory } from "#tests/support/infrastructure.ts";
import { loadFfmpeg } from "#workers/children/ffmpeg.ts";

export interface Muxed {
  readonly encoder: string;
  readonly container: "ogg" | "webm" | "matroska" | "mp4" | "mov" | "flac";
  readonly sampleRate?: number;
  readonly channels?: 1 | 2;
  readonly bitRate?: bigint;
  readonly movflags?: string;
}

/** @param isForged each packet says that it comes one tick after the one before */
export async function muxed(what: Muxed, seconds: number, isForged = false): Promise<Uint8Array> {
  const { encoder, container, sampleRate = 48_000, channels = 1, bitRate = 64_000n, movflags } = what;
  const { lib, constants } = await loadFfmpeg();
  const codec = lib.Codec.findEncoderByName(encoder as FFEncoderCodec);
  if (codec === null) throw new Error(`FFmpeg has no encoder ${encoder}`);
  const format: AVSampleFormat = codec.sampleFormats?.[0] ?? constants.AV_SAMPLE_FMT_S16;
  const channelLayout = {
    nbChannels: channels,
    order: constants.AV_CHANNEL_ORDER_NATIVE,
    mask: channels === 1 ? 4n : 3n,
  };
  const context = new lib.CodecContext();
  context.allocContext3(codec);
  Object.assign(context, { sampleRate, sampleFormat: format, channelLayout, bitRate });
  context.timeBase = new lib.Rational(1, sampleRate);
  context.setFlags(constants.AV_CODEC_FLAG_GLOBAL_HEADER);
  check(context.open2Sync(codec, null), encoder);

  const folder = temporaryDirectory();
  const path = join(folder.directory, "sound");
  const output = new lib.FormatContext();
  check(output.allocOutputContext2(null, container, path), container);
  const stream = output.newStream(null);
  check(stream.codecpar.fromContext(context), "its parameters");
  stream.timeBase = context.timeBase;
  check(output.openOutputSync(), path);
  const options = movflags === undefined ? null : lib.Dictionary.fromObject({ movflags });
  check(output.writeHeaderSync(options), "the head");

  const packet = new lib.Packet();
  packet.alloc();
  let packets = 0;
  const drain = (): void => {
    while (context.receivePacketSync(packet) >= 0) {
      if (isForged) packet.pts = packet.dts = BigInt(packets);
      if (isForged) packet.duration = 1n;
      packets += 1;
      packet.streamIndex = 0;
      packet.rescaleTs(context.timeBase, stream.timeBase);
      check(output.interleavedWriteFrameSync(packet), "a packet");
      packet.unref();
    }
  };
  const size = context.frameSize || 1_024;
  for (let at = 0; at < seconds * sampleRate; at += size) {
    const nbSamples = Math.min(size, Math.round(seconds * sampleRate) - at);
    const frame = lib.Frame.fromAudioBuffer(tone(lib.avGetSampleFmtName(format) ?? "", at, nbSamples, channels), {
      nbSamples,
      format,
      sampleRate,
      channelLayout,
      timeBase: { num: 1, den: sampleRate },
      pts: BigInt(at),
    });
    check(context.sendFrameSync(frame), encoder);
    frame.free();
    drain();
  }
  check(context.sendFrameSync(null), encoder);
  drain();
  check(output.interleavedWriteFrameSync(null), "the rest");
  check(output.writeTrailerSync(), "the end");
  await output.closeOutput();
  packet.free();
  context.freeContext();
  output.freeContext();
  const bytes = readFileSync(path);
  folder.remove();
  return bytes;
}

/** A hum with some noise, loud and quiet in turn, so that encoders use all their block sizes. */
function tone(format: string, from: number, samples: number, channels: number): Buffer {
  const isPlanar = format.endsWith("p");
  const value = (at: number): number => {
    const time = (from + at) / 48_000;
    const noise = (((from + at) * 7_919) % 1_009) / 1_009 - 0.5;
    return (time % 0.3 < 0.02 ? 0.8 : 0.1) * noise + 0.2 * Math.sin(time * 2_765);
  };
  const all = Array.from({ length: samples * channels }, (_, index) =>
    value(isPlanar ? index % samples : Math.floor(index / channels)),
  );
  if (format.startsWith("flt")) return Buffer.from(Float32Array.from(all).buffer);
  if (format.startsWith("s32")) return Buffer.from(Int32Array.from(all, (one) => one * 2 ** 30).buffer);
  return Buffer.from(Int16Array.from(all, (one) => one * 32_000).buffer);
}

function check(code: number, what: string): void {
  if (code < 0) throw new Error(`FFmpeg refused ${what}: ${code}`);
}
