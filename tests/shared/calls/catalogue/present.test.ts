import { describe, expect, test } from "bun:test";

import { buildCatalogue } from "#shared/calls/catalogue/build.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { mergeLayers } from "#shared/calls/catalogue/merge.ts";
import { listModels, modelEntry } from "#shared/calls/present-model.ts";
import { validate } from "#shared/json/contracts.ts";

import { BASE, build, chatModel, EVERYTHING_ON } from "./build-catalogue.ts";

const tool = `models:
  - slug: tool-one
    kind: tool
    modality: image
    owned_by: acme
    created: 1
    pricing: { unit: per_megapixel, megapixel_price: "0.000000019" }
    sources: [{ provider: play, model: m, drop_params: [a], overrides: { b: 1 } }]
`;

function entry(slug: string) {
  const model = build([BASE, tool]).models.get(slug);
  if (model === undefined) throw new Error(`no model ${slug}`);
  return modelEntry(model);
}

describe("a model entry", () => {
  test("equals the specification, member by member", () => {
    expect(entry("one")).toStrictEqual({
      id: "one",
      object: "model",
      created: 1_700_000_000,
      owned_by: "acme",
      permission: [],
      root: "one",
      parent: null,
      _svc: {
        modality: "text",
        supports_chat: true,
        supports_embeddings: false,
        supports_streaming: true,
        supports_tools: false,
        max_context_tokens: 1000,
        max_output_tokens: 500,
        pricing: {
          currency: "credits",
          unit: "per_token",
          input_per_million: 25,
          output_per_million: 100,
          cached_input_per_million: 2.5,
        },
        allowed_params: { supported_inputs: ["text"], default_params: { temperature: 1, nested: { a: 1, b: 2 } } },
      },
    });
  });

  test("has exactly one price when the unit is not per_token, for any amount", () => {
    expect(entry("tool-one")._svc.pricing).toStrictEqual({
      currency: "credits",
      unit: "per_megapixel",
      megapixel_price: 1.9e-8,
    });
  });

  test("contains the tiers of the price and the batch factor", () => {
    const rates = { input_per_million: "50", output_per_million: "150.5", cached_input_per_million: "5" };
    const over = (pricing: object): string => JSON.stringify({ models: [{ slug: "one", pricing }] });
    const tiers = {
      long_context: { above_tokens: 700, ...rates },
      service_tiers: { priority: { ...rates, long_context: { above_tokens: 800, ...rates } } },
      batch_factor: "0.25",
    };
    // A later file changes one rate of a tier.
    const later = over({ service_tiers: { priority: { input_per_million: "60" } } });
    const model = build([BASE, over(tiers), later]).models.get("one");
    if (model === undefined) throw new Error("no model");
    const shown = { input_per_million: 50, output_per_million: 150.5, cached_input_per_million: 5 };
    const entryOfModel = modelEntry(model);
    expect(entryOfModel._svc.pricing).toStrictEqual({
      currency: "credits",
      unit: "per_token",
      input_per_million: 25,
      output_per_million: 100,
      cached_input_per_million: 2.5,
      long_context: { above_tokens: 700, ...shown },
      service_tiers: { priority: { ...shown, input_per_million: 60, long_context: { above_tokens: 800, ...shown } } },
      batch_factor: 0.25,
    });
    expect(validate("ModelEntry", entryOfModel)).toBeNull();
    const flat = build([BASE, tool, '{ models: [{ slug: tool-one, pricing: { batch_factor: "0.5" } }] }']).models.get(
      "tool-one",
    );
    if (flat === undefined) throw new Error("no model");
    expect(modelEntry(flat)._svc.pricing).toMatchObject({ batch_factor: 0.5 });
    expect(validate("ModelEntry", modelEntry(flat))).toBeNull();
  });

  test("contains nothing of the sources", () => {
    expect(JSON.stringify(entry("one"))).not.toMatch(/sources|acme-one|price_source|supports_json/);
  });

  test("is a copy: changing it changes no catalogue", () => {
    const shown = entry("one");
    shown._svc.allowed_params.supported_inputs?.push("audio");
    expect(entry("one")._svc.allowed_params.supported_inputs).toEqual(["text"]);
  });

  test("is valid by the published schema, which rejects mixed prices", () => {
    const good = entry("tool-one");
    expect(validate("ModelEntry", good)).toBeNull();
    const pricing = { ...good._svc.pricing, image_price: 1 };
    expect(validate("ModelEntry", { ...good, _svc: { ...good._svc, pricing } })).not.toBeNull();
    const mixed = { ...entry("one")._svc.pricing, second_price: 1 };
    expect(validate("Pricing", mixed)).not.toBeNull();
  });
});

describe("the list", () => {
  test("omits tools unless they are requested", () => {
    const catalogue = build([BASE, tool]);
    expect(listModels(catalogue, { includeTools: false }).data.map((model) => model.id)).toEqual(["one"]);
    expect(listModels(catalogue, { includeTools: true })).toMatchObject({
      object: "list",
      data: [{ id: "one" }, { id: "tool-one" }],
    });
  });

  test("starts with real models, continues with sandbox-chat and ends with the other test models", () => {
    const own = `providers: [{ id: play, family: sandbox }, { id: mine, family: openai-compatible, base_url: "http://m/v1" }]
models:
${chatModel("sandbox-odd", "{ provider: play, model: a }")}${chatModel("mine-2", "{ provider: mine, model: a }")}${chatModel("sandbox-chat", "{ provider: play, model: a }")}${chatModel("mixed", "{ provider: play, model: a }, { provider: mine, model: a }")}${chatModel("mine-1", "{ provider: mine, model: b }")}${chatModel("sandbox-even", "{ provider: play, model: b }")}`;
    const listed = (text: string): string[] =>
      listModels(build([text]), { includeTools: false }).data.map(({ id }) => id);
    expect(listed(own)).toEqual(["mine-2", "mixed", "mine-1", "sandbox-chat", "sandbox-odd", "sandbox-even"]);
  });

  test("of the shipped files starts with no test model, and has sandbox-chat before every other", async () => {
    const layers = await loadOurLayers();
    const { data } = listModels(buildCatalogue(mergeLayers(layers), EVERYTHING_ON), { includeTools: false });
    const firstTest = data.findIndex((model) => model.owned_by === "sandbox");
    expect(firstTest).toBeGreaterThan(50);
    expect(data[firstTest]?.id).toBe("sandbox-chat");
    expect(new Set(data.slice(firstTest).map((model) => model.owned_by))).toEqual(new Set(["sandbox"]));
  });

  test("omits unavailable models", () => {
    const catalogue = build([BASE], { sandbox: false, providerKey: () => undefined });
    expect(listModels(catalogue, { includeTools: true })).toEqual({ object: "list", data: [] });
  });
});

test("a model that no endpoint serves yet is known and not offered", () => {
  const catalogue = build([BASE, "models: [{ slug: one, modality: video, supports_chat: false }]"]);
  expect(catalogue.models.has("one")).toBe(true);
  expect(listModels(catalogue, { includeTools: false }).data).toEqual([]);
});
