import { describe, expect, test } from "bun:test";

import { checkImageEdit, checkImages, IMAGES } from "#shared/calls/kinds/images.ts";
import { CHAT } from "#shared/calls/kinds/chat.ts";
import { EMBEDDINGS } from "#shared/calls/kinds/embeddings.ts";
import { modelOf } from "#shared/calls/kinds/models.ts";
import { SPEECH } from "#shared/calls/kinds/speech.ts";
import type { Model } from "#shared/calls/model.ts";
import { buildCatalogue } from "#shared/calls/catalogue/build.ts";
import { readLayer } from "#shared/calls/catalogue/layer.ts";
import { mergeLayers } from "#shared/calls/catalogue/merge.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { EVERYTHING_ON } from "#tests/shared/calls/catalogue/build-catalogue.ts";

const CATALOGUE = buildCatalogue(
  mergeLayers([
    readLayer(
      "images.yaml",
      `
providers:
  - { id: play, family: sandbox }
  - { id: plain, family: openai-compatible, base_url: "https://plain.example/v1" }
models:
  - slug: full
    modality: image
    owned_by: acme
    created: 1700000000
    pricing: { unit: per_megapixel, megapixel_price: "1" }
    allowed_params:
      max_n: 4
      sizes: [1000x1000, 2000x1000, auto]
      qualities: [low, high]
      styles: [vivid]
      aspect_ratios: ["1:1", "16:9"]
      image_sizes: [1K, 2K]
      background: [transparent, opaque]
      output_formats: [png, jpeg, webp]
      response_formats: [url]
      person_generation: [allow_adult]
      default_params: { size: 1000x1000, steps: 10 }
    sources: [{ provider: play, model: sandbox-image }]
  - slug: bare
    modality: image
    owned_by: acme
    created: 1700000000
    pricing: { unit: per_image, image_price: "4" }
    allowed_params: {}
    sources: [{ provider: play, model: sandbox-image }]
  - slug: of-family
    modality: image
    owned_by: acme
    created: 1700000000
    pricing: { unit: per_image, image_price: "4" }
    allowed_params: {}
    sources: [{ provider: plain, model: painter }]
  - slug: of-either-family
    modality: image
    owned_by: acme
    created: 1700000000
    pricing: { unit: per_image, image_price: "4" }
    allowed_params: {}
    sources: [{ provider: plain, model: painter }, { provider: play, model: sandbox-image }]
  - slug: by-token
    modality: image
    owned_by: acme
    created: 1700000000
    max_output_tokens: 1000
    pricing: { unit: per_token, input_per_million: "1", image_output_per_million: "10" }
    allowed_params: { max_n: 2 }
    sources: [{ provider: play, model: sandbox-image }]
  - slug: changes-only
    modality: image
    owned_by: acme
    created: 1700000000
    pricing: { unit: per_image, image_price: "4" }
    allowed_params: { requires_input_image: true }
    sources: [{ provider: play, model: sandbox-image }]
  - slug: changes
    modality: image
    owned_by: acme
    created: 1700000000
    tokens_per_image_max: 500
    max_output_tokens: 1000
    pricing: { unit: per_token, input_per_million: "1", image_input_per_million: "2", image_output_per_million: "10" }
    allowed_params:
      accepts_input_image: true
      qualities: [low]
      styles: [vivid]
      output_formats: [png, webp]
      strength: { min: 0.2, max: 0.9, required: true }
    sources: [{ provider: play, model: sandbox-image }]
  - slug: by-character
    modality: image
    owned_by: acme
    created: 1700000000
    pricing: { unit: per_character, character_price: "4" }
    allowed_params: {}
    sources: [{ provider: play, model: sandbox-image }]
`,
    ),
  ]),
  EVERYTHING_ON,
);

function check(slug: string, more: object = {}) {
  const request = parse("ImageGenerationRequest", { model: slug, prompt: "abc", ...more });
  return checkImages(request, modelOf(IMAGES, CATALOGUE, {}, slug));
}

function refusalOf(work: () => unknown): readonly [code: string, param: string | null] {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.param];
    throw error;
  }
  throw new Error("expected a refusal");
}

describe("a field of an image call", () => {
  test.each([
    ["size", "2000x1000", { size: "2000x1000" }],
    ["size", null, { size: "1000x1000" }],
    ["quality", "high", { quality: "high" }],
    ["style", "vivid", { style: "vivid" }],
    ["aspect_ratio", "16:9", { aspectRatio: "16:9" }],
    ["image_size", "2K", { imageSize: "2K" }],
    ["background", "transparent", { background: "transparent" }],
    ["output_format", "webp", { outputFormat: "webp" }],
    ["person_generation", "allow_adult", { personGeneration: "allow_adult" }],
    ["input_fidelity", "high", { inputFidelity: "high" }],
    ["moderation", "low", { moderation: "low" }],
    ["negative_prompt", "rain", { negativePrompt: "rain" }],
    ["seed", 0, { seed: 0 }],
    ["seed", -7, { seed: -7 }],
    ["steps", 100, { steps: 100 }],
    ["steps", null, { steps: 10 }],
    ["prompt_extend", false, { promptExtend: false }],
    ["user", "someone", { user: "someone" }],
    ["n", 4, { n: 4 }],
    ["n", null, { n: 1 }],
  ])("%s %p is sent to the source that supports it", (field, value, params) => {
    expect(check("full", { [field]: value }).params).toMatchObject(params);
  });

  test.each([
    ["size", "333x333"],
    ["quality", "auto"],
    ["style", "natural"],
    ["aspect_ratio", "4:3"],
    ["image_size", "4K"],
    ["background", "auto"],
    ["response_format", "b64_json"],
    ["person_generation", "allow_all"],
    ["n", 5],
    ["n", 0],
    ["steps", 0],
    ["steps", 101],
    ["output_compression", 101],
    ["style", "loud"],
    ["response_format", "png"],
    ["person_generation", "everybody"],
    ["output_format", "gif"],
    ["input_fidelity", "medium"],
    ["moderation", "high"],
  ])("%s %p, which the model lacks, is rejected by name", (field, value) => {
    expect(refusalOf(() => check("full", { [field]: value }))).toEqual(["unsupported_value", field]);
  });

  test("is omitted if the model lacks it, and has no effect if it belongs to edits", () => {
    const { params } = check("bare", {
      quality: "hd",
      style: "vivid",
      aspect_ratio: "9:9",
      image_size: "9K",
      background: "auto",
      person_generation: "allow_all",
      strength: 7,
      a_field_of_tomorrow: true,
    });
    expect(params).toEqual({ prompt: "abc", n: 1 });
  });

  test("without a field in any source of the model is rejected by name, not omitted", () => {
    expect(refusalOf(() => check("bare", { output_format: "png" }))).toEqual(["unsupported_value", "output_format"]);
    const full = modelOf(IMAGES, CATALOGUE, {}, "full");
    const named = { ...full, sources: full.sources.map((source) => ({ ...source, fields: { n: "n" } })) };
    const other = { ...named, sources: [...named.sources, { provider: "p", model: "m", fields: { seed: "seed" } }] };
    const ask = (more: object, model: Model) => checkImages({ model: "full", prompt: "abc", ...more }, model);
    expect(refusalOf(() => ask({ seed: 1 }, named))).toEqual(["unsupported_value", "seed"]);
    expect(refusalOf(() => ask({ negative_prompt: "x" }, named))).toEqual(["unsupported_value", "negative_prompt"]);
    expect(ask({ seed: 1 }, other).params.seed).toBe(1);
    expect(ask({}, named).params.seed).toBeUndefined();
  });

  test("without a usual field in any source's family is rejected, and accepted if one has it", () => {
    for (const more of [{ seed: 1 }, { negative_prompt: "x" }]) {
      const [name = ""] = Object.keys(more);
      expect(refusalOf(() => check("of-family", more))).toEqual(["unsupported_value", name]);
      expect(() => check("of-either-family", more)).not.toThrow();
    }
    expect(() => check("of-family", { seed: null })).not.toThrow();
  });

  test("that would change the image's size is rejected if the model has none", () => {
    expect(refusalOf(() => check("bare", { size: "1024x1024" }))).toEqual(["unsupported_value", "size"]);
    expect(refusalOf(() => check("bare", { n: 2 }))).toEqual(["unsupported_value", "n"]);
  });

  test.each([
    ["jpeg", 40],
    ["webp", 40],
    ["png", undefined],
  ])("output_compression applies to %s: %p", (output_format, outputCompression) => {
    const { params } = check("full", { output_format, output_compression: 40 });
    expect(params.outputCompression).toBe(outputCompression as number);
  });
});

test("a model of another kind is rejected with the expected kind, its own kind and its endpoint", () => {
  const message = (resolve: () => unknown): string => {
    try {
      resolve();
    } catch (error) {
      if (error instanceof ApiError) return error.message;
    }
    return "no refusal";
  };
  const is = (slug: string) => `got ${slug}, a model of modality image`;
  expect([
    message(() => modelOf(CHAT, CATALOGUE, {}, "full")),
    message(() => modelOf(EMBEDDINGS, CATALOGUE, {}, "changes-only")),
    message(() => modelOf(SPEECH, CATALOGUE, {}, "bare")),
    message(() => modelOf(IMAGES, CATALOGUE, {}, "by-character")),
  ]).toEqual([
    `Expected a chat model, ${is("full")}. Call POST /v1/images/generations.`,
    `Expected an embedding model, ${is("changes-only")}. Call POST /v1/images/edits.`,
    `Expected a speech model, ${is("bare")}. Call POST /v1/images/generations.`,
    `Expected an image model, ${is("by-character")}. No endpoint serves it.`,
  ]);
});

describe("the hold of an image call", () => {
  const CREDIT = 1_000_000_000n;
  test.each([
    ["the usual size", "full", {}, CREDIT],
    ["the size asked for", "full", { size: "2000x1000" }, 2n * CREDIT],
    ["the largest size there is", "full", { size: "auto" }, 2n * CREDIT],
    ["several pictures", "full", { n: 4 }, 4n * CREDIT],
    ["more steps than usual", "full", { steps: 25 }, (5n * CREDIT) / 2n],
    ["fewer steps than usual", "full", { steps: 1 }, CREDIT],
    ["a price by the picture", "bare", {}, 4n * CREDIT],
  ])("covers %s", (_what, slug, more, holdNano) => {
    expect(check(slug, more).bound).toEqual({ holdNano, mayExceed: false, outputTokensMax: 0, tokensMax: 0 });
  });

  test("covers the prompt and the maximum of each image, if tokens are priced", () => {
    const { bound } = check("by-token", { n: 2 });
    // 3 bytes of prompt and 64 tokens around it; 2 pictures of 1,000 tokens.
    expect(bound).toEqual({
      holdNano: 67n * 1_000n + 2_000n * 10_000n,
      mayExceed: false,
      outputTokensMax: 2_000,
      tokensMax: 2_067,
    });
  });
});

function checkEdit(slug: string, more: object = {}) {
  const body = { model: slug, prompt: "abc", image_base64: "AAAA", ...more };
  return checkImageEdit(parse("ImageEditRequest", body), modelOf(IMAGES, CATALOGUE, {}, slug));
}

describe("an edit", () => {
  test.each([
    [0.5, 0.5],
    [7, 0.9],
    [-1, 0.2],
  ])("of strength %d changes up to %d", (strength, brought) => {
    expect(checkEdit("changes", { strength }).params.strength).toBe(brought);
  });

  test("requires a strength if the model does, and none otherwise", () => {
    expect(refusalOf(() => checkEdit("changes"))).toEqual(["missing_required_parameter", "strength"]);
    expect(checkEdit("changes-only", { strength: 7 }).params.strength).toBeUndefined();
  });

  test("is rejected by a model without image input", () => {
    expect(refusalOf(() => checkEdit("full"))).toEqual(["edit_not_supported", "model"]);
  });

  test.each([
    ["quality", "hd"],
    ["style", "natural"],
    ["size", "1024x1024"],
    ["n", 2],
    ["steps", 101],
    ["person_generation", "everybody"],
  ])("with %s %p is rejected by name", (field, value) => {
    const refused = refusalOf(() => checkEdit("changes", { strength: 0.5, [field]: value }));
    expect(refused).toEqual(["unsupported_value", field]);
  });

  test.each<[string, unknown]>([
    ["seed", { a: 1 }],
    ["seed", 7],
    ["negative_prompt", ["rain"]],
    ["output_format", "webp"],
    ["output_format", "gif"],
    ["output_compression", "much"],
    ["input_fidelity", 1],
    ["moderation", {}],
    ["a_field_of_tomorrow", true],
    ["constructor", 1],
  ])("with %s %p, which edits lack, ignores it", (field, value) => {
    const plain = checkEdit("changes", { strength: 0.5 });
    expect(plain.params).toEqual({ prompt: "abc", n: 1, strength: 0.5 });
    expect(checkEdit("changes", { strength: 0.5, [field]: value })).toEqual(plain);
  });

  test.each(["mask_base64", "mask_file_id"])("is rejected by name with %s if no source supports masks", (name) => {
    const model = modelOf(IMAGES, CATALOGUE, {}, "changes");
    const withSource = (source: object): Model => ({
      ...model,
      sources: [{ provider: "play", model: "m", ...source }],
    });
    const edit = { model: "changes", prompt: "abc", image_base64: "AAAA", strength: 0.5, [name]: "AAAA" };
    for (const source of [{ lacks: ["mask"] }, { fields: { image: "image" } }, { drop_params: ["mask"] }]) {
      expect(refusalOf(() => checkImageEdit(edit, withSource(source)))).toEqual(["unsupported_value", name]);
    }
    expect(() => checkImageEdit(edit, withSource({ fields: { mask: "mask" } }))).not.toThrow();
  });

  test("holds its pictures' tokens too", () => {
    const held = (more: object) => checkEdit("changes", { strength: 0.5, ...more }).bound;
    const plain = 67n * 1_000n + 500n * 2_000n + 1_000n * 10_000n;
    expect(held({})).toMatchObject({ holdNano: plain, tokensMax: 1_567 });
    expect(held({ mask_base64: "AAAA" })).toMatchObject({ holdNano: plain + 500n * 2_000n, tokensMax: 2_067 });
  });
});

test.each([
  ["changes-only", "model_not_supported"],
  ["by-character", "model_not_supported"],
  ["nobody", "model_not_found"],
])("the model %s generates no images from a text", (slug, code) => {
  expect(refusalOf(() => check(slug))).toEqual([code, "model"]);
});
