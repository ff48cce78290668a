import { describe, expect, test } from "bun:test";

import { modelEntry } from "#shared/calls/present-model.ts";

import { BASE, build, refusals } from "./build-catalogue.ts";

const model = (embedding: string): string => `models:
  - slug: embed
    modality: embedding
    owned_by: acme
    created: 1700000000
    supports_embeddings: true
    max_context_tokens: 512
    ${embedding}
    pricing: { unit: per_token, input_per_million: "1" }
    sources: [{ provider: acme, model: m }]
`;

const factsOf = (embedding: string) => build([BASE, model(embedding)]).models.get("embed")?.embedding;

describe("the facts of an embedding model", () => {
  test("are those of the file, with defaults", () => {
    expect(factsOf("embedding: { dimensions: 768 }")).toEqual({
      dimensions: 768,
      dimensions_min: 768,
      dimensions_max: 768,
      inputs_max: 2_048,
    });
    expect(factsOf("embedding: { dimensions: 768, dimensions_max: 1024 }")).toMatchObject({
      dimensions_min: 1,
      dimensions_max: 1_024,
    });
    const whole = {
      dimensions: 768,
      dimensions_min: 64,
      dimensions_max: 768,
      inputs_max: 96,
      vocabulary: 100_277,
      source_inputs_max: 32,
      source_tokens_max: 8_192,
    };
    expect(factsOf(`embedding: ${JSON.stringify(whole)}`)).toEqual(whole);
  });

  test("are changed member by member by a later file", () => {
    const over = "models:\n  - slug: embed\n    embedding: { inputs_max: 7 }\n";
    const catalogue = build([BASE, model("embedding: { dimensions: 768 }"), over]);
    expect(catalogue.models.get("embed")?.embedding).toMatchObject({ dimensions: 768, inputs_max: 7 });
  });

  test("are hidden from clients", () => {
    const found = build([BASE, model("embedding: { dimensions: 768 }")]).models.get("embed");
    if (!found) throw new Error("no model");
    expect(JSON.stringify(modelEntry(found))).not.toContain("768");
    expect(modelEntry(found)._svc).toMatchObject({ supports_embeddings: true, max_output_tokens: 0 });
  });

  test("are neither required nor stored for other models", () => {
    const text = model("embedding: { dimensions: 768 }").replace("supports_embeddings: true", "supports_chat: false");
    expect(build([BASE, text]).models.get("embed")?.embedding).toBeUndefined();
  });
});

describe("an embedding model is rejected with its path", () => {
  test.each([
    ["without the length of its vectors", "embedding: { inputs_max: 5 }", "models[0].embedding.dimensions: the model"],
    ["with a length that nobody may ask for", "embedding: { dimensions: 9, dimensions_max: 8 }", "1 to 8, got 9"],
    [
      "with one below what may be asked for",
      "embedding: { dimensions: 9, dimensions_min: 10, dimensions_max: 80 }",
      "10 to 80, got 9",
    ],
    ["with a least length alone", "embedding: { dimensions: 9, dimensions_min: 4 }", "embedding.dimensions_min"],
    ["with an unknown fact", "embedding: { dimensions: 9, speed: 4 }", "models[0].embedding.speed"],
    ["with too many inputs", "embedding: { dimensions: 9, inputs_max: 4096 }", "must be at most 2048"],
  ])("%s", (_what, embedding, sentence) => {
    const found = refusals(BASE, model(embedding));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(sentence);
  });

  test("without a context, or with a unit that cannot be metered", () => {
    const text = model("embedding: { dimensions: 9 }");
    expect(refusals(BASE, text.replace("max_context_tokens: 512", "max_context_tokens: 0"))[0]).toContain(
      "at least 1 for an embedding model",
    );
    const byImage = text.replace('per_token, input_per_million: "1"', 'per_image, image_price: "1"');
    expect(refusals(BASE, byImage)[0]).toContain("per_token or per_request for an embedding model");
  });

  test("unless it is priced by the request", () => {
    const text = model("embedding: { dimensions: 9 }");
    const byRequest = text.replace('per_token, input_per_million: "1"', 'per_request, request_price: "1"');
    expect(refusals(BASE, byRequest)).toEqual([]);
  });
});
