/** A PNG decoder of our own, so that pictures are not judged by the library that made them. 8 bits, not interlaced. */
import { inflateSync } from "node:zlib";

export interface Png {
  readonly width: number;
  readonly height: number;
  readonly channels: 3 | 4;
  readonly data: Uint8Array;
}

export function decodePng(bytes: Uint8Array): Png {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0) !== 0x89504e47) throw new Error("no PNG");
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  const [depth, colour, interlace] = [bytes[24], bytes[25], bytes[28]];
  if (depth !== 8 || interlace !== 0 || (colour !== 2 && colour !== 6))
    throw new Error("not the kind that is expected");
  const channels = colour === 6 ? 4 : 3;
  const parts: Uint8Array[] = [];
  for (let at = 8; at < bytes.byteLength; at += 12 + view.getUint32(at)) {
    if (view.getUint32(at + 4) === 0x49444154) parts.push(bytes.subarray(at + 8, at + 8 + view.getUint32(at)));
  }
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const data = new Uint8Array(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x += 1) {
      const left = x >= channels ? (data[y * stride + x - channels] ?? 0) : 0;
      const up = y > 0 ? (data[(y - 1) * stride + x] ?? 0) : 0;
      const corner = x >= channels && y > 0 ? (data[(y - 1) * stride + x - channels] ?? 0) : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0;
      data[y * stride + x] = (raw[y * (stride + 1) + 1 + x] ?? 0) + guess;
    }
  }
  return { width, height, channels, data };
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/** Any picture that Bun's own decoder reads, as pixels. */
export async function decodeAny(bytes: Uint8Array): Promise<Png> {
  return decodePng(await new Bun.Image(bytes).png().bytes());
}

export function pixel({ data, width, channels }: Png, x: number, y: number): number[] {
  return [...data.subarray((y * width + x) * channels, (y * width + x + 1) * channels)];
}

/** Share of pixels whose channels are all within 24 of a colour. */
export function shareOf(png: Png, [red, green, blue]: readonly [number, number, number]): number {
  let hits = 0;
  for (let at = 0; at < png.data.length; at += png.channels) {
    const near = [red, green, blue].every((value, channel) => Math.abs((png.data[at + channel] ?? 0) - value) <= 24);
    if (near) hits += 1;
  }
  return hits / (png.width * png.height);
}
