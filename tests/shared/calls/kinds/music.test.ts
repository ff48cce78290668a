import { describe, expect, test } from "bun:test";

import { checkMusic } from "#shared/calls/kinds/music.ts";
import { build } from "#tests/shared/calls/catalogue/build-catalogue.ts";

const model = (slug: string, fields: string): string => `
  - slug: ${slug}
    modality: music
    owned_by: maker
    created: 1700000000
    pricing: { unit: per_request, request_price: "1" }
    allowed_params: { supported_inputs: [text] }
    sources: [{ provider: maker, model: m${fields} }]`;

const BOUNDED = "default_duration: 20, min_duration_seconds: 3, max_duration_seconds: 120";
const bounded = model("bounded", "").replace("{ supported", `{ ${BOUNDED}, supported`);

const catalogue = build([
  `
providers:
  - { id: maker, family: fal, base_url: "http://127.0.0.1:1" }
models:${model("sings", ", fields: { prompt: tags, lyrics: lyrics }")}${model("plays", ", fields: { prompt: prompt }")}${model("usual", "")}${bounded}
`,
]);

function check(slug: string, request: object) {
  const found = catalogue.models.get(slug);
  if (!found) throw new Error(slug);
  return checkMusic({ model: slug, prompt: "a song", ...request }, found);
}

describe("lyrics", () => {
  test.each(["sings", "usual"])("are accepted by a model that sings: %s", (slug) => {
    expect(check(slug, { lyrics: "la la" }).params).toMatchObject({ lyrics: "la la" });
  });

  test("are rejected by name otherwise, instead of being omitted", () => {
    expect(() => check("plays", { lyrics: "la la" })).toThrow(
      expect.objectContaining({ code: "unsupported_value", param: "lyrics" }),
    );
    expect(check("plays", {}).params).toMatchObject({ prompt: "a song" });
  });
});

describe("a length", () => {
  test.each([3, 120])("of %d seconds is accepted by a model with a range of 3 to 120", (duration) => {
    expect(check("bounded", { duration }).params).toMatchObject({ duration });
  });

  test.each([2, 121])("of %d seconds is rejected by name, with the bounds of allowed_params", (duration) => {
    expect(() => check("bounded", { duration })).toThrow(
      expect.objectContaining({
        code: "unsupported_value",
        param: "duration",
        message: `Expected duration to be 3 to 120 seconds for this model, got ${duration}.`,
      }),
    );
  });
});

describe("a seed or a format", () => {
  test("is rejected by name if no source of the model has a field for it", () => {
    expect(() => check("plays", { seed: 1 })).toThrow(
      expect.objectContaining({ code: "unsupported_value", param: "seed" }),
    );
    expect(() => check("plays", { output_format: "wav" })).toThrow(
      expect.objectContaining({ code: "unsupported_value", param: "output_format" }),
    );
  });

  test("is accepted if one may have it, and the default format always", () => {
    expect(check("usual", { seed: 1 }).params).toMatchObject({ seed: 1 });
    expect(check("plays", { output_format: "mp3" }).params).toMatchObject({ format: "mp3" });
  });
});
