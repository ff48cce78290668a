/** Content of a video, every frame decoded by FFmpeg's strict decoders. */
import { Decoder, Demuxer } from "node-av/api";
import type { Frame } from "node-av/lib";

/** YUV 4:2:0: all of Y, then U, then V. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
  readonly seconds: number;
}

export async function decodePictures(mp4: Uint8Array): Promise<Picture[]> {
  return framesOf(mp4, "video", (frame) => ({
    width: frame.width,
    height: frame.height,
    data: new Uint8Array(frame.toBuffer()),
    seconds: (Number(frame.pts) * frame.timeBase.num) / frame.timeBase.den,
  }));
}

/** Samples of the first channel, -1 to 1. */
export async function decodeSound(mp4: Uint8Array): Promise<Float32Array> {
  const pieces = await framesOf(mp4, "audio", ({ data, nbSamples }) => {
    const plane = Uint8Array.from(data?.[0] ?? []);
    return [...new Float32Array(plane.buffer, 0, nbSamples)];
  });
  return Float32Array.from(pieces.flat());
}

async function framesOf<T>(mp4: Uint8Array, kind: "video" | "audio", read: (frame: Frame) => T): Promise<T[]> {
  await using demuxer = await Demuxer.open(Buffer.from(mp4), { format: "mov" });
  const stream = demuxer[kind]();
  if (stream === undefined) throw new Error(`the file has no ${kind}`);
  using decoder = await Decoder.create(stream, { exitOnError: true });
  const results: T[] = [];
  for await (const frame of decoder.frames(demuxer.packets(stream.index))) {
    if (frame === null) continue;
    results.push(read(frame));
    frame.free();
  }
  return results;
}

/** Y, U and V of the pixel at a place given as shares of the sides. */
export function colourAt({ width, height, data }: Picture, right: number, down: number): [number, number, number] {
  const [x, y] = [Math.floor(right * width), Math.floor(down * height)];
  const chroma = width * height + (y >> 1) * (width / 2) + (x >> 1);
  return [data[y * width + x] ?? 0, data[chroma] ?? 0, data[chroma + (width * height) / 4] ?? 0];
}

/** Mean distance of the bytes of two pictures, of 255. */
export function distance(one: Picture, other: Picture): number {
  return one.data.reduce((sum, value, at) => sum + Math.abs(value - (other.data[at] ?? 0)), 0) / one.data.length;
}
