/** Images that are not plain 8-bit sRGB pixels, and results that must not be silently wrong. */
import { describe, expect, test } from "bun:test";
import sharp, { type Color } from "sharp";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";

const PNG = { format: "png" } as const;
const solid = (width: number, height: number, background: Color, channels: 3 | 4 = 3) =>
  sharp({ create: { width, height, channels, background } });
const WHITE = await solid(50, 50, "white").png().toBuffer();
const RED = await solid(200, 200, "red").png().toBuffer();
const THIN = await solid(40, 40, { r: 200, g: 100, b: 0, alpha: 0.5 }, 4).png().toBuffer();
const CLEAR = await solid(40, 40, { r: 0, g: 0, b: 0, alpha: 0 }, 4).png().toBuffer();
const FRAMES = await Promise.all(["red", "lime", "blue"].map((color) => solid(60, 40, color).png().toBuffer()));
const timing = { delay: [100, 200, 300], loop: 3 };
const GIF = await sharp(FRAMES, { join: { animated: true } })
  .gif(timing)
  .toBuffer();

const at = async (bytes: Uint8Array, x: number, y: number): Promise<number[]> => {
  const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return [...data.subarray((y * info.width + x) * 4, (y * info.width + x) * 4 + 4)];
};
const made = async (id: string, image: Uint8Array, params: object): Promise<Uint8Array> =>
  (await runCapability(id, { image }, params)).bytes();
const stepped = (operation: string, image: Uint8Array, params: object): Promise<Uint8Array> =>
  made("image.pipeline", image, { operations: [{ operation, params }], output: PNG });
const near = (got: readonly number[], wanted: readonly number[]): boolean =>
  got.every((value, index) => Math.abs(value - (wanted[index] ?? 0)) <= 4);

describe("alpha is unchanged by", () => {
  test.each([
    ["adjust", { greyscale: true }],
    ["filter", { type: "threshold" }],
    ["filter", { type: "vignette" }],
  ])("%s %j, alone and as a step", async (operation, params) => {
    const alone = await made(`image.${operation}`, THIN, { ...params, ...PNG });
    expect([(await at(alone, 0, 0))[3], (await at(await stepped(operation, CLEAR, params), 0, 0))[3]]).toEqual([
      128, 0,
    ]);
    expect(await at(await stepped(operation, THIN, params), 3, 3)).toEqual(await at(alone, 3, 3));
  });
});

describe("the background of transparency in a JPEG", () => {
  test.each([
    ["transparent", [255, 255, 255]],
    ["#ff000080", [255, 127, 127]],
    ["navy", [0, 0, 128]],
  ])("is %s, and white under partial transparency", async (background, wanted) => {
    const bytes = await made("image.convert", CLEAR, { format: "jpeg", background });
    expect(near((await at(bytes, 9, 9)).slice(0, 3), wanted)).toBe(true);
  });

  test("is visible in borders and corners too", async () => {
    const jpeg = { format: "jpeg", background: "navy" };
    const fitted = await made("image.resize", RED, { width: 60, height: 30, fit: "contain", ...jpeg });
    expect(near(await at(fitted, 2, 2), [0, 0, 128, 255])).toBe(true);
    const turned = await made("image.rotate", RED, { angle: 45, ...jpeg });
    expect(near(await at(turned, 2, 2), [0, 0, 128, 255])).toBe(true);
    expect(
      near(await at(await made("image.rotate", RED, { angle: 45, format: "jpeg" }), 2, 2), [255, 255, 255, 255]),
    ).toBe(true);
    expect(await at(await made("image.rotate", RED, { angle: 45 }), 2, 2)).toEqual([0, 0, 0, 0]);
  });

  test("is rejected if it is not a colour", async () => {
    const params = { format: "jpeg", background: "bluish" };
    expect(await refused(runCapability("image.convert", { image: RED }, params))).toBe(
      "invalid: Expected params.background to be a colour, got bluish.",
    );
    const operations = [{ operation: "rotate" }];
    expect(await refused(runCapability("image.pipeline", { image: RED }, { operations, output: params }))).toContain(
      "params.output.background",
    );
  });
});

describe("an animation", () => {
  const told = async (bytes: Uint8Array) => {
    const { width, pageHeight, pages, delay, loop } = await sharp(bytes, { animated: true }).metadata();
    return { width, height: pageHeight, pages, delay, loop };
  };
  test.each<[string, object, number, number]>([
    ["image.crop", { x: 0, y: 0, width: 10, height: 20 }, 10, 20],
    ["image.rotate", { angle: 90 }, 40, 60],
    ["image.filter", { type: "blur" }, 60, 40],
    ["image.watermark", { text: "x", size: 8 }, 60, 40],
    ["image.pipeline", { operations: [{ operation: "crop", params: { width: 30, height: 30 } }] }, 30, 30],
  ])("stays animated through %s", async (id, params, width, height) => {
    for (const format of ["gif", "webp"]) {
      const all = id === "image.pipeline" ? { ...params, output: { format } } : { ...params, format };
      const bytes = await made(id, GIF, all);
      expect(await told(bytes)).toEqual({ width, height, pages: 3, ...timing });
      const last = await sharp(bytes, { page: 2 }).png().toBuffer();
      expect(near(await at(last, 2, 2), [0, 0, 255, 255])).toBe(true);
    }
  });

  test("is not optimized to its first frame, or to a larger file", async () => {
    expect(await told(await made("image.optimize", GIF, {}))).toMatchObject({ pages: 3 });
    expect(await told(await made("image.optimize", GIF, { format: "auto" }))).toMatchObject({ pages: 3 });
    const webp = await sharp(GIF, { animated: true }).webp({ lossless: true }).toBuffer();
    expect((await runCapability("image.optimize", { image: webp })).output).toMatchObject({ saved: 0 });
  });

  test("of WebP has all colours and each delay", async () => {
    const params = { mode: "animation", format: "webp", delay: 25 };
    const montage = await runCapability("image.montage", { images: FRAMES }, params);
    expect((await told(montage.bytes())).delay).toEqual([25, 25, 25]);
  });

  test("is written also with requested metadata that it lacks", async () => {
    const params = { operations: [{ operation: "adjust" }], output: { format: "webp", keep_metadata: true } };
    expect(await told(await made("image.pipeline", GIF, params))).toMatchObject({ pages: 3 });
  });

  test("is rotated upright, frame by frame", async () => {
    const image = await sharp(FRAMES, { join: { animated: true } }).withMetadata({ orientation: 6 }).webp(timing).toBuffer(); // prettier-ignore
    for (const [id, params] of [
      ["image.resize", { width: 20 }],
      ["image.crop", { width: 20, height: 30 }],
      ["image.strip_metadata", {}],
    ] as const) {
      const [width, height] = id === "image.strip_metadata" ? [40, 60] : [20, 30];
      expect(await told(await made(id, image, params))).toEqual({ width, height, pages: 3, ...timing });
    }
  });

  test("is rejected if each frame would be cropped elsewhere", async () => {
    expect(await refused(runCapability("image.crop", { image: GIF }, { trim: true }))).toBe(
      "invalid: Expected a box at a place for 3 frames, got params.trim.",
    );
  });
});

test("layers may be larger than the image, and outside of it", async () => {
  const laid = async (layer: object) =>
    (
      await runCapability(
        "image.composite",
        { image: WHITE, assets: { a: RED } },
        { layers: [{ asset: "a", ...layer }], ...PNG },
      )
    ).bytes();
  const [red, white] = [[255, 0, 0, 255], [255, 255, 255, 255]]; // prettier-ignore
  for (const [layer, first, last] of [
    [{}, red, red],
    [{ x: 45, y: 45 }, white, red],
    [{ x: -180, y: -180 }, red, white],
    [{ x: 60, y: 0 }, white, white],
  ] as const) {
    const bytes = await laid(layer);
    expect([await at(bytes, 0, 0), await at(bytes, 49, 49)]).toEqual([first, last]);
  }
});

describe("a result that would be too large is rejected before it is generated:", () => {
  test.each<[string, object]>([
    ["resize", { width: 16_384 }],
    ["composite", { layers: [{ asset: "a", width: 16_384 }] }],
  ])("%s", async (operation, params) => {
    const image = await solid(10, 400, "red").png().toBuffer();
    const work = runCapability(
      "image.pipeline",
      { image, assets: { a: image } },
      { operations: [{ operation, params }] },
    );
    expect(await refused(work)).toMatch(/^too_large: /);
  });
});

test("a crop reports its error, with its position in a pipeline", async () => {
  const operations = [{ operation: "rotate" }, { operation: "crop", params: { width: 60, gravity: "attention" } }];
  expect(await refused(runCapability("image.pipeline", { image: WHITE }, { operations }))).toContain(
    "params.operations[1].params.width",
  );
  const params = { width: 20, height: 20, aspect_ratio: "1:2" };
  expect(await refused(runCapability("image.crop", { image: WHITE }, params))).toContain("params.aspect_ratio");
  expect(await refused(runCapability("image.crop", { image: WHITE }, { aspect_ratio: "1:0" }))).toContain(
    "params.aspect_ratio",
  );
});

describe("metadata", () => {
  const exif = { IFD0: { Make: "Camera" }, IFD3: { GPSLatitude: "52/1 30/1 0/1", GPSLatitudeRef: "N" } };
  test.each(["jpeg", "png", "webp", "avif"] as const)("of %s is read, and kept on request", async (format) => {
    const image = await sharp(RED).withExifMerge(exif).toFormat(format).toBuffer();
    expect((await runCapability("image.metadata", { image })).output).toMatchObject({ exif: { Make: "Camera" } });
    for (const keep_metadata of [true, false]) {
      const turned = await made("image.rotate", image, { flip: "both", keep_metadata });
      const output = { keep_metadata };
      const stepwise = await made("image.pipeline", image, { operations: [{ operation: "adjust" }], output });
      for (const bytes of [turned, stepwise]) {
        const told = (await runCapability("image.metadata", { image: bytes })).output;
        expect((told as { exif: object }).exif).toEqual(keep_metadata ? expect.objectContaining({ Make: "Camera", GPSLatitude: [52, 30, 0] }) : {}); // prettier-ignore
        expect(near(await at(bytes, 9, 9), [255, 0, 0, 255])).toBe(true);
      }
    }
  });
});

test("16 bits per channel are adjusted like 8", async () => {
  const grey = await solid(9, 9, "#606060").toColourspace("grey16").png().toBuffer();
  const plain = await solid(9, 9, "#606060").png().toBuffer();
  for (const params of [{ contrast: 1.3 }, { tint: "red" }]) {
    const [one, other] = [await made("image.adjust", grey, params), await made("image.adjust", plain, params)];
    expect(await at(one, 4, 4)).toEqual(await at(other, 4, 4));
  }
});

describe("codes", () => {
  test("are found in a large image, and UPC has 12 digits", async () => {
    const code = await runCapability("image.barcode", { text: { text: "012345678905" } }, { type: "upca" });
    const large = await solid(4_000, 1_000, "white").composite([{ input: Buffer.from(code.bytes()), left: 3_000, top: 500 }]).png().toBuffer(); // prettier-ignore
    const { output } = await runCapability("image.read_barcode", { image: large }, { types: ["upca"] });
    const [found] = (output as { barcodes: { text: string; corners: { x: number; y: number }[] }[] }).barcodes;
    expect(found?.text).toBe("012345678905");
    expect(Math.abs((found?.corners[0]?.x ?? 0) - 3_040)).toBeLessThan(12);
  });

  test("of Code 128 contain no invalid letters, and transparent ones are read on white", async () => {
    expect(await refused(runCapability("image.barcode", { text: { text: "ü" } }, { type: "code128" }))).toContain("ASCII"); // prettier-ignore
    const code = await runCapability("image.barcode", { text: { text: "Tea" } }, { background: "transparent" });
    expect(await at(code.bytes(), 0, 0)).toEqual([0, 0, 0, 0]);
    const { output } = await runCapability("image.read_barcode", { image: code.bytes() });
    expect(output).toMatchObject({ barcodes: [{ text: "Tea" }] });
  });
});

describe("a palette", () => {
  test("has each colour once, with its share, and no invisible one", async () => {
    const image = await solid(90, 10, "blue").composite([{ input: await solid(30, 10, "red").png().toBuffer(), left: 0, top: 0 }]).png().toBuffer(); // prettier-ignore
    const palette = async (bytes: Uint8Array) =>
      (await runCapability("image.palette", { image: bytes }, { placeholder: "none" })).output;
    expect(await palette(image)).toEqual({ colors: [{ color: "#0000ff", share: 0.667 }, { color: "#ff0000", share: 0.333 }] }); // prettier-ignore
    expect(await palette(CLEAR)).toEqual({ colors: [] });
  });
});

describe("an SVG", () => {
  const drawn = async (size: string, params: object) => {
    const text = `<svg xmlns="http://www.w3.org/2000/svg" ${size}><rect width="100%" height="100%" fill="red"/></svg>`;
    const { output } = await runCapability("image.render_svg", { svg: { text } }, params);
    return [output?.["width"], output?.["height"]];
  };
  test("in pixels keeps its size, one in inches uses dpi, and sides keep its shape", async () => {
    expect(await drawn('width="10" height="20"', {})).toEqual([10, 20]);
    expect(await drawn('width="10" height="20"', { dpi: 300 })).toEqual([10, 20]);
    expect(await drawn('width="1in" height="2in"', { dpi: 300 })).toEqual([300, 600]);
    expect(await drawn('width="10" height="10"', { width: 700 })).toEqual([700, 700]);
    expect(await drawn('width="100000" height="50000"', { width: 100 })).toEqual([100, 50]);
    expect(await refused(drawn('width="10" height="10"', { width: 16_384 }))).toMatch(/^too_large: /);
  });
});

test("uncertain words are removed from the text too", async () => {
  const image = { file_id: "file-sample-scan" };
  const { output } = await runCapability("image.ocr", { image }, { min_confidence: 90 });
  expect(output?.["text"]).toBe("Invoice 2026-117\nThree boxes of tea\nTotal 42.50 EUR\nPaid on 3 November");
}, 30_000);
