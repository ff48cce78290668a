import { deflateSync } from "node:zlib";

import { describe, expect, test } from "bun:test";
import sharp from "sharp";

import { bytesOf, pngChunk } from "#tests/support/file-parts.ts";
import { pngResized } from "#tests/support/png.ts";

import { runCapability, type Ran } from "./in-folder.ts";
import { refused } from "./refused.ts";

/** Four quarters of red, green, blue and white. */
const QUARTERS = await sharp(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg' width='8' height='4' shape-rendering='crispEdges'><rect width='4' height='2' fill='#f00'/><rect x='4' width='4' height='2' fill='#0f0'/><rect y='2' width='4' height='2' fill='#00f'/><rect x='4' y='2' width='4' height='2' fill='#fff'/></svg>")).png().toBuffer(); // prettier-ignore
const PHOTO = { file_id: "file-sample-photo" } as const;
const CHART = { file_id: "file-sample-chart" } as const;

const pixels = async (bytes: Uint8Array): Promise<{ width: number; height: number; data: Buffer }> => {
  const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
};
const at = ({ data, width }: { data: Buffer; width: number }, x: number, y: number): number[] => [
  ...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4),
];
const PNG = { format: "png" } as const;

describe("exact pixels of", () => {
  test("a crop", async () => {
    const made = await pixels(
      (await runCapability("image.crop", { image: QUARTERS }, { x: 4, y: 1, width: 4, height: 3, ...PNG })).bytes(),
    );
    expect([made.width, made.height, at(made, 0, 0), at(made, 0, 1)]).toEqual([
      4,
      3,
      [0, 255, 0, 255],
      [255, 255, 255, 255],
    ]);
  });

  test("a quarter turn", async () => {
    const made = await pixels(
      (await runCapability("image.rotate", { image: QUARTERS }, { angle: 90, ...PNG })).bytes(),
    );
    expect([made.width, made.height, at(made, 0, 0), at(made, 3, 0)]).toEqual([
      4,
      8,
      [0, 0, 255, 255],
      [255, 0, 0, 255],
    ]);
  });

  test("a negative", async () => {
    const made = await pixels(
      (await runCapability("image.adjust", { image: QUARTERS }, { invert: true, ...PNG })).bytes(),
    );
    expect([at(made, 0, 0), at(made, 7, 3)]).toEqual([
      [0, 255, 255, 255],
      [0, 0, 0, 255],
    ]);
  });

  test("a colour made transparent", async () => {
    const made = await pixels(
      (await runCapability("image.chroma_key", { image: QUARTERS }, { color: "lime", feather: 0, ...PNG })).bytes(),
    );
    expect([at(made, 5, 0)[3], at(made, 0, 0)[3]]).toEqual([0, 255]);
  });
});

test("a pipeline of eight operations gives the same pixels as the eight capabilities one after the other", async () => {
  const operations = [
    { operation: "crop", params: { aspect_ratio: "4:3" } },
    { operation: "resize", params: { width: 400 } },
    { operation: "rotate", params: { angle: 12.5, background: "navy" } },
    { operation: "adjust", params: { saturation: 1.4, contrast: 1.1, gamma: 1.2 } },
    { operation: "filter", params: { type: "sharpen", amount: 20 } },
    { operation: "watermark", params: { text: "eight", opacity: 0.5 } },
    {
      operation: "composite",
      params: { layers: [{ asset: "chart", width: 90, gravity: "northeast", blend: "multiply" }] },
    },
    { operation: "chroma_key", params: { color: "navy", tolerance: 5 } },
  ];
  const assets = { chart: CHART };
  const whole = await runCapability("image.pipeline", { image: PHOTO, assets }, { operations, output: PNG });
  let image: Uint8Array | typeof PHOTO = PHOTO;
  for (const { operation, params } of operations) {
    const input: Parameters<typeof runCapability>[1] = operation === "composite" ? { image, assets } : { image };
    image = (await runCapability(`image.${operation}`, input, { ...params, ...PNG })).bytes();
  }
  const [one, other] = [await pixels(whole.bytes()), await pixels(image as Uint8Array)];
  expect([one.width, one.height]).toEqual([other.width, other.height]);
  expect(Buffer.compare(one.data, other.data)).toBe(0);
}, 30_000);

test("camera metadata is dropped, and rotates the image", async () => {
  const exif = { IFD0: { Make: "Camera" }, IFD3: { GPSLatitude: "52/1 30/1 0/1" } };
  const taken = await sharp(QUARTERS).withMetadata({ orientation: 6 }).withExifMerge(exif).jpeg().toBuffer();
  expect((await runCapability("image.metadata", { image: taken })).output).toMatchObject({
    width: 4,
    height: 8,
    exif: { Make: "Camera" },
  });
  const made = await runCapability("image.resize", { image: taken }, { width: 2 });
  const facts = await sharp(made.bytes()).metadata();
  expect([facts.width, facts.height, facts.exif, facts.orientation]).toEqual([2, 4, undefined, undefined]);
});

test("camera metadata that ImageMagick stores in a PNG text is read", async () => {
  const taken = await sharp(QUARTERS)
    .withExif({ IFD0: { Make: "Camera" } })
    .jpeg()
    .toBuffer();
  const { exif = Buffer.alloc(0) } = await sharp(taken).metadata();
  const text = `\nexif\n    ${exif.length}\n${exif.toString("hex").replaceAll(/.{72}/g, "$&\n")}\n`;
  const profile = pngChunk("zTXt", bytesOf("Raw profile type exif\0\0", deflateSync(text)));
  const image = bytesOf(QUARTERS.subarray(0, 33), profile, QUARTERS.subarray(33));
  expect((await runCapability("image.metadata", { image })).output).toMatchObject({ exif: { Make: "Camera" } });
});

test("an animation stays animated when it is resized", async () => {
  const input = { images: [PHOTO, CHART] };
  const animation = await runCapability("image.montage", input, { mode: "animation", format: "gif", cell_width: 60 });
  const small = await runCapability("image.resize", { image: animation.bytes() }, { width: 30 });
  const facts = await sharp(small.bytes(), { animated: true }).metadata();
  expect([facts.format, facts.pages, facts.width]).toEqual(["gif", 2, 30]);
});

describe("codes and text", () => {
  test.each(["qr", "code128", "datamatrix", "pdf417", "aztec"])("a code of type %s is read back", async (type) => {
    const code = await runCapability("image.barcode", { text: { text: "Sluice 42" } }, { type });
    const { output } = await runCapability("image.read_barcode", { image: code.bytes() });
    expect(output).toMatchObject({ barcodes: [{ type, text: "Sluice 42" }] });
  });

  test.each([
    ["upca", "012345678905", undefined, { type: "upca", text: "012345678905" }],
    ["upca", "012345678905", ["ean13"], { type: "ean13", text: "0012345678905" }],
    ["ean13", "4006381333931", undefined, { type: "ean13", text: "4006381333931" }],
    ["ean8", "96385074", undefined, { type: "ean8", text: "96385074" }],
  ])("a code of type %s with %s is read with types %j", async (type, text, types, barcode) => {
    const code = await runCapability("image.barcode", { text: { text } }, { type });
    const params = types === undefined ? {} : { types };
    const { output } = await runCapability("image.read_barcode", { image: code.bytes() }, params);
    expect(output).toMatchObject({ barcodes: [barcode] });
  });

  test("the words of a scanned page are read exactly", async () => {
    const { output } = await runCapability("image.ocr", { image: { file_id: "file-sample-scan" } });
    expect(output?.["text"]).toContain(
      "Invoice 2026-117\n\nThree boxes of tea\n\nTotal 42.50 EUR\n\nPaid on 3 November",
    );
  }, 30_000);
});

test("two images are compared to the last bit", async () => {
  const same = await runCapability("image.compare", { image: QUARTERS, other: QUARTERS });
  expect(same.output).toEqual({ different_share: 0, is_equal: true, hash_distance: 0 });
  const negative = (await runCapability("image.adjust", { image: QUARTERS }, { invert: true, ...PNG })).bytes();
  expect((await runCapability("image.compare", { image: QUARTERS, other: negative })).output).toMatchObject({
    different_share: 1,
    psnr: 0,
  });
});

test("a size limit in bytes is kept", async () => {
  const made = await runCapability("image.optimize", { image: PHOTO }, { max_bytes: 14_000 });
  expect(made.bytes().length).toBeLessThanOrEqual(14_000);
  expect(await refused(runCapability("image.optimize", { image: PHOTO }, { max_bytes: 300 }))).toContain(
    "invalid: This image cannot be reduced to params.max_bytes 300",
  );
});

describe("rejected:", () => {
  const cases: readonly (readonly [string, () => Promise<Ran>, string])[] = [
    [
      "a size of neither side",
      () => runCapability("image.resize", { image: PHOTO }),
      "invalid_request params.width: Expected at least one of params.width, params.height",
    ],
    [
      "an unknown param",
      () => runCapability("image.resize", { image: PHOTO }, { widht: 3 }),
      "unknown_parameter params.widht: params.widht is not a known parameter. Did you mean width?",
    ],
    [
      "a value of no choice",
      () => runCapability("image.resize", { image: PHOTO }, { width: 3, fit: "round" }),
      "unsupported_value params.fit",
    ],
    [
      "an input in two ways",
      () => runCapability("image.resize", { image: { file_id: "a", base64: "b" } }, { width: 3 }),
      "invalid_request input.image: Expected input.image to have exactly one of file_id, url, base64, text, got file_id and base64.",
    ],
    [
      "a box outside",
      () => runCapability("image.crop", { image: QUARTERS }, { x: 6, y: 0, width: 4 }),
      "invalid: Expected params.x, params.y, params.width and params.height to make a box inside 8 × 4 pixels, got 4 × 4 at 6, 0.",
    ],
    [
      "a watermark of nothing",
      () => runCapability("image.watermark", { image: PHOTO }),
      "invalid: Expected input.logo or params.text, got none.",
    ],
    [
      "a colour that is none",
      () => runCapability("image.rotate", { image: PHOTO }, { background: "bluish" }),
      "invalid: Expected params.background to be a colour",
    ],
    [
      "an asset that is not there",
      () => runCapability("image.composite", { image: PHOTO, assets: { a: CHART } }, { layers: [{ asset: "b" }] }),
      "invalid: Expected params.layers[0].asset to name a member of input.assets, got b.",
    ],
    [
      "a step of a pipeline, with its place",
      () =>
        runCapability(
          "image.pipeline",
          { image: PHOTO },
          { operations: [{ operation: "adjust" }, { operation: "resize" }] },
        ),
      "params.operations[1].params.width",
    ],
    [
      "an image that is cut",
      () => runCapability("image.resize", { image: QUARTERS.subarray(0, 60) }, { width: 3 }),
      "corrupt: The image cannot be decoded.",
    ],
    ["words that call themselves SVG", () => runCapability("image.render_svg", { svg: { text: "<svg" } }), "corrupt"],
    [
      "comments without an end, in one pass",
      () => runCapability("image.render_svg", { svg: { text: `<svg>${"<!--".repeat(250_000)}` } }),
      "corrupt",
    ],
    [
      "a name without an end, in one pass",
      () => runCapability("image.render_svg", { svg: { text: `<svg><${"a".repeat(1_000_000)}` } }),
      "corrupt",
    ],
    [
      "more pixels than are decoded",
      () => runCapability("image.resize", { image: pngResized(QUARTERS, 30_000, 30_000) }, { width: 3 }),
      "too_large: Expected at most 64000000 pixels, got 900000000.",
    ],
    [
      "a place that is looked for in an animation",
      async () =>
        runCapability("image.resize", { image: await animation() }, { width: 8, height: 8, gravity: "attention" }),
      "invalid: Expected params.gravity to be a place, got attention for an animation of 3 frames.",
    ],
    [
      "a side that the format does not hold",
      async () => runCapability("image.convert", { image: await line() }, { format: "webp" }),
      "too_large: Expected a result with fewer pixels on a side: WebP cannot hold it.",
    ],
    [
      "a number that is no EAN",
      () => runCapability("image.barcode", { text: { text: "12x" } }, { type: "ean13" }),
      "invalid: Expected a text that fits into a ean13 code",
    ],
  ];
  test.each(cases)("%s", async (_name, run, said) => {
    expect(await refused(run())).toContain(said);
  });
});

test("an SVG renders no other files", async () => {
  const text = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="20" height="20"><image width="20" height="20" xlink:href="${process.cwd()}/shared/calls/capabilities/samples/chart.png"/></svg>`;
  const made = await pixels((await runCapability("image.render_svg", { svg: { text } }, PNG)).bytes());
  expect(made.data.every((value) => value === 0)).toBe(true);
});

describe("an image of one pixel, or one row,", () => {
  test.each<[string, object]>([
    ["image.crop", { trim: true }],
    ["image.filter", { type: "median" }],
    ["image.filter", { type: "pixelate" }],
    ["image.optimize", { format: "auto" }],
  ])("is accepted by %s %j", async (id, params) => {
    const dot = await sharp({ create: { width: 1, height: 1, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    expect((await runCapability(id, { image: dot }, params)).output).toMatchObject({ width: 1, height: 1 });
    expect((await runCapability(id, { image: await line() }, params)).output).toMatchObject({
      width: 16_384,
      height: 1,
    });
  });
});

async function animation(): Promise<Buffer> {
  const frames = ["red", "green", "blue"].map((background) =>
    sharp({ create: { width: 16, height: 24, channels: 3, background } })
      .png()
      .toBuffer(),
  );
  return sharp(await Promise.all(frames), { join: { animated: true } })
    .gif()
    .toBuffer();
}

function line(): Promise<Buffer> {
  return sharp({ create: { width: 16_384, height: 1, channels: 3, background: "red" } })
    .png()
    .toBuffer();
}
