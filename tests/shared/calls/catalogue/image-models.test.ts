import { describe, expect, test } from "bun:test";

import { CHAT } from "#shared/calls/kinds/chat.ts";
import { EMBEDDINGS } from "#shared/calls/kinds/embeddings.ts";
import { modelOf } from "#shared/calls/kinds/models.ts";
import { buildCatalogue } from "#shared/calls/catalogue/build.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { mergeLayers } from "#shared/calls/catalogue/merge.ts";

import { BASE, build, EVERYTHING_ON, refusals } from "./build-catalogue.ts";

const catalogue = buildCatalogue(mergeLayers(await loadOurLayers()), EVERYTHING_ON);
const models = [...catalogue.models.values()].filter(
  ({ modality, owned_by }) => modality === "image" && owned_by !== "sandbox",
);

describe("image models", () => {
  test("exist, of three families", () => {
    expect(new Set(models.flatMap(({ sources }) => sources.map(({ provider }) => provider)))).toEqual(
      new Set(["openai", "google", "fal"]),
    );
  });

  test.each(models.map(({ slug }) => slug))("%s generates no chat and no embeddings", (slug) => {
    expect(() => modelOf(CHAT, catalogue, {}, slug)).toThrow(expect.objectContaining({ code: "model_not_supported" }));
    expect(() => modelOf(EMBEDDINGS, catalogue, {}, slug)).toThrow(
      expect.objectContaining({ code: "model_not_supported" }),
    );
  });

  test.each(models)("$slug states count, formats, and the price by a unit of images", (model) => {
    const { max_n, response_formats, supported_inputs, accepts_input_image } = model.allowed_params;
    expect(max_n).toBeGreaterThan(0);
    expect(response_formats).toEqual(["url", "b64_json"]);
    expect(supported_inputs?.includes("image") ?? false).toBe(accepts_input_image ?? false);
    expect(["per_token", "per_image", "per_megapixel"]).toContain(model.price.unit);
    // Tokens bound what is held for a call.
    if (model.price.unit === "per_token") expect(model.max_output_tokens).toBeGreaterThan(0);
  });

  test("have defaults among their offered values", () => {
    for (const { slug, allowed_params } of models) {
      const { sizes, default_params = {} } = allowed_params;
      const size: unknown = default_params["size"];
      if (typeof size === "string") expect(sizes, slug).toContain(size);
    }
  });

  test("cost the listed prices, a hundred credits to the dollar", () => {
    const priceOf = (slug: string) => catalogue.models.get(slug)?.pricing;
    expect(priceOf("flux-dev")?.megapixel_price).toBe("2.5");
    expect(priceOf("flux-kontext-pro")?.image_price).toBe("4");
    expect(priceOf("gpt-image-2")).toMatchObject({ input_per_million: "500", image_output_per_million: "3000" });
    expect(priceOf("gemini-3-pro-image")).toMatchObject({
      input_per_million: "200",
      image_output_per_million: "12000",
    });
  });
});

describe("a source's fields", () => {
  const withFields = (fields: string): string =>
    BASE.replace("        model: acme-one\n", `        model: acme-one\n        fields: ${fields}\n`);

  test("are passed to the model as in the file", () => {
    const [source] =
      build([withFields('{ size: image_size, aspect_ratio: config.ratio, image: "image_urls[]" }')]).models.get("one")
        ?.sources ?? [];
    expect(source?.fields).toEqual({ size: "image_size", aspect_ratio: "config.ratio", image: "image_urls[]" });
  });

  test.each([
    "{ sise: image_size }",
    "{ size: 7 }",
    '{ size: "" }',
    "{ size: __proto__ }",
    '{ size: "a..b" }',
    "{ size: a-b }",
  ])("%s are rejected", (fields) => {
    expect(refusals(withFields(fields))).toHaveLength(1);
  });
});
