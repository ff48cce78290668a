/** A picture that any decoder opens: PNG of one colour, 8 bits a channel. */
import { crc32, deflateSync } from "node:zlib";

/** @param colour red, green, blue, each 0 to 255 */
export function pngOf(
  width: number,
  height: number,
  colour: readonly [number, number, number] = [40, 120, 200],
): Buffer {
  const row = Buffer.concat([Buffer.of(0), Buffer.alloc(width * 3, Buffer.from(colour))]);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
}

/** Width and height as the picture's own head says them. */
export function pngSize(bytes: Uint8Array): readonly [width: number, height: number] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return [view.getUint32(16), view.getUint32(20)];
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8 + body.length);
  frame.writeUInt32BE(data.length, 0);
  frame.set(body, 4);
  frame.writeUInt32BE(crc32(body), 4 + body.length);
  return frame;
}
