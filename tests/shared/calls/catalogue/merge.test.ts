import { describe, expect, test } from "bun:test";

import { mergeObjects } from "#shared/calls/catalogue/merge.ts";

import { BASE, build } from "./build-catalogue.ts";

const one = (...over: readonly string[]) => build([BASE, ...over]).models.get("one");

describe("merged files", () => {
  test("overwrite values, and keep omitted ones", () => {
    const model = one("models:\n  - slug: one\n    owned_by: someone\n");
    expect(model).toMatchObject({ owned_by: "someone", max_context_tokens: 1000, created: 1_700_000_000 });
  });

  test("merge objects at every depth", () => {
    const model = one(
      "models:\n  - slug: one\n    allowed_params: { max_n: 2, default_params: { nested: { b: 3 } } }\n",
    );
    expect(model?.allowed_params).toEqual({
      supported_inputs: ["text"],
      max_n: 2,
      default_params: { temperature: 1, nested: { a: 1, b: 3 } },
    });
  });

  test("replace lists completely", () => {
    const model = one("models:\n  - slug: one\n    sources: [{ provider: play, model: other }]\n");
    expect(model?.sources).toEqual([{ provider: "play", model: "other" }]);
  });

  test("can change one rate alone", () => {
    const model = one('models:\n  - slug: one\n    pricing: { output_per_million: "120" }\n');
    expect(model?.price.tokenRates).toEqual({
      input_per_million: 25_000_000_000n,
      output_per_million: 120_000_000_000n,
      cached_input_per_million: 2_500_000_000n,
    });
  });

  test("with a new rate remove the tables of the old rates, and otherwise keep them", () => {
    const rates = 'input_per_million: "50", output_per_million: "240", cached_input_per_million: "5"';
    const tiers = `service_tiers: { flex: { ${rates} } }`;
    const own = (pricing: string): string => `models:\n  - slug: one\n    pricing: { ${pricing} }\n`;
    const shipped = own(`long_context: { above_tokens: 100, ${rates} }, ${tiers}`);
    const namesOf = (file: string) => Object.keys(one(shipped, own(file))?.pricing ?? {});
    expect(namesOf('batch_factor: "0.5"')).toEqual(expect.arrayContaining(["long_context", "service_tiers"]));
    expect(namesOf('output_per_million: "120"')).not.toContain("long_context");
    expect(namesOf('output_per_million: "120"')).not.toContain("service_tiers");
    expect(one(shipped, own(`output_per_million: "120", ${tiers}`))?.pricing).toMatchObject({
      output_per_million: "120",
      service_tiers: { flex: { output_per_million: "240" } },
    });
    expect(namesOf(`output_per_million: "120", ${tiers}`)).not.toContain("long_context");
  });

  test("replace prices of another unit completely", () => {
    const model = one('models:\n  - slug: one\n    pricing: { unit: per_request, request_price: "0.5" }\n');
    expect(model?.pricing).toEqual({ currency: "credits", unit: "per_request", request_price: "0.5" });
    expect(model?.price).toEqual({ unit: "per_request", tokenRates: {}, unitRate: 500_000_000n });
  });

  test("with a new price drop the source of the old one", () => {
    expect(one()?.price_source).toEqual({ source: "a price list", date: "2026-07-02" });
    const price = 'pricing: { input_per_million: "30" }';
    expect(one(`models:\n  - slug: one\n    ${price}\n`)?.price_source).toBeUndefined();
    const sourced = `models:\n  - slug: one\n    ${price}\n    price_source: { source: a letter, date: "2026-11-20" }\n`;
    expect(one(sourced)?.price_source).toEqual({ source: "a letter", date: "2026-11-20" });
    expect(one("models:\n  - slug: one\n    owned_by: x\n")?.price_source).toBeDefined();
  });

  test("are applied in order, later ones last", () => {
    const over = (name: string): string => `models:\n  - slug: one\n    owned_by: ${name}\n`;
    expect(one(over("a"), over("b"))?.owned_by).toBe("b");
    expect(one(over("b"), over("a"))?.owned_by).toBe("a");
  });

  test("remove disabled entries, and a later file restores them", () => {
    const off = "models: [{ slug: one, disabled: true }]\n";
    const gone = build([BASE, off]);
    expect(gone.models.has("one")).toBeFalse();
    expect(gone.unroutable.has("one")).toBeFalse();
    expect(build([BASE, off, "models: [{ slug: one, disabled: false }]\n"]).models.has("one")).toBeTrue();
    expect(build([BASE, "models: [{ slug: never-heard-of, disabled: true }]\n"]).models.size).toBe(1);
  });

  test("merge and remove presets and providers in the same way", () => {
    const presets =
      "presets: [{ name: p, requests_per_minute: 5, daily_tokens: null }, { name: q, requests_per_minute: 1, daily_tokens: 1 }]\n";
    const catalogue = build([
      BASE,
      presets,
      "presets: [{ name: p, daily_tokens: 9 }, { name: q, disabled: true }]\nproviders: [{ id: acme, base_url: http://here:1/ }]\n",
    ]);
    expect([...catalogue.presets.values()]).toEqual([{ name: "p", requests_per_minute: 5, daily_tokens: 9 }]);
    expect(catalogue.providers.get("acme")).toEqual({
      id: "acme",
      family: "openai-compatible",
      base_url: "http://here:1",
      api_key_env: "ACME_API_KEY",
    });
  });

  test("with a limit of null remove the limit of an earlier file", () => {
    const presets = "presets: [{ name: p, requests_per_minute: 5, daily_tokens: 7 }]\n";
    const over = "presets: [{ name: p, requests_per_minute: null, daily_tokens: null }]\n";
    expect(build([presets, over]).presets.get("p")).toEqual({
      name: "p",
      requests_per_minute: null,
      daily_tokens: null,
    });
  });
});

test("keep a member called __proto__ as a member", () => {
  const over = JSON.parse('{"__proto__":{"isAdmin":true}}') as Record<string, unknown>;
  const merged = mergeObjects<Record<string, unknown>>({ a: 1 }, over);
  expect(Object.keys(merged)).toEqual(["a", "__proto__"]);
  expect(merged["isAdmin"]).toBeUndefined();
  expect(({} as Record<string, unknown>)["isAdmin"]).toBeUndefined();
});

test("do not change their inputs", () => {
  const base = { a: { b: 1 }, list: [1] };
  const over = { a: { c: 2 }, list: [2] };
  expect(mergeObjects<object>(base, over)).toEqual({ a: { b: 1, c: 2 }, list: [2] });
  expect([base, over]).toEqual([
    { a: { b: 1 }, list: [1] },
    { a: { c: 2 }, list: [2] },
  ]);
});
