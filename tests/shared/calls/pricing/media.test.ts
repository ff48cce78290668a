import { describe, expect, test } from "bun:test";

import { boundMedia, ONE_RESULT, priceMedia, wholeMilliseconds } from "#shared/calls/pricing/media.ts";
import { parsePrice, priceOf } from "#shared/calls/pricing/price.ts";
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";

const MEGAPIXEL = parsePrice({ unit: "per_megapixel", megapixel_price: "0.3" });
const TOKEN = parsePrice({
  unit: "per_token",
  input_per_million: "500",
  output_per_million: "3000",
  image_output_per_million: "6000",
});
const usual = { ...ONE_RESULT, steps: 4, defaultSteps: 4 };

describe("the price of images", () => {
  test.each([
    ["one, by the picture", { unit: "per_image", image_price: "4" }, [100, 200, 300], 12_000_000_000n],
    ["any number, by the call", { unit: "per_request", request_price: "4" }, [100, 200, 300], 4_000_000_000n],
    ["a megapixel", { unit: "per_megapixel", megapixel_price: "2.5" }, [1_000_000], 2_500_000_000n],
    ["pixels together", { unit: "per_megapixel", megapixel_price: "2.5" }, [500_000, 250_000], 1_875_000_000n],
    ["a fraction, rounded up once", { unit: "per_megapixel", megapixel_price: "0.000000001" }, [1, 1], 1n],
  ] as const)("is, for %s", (_what, pricing, pixels, nano) => {
    expect(priceMedia(parsePrice(pricing), { ...usual, results: pixels.length, pixels })).toBe(nano);
  });

  test.each([
    [4, 4, 300_000_000n],
    [1, 4, 300_000_000n],
    [5, 4, 375_000_000n],
    [8, 4, 600_000_000n],
    [100, 28, 1_071_428_572n],
  ])("grows with %d steps of %d default ones, and never falls", (steps, defaultSteps, nano) => {
    expect(priceMedia(MEGAPIXEL, { ...usual, pixels: [1_000_000], steps, defaultSteps })).toBe(nano);
  });

  test("uses its tokens if that is the unit", () => {
    const tokens = { ...NO_USAGE, input: 1_000, imageOutput: 2_000 };
    expect(priceMedia(TOKEN, { ...usual, pixels: [1], tokens })).toBe(500_000_000n + 12_000_000_000n);
  });

  test.each(["per_request", "per_operation"])("is that of one call if the unit is %s", (unit) => {
    const price = parsePrice({ unit, [`${unit.slice("per_".length)}_price`]: "1.5" });
    expect(priceMedia(price, { ...usual, results: 3, pixels: [1] })).toBe(1_500_000_000n);
  });
});

describe("the bound of images", () => {
  test("counts each token at the higher rate", () => {
    const bound = boundMedia(TOKEN, { ...usual, pixels: [1] }, { input: 1_000, output: 2_000 });
    expect(bound).toBe(500_000_000n + 12_000_000_000n);
  });

  test("is the price if the price needs no tokens", () => {
    const bound = boundMedia(MEGAPIXEL, { ...usual, pixels: [1_000_000] }, { input: 9, output: 9 });
    expect(bound).toBe(300_000_000n);
  });
});

describe("the price of media", () => {
  test.each([
    ["a second", { unit: "per_second", second_price: "2" }, { milliseconds: 1_500 }, 3_000_000_000n],
    ["a minute", { unit: "per_minute", minute_price: "6" }, { milliseconds: 1_000 }, 100_000_000n],
    [
      "a fraction of a minute, rounded up once",
      { unit: "per_minute", minute_price: "1" },
      { milliseconds: 1 },
      16_667n,
    ],
    ["a character", { unit: "per_character", character_price: "0.01" }, { characters: 150 }, 1_500_000_000n],
    ["a call, however long", { unit: "per_request", request_price: "7" }, { milliseconds: 9_999 }, 7_000_000_000n],
  ] as const)("is by %s", (_what, pricing, counted, nano) => {
    expect(priceMedia(parsePrice(pricing), { ...ONE_RESULT, ...counted })).toBe(nano);
  });

  test("is that of the requested settings, if a model has several", () => {
    const [price, large, plain] = ["1", "3", "2"].map((rate) => parsePrice({ unit: "per_second", second_price: rate }));
    if (!price || !large || !plain) throw new Error("prices");
    const model = {
      price,
      price_variants: [
        { when: { size: "1920x1080", audio: true }, price: large },
        { when: { prompt_extend: false }, price: plain },
      ],
    };
    expect(priceOf(model, { size: "1920x1080", audio: true })).toBe(large);
    expect(priceOf(model, { size: "1920x1080" })).toBe(price);
    // Prompts are extended unless the call says otherwise.
    expect(priceOf(model, { prompt_extend: false })).toBe(plain);
    expect(priceOf(model, {})).toBe(price);
  });

  test.each([
    [1.0004, 1_001],
    [0.1 + 0.2, 300],
    [0, 0],
  ])("counts %d seconds as whole milliseconds, rounded up except floating point noise", (seconds, milliseconds) => {
    expect(wholeMilliseconds(seconds)).toBe(milliseconds);
  });
});

describe("the bound of media", () => {
  test("by the token counts images and audio at their own rates", () => {
    const price = parsePrice({
      unit: "per_token",
      input_per_million: "1",
      image_input_per_million: "2",
      audio_input_per_million: "4",
      output_per_million: "8",
      audio_output_per_million: "16",
    });
    const bound = boundMedia(price, ONE_RESULT, { input: 10, imageInput: 10, audioInput: 10, output: 10 });
    expect(bound).toBe(10n * (1_000n + 2_000n + 4_000n + 16_000n));
  });
});
