/** Sizes and frames of images by their heads, against the decoder that works on them. */
import { describe, expect, test } from "bun:test";
import sharp, { type Sharp } from "sharp";

import { readImageExtent, readTiffExtent, tiffDirectoryAt } from "#shared/media/image-extent.ts";
import { be, bytesOf, le } from "#tests/support/file-parts.ts";
import { hostileFiles } from "#tests/support/hostile-files/corpus.ts";
import { bmpOf } from "#tests/support/hostile-files/pictures.ts";
import { heic } from "#tests/support/heif.ts";

const solid = (width: number, height: number, background = "teal"): Sharp =>
  sharp({ create: { width, height, channels: 3, background } });
const frames = Promise.all(["red", "lime", "blue"].map((color) => solid(60, 40, color).png().toBuffer()));
const animated = async (): Promise<Sharp> => sharp(await frames, { join: { animated: true } });

const SAMPLES: readonly (readonly [string, () => Promise<Buffer>])[] = [
  ["PNG", () => solid(123, 45).png().toBuffer()],
  ["JPEG", () => solid(123, 45).jpeg().toBuffer()],
  ["a JPEG with a long profile", () => solid(123, 45).toColourspace("cmyk").withIccProfile("cmyk").jpeg().toBuffer()],
  ["a JPEG on its side", () => solid(123, 45).withMetadata({ orientation: 6 }).jpeg().toBuffer()],
  ["WebP", () => solid(123, 45).webp().toBuffer()],
  ["a lossless WebP", () => solid(123, 45).webp({ lossless: true }).toBuffer()],
  ["an animated WebP", async () => (await animated()).webp().toBuffer()],
  ["GIF", () => solid(123, 45).gif().toBuffer()],
  ["an animated GIF", async () => (await animated()).gif({ delay: [20, 30, 40] }).toBuffer()],
  ["AVIF", () => solid(123, 45).avif({ effort: 0 }).toBuffer()],
  ["an AVIF with alpha", () => sharp({ create: { width: 123, height: 45, channels: 4, background: "#ff000080" } }).avif({ effort: 0 }).toBuffer()], // prettier-ignore
  ["TIFF", () => solid(123, 45).tiff().toBuffer()],
  ["a tiled TIFF", () => solid(600, 450).tiff({ tile: true, pyramid: false }).toBuffer()],
];

test.each(SAMPLES)("%s has the size that its decoder finds", async (_name, make) => {
  const bytes = await make();
  const { width, height, pageHeight = height, pages = 1 } = await sharp(bytes, { animated: true }).metadata();
  const extent = readImageExtent(bytes, bytes.length);
  expect(extent).toMatchObject({ width, height: pageHeight, frames: pages });
  expect(extent?.framesMax).toBeGreaterThanOrEqual(pages);
});

test("a truncated header without a size is unknown, for every length", async () => {
  for (const [, make] of SAMPLES) {
    const bytes = await make();
    for (const length of [0, 3, 11, 20, 26]) {
      const extent = readImageExtent(bytes.subarray(0, length), bytes.length);
      // PNG tells within its first 24 bytes, WebP within 30.
      if (extent) expect(extent.width).toBeGreaterThan(0);
    }
    expect(readImageExtent(bytes.subarray(0, 10), bytes.length)).toBeUndefined();
  }
});

test.each(hostileFiles("picture", "disguise"))(
  "the size of %s is read from its header, or unknown",
  async (_name, make) => {
    const bytes = await make();
    const { width, height, framesMax } = readImageExtent(bytes, bytes.length) ?? { width: 1, height: 1, framesMax: 1 };
    expect([width, height, framesMax].filter((value) => !Number.isSafeInteger(value) || value < 0)).toEqual([]);
  },
);

describe("a TIFF whose directory is at its end", () => {
  test.each(["little", "big"])("is read from there, %s numbers first", (order) => {
    const number = order === "little" ? le : be;
    const head = bytesOf(order === "little" ? "II*\0" : "MM\0*", number(70_000, 4));
    const side = (tag: number, value: number): number[] =>
      [...number(tag, 2), ...number(3, 2), ...number(1, 4), ...number(value, 2), 0, 0]; // prettier-ignore
    const directory = bytesOf(number(2, 2), side(256, 640), side(257, 480), [0, 0, 0, 0]);
    expect(tiffDirectoryAt(head)).toBe(70_000);
    const extent = readTiffExtent(head, directory, 70_000, 70_030);
    expect(extent).toMatchObject({ width: 640, height: 480, isTiff: true });
    expect(readTiffExtent(head, directory.subarray(0, 10), 70_000, 70_030)).toBeUndefined();
  });

  test("may have more pages than can then be counted", () => {
    expect(tiffDirectoryAt(Buffer.from("no tiff at all"))).toBeUndefined();
  });
});

test("a GIF whose frames exceed its screen has their size", async () => {
  const gif = await solid(50, 30).gif().toBuffer();
  gif.writeUInt16LE(1, 6);
  gif.writeUInt16LE(1, 8);
  const { width, height } = await sharp(gif).metadata();
  const extent = readImageExtent(gif, gif.length);
  expect([extent?.width ?? 0, extent?.height ?? 0]).toEqual([50, 30]);
  expect([width <= 50, height <= 30]).toEqual([true, true]);
});

test("HEIC has its size in the same box as AVIF", () => {
  const bytes = heic(4_032, 3_024);
  expect(readImageExtent(bytes, bytes.length)).toMatchObject({ width: 4_032, height: 3_024, framesMax: 1 });
});

test("a BMP has the size of its header, in both directions and in the oldest form too", () => {
  const bmp = bmpOf(123, 45, 24);
  const known = { width: 123, height: 45, frames: 1, framesMax: 1 };
  expect(readImageExtent(bmp.subarray(0, 64), bmp.length)).toMatchObject(known);
  const fromTop = Buffer.from(bmp);
  fromTop.writeInt32LE(-45, 22);
  expect(readImageExtent(fromTop, bmp.length)).toMatchObject(known);
  const old = bytesOf(bmp.subarray(0, 14), le(12, 4), le(123, 2), le(45, 2), le(1, 2), le(24, 2));
  expect(readImageExtent(old, old.length)).toMatchObject(known);
  expect(readImageExtent(bmp.subarray(0, 20), bmp.length)).toBeUndefined();
});
