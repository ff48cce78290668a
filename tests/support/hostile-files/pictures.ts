/** Pictures that were made to do harm: bombs, lies and files that are two things at once. Small here, whatever they become. */
import { constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";

import { be, bytesOf, le, png, pngChunk, riff, riffChunk } from "../file-parts.ts";

const MB = 1_048_576;

/** Makes bytes once: they are compressed from a hundred megabytes, and asked for again and again. */
const once = <Bytes>(make: () => Bytes): (() => Bytes) => {
  let made: { readonly bytes: Bytes } | undefined;
  return () => (made ??= { bytes: make() }).bytes;
};

const deflatedBlock = once(() =>
  deflateRawSync(Buffer.alloc(16 * MB), { level: 9, finishFlush: constants.Z_FULL_FLUSH }),
);

/** Deflated zeros of any length: a block that stands for 16 MB, repeated, since each begins afresh. */
function deflatedZeros(bytes: number): Buffer {
  const block = deflatedBlock();
  const blocks = Array.from({ length: bytes / (16 * MB) }, () => block);
  // No file needs the checksum at its end to do harm.
  return bytesOf([0x78, 0x9c], ...blocks, [3, 0], be(1, 4));
}

const GIGABYTES = 4_096 * MB;

/** A true picture of 900 million pixels in about 100 KB. */
export const pngOfPixels = once((): Buffer => {
  const side = 30_000;
  const rows = deflateSync(Buffer.alloc((Math.ceil(side / 8) + 1) * side), { level: 9 });
  return png(side, side, [1, 0], pngChunk("IDAT", rows));
});

/** A PNG that says it has so many pixels, and has few of them. */
export function pngWithoutData(side: number): Buffer {
  return png(side, side, [8, 2], pngChunk("IDAT", deflateSync(Buffer.alloc(1_000_000))));
}

/** A body of 256 MB, compressed. */
export const gzipOfMegabytes = once((): Buffer => gzipSync(Buffer.alloc(256 * MB), { level: 1 }));

/** Says that it is small; its data inflate to gigabytes. */
export const pngOfGigabytes = once(() => png(64, 64, [8, 2], pngChunk("IDAT", deflatedZeros(GIGABYTES))));

/** The picture is small and whole; what is told about it inflates to gigabytes. */
export function pngWithBomb(kind: "iCCP" | "zTXt" | "iTXt"): Buffer {
  const head = { iCCP: "icc\0\0", zTXt: "Comment\0\0", iTXt: "Comment\0\u0001\0\0\0" }[kind];
  const bomb = bytesOf(head, deflatedZeros(GIGABYTES / 4));
  const pixels = deflateSync(Buffer.alloc((3 * 32 + 1) * 32));
  return png(32, 32, [8, 2], pngChunk(kind, bomb), pngChunk("IDAT", pixels));
}

/**
 * An animation, each of whose pictures is the one still.
 * @param still a WebP of one chunk
 * @param canvas what the file says of its sides
 */
export function animatedWebp(still: Uint8Array, frames: number, canvas: number): Buffer {
  const side = le(canvas - 1, 3);
  const frame = riffChunk("ANMF", bytesOf(le(0, 6), side, side, le(40, 3), [0], still.subarray(12)));
  const head = riffChunk("VP8X", bytesOf([0x02, 0, 0, 0], side, side));
  return riff("WEBP", head, riffChunk("ANIM", Buffer.alloc(6)), ...Array<Buffer>(frames).fill(frame));
}

/** A GIF of many pictures, each of which is one code. */
export function animatedGif(frames: number, side = 1): Buffer {
  const sides = [...le(side, 2), ...le(side, 2)];
  const head = bytesOf("GIF89a", sides, [0x80, 0, 0, 0, 0, 0, 255, 255, 255]);
  const frame = bytesOf([0x2c, 0, 0, 0, 0], sides, [0, 2, 2, 0x44, 1, 0]);
  return bytesOf(head, ...Array<Buffer>(frames).fill(frame), ";");
}

/** Scans over scans of one picture: each is a few bytes, and a pass over all its pixels. @param jpeg a progressive one */
export function jpegOfScans(jpeg: Uint8Array, scans: number): Buffer {
  const scan = Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0, 0]);
  return bytesOf(jpeg.subarray(0, -2), ...Array<Buffer>(scans).fill(scan), [0xff, 0xd9]);
}

/** Puts a comment before the picture of a JPEG. */
export function jpegWithComment(jpeg: Uint8Array, comment: string): Buffer {
  return bytesOf(jpeg.subarray(0, 2), [0xff, 0xfe], be(comment.length + 2, 2), comment, jpeg.subarray(2));
}

export function svgOf(target: string): Buffer {
  return Buffer.from(
    `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY a "aaaaaaaaaa">` +
      `<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>` +
      `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="64" height="64">` +
      `<script>fetch("${target}")</script><text>&x;&c;</text><image xlink:href="${target}" width="64" height="64"/></svg>`,
  );
}

/** A BMP of one colour, #336699. @param compression 0 none, 1 runs of 8 bits. @param pixels in place of all of them */
export function bmpOf(
  width: number,
  height: number,
  bits: 8 | 24 | 32,
  { compression = 0, pixels }: { readonly compression?: number; readonly pixels?: Uint8Array } = {},
): Buffer {
  const pixel = Buffer.from(bits === 32 ? [0x99, 0x66, 0x33, 255] : [0x99, 0x66, 0x33]);
  const row = Buffer.alloc(Math.ceil((width * pixel.length) / 4) * 4);
  row.subarray(0, width * pixel.length).fill(pixel);
  const data = pixels ?? bytesOf(...Array.from({ length: height }, () => row));
  const colours = bits === 8 ? Buffer.alloc(1_024) : Buffer.alloc(0);
  const offset = 54 + colours.length;
  const head = [le(40, 4), le(width, 4), le(height, 4), le(1, 2), le(bits, 2), le(compression, 4), le(data.length, 4)];
  return bytesOf("BM", le(offset + data.length, 4), le(0, 4), le(offset, 4), ...head, Buffer.alloc(16), colours, data);
}
