/** 16 bits per sample: kept in PNG and TIFF by operations that only move pixels, and named where they are lost. */
import { describe, expect, test } from "bun:test";
import sharp from "sharp";

import { loadFfmpeg } from "#workers/children/ffmpeg.ts";

import { runCapability } from "./in-folder.ts";

const SIDE = 8;
const SHAPES = { grey: 1, "grey with alpha": 2, colour: 3, "colour with alpha": 4 } as const;
type Shape = keyof typeof SHAPES;

/** Samples whose low byte matters; alpha is opaque. */
function samplesOf(shape: Shape): Uint16Array<ArrayBuffer> {
  const channels = SHAPES[shape];
  const hasAlpha = channels % 2 === 0;
  return Uint16Array.from({ length: SIDE * SIDE * channels }, (_, at) =>
    hasAlpha && at % channels === channels - 1 ? 65_535 : 1_000 + at * 131,
  );
}

const spaceOf = (shape: Shape) => (SHAPES[shape] < 3 ? "grey16" : "rgb16");

async function deepImage(shape: Shape, format: "png" | "tiff" = "png"): Promise<Buffer> {
  const raw = { width: SIDE, height: SIDE, channels: SHAPES[shape] };
  const exif = { IFD0: { Make: "Camera" } };
  return sharp(samplesOf(shape), { raw })
    .toColourspace(spaceOf(shape))
    .withExif(exif)
    .toFormat(format, { compression: "lzw" })
    .toBuffer();
}

async function readSamples(bytes: Uint8Array, shape: Shape): Promise<number[]> {
  const space = spaceOf(shape);
  const raw = await sharp(bytes).pipelineColourspace(space).toColourspace(space).raw({ depth: "ushort" }).toBuffer();
  return [...new Uint16Array(raw.buffer, raw.byteOffset, raw.length / 2)];
}

/** By rows of the given width. */
function flopped(samples: ArrayLike<number>, channels: number): number[] {
  return Array.from({ length: SIDE * SIDE }, (_, pixel) => {
    const from = (pixel - (pixel % SIDE) + SIDE - 1 - (pixel % SIDE)) * channels;
    return Array.from({ length: channels }, (_sample, at) => samples[from + at] ?? 0);
  }).flat();
}

describe.each(Object.keys(SHAPES) as Shape[])("an image in %s", (shape) => {
  const channels = SHAPES[shape];

  test.each<[string, "png" | "tiff", object]>([
    ["image.convert", "png", { format: "tiff" }],
    ["image.convert", "tiff", { format: "png", keep_metadata: true }],
    ["image.resize", "png", { width: SIDE }],
    ["image.crop", "tiff", { width: SIDE, height: SIDE }],
    ["image.rotate", "png", { angle: 0 }],
    ["image.strip_metadata", "tiff", {}],
    ["image.optimize", "png", {}],
    ["image.pipeline", "png", { operations: [{ operation: "crop", params: { x: 0 } }, { operation: "resize", params: { width: SIDE } }] }], // prettier-ignore
  ])("keeps every bit through %s of a %s %j", async (id, format, params) => {
    const made = await runCapability(id, { image: await deepImage(shape, format) }, params);
    expect(await readSamples(made.bytes(), shape)).toEqual([...samplesOf(shape)]);
    expect(made.output?.["notes"]).toBeUndefined();
  });

  test("keeps every bit when it is mirrored, with and without metadata", async () => {
    for (const keep_metadata of [true, false]) {
      const params = { flip: "horizontal", keep_metadata };
      const made = await runCapability("image.rotate", { image: await deepImage(shape) }, params);
      expect(await readSamples(made.bytes(), shape)).toEqual(flopped(samplesOf(shape), channels));
      expect((await sharp(made.bytes()).metadata()).exif !== undefined).toBe(keep_metadata);
    }
  });
});

test.each<[string, object]>([
  ["image.convert", { format: "webp" }],
  ["image.adjust", { greyscale: true }],
  ["image.rotate", { angle: 30 }],
  ["image.resize", { width: 4, height: 6, fit: "contain" }],
  ["image.pipeline", { operations: [{ operation: "crop", params: { x: 0 } }, { operation: "filter", params: { type: "blur" } }] }], // prettier-ignore
])("%s %j works in 8 bits and reports it", async (id, params) => {
  const made = await runCapability(id, { image: await deepImage("colour") }, params);
  expect(made.output?.["notes"]).toEqual(["The image has 8 instead of 16 bits per sample."]);
  expect((await sharp(made.bytes()).metadata()).depth).toBe("uchar");
});

test("FFmpeg reads the 16-bit output", async () => {
  const { lib } = await loadFfmpeg();
  const { Demuxer } = await import("node-av/api");
  const made = await runCapability("image.resize", { image: await deepImage("colour") }, { width: 4 });
  const demuxer = await Demuxer.open(Buffer.from(made.bytes()));
  const format = demuxer.video()?.codecpar.format ?? -1;
  expect(lib.avGetPixFmtName(format as Parameters<typeof lib.avGetPixFmtName>[0])).toBe("rgb48be");
  await demuxer.close();
});
