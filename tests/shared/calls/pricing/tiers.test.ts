/**
 * Golden costs of prices with tiers, worked out by hand from published prices, and the bound of their holds. A price of 1 credit per million
 * tokens is 1,000 nano-credits per token.
 */
import { describe, expect, test } from "bun:test";

import { batchLineOf, boundChat, parsePrice, priceChat } from "#shared/calls/pricing/price.ts";
import { SERVICE_TIERS } from "#shared/calls/pricing/rates.ts";
import { chargedTier, tierUnits } from "#shared/calls/pricing/tiers.ts";
import { NO_USAGE, promptTokens, type TokenUsage } from "#shared/calls/pricing/usage.ts";
import { priceAt } from "#shared/ledger/charge.ts";
import { randomOf } from "#tests/shared/accounts.ts";
import { testSeed } from "#tests/support/seed.ts";

const rates = (input: string, output: string, cached: string): Record<string, string> => ({
  input_per_million: input,
  output_per_million: output,
  cached_input_per_million: cached,
});

const GPT_5_5 = parsePrice({
  unit: "per_token",
  ...rates("500", "3000", "50"),
  long_context: { above_tokens: 272_000, ...rates("1000", "4500", "100") },
  service_tiers: {
    flex: { ...rates("250", "1500", "25"), long_context: { above_tokens: 272_000, ...rates("500", "2250", "50") } },
    priority: rates("1250", "7500", "125"),
  },
  batch_factor: "0.5",
});

const SONNET_4_5 = parsePrice({
  unit: "per_token",
  ...rates("300", "1500", "30"),
  cache_write_per_million: "375",
  cache_write_1h_per_million: "600",
  long_context: {
    above_tokens: 200_000,
    ...rates("600", "2250", "60"),
    cache_write_per_million: "750",
    cache_write_1h_per_million: "1200",
  },
});

const GEMINI_2_5_PRO = parsePrice({
  unit: "per_token",
  ...rates("125", "1000", "12.5"),
  long_context: { above_tokens: 200_000, ...rates("250", "1500", "25") },
});

const MODELS = { "gpt-5.5": GPT_5_5, "claude-sonnet-4.5": SONNET_4_5, "gemini-2.5-pro": GEMINI_2_5_PRO } as const;

const SHORT = { input: 10_000, cachedInput: 2_000, output: 500 };
const LONG = { input: 300_000, output: 2_000 };
/** 10,000 × 500,000 + 2,000 × 50,000 + 500 × 3,000,000 */
const PLAIN = 6_600_000_000n;
const PRIORITY = { priority_requests: 1 };

interface Golden {
  readonly name: string;
  readonly model: keyof typeof MODELS;
  readonly asked?: string;
  readonly reported?: string;
  readonly used: Partial<TokenUsage>;
  readonly nano: bigint;
  readonly units: Readonly<Record<string, number>>;
}

const GOLDEN: readonly Golden[] = [
  {
    name: "as many input tokens as the threshold, cached ones included",
    model: "gpt-5.5",
    used: { input: 200_000, cachedInput: 72_000, output: 1_000 },
    // 200,000 × 500,000 + 72,000 × 50,000 + 1,000 × 3,000,000
    nano: 106_600_000_000n,
    units: {},
  },
  {
    name: "one input token more",
    model: "gpt-5.5",
    used: { input: 200_001, cachedInput: 72_000, output: 1_000 },
    // 200,001 × 1,000,000 + 72,000 × 100,000 + 1,000 × 4,500,000
    nano: 211_701_000_000n,
    units: { long_context_requests: 1 },
  },
  {
    name: "priority",
    model: "gpt-5.5",
    asked: "priority",
    reported: "priority",
    used: SHORT,
    // 10,000 × 1,250,000 + 2,000 × 125,000 + 500 × 7,500,000
    nano: 16_500_000_000n,
    units: PRIORITY,
  },
  { name: "priority, not reported", model: "gpt-5.5", asked: "priority", used: SHORT, nano: 16_500_000_000n, units: PRIORITY }, // prettier-ignore
  { name: "priority, served by default", model: "gpt-5.5", asked: "priority", reported: "default", used: SHORT, nano: PLAIN, units: {} }, // prettier-ignore
  { name: "priority, served by flex", model: "gpt-5.5", asked: "priority", reported: "flex", used: SHORT, nano: PLAIN, units: {} }, // prettier-ignore
  {
    name: "priority with a long input, which has no price of its own",
    model: "gpt-5.5",
    asked: "priority",
    reported: "priority",
    used: LONG,
    // 300,000 × 1,250,000 + 2,000 × 7,500,000: the higher rates
    nano: 390_000_000_000n,
    units: { ...PRIORITY, long_context_requests: 1 },
  },
  {
    name: "flex",
    model: "gpt-5.5",
    asked: "flex",
    reported: "flex",
    used: SHORT,
    // 10,000 × 250,000 + 2,000 × 25,000 + 500 × 1,500,000
    nano: 3_300_000_000n,
    units: { flex_requests: 1 },
  },
  {
    name: "flex with a long input",
    model: "gpt-5.5",
    asked: "flex",
    reported: "flex",
    used: LONG,
    // 300,000 × 500,000 + 2,000 × 2,250,000
    nano: 154_500_000_000n,
    units: { flex_requests: 1, long_context_requests: 1 },
  },
  { name: "flex, served by default", model: "gpt-5.5", asked: "flex", reported: "default", used: SHORT, nano: PLAIN, units: {} }, // prettier-ignore
  { name: "any tier, served by priority", model: "gpt-5.5", asked: "auto", reported: "priority", used: SHORT, nano: 16_500_000_000n, units: PRIORITY }, // prettier-ignore
  { name: "any tier, served by default", model: "gpt-5.5", asked: "auto", reported: "default", used: SHORT, nano: PLAIN, units: {} }, // prettier-ignore
  { name: "any tier, not reported", model: "gpt-5.5", asked: "auto", used: SHORT, nano: PLAIN, units: {} },
  { name: "any tier, reported as asked", model: "gpt-5.5", asked: "auto", reported: "auto", used: SHORT, nano: PLAIN, units: {} }, // prettier-ignore
  { name: "any tier, served by prepaid capacity", model: "gpt-5.5", asked: "auto", reported: "scale", used: SHORT, nano: PLAIN, units: {} }, // prettier-ignore
  { name: "default, served by priority", model: "gpt-5.5", asked: "default", reported: "priority", used: SHORT, nano: PLAIN, units: {} }, // prettier-ignore
  { name: "no tier, served by priority", model: "gpt-5.5", reported: "priority", used: SHORT, nano: PLAIN, units: {} },
  {
    name: "cache reads and writes up to the threshold",
    model: "claude-sonnet-4.5",
    used: { input: 50_000, cachedInput: 100_000, cacheWrite5m: 40_000, cacheWrite1h: 10_000, output: 4_000 },
    // 50,000 × 300,000 + 100,000 × 30,000 + 40,000 × 375,000 + 10,000 × 600,000 + 4,000 × 1,500,000
    nano: 45_000_000_000n,
    units: {},
  },
  {
    name: "one more cached token",
    model: "claude-sonnet-4.5",
    used: { input: 50_000, cachedInput: 100_001, cacheWrite5m: 40_000, cacheWrite1h: 10_000, output: 4_000 },
    // 50,000 × 600,000 + 100,001 × 60,000 + 40,000 × 750,000 + 10,000 × 1,200,000 + 4,000 × 2,250,000
    nano: 87_000_060_000n,
    units: { long_context_requests: 1 },
  },
  { name: "a tier without a price of its own", model: "claude-sonnet-4.5", asked: "auto", reported: "priority", used: { input: 1_000, output: 10 }, nano: 315_000_000n, units: {} }, // prettier-ignore
  {
    name: "the threshold",
    model: "gemini-2.5-pro",
    used: { input: 150_000, cachedInput: 50_000, output: 8_000 },
    // 150,000 × 125,000 + 50,000 × 12,500 + 8,000 × 1,000,000
    nano: 27_375_000_000n,
    units: {},
  },
  {
    name: "one token above the threshold",
    model: "gemini-2.5-pro",
    used: { input: 150_000, cachedInput: 50_001, output: 8_000 },
    // 150,000 × 250,000 + 50,001 × 25,000 + 8,000 × 1,500,000
    nano: 50_750_025_000n,
    units: { long_context_requests: 1 },
  },
];

describe("golden costs", () => {
  test.each(GOLDEN.map((row) => [row.model, row.name, row] as const))("%s: %s", (_model, _name, row) => {
    const price = MODELS[row.model];
    const used = { ...NO_USAGE, ...row.used };
    const tier = chargedTier(row.asked, row.reported);
    expect(priceChat(price, used, tier)).toBe(row.nano);
    expect(tierUnits(price, tier, promptTokens(used))).toEqual(row.units);
  });

  test("a batch line pays the factor of its model, or that of the deployment", () => {
    const line = batchLineOf(GPT_5_5, 800_000);
    expect(priceAt(priceChat(GPT_5_5, { ...NO_USAGE, ...SHORT }), line)).toBe(3_300_000_000n);
    expect(priceAt(priceChat(GPT_5_5, { ...NO_USAGE, ...SHORT }, "priority"), line)).toBe(8_250_000_000n);
    const other = batchLineOf(GEMINI_2_5_PRO, 800_000);
    expect(priceAt(priceChat(GEMINI_2_5_PRO, { ...NO_USAGE, input: 1_000 }), other)).toBe(100_000_000n);
  });
});

test("a hold counts the most expensive tier that the request allows, and long rates once the input may exceed the threshold", () => {
  const bound = (inputTokens: number, serviceTier?: string): bigint =>
    boundChat(GPT_5_5, {
      inputTokens,
      outputTokens: 100,
      hasAudioInput: false,
      hasImageInput: false,
      hasAudioOutput: false,
      serviceTier,
    });
  // 1,000 × 500,000 + 100 × 3,000,000
  for (const tier of [undefined, "default", "flex"]) expect([tier, bound(1_000, tier)]).toEqual([tier, 800_000_000n]);
  // 1,000 × 1,250,000 + 100 × 7,500,000
  for (const tier of ["auto", "priority"]) expect([tier, bound(1_000, tier)]).toEqual([tier, 2_000_000_000n]);
  // 272,000 × 500,000 + 100 × 3,000,000; then 272,001 × 1,000,000 + 100 × 4,500,000
  expect([bound(272_000), bound(272_001)]).toEqual([136_300_000_000n, 272_451_000_000n]);
});

test("the bound of a call is never below its charge, for every tier, threshold and mix of tokens", () => {
  const seed = testSeed("tiers");
  const random = randomOf(seed);
  const text = (): string => `${random(900)}.${String(random(1_000)).padStart(3, "0")}`;
  const optional = ["cached_input_per_million", "cache_write_per_million", "cache_write_1h_per_million", "audio_input_per_million", "image_input_per_million", "audio_output_per_million"]; // prettier-ignore
  const some = <Value>(value: () => Value): Value | undefined => (random(2) === 0 ? value() : undefined);
  const names = [undefined, null, "auto", "default", "flex", "priority", "scale", "unknown"] as const;
  for (let round = 0; round < 3_000; round++) {
    const fields = ["input_per_million", "output_per_million", ...optional.filter(() => random(2) === 0)];
    const table = (): object => Object.fromEntries(fields.map((field) => [field, text()]));
    const long = (): object => ({ above_tokens: 1 + random(2_000), ...table() });
    const tier = (): object => ({ ...table(), ...(random(2) === 0 ? { long_context: long() } : {}) });
    const pricing = {
      unit: "per_token",
      ...table(),
      long_context: some(long),
      service_tiers: some(() => ({ flex: some(tier), priority: some(tier) })),
    };
    const price = parsePrice(pricing);
    const has = { hasAudioInput: random(2) === 0, hasImageInput: random(2) === 0, hasAudioOutput: random(2) === 0 };
    const used = {
      ...NO_USAGE,
      input: random(500),
      cachedInput: random(500),
      cacheWrite5m: random(500),
      cacheWrite1h: random(500),
      audioInput: has.hasAudioInput ? random(500) : 0,
      imageInput: has.hasImageInput ? random(500) : 0,
      output: random(500),
      audioOutput: has.hasAudioOutput ? random(500) : 0,
    };
    const [asked, reported] = [names[random(names.length)], names[random(names.length)]];
    const charge = priceChat(price, used, chargedTier(asked, reported));
    const bound = boundChat(price, {
      inputTokens: promptTokens(used) + random(100),
      outputTokens: used.output + used.audioOutput + random(100),
      ...has,
      serviceTier: asked,
    });
    const covers = bound >= charge;
    expect({ seed, round, pricing, used, asked, reported, covers }).toMatchObject({ covers: true });
    // A tier is charged only if the request allows it.
    if (asked !== "auto" && !SERVICE_TIERS.some((one) => one === asked))
      expect(charge).toBe(priceChat(price, used, undefined));
  }
});
