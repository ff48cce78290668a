/** Footage for tests, as others make it: VP8 in WebM, H.264 in an MP4 that may be turned or tell lies. */
import type { FFEncoderCodec } from "node-av/constants";

import { loadFfmpeg } from "#workers/children/ffmpeg.ts";
import { writeMp4 } from "#workers/children/mp4-writer.ts";
import { openVideoEncoder } from "#workers/children/video-encoder.ts";

const FRAMES_PER_SECOND = 10;

/** YUV of a pixel. */
type Paint = (x: number, y: number, frame: number) => readonly [number, number, number];

export interface FootageShape {
  readonly width: number;
  readonly height: number;
  readonly frames: number;
}

function drawFrame({ width, height }: FootageShape, paint: Paint, frame: number): Uint8Array {
  const data = new Uint8Array(width * height * 1.5);
  const half = (width / 2) * (height / 2);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const [light, u, v] = paint(x, y, frame);
      data[y * width + x] = light;
      const at = width * height + (y >> 1) * (width / 2) + (x >> 1);
      data[at] = u;
      data[at + half] = v;
    }
  }
  return data;
}

/** Ten frames a second, without sound. @param claimed what the head says of the size, where that is not true */
export async function mp4Footage(
  shape: FootageShape,
  paint: Paint,
  claimed: { readonly width: number; readonly height: number } = shape,
): Promise<Uint8Array> {
  const encoder = await openVideoEncoder({ ...shape, framesPerSecond: FRAMES_PER_SECOND });
  const packets = Array.from({ length: shape.frames }, (_, frame) =>
    encoder.push(drawFrame(shape, paint, frame)),
  ).flat();
  packets.push(...encoder.end());
  return writeMp4({
    ...claimed,
    framesPerSecond: FRAMES_PER_SECOND,
    video: { setup: encoder.setup, packets },
    audio: { setup: Uint8Array.of(0x11, 0x90), packets: [], sampleRate: 48_000, channels: 2, skipped: 0, samples: 0 },
  });
}

/** The matrix of a camera that was held upright: shown a quarter turn clockwise. */
export function turned(mp4: Uint8Array): Uint8Array {
  const result = mp4.slice();
  const at = Buffer.from(result.buffer).indexOf("tkhd") + 4 + 40;
  const view = new DataView(result.buffer);
  [0, 0x1_0000, 0, -0x1_0000, 0, 0, 0, 0, 0x4000_0000].forEach((value, index) => view.setInt32(at + 4 * index, value));
  return result;
}

export async function webmFootage(shape: FootageShape, paint: Paint): Promise<Uint8Array> {
  const { lib, constants } = await loadFfmpeg();
  const codec = lib.Codec.findEncoderByName("libvpx" as FFEncoderCodec);
  if (codec === null) throw new Error("no VP8");
  const context = new lib.CodecContext();
  context.allocContext3(codec);
  context.width = shape.width;
  context.height = shape.height;
  context.pixelFormat = constants.AV_PIX_FMT_YUV420P;
  context.timeBase = new lib.Rational(1, FRAMES_PER_SECOND);
  context.bitRate = 400_000n;
  if (context.open2Sync(codec, null) < 0) throw new Error("VP8 does not open");
  const packet = new lib.Packet();
  packet.alloc();
  const blocks: Uint8Array[] = [];
  const drain = (): void => {
    while (context.receivePacketSync(packet) >= 0) {
      const ms = (1_000 / FRAMES_PER_SECOND) * blocks.length;
      const flags = packet.isKeyframe ? 0x80 : 0;
      blocks.push(element(0xa3, Uint8Array.of(0x81, ms >> 8, ms & 0xff, flags), packet.data ?? new Uint8Array(0)));
      packet.unref();
    }
  };
  for (let index = 0; index < shape.frames; index += 1) {
    const frame = lib.Frame.fromVideoBuffer(Buffer.from(drawFrame(shape, paint, index).buffer), {
      width: shape.width,
      height: shape.height,
      format: constants.AV_PIX_FMT_YUV420P,
      pts: BigInt(index),
    });
    context.sendFrameSync(frame);
    frame.free();
    drain();
  }
  context.sendFrameSync(null);
  drain();
  packet.free();
  context.freeContext();
  const text = (id: number, value: string): Uint8Array => element(id, new TextEncoder().encode(value));
  const number = (id: number, value: number): Uint8Array => element(id, Uint8Array.of(value >> 8, value & 0xff));
  const size = element(0xe0, number(0xb0, shape.width), number(0xba, shape.height));
  const track = element(0xae, number(0xd7, 1), number(0x73c5, 1), number(0x83, 1), text(0x86, "V_VP8"), size);
  return joined(
    element(0x1a45dfa3, text(0x4282, "webm"), number(0x4287, 2), number(0x4285, 2)),
    element(0x18538067, element(0x1654ae6b, track), element(0x1f43b675, number(0xe7, 0), ...blocks)),
  );
}

/** An element of EBML (RFC 8794) with its length in four bytes. */
function element(id: number, ...content: readonly Uint8Array[]): Uint8Array {
  const bytes = id > 0xff_ffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1;
  const name = Uint8Array.from({ length: bytes }, (_, at) => Math.floor(id / 256 ** (bytes - 1 - at)) % 256);
  const body = joined(...content);
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, 0x1000_0000 + body.length);
  return joined(name, length, body);
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
