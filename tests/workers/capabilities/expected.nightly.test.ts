/** Expected and actual measures of runs: nothing costs more than it would hold. */
import { describe, expect, test } from "bun:test";

import fc from "fast-check";
import sharp from "sharp";

import { capabilityCharge } from "#shared/calls/capabilities/price.ts";
import { expectedOf } from "#shared/calls/capabilities/expected.ts";
import { CHECKS, findCapability } from "#shared/calls/capabilities/list.ts";
import { MediaError } from "#shared/children/media-error.ts";
import { readImageExtent } from "#shared/media/image-extent.ts";
import { parsePrice } from "#shared/calls/pricing/price.ts";
import { testSeed } from "#tests/support/seed.ts";
import { storm } from "#tests/support/storm.ts";
import { CAPABILITY_RUN_MS, IMAGE_FRAMES_PIXELS_MAX } from "#shared/calls/capabilities/limits.ts";

import { runCapability } from "./in-folder.ts";

const side = fc.integer({ min: 1, max: 400 });
const pixels = fc.option(fc.integer({ min: 1, max: 700 }), { nil: undefined });
const defined = (params: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
const record = (members: Record<string, fc.Arbitrary<unknown>>) => fc.record(members).map(defined);

const STEPS = {
  resize: record({ width: pixels, height: pixels, fit: fc.constantFrom("cover", "contain", "fill", "inside", "outside"), enlarge: fc.boolean() }), // prettier-ignore
  crop: fc.oneof(
    record({ width: pixels, height: pixels, x: pixels }),
    record({ aspect_ratio: fc.constantFrom("1:1", "16:9", "2:3") }),
    fc.constant({ trim: true }),
  ),
  rotate: record({ angle: fc.oneof(fc.constantFrom(0, 90, -270, 180), fc.integer({ min: -360, max: 360 })) }),
  adjust: fc.constant({ greyscale: true }),
  filter: fc.constant({ type: "sepia" }),
} as const;
type StepName = keyof typeof STEPS;

const format = fc.constantFrom(undefined, "png", "jpeg", "webp", "gif", "tiff");
const single = fc
  .constantFrom(...(Object.keys(STEPS) as StepName[]))
  .chain((name) => fc.record({ params: STEPS[name], format }).map(({ params, format: own }) => [`image.${name}`, defined({ ...params, format: own })] as const)); // prettier-ignore
const pipeline = fc
  .array(
    fc
      .constantFrom(...(Object.keys(STEPS) as StepName[]))
      .chain((name) => STEPS[name].map((params) => ({ operation: name, params }))),
    { minLength: 1, maxLength: 3 },
  ) // prettier-ignore
  .chain((operations) =>
    format.map((own) => ["image.pipeline", { operations, output: defined({ format: own }) }] as const),
  );
const other = fc.constantFrom<readonly [string, object]>(
  ["image.convert", { format: "webp" }],
  ["image.convert", { format: "tiff" }],
  ["image.strip_metadata", {}],
  ["image.optimize", {}],
  ["image.optimize", { format: "auto" }],
  ["image.palette", {}],
);

const source = fc.record({
  width: side,
  height: side,
  format: fc.constantFrom("png", "jpeg", "webp", "gif", "tiff", "avif"),
  frames: fc.constantFrom(1, 1, 3),
  orientation: fc.constantFrom(1, 1, 1, 6),
});

async function imageOf({ width, height, format: own, frames, orientation }: Source): Promise<Buffer> {
  const noise = { type: "gaussian", mean: 128, sigma: 30 } as const;
  const one = () => sharp({ create: { width, height, channels: 3, background: "grey", noise } });
  if (frames > 1 && (own === "gif" || own === "webp")) {
    const all = await Promise.all(Array.from({ length: frames }, () => one().png().toBuffer()));
    return sharp(all, { join: { animated: true } })
      .toFormat(own)
      .toBuffer();
  }
  const options = own === "avif" ? { effort: 0 } : {};
  return one().withMetadata({ orientation }).toFormat(own, options).toBuffer();
}

interface Source {
  readonly width: number;
  readonly height: number;
  readonly format: "png" | "jpeg" | "webp" | "gif" | "tiff" | "avif";
  readonly frames: number;
  readonly orientation: number;
}

const DOT: Source = { width: 1, height: 1, format: "png", frames: 1, orientation: 1 };
/** Earlier finds: the frame of a dot that is not enlarged; a side that a first step leaves a pixel shorter makes the other longer. */
const FOUND: [Source, readonly [string, object]][] = [
  [DOT, ["image.resize", { height: 5, fit: "contain", enlarge: false }]],
  [
    DOT,
    [
      "image.pipeline",
      { operations: [{ width: 1, height: 2 }, { width: 6 }].map((params) => ({ operation: "resize", params })) },
    ],
  ],
];

const anyOperation: fc.Arbitrary<readonly [string, object]> = fc.oneof(single, pipeline, other);

test("no image costs more than its header holds, and upright ones cost the estimate", async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(source, anyOperation, async (from, [id, params]) => {
      const image = await imageOf(from);
      const capability = findCapability(id);
      const extent = readImageExtent(image, image.length);
      if (!capability || !extent) throw new Error(`${id} of ${from.format} is not known`);
      const made = await runCapability(id, { image }, params).catch((error: unknown) => {
        // A box that does not fit is refused, and free.
        if (error instanceof MediaError || (error as { code?: string }).code === "invalid_request") return undefined;
        throw error;
      });
      if (!made) return;
      const checked = CHECKS.get(id)?.({ input: { image: { base64: "AA==" } }, params });
      const { usual, most } = expectedOf(capability, checked?.params ?? {}, { image: [{ image: extent }] });
      const measured = made.pixels ?? 0;
      expect(measured).toBeLessThanOrEqual(most.pixels ?? 0);
      const price = parsePrice(capability.pricing);
      const [paid, held] = [{ ms: 0, pixels: measured }, most].map((one) => capabilityCharge(price, one).nano);
      expect((paid ?? 0n) <= (held ?? 0n)).toBe(true);
      const isShaped = JSON.stringify(params).includes("trim") || from.orientation !== 1;
      if (isShaped) return;
      compared += 1;
      // A turned image is told to a pixel on each side: of small ones that is some of it.
      expect(usual.pixels).toBeLessThanOrEqual(measured * 1.25 + 2_000);
      expect(usual.pixels).toBeGreaterThanOrEqual(measured * 0.8 - 2_000);
    }),
    {
      seed: testSeed("expected pixels"),
      numRuns: storm(25, 200) + FOUND.length,
      examples: FOUND,
    },
  );
  expect(compared).toBeGreaterThan(storm(6, 50));
}, 120_000);

test.each([
  ["qr", "x".repeat(2_000)],
  ["qr", "a"],
  ["aztec", "x".repeat(1_900)],
  ["datamatrix", "x".repeat(1_550)],
  ["pdf417", "x".repeat(1_100)],
  ["code128", "x".repeat(490)],
  ["ean13", "4006381333931"],
  ["ean8", "96385074"],
  ["upca", "012345678905"],
])("no %s code costs more than its hold", async (type, text) => {
  const capability = findCapability("image.barcode");
  for (const more of [{ scale: 1, margin: 0 }, { scale: 2 }, { scale: 3, margin: 50, label: true }]) {
    const made = await runCapability("image.barcode", { text: { text } }, { type, ...more });
    const expected = expectedOf(capability ?? { id: "", category: "image" }, { type, margin: 10, ...more }, {});
    expect(made.pixels ?? 0).toBeLessThanOrEqual(expected.most.pixels ?? 0);
  }
});

describe("time", () => {
  const capability = (id: string) => findCapability(id) ?? (() => { throw new Error(id); })(); // prettier-ignore
  const hour = { media: { seconds: 3_600, width: 1_920, height: 1_080 } };
  const msOf = (id: string, params: object, known: Parameters<typeof expectedOf>[2]) => {
    const { usual, most } = expectedOf(capability(id), params as Record<string, unknown>, known);
    expect(usual.ms).toBeLessThanOrEqual(most.ms);
    expect(most.ms).toBeLessThanOrEqual(CAPABILITY_RUN_MS[capability(id).category]);
    return { usual: usual.ms, most: most.ms };
  };

  test("of a short piece does not depend on the input file's length", () => {
    const params = { start: 0, duration: 2, mode: "exact" };
    const piece = msOf("video.trim", params, { video: [hour] });
    expect(piece.most).toBeLessThan(CAPABILITY_RUN_MS.video / 3);
    expect(msOf("video.trim", { ...params, start: 1_800 }, { video: [hour] }).usual).toBeGreaterThan(piece.usual);
    const piped = { operations: [{ operation: "trim", params: { duration: 2 } }], output: {} };
    expect(msOf("video.pipeline", piped, { video: [hour] })).toEqual(piece);
    expect(msOf("video.transcode", {}, { video: [hour] }).most).toBe(CAPABILITY_RUN_MS.video);
    const tune = { media: { seconds: 60, width: 0, height: 0 } };
    const audio = msOf("audio.convert", { format: "mp3" }, { audio: [tune] });
    expect(audio.most).toBeLessThan(CAPABILITY_RUN_MS.audio / 3);
    expect(msOf("audio.normalize", {}, { audio: [tune] }).usual).toBeGreaterThan(audio.usual);
  });

  test("of a script is short, and at most its limit", () => {
    expect(msOf("code.run_javascript", { timeout: 5 }, {})).toEqual({ usual: 200, most: CAPABILITY_RUN_MS.code });
  });

  test("is the limit if one of several inputs is unknown", () => {
    expect(msOf("audio.concat", {}, { audios: [hour, {}] }).most).toBe(CAPABILITY_RUN_MS.audio);
    expect(msOf("audio.concat", {}, {}).most).toBe(CAPABILITY_RUN_MS.audio);
  });

  test("and pixels of unknown inputs are the limits, for each operation", () => {
    const operations = [{ operation: "resize" }, { operation: "adjust" }];
    const { most } = expectedOf(capability("image.pipeline"), { operations }, {});
    expect(most.pixels).toBe(2 * IMAGE_FRAMES_PIXELS_MAX);
  });

  test("above the hold is charged at the hold", () => {
    const price = parsePrice({ unit: "per_second", second_price: "0.02" });
    const charge = capabilityCharge(price, { ms: 90_000 }, 600_000_000n);
    expect([charge.nano, charge.units]).toEqual([600_000_000n, { milliseconds: 90_000 }]);
    expect(capabilityCharge(price, { ms: 30_000 }, 600_000_000n).nano).toBe(600_000_000n);
    expect(capabilityCharge(price, { ms: 29_900 }, 600_000_000n).nano).toBe(598_000_000n);
  });
});
