/**
 * H.264 through FFmpeg's libx264 (node-av): frames of YUV 4:2:0 in, bare packets out, as an MP4 wants them. Only ever
 * loaded in child processes: a fault in it must not take a server along.
 */
import type { FFEncoderCodec } from "node-av/constants";

import { loadFfmpeg } from "./ffmpeg.ts";
import { MediaError } from "#shared/media/media-error.ts";

export interface VideoShape {
  /** Pixels, both even. */
  readonly width: number;
  readonly height: number;
  readonly framesPerSecond: number;
}

export interface VideoPacket {
  /** NAL units, each with its length in four bytes before it. */
  readonly bytes: Uint8Array;
  /** A picture that needs no other. */
  readonly isKey: boolean;
}

export interface VideoEncoder {
  /** The content of an `avcC` box (ISO 14496-15): profile, level, parameter sets. */
  readonly setup: Uint8Array;
  /** @param frame all of Y, then U, then V, without gaps; BT.709, 16 to 235 */
  push(frame: Uint8Array): VideoPacket[];
  /** The rest; the encoder is of no use after it. */
  end(): VideoPacket[];
}

/**
 * Measured at 720p on one core: veryfast 7 ms a frame, superfast 5 and twice the bytes. One thread, since two jobs share
 * two cores, and because the bytes then depend on nothing else.
 */
const SETTINGS = { preset: "veryfast", crf: "20" } as const;
/** Bits a second at most, for pictures of pure noise: 30 s are 45 MB then. */
const BIT_RATE_MAX = 12_000_000n;
/** A player can jump to every second one. */
const KEY_SECONDS = 2;

/** Packets come in the order they are shown: no picture refers to a later one. @throws MediaError failed */
export async function openVideoEncoder({ width, height, framesPerSecond }: VideoShape): Promise<VideoEncoder> {
  const { lib, constants } = await loadFfmpeg();
  const found = lib.Codec.findEncoderByName("libx264" as FFEncoderCodec);
  if (found === null) throw new MediaError("failed", "FFmpeg has no encoder libx264");
  const context = new lib.CodecContext();
  context.allocContext3(found);
  context.width = width;
  context.height = height;
  context.pixelFormat = constants.AV_PIX_FMT_YUV420P;
  context.timeBase = new lib.Rational(1, framesPerSecond);
  context.framerate = new lib.Rational(framesPerSecond, 1);
  context.sampleAspectRatio = new lib.Rational(1, 1);
  context.gopSize = KEY_SECONDS * framesPerSecond;
  context.maxBFrames = 0;
  context.threadCount = 1;
  context.rcMaxRate = BIT_RATE_MAX;
  context.rcBufferSize = Number(BIT_RATE_MAX);
  context.colorRange = constants.AVCOL_RANGE_MPEG;
  context.colorPrimaries = constants.AVCOL_PRI_BT709;
  context.colorTrc = constants.AVCOL_TRC_BT709;
  context.colorSpace = constants.AVCOL_SPC_BT709;
  context.setFlags(constants.AV_CODEC_FLAG_GLOBAL_HEADER);
  // Not as a dictionary for opening: the binding frees it a second time, a crash when it is collected (measured).
  for (const [name, value] of Object.entries(SETTINGS)) {
    check(context.setOption(name, value, constants.AV_OPT_TYPE_STRING, constants.AV_OPT_SEARCH_CHILDREN));
  }
  check(context.open2Sync(found, null));
  const setup = avcConfiguration(context.extraData ?? new Uint8Array(0));
  const packet = new lib.Packet();
  packet.alloc();
  let position = 0n;

  function drain(): VideoPacket[] {
    const packets: VideoPacket[] = [];
    while (context.receivePacketSync(packet) >= 0) {
      if (packet.data !== null) packets.push({ bytes: lengthPrefixed(packet.data), isKey: packet.isKeyframe });
      packet.unref();
    }
    return packets;
  }

  return {
    setup,
    push: (bytes) => {
      const frame = lib.Frame.fromVideoBuffer(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
        width,
        height,
        format: constants.AV_PIX_FMT_YUV420P,
        timeBase: { num: 1, den: framesPerSecond },
        pts: position,
      });
      position += 1n;
      check(context.sendFrameSync(frame));
      frame.free();
      return drain();
    },
    end: () => {
      check(context.sendFrameSync(null));
      const packets = drain();
      packet.free();
      context.freeContext();
      return packets;
    },
  };
}

const NAL = { enhancement: 6, sequence: 7, picture: 8 } as const;

function kindOf(unit: Uint8Array): number {
  return (unit[0] ?? 0) & 31;
}

function avcConfiguration(extraData: Uint8Array): Uint8Array {
  const units = nalUnits(extraData);
  const sequence = units.find((unit) => kindOf(unit) === NAL.sequence);
  const picture = units.find((unit) => kindOf(unit) === NAL.picture);
  if (sequence === undefined || picture === undefined) throw new MediaError("failed", "libx264 told no parameter sets");
  const [, profile = 0, compatibility = 0, level = 0] = sequence;
  const head = [1, profile, compatibility, level, 0xff];
  // Profiles from High on repeat what 4:2:0 with 8 bits is.
  const tail = profile >= 100 ? [0xfd, 0xf8, 0xf8, 0] : [];
  return Uint8Array.from([...head, 0xe1, ...uint16(sequence), ...sequence, 1, ...uint16(picture), ...picture, ...tail]);
}

function uint16({ length }: Uint8Array): number[] {
  return [length >> 8, length & 0xff];
}

/** Without the note in which the encoder lists its settings. */
function lengthPrefixed(stream: Uint8Array): Uint8Array {
  const units = nalUnits(stream).filter((unit) => kindOf(unit) !== NAL.enhancement);
  const bytes = new Uint8Array(units.reduce((sum, { length }) => sum + 4 + length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const unit of units) {
    view.setUint32(at, unit.length);
    bytes.set(unit, at + 4);
    at += 4 + unit.length;
  }
  return bytes;
}

/** Cuts a byte stream at its start codes 00 00 01 (H.264, annex B). */
function nalUnits(stream: Uint8Array): Uint8Array[] {
  const starts: number[] = [];
  for (let at = stream.indexOf(1); at >= 0; at = stream.indexOf(1, at + 1)) {
    if (at >= 2 && stream[at - 1] === 0 && stream[at - 2] === 0) starts.push(at + 1);
  }
  return starts.map((start, index) => {
    const next = starts[index + 1];
    let end = next === undefined ? stream.length : next - 3;
    // Zeros before the next code belong to it.
    while (end > start && stream[end - 1] === 0) end -= 1;
    return stream.slice(start, end);
  });
}

function check(code: number): void {
  if (code < 0) throw new MediaError("failed", `FFmpeg's libx264 answered ${code}`);
}
