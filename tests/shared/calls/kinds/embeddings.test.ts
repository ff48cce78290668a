import { describe, expect, test } from "bun:test";

import type { EmbeddingsRequest } from "#schemas/generated/types.ts";
import { checkEmbeddings, inputsOf, EMBEDDINGS } from "#shared/calls/kinds/embeddings.ts";
import { modelOf } from "#shared/calls/kinds/models.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";

import { EMBEDDING_CATALOGUE, embeddingModel } from "./embedding-models.ts";

function check(slug: string, body: Omit<EmbeddingsRequest, "model">) {
  return checkEmbeddings(parse("EmbeddingsRequest", { model: slug, ...body }), embeddingModel(slug));
}

function refusalOf(work: () => unknown): { code: string; param: string | null; message: string } {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return { code: error.code, param: error.param, message: error.message };
    throw error;
  }
  throw new Error("expected a refusal");
}

describe("the bound of an embeddings call", () => {
  test.each([
    ["a text: its bytes and two marks", "abc", 5],
    ["a text of characters of several bytes", "ä€🐳", 11],
    ["a text longer than the model reads: what it reads", "a".repeat(100), 20],
    ["texts together", ["abc", "a"], 8],
    ["tokens: as many as there are", [1, 2, 3], 3],
    ["lists of tokens together", [[1, 2, 3], [4]], 4],
  ])("is, for %s", (_what, input, tokens) => {
    expect(check("embed", { input })).toEqual({
      holdNano: BigInt(tokens) * 1_000n,
      outputTokensMax: 0,
      mayExceed: false,
      tokensMax: tokens,
    });
  });

  test("is the price of a request if that is the unit", () => {
    expect(check("flat", { input: ["abc", "a"] }).holdNano).toBe(250_000_000n);
  });
});

test("each vector has one input", () => {
  expect(inputsOf("one")).toEqual(["one"]);
  expect(inputsOf([1, 2])).toEqual([[1, 2]]);
  expect(inputsOf(["one", "two"])).toEqual(["one", "two"]);
  expect(inputsOf([[1], [2, 3]])).toEqual([[1], [2, 3]]);
});

describe("a call is rejected", () => {
  test.each([
    ["embed", { input: "" }, "invalid_request", "input"],
    ["embed", { input: [] }, "invalid_request", "input"],
    ["embed", { input: ["a", ""] }, "invalid_request", "input[1]"],
    ["embed", { input: [[]] }, "invalid_request", "input[0]"],
    ["embed", { input: [-1] }, "unsupported_value", "input[0]"],
    ["embed", { input: [[1], [1.5]] }, "invalid_request", "input[1][0]"],
    ["embed", { input: ["a", 1] }, "invalid_request", "input[1]"],
    ["embed", { input: [1, "a"] }, "invalid_request", "input[1]"],
    ["embed", { input: [[1], 1] }, "invalid_request", "input[1]"],
    ["embed", { input: [999, 1_000] }, "unsupported_value", "input[1]"],
    ["embed", { input: [[1], [1, 1_000]] }, "unsupported_value", "input[1][1]"],
    ["embed", { input: Array<number>(21).fill(1) }, "context_length_exceeded", "input"],
    ["embed", { input: [[1], Array<number>(21).fill(1)] }, "context_length_exceeded", "input[1]"],
    ["embed", { input: Array<string>(6).fill("a") }, "unsupported_value", "input"],
    ["fixed", { input: [1] }, "unsupported_value", "input"],
    ["fixed", { input: [[1]] }, "unsupported_value", "input[0]"],
    ["embed", { input: "a", dimensions: 1 }, "unsupported_value", "dimensions"],
    ["embed", { input: "a", dimensions: 17 }, "unsupported_value", "dimensions"],
    ["embed", { input: "a", dimensions: 0 }, "unsupported_value", "dimensions"],
    ["embed", { input: "a", dimensions: 2.5 }, "invalid_request", "dimensions"],
    ["fixed", { input: "a", dimensions: 4 }, "unsupported_value", "dimensions"],
    ["embed", { input: "a", encoding_format: "hex" as "float" }, "unsupported_value", "encoding_format"],
    ["wide", { input: Array<string>(2_048).fill("a") }, "unsupported_value", "input"],
  ])("by %s for %j with a sentence", (slug, body, code, param) => {
    const refusal = refusalOf(() => check(slug, body));
    expect([refusal.code, refusal.param]).toEqual([code, param]);
    expect(refusal.message).toMatch(/^[A-Z[a-z].*\.$/);
  });

  test("for a model that is unknown or has no embeddings", () => {
    expect(refusalOf(() => modelOf(EMBEDDINGS, EMBEDDING_CATALOGUE, {}, "none"))).toMatchObject({
      code: "model_not_found",
      param: "model",
    });
    expect(refusalOf(() => modelOf(EMBEDDINGS, EMBEDDING_CATALOGUE, {}, "one"))).toMatchObject({
      code: "model_not_supported",
      param: "model",
    });
  });
});

describe("a call is accepted", () => {
  test.each([
    ["embed", { input: "a", dimensions: 2 }],
    ["embed", { input: "a", dimensions: 16 }],
    ["fixed", { input: "a", dimensions: 8 }],
    ["embed", { input: [0, 999] }],
    ["embed", { input: Array<number>(20).fill(1) }],
    ["embed", { input: " ", user: "someone", unheard_of: true }],
    ["wide", { input: Array<string>(2_048).fill("a"), encoding_format: "base64" as const }],
  ])("by %s with %j", (slug, body) => {
    expect(check(slug, body).holdNano).toBeGreaterThan(0n);
  });
});
