/** From a price and a usage to nano-credits, exactly. */
import { expect, test } from "bun:test";

import { formatCredits, NANO_PER_CREDIT, parseCredits } from "#shared/base/money.ts";
import {
  boundChat,
  deserializePrice,
  parsePrice,
  priceChat,
  priceTokens,
  serializePrice,
} from "#shared/calls/pricing/price.ts";
import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";

import { randomOf } from "#tests/shared/accounts.ts";
import { testSeed } from "#tests/support/seed.ts";

const ALL_RATES = {
  unit: "per_token",
  input_per_million: "100",
  output_per_million: "400",
  cached_input_per_million: "25",
  cache_write_per_million: "125",
  cache_write_1h_per_million: "200",
  audio_input_per_million: "1000",
  audio_output_per_million: "2000",
  image_input_per_million: "300",
  image_output_per_million: "800",
};

function usage(changes: Partial<TokenUsage>): TokenUsage {
  return { ...NO_USAGE, ...changes };
}

const MILLION = 1_000_000;

test.each([
  ["input", 100n],
  ["cachedInput", 25n],
  ["cacheWrite5m", 125n],
  ["cacheWrite1h", 200n],
  ["audioInput", 1_000n],
  ["imageInput", 300n],
  ["output", 400n],
  ["audioOutput", 2_000n],
  ["imageOutput", 800n],
  ["reasoning", 0n],
] as const)("a million tokens of %s cost their own rate", (bucket, credits) => {
  const price = parsePrice(ALL_RATES);
  expect(priceTokens(price, usage({ [bucket]: MILLION }))).toBe(credits * NANO_PER_CREDIT);
});

test("a rate that is not published is the plain one, a 1-hour cache write the 5-minute one first", () => {
  const plain = parsePrice({ unit: "per_token", input_per_million: "10", output_per_million: "30" });
  for (const bucket of ["cachedInput", "cacheWrite5m", "cacheWrite1h", "audioInput", "imageInput"] as const) {
    expect([bucket, priceTokens(plain, usage({ [bucket]: MILLION }))]).toEqual([bucket, 10n * NANO_PER_CREDIT]);
  }
  for (const bucket of ["audioOutput", "imageOutput"] as const) {
    expect([bucket, priceTokens(plain, usage({ [bucket]: MILLION }))]).toEqual([bucket, 30n * NANO_PER_CREDIT]);
  }
  const written = parsePrice({ unit: "per_token", input_per_million: "10", cache_write_per_million: "12" });
  expect(priceTokens(written, usage({ cacheWrite1h: MILLION }))).toBe(12n * NANO_PER_CREDIT);
});

test("buckets add up, and a fraction is rounded up once, in the sum", () => {
  // 0.0004 and 0.0003 nano-credits a token: three of each are 0.0021, one nano-credit.
  const price = parsePrice({ unit: "per_token", input_per_million: "0.0000004", output_per_million: "0.0000003" });
  expect(priceTokens(price, usage({ input: 3, output: 3 }))).toBe(1n);
  expect(priceTokens(price, NO_USAGE)).toBe(0n);
  const even = parsePrice({ unit: "per_token", input_per_million: "0.001", output_per_million: "0.001" });
  expect(priceTokens(even, usage({ input: 1, output: 1 }))).toBe(2n);
});

test("the finest published price and the largest usage stay exact", () => {
  const fine = parsePrice({ unit: "per_token", input_per_million: "1.9e-08", output_per_million: "0" });
  expect(fine.tokenRates.input_per_million).toBe(19n);
  expect(priceTokens(fine, usage({ input: MILLION }))).toBe(19n);
  const dear = parsePrice({ unit: "per_token", input_per_million: "60000.123456789" });
  expect(priceTokens(dear, usage({ input: Number.MAX_SAFE_INTEGER }))).toBe(
    (BigInt(Number.MAX_SAFE_INTEGER) * 60_000_123_456_789n + 999_999n) / 1_000_000n,
  );
});

test("a million fractional settles add up exactly", () => {
  const price = parsePrice({
    unit: "per_token",
    input_per_million: "0.123456789",
    output_per_million: "0.000000007",
    cached_input_per_million: "0.1",
  });
  const random = randomOf(20_261_120);
  let settled = 0n;
  /** The same in millionths of a nano-credit, so that nothing is rounded. */
  let exact = 0n;
  let roundedUp = 0n;
  for (let call = 0; call < MILLION; call++) {
    const [input, cachedInput, output] = [random(5_000), random(300), random(2_000)];
    const taken = priceTokens(price, usage({ input, cachedInput, output }));
    const parts = BigInt(input) * 123_456_789n + BigInt(cachedInput) * 100_000_000n + BigInt(output) * 7n;
    settled += taken;
    exact += parts;
    roundedUp += (1_000_000n - (parts % 1_000_000n)) % 1_000_000n;
  }
  expect(settled * 1_000_000n).toBe(exact + roundedUp);
  expect(roundedUp < BigInt(MILLION) * 1_000_000n).toBe(true);
  expect(parseCredits(formatCredits(settled))).toBe(settled);
});

test("a call with a flat price costs it once, for every usage", () => {
  const price = parsePrice({ unit: "per_request", request_price: "0.35" });
  expect(priceChat(price, usage({ input: 900_000, output: 70_000 }))).toBe(350_000_000n);
  expect(
    boundChat(price, {
      inputTokens: 9,
      outputTokens: 9,
      hasAudioInput: true,
      hasImageInput: true,
      hasAudioOutput: true,
    }),
  ).toBe(350_000_000n);
});

test.each(["per_image", "per_second", "per_minute", "per_character", "per_operation", "per_megapixel"] as const)(
  "a price of unit %s is read from the field of that unit",
  (unit) => {
    const field = `${unit.slice(4)}_price`;
    expect(parsePrice({ unit, [field]: "0.000000001" })).toEqual({ unit, tokenRates: {}, unitRate: 1n });
    expect(() => parsePrice({ unit, request_price: "1" })).toThrow(field);
  },
);

test("a price without an input rate, a negative one and one finer than a nano-credit are rejected", () => {
  expect(() => parsePrice({ unit: "per_token", output_per_million: "5" })).toThrow("input_per_million");
  expect(() => parsePrice({ unit: "per_token", input_per_million: "-1" })).toThrow("negative");
  expect(() => parsePrice({ unit: "per_token", input_per_million: "0.0000000001" })).toThrow(RangeError);
  expect(() => parsePrice({ unit: "per_token", input_per_million: "cheap" })).toThrow(RangeError);
});

test("the bound of a call is never below its price, for every mix of tokens", () => {
  const seed = testSeed("price");
  const random = randomOf(seed);
  const text = (): string => `${random(900)}.${String(random(1_000)).padStart(3, "0")}`;
  for (let round = 0; round < 3_000; round++) {
    const rates: Record<string, string> = { unit: "per_token", input_per_million: text() };
    for (const field of Object.keys(ALL_RATES).slice(2)) if (random(2) === 0) rates[field] = text();
    const price = parsePrice(rates);
    const has = { hasAudioInput: random(2) === 0, hasImageInput: random(2) === 0, hasAudioOutput: random(2) === 0 };
    const used = usage({
      input: random(500),
      cachedInput: random(500),
      cacheWrite5m: random(500),
      cacheWrite1h: random(500),
      audioInput: has.hasAudioInput ? random(500) : 0,
      imageInput: has.hasImageInput ? random(500) : 0,
      output: random(500),
      audioOutput: has.hasAudioOutput ? random(500) : 0,
    });
    const bound = boundChat(price, {
      inputTokens:
        used.input + used.cachedInput + used.cacheWrite5m + used.cacheWrite1h + used.audioInput + used.imageInput,
      outputTokens: used.output + used.audioOutput,
      ...has,
    });
    expect({ seed, round, rates, used, covers: bound >= priceTokens(price, used) }).toMatchObject({ covers: true });
  }
});

test("a price survives the way through a work message", () => {
  const prices = [
    ALL_RATES,
    { unit: "per_request", request_price: "0.123456789" },
    { unit: "per_token", input_per_million: "1.9e-08" },
    { ...ALL_RATES, long_context: { above_tokens: 5, ...ALL_RATES }, service_tiers: { priority: ALL_RATES } },
    { unit: "per_token", input_per_million: "1", service_tiers: { flex: { input_per_million: "0" } } },
  ];
  for (const text of prices) {
    const price = parsePrice(text);
    const there = JSON.parse(JSON.stringify(serializePrice(price))) as Record<string, string>;
    expect(deserializePrice(there)).toEqual(price);
  }
});
