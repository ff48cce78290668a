import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { buildCatalogue } from "#shared/calls/catalogue/build.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { mergeLayers } from "#shared/calls/catalogue/merge.ts";
import { modelEntry } from "#shared/calls/present-model.ts";
import { PROVIDER_KEY_VARIABLE } from "#shared/config/config.ts";
import { validate } from "#shared/json/contracts.ts";
import { parseDecimal } from "#shared/base/money.ts";
import { priceTokens } from "#shared/calls/pricing/price.ts";
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { rowsOf } from "#tests/e2e/test-models-guide.ts";
import { SANDBOX_CONTEXT_TOKENS, SANDBOX_EMBEDDING, SANDBOX_MODELS } from "#workers/providers/sandbox/models.ts";

import { EVERYTHING_ON } from "./build-catalogue.ts";

const FOLDER = join(import.meta.dir, "../../../../shared/calls/catalogue");
const layers = await loadOurLayers();
const catalogue = buildCatalogue(mergeLayers(layers), EVERYTHING_ON);
const models = [...catalogue.models.values()];
const slugs = models.map((model) => model.slug);
const model = (slug: string) => models.find((candidate) => candidate.slug === slug);

const ENTRY_KEYS = ["_svc", "created", "id", "object", "owned_by", "parent", "permission", "root"];
const FACT_KEYS = [
  "allowed_params",
  "max_context_tokens",
  "max_output_tokens",
  "modality",
  "pricing",
  "supports_chat",
  "supports_embeddings",
  "supports_streaming",
  "supports_tools",
];

describe("every shipped model", () => {
  test("is routable with all keys set, and enough models are", () => {
    expect([...catalogue.unroutable]).toEqual([]);
    expect(models.filter((entry) => entry.sources[0]?.provider !== "sandbox").length).toBeGreaterThanOrEqual(25);
  });

  test.each(slugs)("%s has exactly the entry of the specification", (slug) => {
    const found = model(slug);
    if (found === undefined) throw new Error(slug);
    const entry = modelEntry(found);
    expect(Object.keys(entry).toSorted()).toEqual(ENTRY_KEYS);
    expect(Object.keys(entry._svc).toSorted()).toEqual(FACT_KEYS);
    expect(entry).toMatchObject({ id: slug, object: "model", permission: [], root: slug, parent: null });
    expect(validate("ModelEntry", entry)).toBeNull();
    const { currency, unit, long_context: long, service_tiers: tiers, ...rates } = entry._svc.pricing;
    expect(currency).toBe("credits");
    const isFlat = slug === "sandbox-vision";
    if (found.supports_chat || found.supports_embeddings) expect(unit).toBe(isFlat ? "per_request" : "per_token");
    const {
      currency: _currency,
      unit: _unit,
      long_context: longTexts,
      service_tiers: tierTexts,
      ...texts
    } = found.pricing;
    expect([Object.keys(long ?? {}), Object.keys(tiers ?? {})]).toEqual([
      Object.keys(longTexts ?? {}),
      Object.keys(tierTexts ?? {}),
    ]);
    expect(Object.keys(rates).toSorted()).toEqual(Object.keys(texts).toSorted());
    for (const rate of Object.values(rates)) expect(rate).toBeGreaterThan(0);
    if (unit === "per_token") expect(rates.input_per_million).toBeGreaterThan(0);
    if (found.supports_chat && !isFlat) expect(rates.output_per_million).toBeGreaterThan(0);
    if (found.supports_embeddings) expect(rates.output_per_million).toBeUndefined();
  });

  test.each(slugs)("%s has prices that are exact integers of nano-credits, cached input at most input", (slug) => {
    const found = model(slug);
    for (const [field, nano] of Object.entries(found?.price.tokenRates ?? {})) {
      expect(typeof nano).toBe("bigint");
      expect(nano).toBe(parseDecimal(String(found?.pricing[field as "input_per_million"]), 9));
    }
    const rates = found?.price.tokenRates;
    expect((rates?.cached_input_per_million ?? 0n) <= (rates?.input_per_million ?? 0n)).toBeTrue();
    expect(
      (rates?.cache_write_per_million ?? rates?.input_per_million ?? 0n) >= (rates?.input_per_million ?? 0n),
    ).toBeTrue();
  });

  test.each(slugs)(
    "%s states source and date of its price, and accepts text, or audio that can be transcribed",
    (slug) => {
      expect(model(slug)?.price_source?.date).toMatch(/^2026-\d\d-\d\d$/);
      expect(model(slug)?.price_source?.source).not.toBe("");
      expect(model(slug)?.allowed_params.supported_inputs).toContain(
        model(slug)?.modality === "stt" ? "audio" : "text",
      );
      expect(model(slug)?.created).toBeGreaterThan(1_500_000_000);
    },
  );

  test("is in one file only, with prices as quoted text", () => {
    const own = layers.flatMap((layer) => (layer.content.models ?? []).map((entry) => entry.slug));
    expect(own.length).toBe(new Set(own).size);
    for (const name of readdirSync(join(FOLDER, "models"))) {
      const prices = readFileSync(join(FOLDER, "models", name), "utf8").match(/_per_million: .*|_price: .*/g) ?? [];
      expect(prices.filter((line) => !/: "\d+(\.\d+)?"$/.test(line))).toEqual([]);
    }
  });
});

test("every member of the shipped files is found in the line that names it", () => {
  for (const layer of layers) {
    const text = readFileSync(join(FOLDER, layer.file.replace("shared/calls/catalogue/", "")), "utf8").split("\n");
    for (const [list, entries] of Object.entries(layer.content) as [string, object[]][]) {
      for (const [index, entry] of entries.entries()) {
        // members that come by `<<` stand elsewhere
        for (const key of Object.keys(entry).filter(
          (name) => layer.file !== "shared/calls/catalogue/models/sandbox.yaml" || name === "slug",
        )) {
          const line = layer.positions.lineOf(`${list}[${index}].${key}`) ?? 0;
          expect(text[line - 1]).toMatch(new RegExp(`^ {2}[- ] ${key}:`));
        }
      }
    }
  }
});

/** Read again by hand from the price lists: US dollars per million tokens, as printed there. */
const PRINTED: readonly (readonly [slug: string, input: string, output: string, cached: string | undefined])[] = [
  ["gpt-4o-mini", "0.15", "0.6", "0.075"],
  ["gpt-5.4-mini", "0.75", "4.5", "0.075"],
  ["gpt-5.5", "5", "30", "0.5"],
  ["gpt-4.1", "2", "8", "0.5"],
  ["deepseek-v4-pro", "0.435", "0.87", "0.003625"],
  ["deepseek-v4-flash", "0.14", "0.28", "0.0028"],
  ["gpt-oss-20b", "0.075", "0.3", "0.0375"],
  ["mistral-large-2512", "0.5", "1.5", undefined],
  ["grok-4.3", "1.25", "2.5", "0.2"],
  ["claude-opus-4-7", "5", "25", "0.5"],
  ["glm-5.2", "1.4", "4.4", "0.26"],
];

describe("shipped prices", () => {
  test.each(PRINTED)("%s costs the listed price, a hundred credits to the dollar", (slug, input, output, cached) => {
    const nano = (dollars: string | undefined): bigint | undefined =>
      dollars === undefined ? undefined : parseDecimal(dollars, 11);
    const rates = model(slug)?.price.tokenRates;
    expect([rates?.input_per_million, rates?.output_per_million, rates?.cached_input_per_million]).toEqual([
      nano(input),
      nano(output),
      nano(cached),
    ]);
  });

  test.each([
    ["text-embedding-3-small", "0.02"],
    ["text-embedding-3-large", "0.13"],
    ["text-embedding-ada-002", "0.1"],
    ["mistral-embed", "0.1"],
  ])("%s costs the listed price for input, and nothing for output", (slug, input) => {
    expect(model(slug)?.price.tokenRates).toEqual({ input_per_million: parseDecimal(input, 11) });
    expect(model(slug)?.embedding).toBeDefined();
  });

  test.each([
    ["gpt-5.5", 272_000, "10", "45", "1"],
    ["gpt-5.4", 272_000, "5", "22.5", "0.5"],
    ["gemini-3.1-pro-preview", 200_000, "4", "18", "0.4"],
    ["grok-4.3", 200_000, "2.5", "5", "0.4"],
  ])("%s costs more above %i input tokens", (slug, aboveTokens, input, output, cached) => {
    expect(model(slug)?.price.longContext).toMatchObject({
      aboveTokens,
      tokenRates: {
        input_per_million: parseDecimal(input, 11),
        output_per_million: parseDecimal(output, 11),
        cached_input_per_million: parseDecimal(cached, 11),
      },
    });
  });

  test.each([
    ["gpt-5.5", "priority", "12.5", "75", "1.25"],
    ["gpt-5.5", "flex", "2.5", "15", "0.25"],
    ["gpt-5.4", "priority", "5", "30", "0.5"],
    ["gpt-5.4", "flex", "1.25", "7.5", "0.13"],
  ] as const)("%s has a price for the tier %s", (slug, tier, input, output, cached) => {
    expect(model(slug)?.price.serviceTiers?.[tier]?.tokenRates).toEqual({
      input_per_million: parseDecimal(input, 11),
      output_per_million: parseDecimal(output, 11),
      cached_input_per_million: parseDecimal(cached, 11),
    });
  });

  test("a million single tokens cost exactly a million times one token", () => {
    const price = model("deepseek-v4-pro")?.price;
    if (price === undefined) throw new Error("no price");
    const cached = { ...NO_USAGE, cachedInput: 1 };
    let sum = 0n;
    for (let call = 0; call < 1_000_000; call += 1) sum += priceTokens(price, cached);
    // 0.3625 credits a million are 362.5 nano-credits a token, rounded up once a call
    expect(sum).toBe(363_000_000n);
    expect(priceTokens(price, { ...NO_USAGE, cachedInput: 1_000_000 })).toBe(362_500_000n);
  });

  test("audio has its own price if the list has one", () => {
    expect(model("gpt-audio")?.price.tokenRates).toMatchObject({
      audio_input_per_million: 3_200_000_000_000n,
      audio_output_per_million: 6_400_000_000_000n,
    });
    const withoutPrice = models.filter(
      (entry) =>
        entry.allowed_params.supported_inputs?.includes("audio") &&
        entry.pricing.unit === "per_token" &&
        entry.price.tokenRates.audio_input_per_million === undefined,
    );
    expect(withoutPrice.filter((entry) => entry.owned_by !== "sandbox")).toEqual([]);
  });
});

describe("shipped providers and presets", () => {
  test("are those of the specification", () => {
    expect([...catalogue.presets.values()]).toEqual([
      { name: "free", requests_per_minute: 30, daily_tokens: 1_000_000 },
      { name: "standard", requests_per_minute: 120, daily_tokens: null },
      { name: "pro", requests_per_minute: 400, daily_tokens: null },
      { name: "unlimited", requests_per_minute: null, daily_tokens: null },
    ]);
  });

  test("call over https with a key from an allowed variable, except the sandbox", () => {
    for (const provider of catalogue.providers.values()) {
      if (provider.family === "sandbox") continue;
      expect(provider.base_url).toMatch(/^https:\/\/[a-z0-9.-]+(\/[a-z0-9{}./-]+)?$/);
      expect(provider.api_key_env).toMatch(PROVIDER_KEY_VARIABLE);
    }
  });

  test("each serve a model", () => {
    const used = new Set(models.flatMap((entry) => entry.sources.map((source) => source.provider)));
    expect([...catalogue.providers.keys()].filter((id) => !used.has(id))).toEqual([]);
  });
});

describe("the sandbox's models", () => {
  const all = models.filter((entry) => entry.owned_by === "sandbox");
  /** Models with declarations of their own. */
  const RULED = rowsOf("Rules").map(({ model }) => model);
  const ours = all.filter((entry) => entry.supports_chat && !RULED.includes(entry.slug));

  /** Models of the same behaviours: they test the catalogue, or how their provider is treated. */
  const FURTHER = [
    "sandbox-two-sources",
    "sandbox-guarded",
    "sandbox-drained",
    "sandbox-backup",
    ...RULED.filter((slug) => slug !== "sandbox-upscale"),
  ];
  const known = Object.keys(SANDBOX_MODELS);

  test("are those of the sandbox provider, each under its own name, and a few derived from them", () => {
    expect(all.map((entry) => entry.slug).toSorted()).toEqual([...known, ...FURTHER].toSorted());
    for (const entry of all) {
      if (!FURTHER.includes(entry.slug))
        expect(entry.sources).toMatchObject([{ provider: "sandbox", model: entry.slug }]);
      expect(entry.sources.filter((source) => !known.includes(source.model))).toEqual([]);
    }
  });

  test("accept every input at equal prices, except the one that demonstrates serving", () => {
    for (const entry of ours) {
      expect(entry).toMatchObject({ supports_tools: true, supports_streaming: true });
      expect(entry.allowed_params.supported_inputs).toEqual(["text", "image", "audio", "file"]);
      const times = entry.slug === "sandbox-backup" ? 2n : 1n;
      expect(entry.price.tokenRates).toEqual({
        input_per_million: times * 10_000_000_000n,
        output_per_million: times * 40_000_000_000n,
      });
    }
  });

  test("have the sandbox's own limits, or those of their test purpose", () => {
    const limits = ours.map((entry) => [entry.slug, entry.max_context_tokens, entry.max_output_tokens]);
    expect(limits.filter(([, context, output]) => context !== SANDBOX_CONTEXT_TOKENS || output !== 16_384)).toEqual([
      ["sandbox-small-context", SANDBOX_MODELS["sandbox-small-context"].contextTokens, 128],
      ["sandbox-endless", SANDBOX_CONTEXT_TOKENS, 1_024],
    ]);
  });

  test("accept and return, as embedding models, the formats of the sandbox provider", () => {
    const embedding = all.filter((entry) => entry.supports_embeddings);
    expect(embedding).toHaveLength(known.filter((name) => name.startsWith("sandbox-embed")).length);
    for (const entry of embedding) {
      expect(entry).toMatchObject({
        supports_chat: false,
        max_context_tokens: SANDBOX_EMBEDDING.inputTokensMax,
        embedding: { dimensions: SANDBOX_EMBEDDING.dimensions, dimensions_max: SANDBOX_EMBEDDING.dimensionsMax },
        price: { tokenRates: { input_per_million: 2_000_000_000n } },
      });
    }
  });

  test("are not offered if the sandbox is off", () => {
    const without = buildCatalogue(mergeLayers(layers), { ...EVERYTHING_ON, sandbox: false });
    expect(without.models.has("sandbox-chat")).toBeFalse();
    expect(without.unroutable.get("sandbox-chat")).toBe("no source of it can be called: the sandbox is off");
  });
});
