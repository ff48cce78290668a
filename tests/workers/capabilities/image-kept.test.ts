/** Properties that images keep: their colours, channels, frames and size, with and without metadata. */
import { describe, expect, test } from "bun:test";
import sharp, { type Sharp } from "sharp";

import { be, pngChunk } from "#tests/support/file-parts.ts";
import { heic } from "#tests/support/heif.ts";

import { runCapability } from "./in-folder.ts";
import { printerProfile, withProfile } from "./printer-profile.ts";
import { refused } from "./refused.ts";

const exif = { IFD0: { Make: "Camera" }, IFD3: { GPSLatitude: "52/1 30/1 0/1", GPSLatitudeRef: "N" } };
const solid = (background: string, width = 40, height = 30): Sharp =>
  sharp({ create: { width, height, channels: 3, background } });
const means = async (bytes: Uint8Array): Promise<number[]> =>
  (await sharp(bytes).stats()).channels.map(({ mean }) => Math.round(mean));
const near = (one: readonly number[], other: readonly number[], most = 3): boolean =>
  one.length === other.length && one.every((value, at) => Math.abs(value - (other[at] ?? 0)) <= most);
const factsOf = async (bytes: Uint8Array) => (await runCapability("image.metadata", { image: bytes })).output;

describe("CMYK", () => {
  const inks = solid("#00a0e0").toColourspace("cmyk").jpeg({ quality: 95 });
  const photo = async (): Promise<Buffer> =>
    withProfile(await inks.clone().withExif(exif).toBuffer(), printerProfile());

  test.each<[string, object]>([
    ["image.convert", { format: "png" }],
    ["image.convert", { format: "jpeg", quality: 95 }],
    ["image.resize", { width: 20, format: "png" }],
    ["image.rotate", { angle: 90, flip: "both", format: "png" }],
    ["image.pipeline", { operations: [{ operation: "adjust" }] }],
  ])("becomes the colours of its own profile through %s %j, with or without metadata", async (id, params) => {
    const image = await photo();
    const made: number[][] = [];
    for (const keep_metadata of [false, true]) {
      const wanted = id === "image.pipeline" ? { ...params, output: { format: "png", keep_metadata } } : { ...params, keep_metadata }; // prettier-ignore
      const bytes = (await runCapability(id, { image }, wanted)).bytes();
      made.push(await means(bytes));
      expect((await factsOf(bytes))?.["exif"]).toEqual(
        keep_metadata ? expect.objectContaining({ Make: "Camera" }) : {},
      );
      // A profile that is written is that of the colours that are.
      const { icc, space } = await sharp(bytes).metadata();
      expect([space, icc?.subarray(16, 20).toString("latin1") ?? "RGB "]).toEqual(["srgb", "RGB "]);
    }
    const [plain = [], kept = []] = made;
    // Its cyan ink looks red.
    expect((plain[0] ?? 0) > (plain[2] ?? 0) + 80).toBe(true);
    expect(near(kept, plain)).toBe(true);
  });

  test("becomes those colours without metadata, whose profile is requested", async () => {
    const image = await photo();
    const wanted = await means((await runCapability("image.convert", { image }, { format: "jpeg" })).bytes());
    const stripped = await runCapability("image.strip_metadata", { image }, { keep_color_profile: true });
    expect(near(await means(stripped.bytes()), wanted)).toBe(true);
  });
});

describe("an image without alpha has none", () => {
  const palette = (): Promise<Buffer> => solid("#336699").png({ palette: true }).toBuffer();
  test.each<[string, () => Promise<Buffer>]>([
    ["with metadata", () => solid("#336699").withExif(exif).png().toBuffer()],
    ["without any", () => solid("#336699").png().toBuffer()],
    ["of a palette", palette],
    ["of 16 bits", () => solid("#336699").toColourspace("rgb16").png().toBuffer()],
    ["of a JPEG", () => solid("#336699").withExif(exif).jpeg().toBuffer()],
  ])("in the output either, with its metadata kept: %s", async (_name, source) => {
    const image = await source();
    for (const format of ["png", "tiff", "webp"]) {
      const params = { format, lossless: true, keep_metadata: true };
      for (const made of [
        await runCapability("image.convert", { image }, params),
        await runCapability("image.rotate", { image }, { ...params, flip: "both" }),
        await runCapability("image.pipeline", { image }, { operations: [{ operation: "adjust" }], output: params }),
      ]) {
        const { channels, hasAlpha } = await sharp(made.bytes()).metadata();
        expect([format, channels, hasAlpha]).toEqual([format, 3, false]);
        const shown = await sharp(made.bytes()).toColourspace("srgb").toBuffer();
        expect(near(await means(shown), [0x33, 0x66, 0x99])).toBe(true);
      }
    }
  });
});

describe("an optimized file is never larger than its input", () => {
  const noise = (width: number, height: number): Sharp =>
    sharp({ create: { width, height, channels: 3, background: "grey", noise: { type: "gaussian", mean: 128, sigma: 40 } } }); // prettier-ignore
  test.each(["jpeg", "png", "webp"] as const)(
    "%s, whose metadata is removed without a change of its pixels",
    async (format) => {
      const small = { jpeg: { quality: 30 }, png: { compressionLevel: 9, palette: true, colours: 16 }, webp: { quality: 20 } }[format]; // prettier-ignore
      const image = await noise(300, 200).withMetadata({ orientation: 6 }).withExifMerge(exif).toFormat(format, small).toBuffer(); // prettier-ignore
      const made = await runCapability("image.optimize", { image });
      const bytes = made.bytes();
      expect(made.output).toMatchObject({
        width: 200,
        height: 300,
        bytes: bytes.length,
        saved: image.length - bytes.length,
      });
      expect(bytes.length).toBeLessThan(image.length);
      expect(await factsOf(bytes)).toMatchObject({ width: 200, height: 300 });
      expect(Buffer.from(bytes).includes("Camera")).toBe(false);
      const pixels = (from: Uint8Array): Promise<Buffer> => sharp(from).autoOrient().raw().toBuffer();
      expect(Buffer.compare(await pixels(bytes), await pixels(image))).toBe(0);
    },
  );

  test("for any other content, and then reports the remaining parts", async () => {
    const image = await noise(120, 80).withExif(exif).avif({ quality: 60, effort: 3 }).toBuffer();
    const made = await runCapability("image.optimize", { image }, { min_quality: 40 });
    expect(Buffer.compare(made.bytes(), image)).toBe(0);
    expect(made.output).toMatchObject({ format: "avif", bytes: image.length, saved: 0, metadata: "kept" });
  });
});

describe("frames that a result cannot contain are reported", () => {
  const frames = Promise.all(["red", "lime", "blue"].map((color) => solid(color).png().toBuffer()));
  const animated = async (): Promise<Sharp> => sharp(await frames, { join: { animated: true } });

  test("for GIF and WebP in a format of one frame", async () => {
    const image = await (await animated()).gif().toBuffer();
    for (const format of ["png", "jpeg", "avif"]) {
      expect((await runCapability("image.convert", { image }, { format })).output).toMatchObject({ dropped_frames: 2 });
    }
    const params = { operations: [{ operation: "resize", params: { width: 9 } }], output: { format: "png" } };
    expect((await runCapability("image.pipeline", { image }, params)).output).toMatchObject({ dropped_frames: 2 });
    expect((await runCapability("image.convert", { image }, { format: "webp" })).output).not.toContainKey(
      "dropped_frames",
    );
    expect((await runCapability("image.optimize", { image }, { format: "avif" })).output).toMatchObject({
      dropped_frames: 2,
    });
  });

  test.each<[string, (image: Uint8Array) => Promise<unknown>, string]>([
    ["document.images_to_pdf", (image) => runCapability("document.images_to_pdf", { images: [image] }), "images[0]"],
    ["document.watermark", (logo) => runCapability("document.watermark", { document: { file_id: "file-sample-report" }, logo }), "logo"], // prettier-ignore
    ["image.ocr", (image) => runCapability("image.ocr", { image }), "image"],
    ["image.read_barcode", (image) => runCapability("image.read_barcode", { image }), "image"],
    ["image.palette", (image) => runCapability("image.palette", { image }), "image"],
    ["image.compare", async (other) => runCapability("image.compare", { image: (await frames)[0] ?? other, other }), "other"], // prettier-ignore
    ["image.montage", async (image) => runCapability("image.montage", { images: [(await frames)[0] ?? image, image] }), "images[1]"], // prettier-ignore
  ])("of an image that %s reads", async (_id, run, place) => {
    const image = await (await animated()).gif().toBuffer();
    const { output } = (await run(image)) as { readonly output?: object };
    expect(output).toMatchObject({ notes: [`input.${place}: Only the first of 3 frames or pages is read.`] });
  });

  test("for PNG, of which only the first is read", async () => {
    const image = await apng();
    expect(await factsOf(image)).toMatchObject({ format: "png", frames: 3 });
    expect((await runCapability("image.strip_metadata", { image })).output).toMatchObject({ dropped_frames: 2 });
    expect((await runCapability("image.resize", { image }, { width: 10 })).output).toMatchObject({ dropped_frames: 2 });
    const optimized = await runCapability("image.optimize", { image });
    expect(await factsOf(optimized.bytes())).toMatchObject({ frames: 3 });
    expect((await runCapability("image.optimize", { image }, { format: "webp" })).output).toMatchObject({
      dropped_frames: 2,
    });
  });

  /** A PNG whose head says that two more frames follow; readers of plain PNG see the first. */
  async function apng(): Promise<Buffer> {
    const png = await solid("red").png().toBuffer();
    const control = pngChunk("acTL", [...be(3, 4), ...be(0, 4)]);
    return Buffer.concat([png.subarray(0, 33), control, png.subarray(33)]);
  }
});

describe("an image in an unsupported format is rejected by its name:", () => {
  test("HEIC, whose header is read", async () => {
    const image = heic(64, 48);
    expect(await factsOf(image)).toMatchObject({ width: 64, height: 48, bytes: image.length });
    for (const [id, params] of [
      ["image.convert", { format: "png" }],
      ["image.resize", { width: 9 }],
      ["image.optimize", {}],
      ["image.metadata", { stats: true }],
    ] as const) {
      // prettier-ignore
      expect(await refused(runCapability(id, { image }, params))).toBe(
        "unsupported: Expected an image in jpeg, png, webp, avif, gif, tiff, got image/heic, which is not decoded here.",
      );
    }
  });
});
