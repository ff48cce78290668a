import { describe, expect, test } from "bun:test";

import { checkMusic } from "#shared/kinds/music.ts";
import { build } from "#tests/shared/catalogue/build-catalogue.ts";

const model = (slug: string, fields: string): string => `
  - slug: ${slug}
    modality: music
    owned_by: maker
    created: 1700000000
    pricing: { unit: per_request, request_price: "1" }
    allowed_params: { supported_inputs: [text] }
    sources: [{ provider: maker, model: m${fields} }]`;

const catalogue = build([
  `
providers:
  - { id: maker, family: fal, base_url: "http://127.0.0.1:1" }
models:${model("sings", ", fields: { prompt: tags, lyrics: lyrics }")}${model("plays", ", fields: { prompt: prompt }")}${model("usual", "")}
`,
]);

function check(slug: string, request: object) {
  const found = catalogue.models.get(slug);
  if (!found) throw new Error(slug);
  return checkMusic({ model: slug, prompt: "a song", ...request }, found);
}

describe("lyrics", () => {
  test.each(["sings", "usual"])("go to a model that sings: %s", (slug) => {
    expect(check(slug, { lyrics: "la la" }).params).toMatchObject({ lyrics: "la la" });
  });

  test("are refused by name where nobody would sing them, instead of being left out of what is paid", () => {
    expect(() => check("plays", { lyrics: "la la" })).toThrow(
      expect.objectContaining({ code: "unsupported_value", param: "lyrics" }),
    );
    expect(check("plays", {}).params).toMatchObject({ prompt: "a song" });
  });
});

describe("a seed or a format", () => {
  test("is refused by name where no source of the model has a field for it", () => {
    expect(() => check("plays", { seed: 1 })).toThrow(
      expect.objectContaining({ code: "unsupported_value", param: "seed" }),
    );
    expect(() => check("plays", { output_format: "wav" })).toThrow(
      expect.objectContaining({ code: "unsupported_value", param: "output_format" }),
    );
  });

  test("is taken where one may have it, and the usual format always", () => {
    expect(check("usual", { seed: 1 }).params).toMatchObject({ seed: 1 });
    expect(check("plays", { output_format: "mp3" }).params).toMatchObject({ format: "mp3" });
  });
});
