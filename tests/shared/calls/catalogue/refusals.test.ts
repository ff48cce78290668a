import { describe, expect, test } from "bun:test";

import { BASE, build, refusals } from "./build-catalogue.ts";

const change = (from: string, to: string): string => {
  expect(BASE).toContain(from);
  return BASE.replace(from, to);
};

/** The base with this member of the pricing in place of the rate of cached input. */
const tiers = (member: string): string => change('cached_input_per_million: "2.5"', member);

test("the base of these tests is accepted", () => {
  expect(refusals(BASE)).toEqual([]);
  const times = "unknown_for_seconds: 60\n    listed_within_seconds: 3600";
  expect(refusals(change("api_key_env: ACME_API_KEY", times))).toEqual([]);
});

describe("a file is rejected with its path for", () => {
  test.each([
    ["no YAML", "models:\n  - slug: a\n   kind: [\n", "0.yaml:3: this is not YAML"],
    ["a list at the top", "- slug: a\n", "0.yaml:1: expected one mapping"],
    ["two documents", "models: []\n---\nmodels: []\n", "0.yaml:1: expected one mapping"],
    ["a word at the top", "models\n", "0.yaml: must be an object"],
    ["an unknown section", "modells: []\n", "0.yaml:1: modells: this is no member of a catalogue file"],
    [
      "an unknown member",
      change("owned_by: acme", "owner: acme"),
      "0.yaml:12: models[0].owner: this is no member of a catalogue file",
    ],
    [
      "an unknown price",
      change("cached_input_per_million", "cache_per_million"),
      "0.yaml:22: models[0].pricing.cache_per_million",
    ],
    ["an unknown knob", change("supported_inputs", "inputs"), "0.yaml:24: models[0].allowed_params.inputs"],
    ["a model without slug", change("- slug: one\n   ", "-"), "0.yaml:10: models[0].slug: this is required"],
    ["a slug with a slash", change("slug: one", "slug: acme/one"), "0.yaml:10: models[0].slug: must match"],
    [
      "a wrong type",
      change("max_context_tokens: 1000", 'max_context_tokens: "1000"'),
      "0.yaml:16: models[0].max_context_tokens: must be a whole number",
    ],
    [
      "an unknown modality",
      change("modality: text", "modality: smell"),
      "0.yaml:11: models[0].modality: must be one of text, image",
    ],
    [
      "an unknown unit",
      change("unit: per_token", "unit: per_word"),
      "0.yaml:19: models[0].pricing.unit: must be one of per_token",
    ],
    [
      "a time without a verdict that is none",
      change("api_key_env: ACME_API_KEY", "unknown_for_seconds: 59"),
      "0.yaml:6: providers[0].unknown_for_seconds: must be at least 60, got 59",
    ],
    [
      "a list that is never whole",
      change("api_key_env: ACME_API_KEY", "listed_within_seconds: 3601"),
      "0.yaml:6: providers[0].listed_within_seconds: must be at most 3600, got 3601",
    ],
    [
      "an unknown family",
      change("family: sandbox", "family: homemade"),
      "0.yaml:8: providers[1].family: must be one of",
    ],
    [
      "no sources",
      change("allowed_params:", "kind: tool\n    sources: []\n    x:").replace(/ {4}x:[^]*/, ""),
      "models[0].sources: must have at least 1 item",
    ],
    [
      "a date that is none",
      change("2026-07-02", "2026-13-02"),
      "0.yaml:23: models[0].price_source.date: must be a valid date",
    ],
    [
      "a variable that is no key",
      change("ACME_API_KEY", "DATABASE_URL"),
      "0.yaml:6: providers[0].api_key_env: must match",
    ],
    [
      "a limit the window cannot keep",
      "presets:\n  - name: p\n    requests_per_minute: 4096\n    daily_tokens: null\n",
      "0.yaml:3: presets[0].requests_per_minute: must be at most 4095",
    ],
    [
      "a limit of no calls",
      "presets:\n  - name: p\n    requests_per_minute: 0\n    daily_tokens: null\n",
      "0.yaml:3: presets[0].requests_per_minute: must be at least 1",
    ],
    [
      "a key given twice",
      change("      output_per", '      input_per_million: "1"\n      output_per'),
      "0.yaml:21: models[0].pricing.input_per_million: this key is given twice",
    ],
    [
      "a slug given twice",
      `${BASE}  - slug: two\n  - slug: one\n`,
      '0.yaml:31: models[2].slug: "one" is already models[0] of this file',
    ],
    [
      "a provider given twice",
      change("id: play", "id: acme"),
      '0.yaml:7: providers[1].id: "acme" is already providers[0]',
    ],
    [
      "a preset given twice",
      "presets: [{ name: p }, { name: p }]\n",
      '0.yaml:1: presets[1].name: "p" is already presets[0]',
    ],
    [
      "a price without quotes",
      change('"25"', "0.1"),
      '0.yaml:20: models[0].pricing.input_per_million: expected decimal text in quotes, got a number: write "0.1"',
    ],
    [
      "a price that is a word",
      change('"25"', "cheap"),
      "0.yaml:20: models[0].pricing.input_per_million: expected credits as a decimal number",
    ],
    [
      "a price too fine for us",
      change('"25"', '"1.9e-10"'),
      "0.yaml:20: models[0].pricing.input_per_million: expected credits as a decimal number with at most 9 places",
    ],
    [
      "a negative price",
      change('"25"', '"-1"'),
      '0.yaml:20: models[0].pricing.input_per_million: expected a price of 0 or more, got "-1"',
    ],
    [
      "a price beyond all measure",
      change('"25"', '"1e9"'),
      "0.yaml:20: models[0].pricing.input_per_million: expected at most 1000000 credits",
    ],
    [
      "a capability that there is not",
      "capabilities:\n  - id: image.sing\n",
      '0.yaml:2: capabilities[0].id: there is no capability "image.sing"',
    ],
    [
      "a capability priced by what is not measured",
      'capabilities:\n  - id: code.diff\n    pricing: { unit: per_megapixel, megapixel_price: "1" }\n',
      '0.yaml:3: capabilities[0].pricing.unit: expected per_operation or per_second for the capability code.diff, got "per_megapixel"',
    ],
    [
      "a capability with a price that its unit does not have",
      'capabilities:\n  - id: code.diff\n    pricing: { unit: per_operation, second_price: "1" }\n',
      '0.yaml:3: capabilities[0].pricing.operation_price: the capability "code.diff" lacks this',
    ],
    [
      "a capability's price without quotes",
      "capabilities:\n  - id: code.diff\n    pricing: { unit: per_operation, operation_price: 1 }\n",
      '0.yaml:3: capabilities[0].pricing.operation_price: expected decimal text in quotes, got a number: write "1"',
    ],
    [
      "an unknown provider",
      change("provider: play", "provider: plai"),
      '0.yaml:28: models[0].sources[1].provider: expected one of acme, play, got "plai"',
    ],
    [
      "more output than context",
      change("max_output_tokens: 500", "max_output_tokens: 1001"),
      "0.yaml:17: models[0].max_output_tokens: expected at most max_context_tokens (1000), got 1001",
    ],
    [
      "a chat model that cannot answer",
      change("max_output_tokens: 500", "max_output_tokens: 0"),
      "0.yaml:17: models[0].max_output_tokens: expected at least 1",
    ],
    [
      "an input chat does not have",
      change("[text]", "[text, smell]"),
      '0.yaml:24: models[0].allowed_params.supported_inputs[1]: expected one of text, image, audio, file for a chat model, got "smell"',
    ],
    [
      "a unit chat cannot be counted in",
      change(
        'unit: per_token\n      input_per_million: "25"\n      output_per_million: "100"\n      cached_input_per_million: "2.5"',
        'unit: per_image\n      image_price: "1"',
      ),
      "0.yaml:19: models[0].pricing.unit: expected per_token or per_request for a chat model",
    ],
    [
      "an output without price",
      change('      output_per_million: "100"\n', ""),
      '0.yaml:18: models[0].pricing.output_per_million: the model "one" lacks this',
    ],
    [
      "prices without unit",
      change("      unit: per_token\n", ""),
      '0.yaml:18: models[0].pricing.unit: the model "one" lacks this',
    ],
    [
      "a price of another unit",
      change('cached_input_per_million: "2.5"', 'image_price: "2.5"'),
      "0.yaml:22: models[0].pricing.image_price: this is no price of the unit per_token",
    ],
    [
      "an unknown service tier",
      tiers('service_tiers: { turbo: { input_per_million: "1", output_per_million: "1" } }'),
      "0.yaml:22: models[0].pricing.service_tiers.turbo: this is no member of a catalogue file",
    ],
    [
      "an unknown rate of a service tier",
      tiers('service_tiers: { flex: { image_price: "1" } }'),
      "0.yaml:22: models[0].pricing.service_tiers.flex.image_price: this is no member of a catalogue file",
    ],
    [
      "a service tier that lacks a rate of the price",
      tiers('service_tiers: { priority: { input_per_million: "1" } }'),
      "0.yaml:22: models[0].pricing.service_tiers.priority.output_per_million: expected this rate, because the price has it",
    ],
    [
      "a negative rate of a service tier",
      tiers('service_tiers: { priority: { input_per_million: "-1", output_per_million: "1" } }'),
      '0.yaml:22: models[0].pricing.service_tiers.priority.input_per_million: expected a price of 0 or more, got "-1"',
    ],
    [
      "a rate of a service tier without quotes",
      tiers('service_tiers: { priority: { input_per_million: 1.5, output_per_million: "1" } }'),
      'models[0].pricing.service_tiers.priority.input_per_million: expected decimal text in quotes, got a number: write "1.5"',
    ],
    [
      "a threshold of no tokens",
      tiers('long_context: { above_tokens: 0, input_per_million: "1", output_per_million: "1" }'),
      "0.yaml:22: models[0].pricing.long_context.above_tokens: must be at least 1, got 0",
    ],
    [
      "a long context without a threshold",
      tiers('long_context: { input_per_million: "1", output_per_million: "1" }'),
      "0.yaml:22: models[0].pricing.long_context.above_tokens: expected the number of input tokens above which the rates apply",
    ],
    [
      "a long context of a tier that lacks a rate",
      tiers(
        'service_tiers: { flex: { input_per_million: "1", output_per_million: "1", long_context: { above_tokens: 9, input_per_million: "1" } } }',
      ),
      "0.yaml:22: models[0].pricing.service_tiers.flex.long_context.output_per_million: expected this rate",
    ],
    [
      "tiers of a flat price",
      tiers("long_context: { above_tokens: 9 }").replace(
        /unit: per_token\n.*\n.*\n/,
        'unit: per_request\n      request_price: "1"\n',
      ),
      "models[0].pricing.long_context: only the price per token of a chat model has this",
    ],
    [
      "tiers of a model without chat",
      `${BASE}  - slug: two\n    modality: embedding\n    owned_by: acme\n    created: 1\n    supports_embeddings: true\n    max_context_tokens: 9\n    embedding: { dimensions: 8 }\n    sources: [{ provider: acme, model: m }]\n    pricing: { unit: per_token, input_per_million: "1", service_tiers: { flex: { input_per_million: "1" } } }\n`,
      "models[1].pricing.service_tiers: only the price per token of a chat model has this",
    ],
    ...["0", "-0.5", "1.01", "0.0000001", "half"].map((factor): [string, string, string] => [
      `a batch factor of ${factor}`,
      tiers(`batch_factor: "${factor}"`),
      "0.yaml:22: models[0].pricing.batch_factor: expected a decimal number above 0 and at most 1, with at most 6 places",
    ]),
    [
      "a batch factor of a capability",
      'capabilities:\n  - id: code.diff\n    pricing: { unit: per_operation, operation_price: "1", batch_factor: "0.5" }\n',
      "0.yaml:3: capabilities[0].pricing.batch_factor: only the price of a model has this",
    ],
    [
      "an address that is none",
      change("https://acme.example/v1", "acme"),
      "0.yaml:5: providers[0].base_url: expected an http or https URL",
    ],
    [
      "an address with a query",
      change("/v1", "/v1?a=b"),
      "0.yaml:5: providers[0].base_url: expected an http or https URL",
    ],
    [
      "a provider without address",
      change("    base_url: https://acme.example/v1\n", ""),
      '0.yaml:3: providers[0].base_url: the provider "acme" lacks this',
    ],
    [
      "a provider without family",
      change("    family: sandbox\n", ""),
      '0.yaml:7: providers[1].family: the provider "play" lacks this',
    ],
    [
      "a preset with a limit left out",
      "presets:\n  - name: p\n    daily_tokens: null\n",
      '0.yaml:2: presets[0].requests_per_minute: the preset "p" lacks this',
    ],
  ])("%s", (_name, text, place) => {
    const [first = ""] = refusals(text);
    expect(first).toStartWith(place.startsWith("0.yaml") ? place : "0.yaml");
    expect(first).toContain(place);
  });

  test.each(["modality", "owned_by", "created", "max_context_tokens", "max_output_tokens"])(
    "a model without %s",
    (field) => {
      const [first] = refusals(BASE.replace(new RegExp(`    ${field}: .*\n`), ""));
      expect(first).toBe(`0.yaml:10: models[0].${field}: the model "one" lacks this, and no earlier file gives it`);
    },
  );

  test("a missing or second price of each unit except per_token", () => {
    const units = ["request", "image", "second", "minute", "character", "operation", "megapixel"];
    const model = (pricing: string): string =>
      `${BASE}  - { slug: two, modality: video, owned_by: acme, created: 1, pricing: { ${pricing} }, sources: [{ provider: play, model: m }] }\n`;
    for (const [index, unit] of units.entries()) {
      const other = units[(index + 1) % units.length];
      expect(refusals(model(`unit: per_${unit}, ${unit}_price: "1.5"`))).toEqual([]);
      expect(refusals(model(`unit: per_${unit}`))).toEqual([
        `0.yaml:30: models[1].pricing.${unit}_price: the model "two" lacks this, and no earlier file gives it`,
      ]);
      expect(refusals(model(`unit: per_${unit}, ${unit}_price: "1", ${other}_price: "1"`))).toEqual([
        `0.yaml:30: models[1].pricing.${other}_price: this is no price of the unit per_${unit}, which has ${unit}_price`,
      ]);
    }
  });

  test("a source that names its inputs, and lacks one that callers may choose", () => {
    const model = (fields: string): string =>
      `${BASE}  - { slug: two, modality: video, owned_by: acme, created: 1, pricing: { unit: per_second, second_price: "1" }, allowed_params: { durations: [5], resolutions: [480p], accepts_input_image: true }, sources: [{ provider: play, model: m${fields} }] }\n`;
    expect(refusals(model(""))).toEqual([]);
    const whole = ", fields: { prompt: p, image: i, duration: d, resolution: r }";
    expect(refusals(model(whole))).toEqual([]);
    for (const input of ["image", "duration", "resolution"]) {
      expect(refusals(model(whole.replace(new RegExp(`, ${input}: .`), "")))).toEqual([
        `0.yaml:30: models[1].sources[0].fields: expected a field for ${input}, which allowed_params lets callers choose`,
      ]);
    }
  });

  test("several errors, each with its path", () => {
    const text = BASE.replace("max_output_tokens: 500", "max_output_tokens: 5000").replace(
      "provider: play",
      "provider: plai",
    );
    expect(refusals(text)).toHaveLength(2);
    expect(() => build([text])).toThrow(/\(and 1 more\)$/);
  });
});

test("an error of merged entries is located in the last file that set the value", () => {
  expect(refusals(BASE, "\n\nmodels:\n  - slug: one\n    max_output_tokens: 2000\n")).toEqual([
    "1.yaml:5: models[0].max_output_tokens: expected at most max_context_tokens (1000), got 2000",
  ]);
  expect(refusals(BASE, "models:\n  - slug: one\n    max_context_tokens: 10\n")).toEqual([
    "0.yaml:17: models[0].max_output_tokens: expected at most max_context_tokens (10), got 500",
  ]);
  expect(refusals(BASE, 'models:\n  - slug: typo\n    pricing: { input_per_million: "1" }\n')[0]).toStartWith(
    '1.yaml:2: models[0].modality: the model "typo" lacks this',
  );
});

test("an error repeats no key and no address, which may contain a password", () => {
  const key = "sk-live-1234567890abcdef";
  const withKey = refusals(change("ACME_API_KEY", key)).join("\n");
  expect(withKey).toContain("providers[0].api_key_env");
  expect(withKey).not.toContain(key);
  const withPassword = refusals(change("https://acme", "https://user:hunter22@acme")).join("\n");
  expect(withPassword).toContain("providers[0].base_url");
  expect(withPassword).not.toContain("hunter22");
});

test("nesting without end is rejected, not fatal", () => {
  expect(refusals(`models: ${"[".repeat(200_000)}`)[0]).toStartWith("0.yaml: this is not YAML");
});

test("a file above the size limit is rejected before it is parsed", () => {
  expect(refusals(`# ${"x".repeat(5 * 1_048_576)}`)[0]).toStartWith("0.yaml: expected at most 4194304 bytes");
});

test("an empty file is a catalogue file without entries", () => {
  expect(refusals(BASE, "", "# nothing yet\n")).toEqual([]);
});
