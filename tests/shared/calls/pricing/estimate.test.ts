import { describe, expect, test } from "bun:test";
import fc from "fast-check";

import { breakDown, estimateCall } from "#shared/calls/estimate/estimate.ts";
import { checkChat } from "#shared/calls/kinds/chat/constraints.ts";
import { checkEmbeddings } from "#shared/calls/kinds/embeddings.ts";
import { parsePrice, priceTokens } from "#shared/calls/pricing/price.ts";
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { parse, validate } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { creditsNumber } from "#shared/base/money.ts";
import { BASE, build } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { EMBEDDING_CATALOGUE, embeddingModel } from "#tests/shared/calls/kinds/embedding-models.ts";

const MORE = `
models:
  - &rich
    slug: rich
    modality: text
    owned_by: acme
    created: 1700000000
    supports_chat: true
    max_context_tokens: 100000
    max_output_tokens: 4000
    tokens_per_image_max: 700
    pricing:
      unit: per_token
      input_per_million: "25"
      output_per_million: "100"
      audio_input_per_million: "300"
      audio_output_per_million: "600"
    allowed_params: { supported_inputs: [text, image, audio, file] }
    sources: [{ provider: acme, model: rich }]
  - <<: *rich
    slug: flat-chat
    pricing: { unit: per_request, request_price: "0.5" }
  - slug: singer
    modality: music
    owned_by: acme
    created: 1700000000
    pricing: { unit: per_request, request_price: "4" }
    sources: [{ provider: acme, model: singer }]
  - slug: singer-by-character
    modality: music
    owned_by: acme
    created: 1700000000
    pricing: { unit: per_character, character_price: "4" }
    sources: [{ provider: acme, model: singer }]
  - slug: by-megapixel
    modality: image
    owned_by: acme
    created: 1700000000
    pricing: { unit: per_megapixel, megapixel_price: "0.3" }
    allowed_params: { max_n: 4, sizes: [500x200, 1000x1000], default_params: { size: 1000x1000, steps: 4 } }
    sources: [{ provider: acme, model: by-megapixel }]
  - slug: token-painter
    modality: image
    owned_by: acme
    created: 1700000000
    max_output_tokens: 1000
    pricing: { unit: per_token, input_per_million: "25", output_per_million: "50", image_output_per_million: "100" }
    sources: [{ provider: acme, model: token-painter }]
  - slug: painter
    modality: image
    owned_by: acme
    created: 1700000000
    pricing: { unit: per_image, image_price: "4" }
    sources: [{ provider: acme, model: painter }]
`;
const CATALOGUE = build([BASE, MORE]);

function model(slug: string) {
  const found = CATALOGUE.models.get(slug) ?? EMBEDDING_CATALOGUE.models.get(slug);
  if (!found) throw new Error(`no model ${slug}`);
  return found;
}

const bytesOf = (body: unknown): number => Buffer.byteLength(JSON.stringify(body));
const estimateOf = async (slug: string, body: object) => {
  const estimate = await estimateCall(model(slug), body, bytesOf(body));
  expect(validate("Estimate", estimate)).toBeNull();
  return estimate;
};
const HELLO = { messages: [{ role: "user", content: "How many legs has a spider?" }] };
/** Three for the message, one for its role, seven for the text, three that open the answer. */
const HELLO_TOKENS = 14;

describe("a chat estimate", () => {
  test("counts the input and uses a lower limit of the call for the output", async () => {
    expect(await estimateOf("rich", { model: "rich", ...HELLO, max_tokens: 100 })).toEqual({
      model: "rich",
      currency: "credits",
      unit: "per_token",
      estimated_credits: 0.01035,
      max_credits: creditsNumber(
        checkChat(
          parse("ChatCompletionRequest", { model: "rich", ...HELLO, max_tokens: 100 }),
          model("rich"),
          bytesOf({ model: "rich", ...HELLO, max_tokens: 100 }),
        ).holdNano,
      ),
      breakdown: [
        { kind: "input_tokens", quantity: HELLO_TOKENS, unit_credits: 0.000025, credits: 0.00035 },
        { kind: "output_tokens", quantity: 100, unit_credits: 0.0001, credits: 0.01 },
      ],
    });
  });

  test.each([
    [{}, 512],
    [{ max_tokens: 3_000 }, 512],
    [{ max_completion_tokens: 7, max_tokens: 3_000 }, 7],
    [{ n: 3 }, 1_536],
    [{ n: 3, max_tokens: 10 }, 30],
  ])("of %j expects %d tokens of output", async (members, tokens) => {
    const { breakdown } = await estimateOf("rich", { ...HELLO, ...members });
    expect(breakdown.find(({ kind }) => kind === "output_tokens")?.quantity).toBe(tokens);
  });

  test.each([
    [{}, 4_000],
    [{ n: 3 }, 12_000],
    [{ max_tokens: 3_000 }, undefined],
    [{ max_completion_tokens: 7 }, undefined],
  ])("of %j holds for %d tokens of output without a limit of the call", async (members, tokens) => {
    const { assumed_output_tokens: assumed } = await estimateOf("rich", { ...HELLO, ...members });
    expect(assumed).toBe(tokens);
  });

  test("counts images, recordings and speech at their own rates", async () => {
    const content = [
      { type: "image_url", image_url: { url: "https://example.com/a.png" } },
      { type: "input_audio", input_audio: { data: "A".repeat(6_000), format: "mp3" } },
    ];
    const estimate = await estimateOf("rich", {
      messages: [{ role: "user", content }],
      modalities: ["text", "audio"],
      audio: { voice: "alloy", format: "mp3" },
    });
    expect(estimate.breakdown.map(({ kind, quantity, unit_credits }) => [kind, quantity, unit_credits])).toEqual([
      ["input_tokens", 7, 0.000025],
      ["audio_input_tokens", expect.any(Number) as number, 0.0003],
      ["image_input_tokens", 700, 0.000025],
      ["audio_output_tokens", 512, 0.0006],
    ]);
    expect(estimate.breakdown[1]?.quantity).toBeGreaterThan(1_000);
    expect(estimate.estimated_credits).toBeLessThanOrEqual(estimate.max_credits);
  });

  test("counts stored files by type: images, recordings and documents by their size", async () => {
    const stored = { picture: "image/png", sound: "audio/wav", paper: "application/pdf" };
    const files = new Map(
      Object.entries(stored).map(([id, mediaType]) => [id, { bytes: 6_000, mediaType, filename: "a" }]),
    );
    const content = Object.keys(stored).map((id) => ({ type: "file", file: { file_id: id } }));
    const body = { messages: [{ role: "user", content }], max_tokens: 10 };
    const about = { files, recording: () => Promise.resolve(undefined) };
    const { breakdown } = await estimateCall(model("rich"), body, bytesOf(body), about);
    const quantities = new Map(breakdown.map(({ kind, quantity }) => [kind, quantity]));
    expect(quantities.get("image_input_tokens")).toBe(700);
    expect(quantities.get("audio_input_tokens")).toBe(1_334);
    expect(quantities.get("input_tokens")).toBeGreaterThan(1_334);
  });

  test("never expects more input than the model's context", async () => {
    const estimate = await estimateOf("one", { messages: [{ role: "user", content: "x y z ".repeat(2_000) }] });
    expect(estimate.breakdown[0]?.quantity).toBe(1_000);
    expect(estimate.estimated_credits).toBeLessThanOrEqual(estimate.max_credits);
  });

  test("of a model priced by the request is that price", async () => {
    expect(await estimateOf("flat-chat", HELLO)).toMatchObject({
      unit: "per_request",
      estimated_credits: 0.5,
      max_credits: 0.5,
      breakdown: [{ kind: "requests", quantity: 1, unit_credits: 0.5, credits: 0.5 }],
    });
  });
});

describe("an estimate of images", () => {
  test("is their number, or their megapixels at as many steps, as is the hold", async () => {
    expect(await estimateOf("painter", { prompt: "a spider" })).toMatchObject({
      estimated_credits: 4,
      max_credits: 4,
      breakdown: [{ kind: "images", quantity: 1, unit_credits: 4, credits: 4 }],
    });
    expect(await estimateOf("by-megapixel", { prompt: "a spider", n: 3, size: "500x200", steps: 8 })).toMatchObject({
      estimated_credits: 0.18,
      max_credits: 0.18,
      breakdown: [{ kind: "megapixels", quantity: 0.3, unit_credits: 0.6, credits: 0.18 }],
    });
  });

  test("by the token is the prompt's and the maximum of an image", async () => {
    const { estimated_credits: credits, breakdown } = await estimateOf("token-painter", { prompt: "How many legs?" });
    expect(breakdown.map(({ kind, quantity }) => [kind, quantity])).toEqual([
      ["input_tokens", 4],
      ["image_output_tokens", 1_000],
    ]);
    expect(credits).toBe(0.1001);
  });
});

describe("an embeddings estimate", () => {
  test("counts the input, and includes its hold", async () => {
    const body = { input: ["How many legs has a spider?", "eight"] };
    const request = parse("EmbeddingsRequest", { ...body, model: "embed" });
    expect(await estimateOf("embed", body)).toEqual({
      model: "embed",
      currency: "credits",
      unit: "per_token",
      estimated_credits: 0.000008,
      max_credits: creditsNumber(checkEmbeddings(request, embeddingModel("embed")).holdNano),
      breakdown: [{ kind: "input_tokens", quantity: 8, unit_credits: 0.000001, credits: 0.000008 }],
    });
  });

  test("of tokens is exact", async () => {
    const estimate = await estimateOf("embed", { input: [1, 2, 3] });
    expect([estimate.estimated_credits, estimate.max_credits]).toEqual([0.000003, 0.000003]);
  });
});

describe("an estimate", () => {
  test("is the same with the model in the body and without", async () => {
    for (const [slug, body] of [
      ["rich", HELLO],
      ["embed", { input: "eight" }],
    ] as const) {
      expect(await estimateOf(slug, { model: slug, ...body })).toEqual(await estimateOf(slug, body));
    }
  });

  test.each([
    ["rich", { ...HELLO, model: "one" }, "unsupported_value", "model"],
    ["rich", { ...HELLO, model: 5 }, "invalid_request", "model"],
    ["rich", [], "invalid_request", null],
    ["rich", {}, "missing_required_parameter", "messages"],
    ["rich", { ...HELLO, temperature: 9 }, "unsupported_value", "temperature"],
    ["embed", HELLO, "missing_required_parameter", "input"],
    ["embed", { input: "a", dimensions: 99 }, "unsupported_value", "dimensions"],
    ["painter", { prompt: "a spider", n: 2 }, "unsupported_value", "n"],
    ["singer-by-character", { prompt: "a song" }, "model_not_supported", "model"],
  ])("for %s is rejected like the call: %j", async (slug, body, code, param) => {
    const error = await estimateCall(model(slug), body, 100).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ApiError);
    expect([(error as ApiError).code, (error as ApiError).param]).toEqual([code as never, param]);
  });

  test("of an output limit above the model's is that of the model's limit", async () => {
    const bytes = 100;
    const most = await estimateCall(model("rich"), { ...HELLO, max_tokens: 4_000 }, bytes);
    expect(await estimateCall(model("rich"), { ...HELLO, max_tokens: 128_000 }, bytes)).toEqual(most);
  });

  test("has lines that add up to the settled usage, to the nano-credit", () => {
    const rate = fc
      .bigInt(0n, 10n ** 13n)
      .map((nano) => `${nano / 10n ** 9n}.${(nano % 10n ** 9n).toString().padStart(9, "0")}`);
    const tokens = fc.nat(1_000_000);
    fc.assert(
      fc.property(rate, rate, rate, tokens, tokens, tokens, (input, audio, output, a, b, c) => {
        const price = parsePrice({
          unit: "per_token",
          input_per_million: input,
          audio_input_per_million: audio,
          output_per_million: output,
        });
        const usage = { ...NO_USAGE, input: a, audioInput: b, output: c };
        const { lines, nano } = breakDown(price, usage);
        expect(nano).toBe(priceTokens(price, usage));
        const sum = lines.reduce((total, line) => total + BigInt(Math.round(line.credits * 1e9)), 0n);
        expect(sum).toBe(nano);
      }),
    );
  });

  test("lists a rate finer than a nano-credit completely", () => {
    const price = parsePrice({ unit: "per_token", input_per_million: "0.3625" });
    expect(breakDown(price, { ...NO_USAGE, input: 3 }).lines).toEqual([
      { kind: "input_tokens", quantity: 3, unit_credits: 3.625e-7, credits: 0.000001088 },
    ]);
  });
});
