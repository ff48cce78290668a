import { describe, expect, test } from "bun:test";

import { checkSpeech } from "#shared/calls/kinds/speech.ts";
import { build } from "#tests/shared/calls/catalogue/build-catalogue.ts";

const model = (slug: string, allowed: string): string => `
  - slug: ${slug}
    modality: audio
    owned_by: maker
    created: 1700000000
    pricing: { unit: per_request, request_price: "1" }
    allowed_params: { supported_inputs: [text]${allowed} }
    sources: [{ provider: maker, model: m }]`;

const catalogue = build([
  `
providers:
  - { id: maker, family: elevenlabs, base_url: "http://127.0.0.1:1" }
models:${model("narrow", ", speed: { min: 0.7, max: 1.2 }")}${model("wide", "")}${model("voices", ", voices: [ann, bob], default_params: { voice: bob }")}
`,
]);

function check(slug: string, request: object) {
  const found = catalogue.models.get(slug);
  if (!found) throw new Error(slug);
  return checkSpeech({ model: slug, input: "hello", ...request }, found);
}

describe("a speed", () => {
  test.each([0.5, 1.3, 4])("of %p is rejected by name if the model declares a narrower range", (speed) => {
    expect(() => check("narrow", { speed })).toThrow(
      expect.objectContaining({
        code: "unsupported_value",
        param: "speed",
        message: `Expected speed to be from 0.7 to 1.2 for this model, got ${speed}.`,
      }),
    );
    expect(check("wide", { speed }).params.speed).toBe(speed);
  });

  test.each([0.7, 1, 1.2])("of %p within the range is accepted", (speed) => {
    expect(check("narrow", { speed }).params.speed).toBe(speed);
  });
});

test("an unknown voice is replaced by the model's default", () => {
  expect(check("voices", { voice: "ann" }).params.voice).toBe("ann");
  expect(check("voices", { voice: "nobody" }).params.voice).toBe("bob");
  expect(check("voices", {}).params.voice).toBe("bob");
  expect(check("wide", { voice: "ann" }).params.voice).toBeUndefined();
});
