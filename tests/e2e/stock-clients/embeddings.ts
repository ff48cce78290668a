/** Embeddings and estimates with the stock OpenAI SDK, against the running service. */
import { beforeAll, describe, expect, test } from "bun:test";

import OpenAI from "openai";

import type { Estimate } from "#schemas/generated/types.ts";
import { validate } from "#shared/json/contracts.ts";
import { creditsNumber } from "#shared/base/money.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import { mockVector } from "#tests/providers/openai-compatible/embeddings.ts";

import { type SharedStack, sharedStack } from "./shared-stack.ts";

let stack: SharedStack;
let client: OpenAI;
let upstream: SharedStack["upstream"];

beforeAll(async () => {
  stack = await sharedStack();
  ({ upstream } = stack);
  client = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: stack.key, maxRetries: 0 });
});

const MODEL = "sandbox-embed";

async function post(path: string, body: unknown): Promise<Response> {
  return fetch(`${stack.baseUrls[0]}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${stack.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function usageOf(requestId: string | null) {
  await stack.settled();
  const [row] = await stack.query(
    "select held, settled, status, units, is_estimated, source from usage_record where job_id = $1",
    [requestId],
  );
  return row;
}

/** Cosine of the angle between two vectors of length one. */
const cosine = (a: readonly number[] = [], b: readonly number[] = []): number =>
  a.reduce((sum, number, at) => sum + number * (b[at] ?? 0), 0);

describe("the stock SDK", () => {
  test("embeds a text: it requests base64 by default and reads numbers", async () => {
    const { data, response } = await client.embeddings
      .create({ model: MODEL, input: "How many legs has a spider?", user: "someone" })
      .withResponse();
    expect([data.object, data.model, data.data.length]).toEqual(["list", MODEL, 1]);
    expect(data.data[0]?.embedding).toHaveLength(256);
    expect(cosine(data.data[0]?.embedding, data.data[0]?.embedding)).toBeCloseTo(1, 5);
    expect<object>(data.usage).toEqual({ prompt_tokens: 7, total_tokens: 7, credits: 0.000014 });
    expect(response.headers.get("x-model-used")).toBe(MODEL);
    const row = await usageOf(response.headers.get("x-request-id"));
    // 7 tokens at 2 credits a million.
    expect(row).toMatchObject({
      status: "succeeded",
      settled: 14_000n,
      units: { input_tokens: 7 },
      is_estimated: false,
      source: "sandbox/sandbox-embed",
    });
    expect(response.headers.get("x-credits-used")).toBe("0.000014");
  });

  test("gets the same floats, bit by bit, in both encodings", async () => {
    const input = ["eight legs", "no legs at all", "ein Wal 🐳"];
    const base64 = await client.embeddings.create({ model: MODEL, input, encoding_format: "base64" });
    const float = await client.embeddings.create({ model: MODEL, input, encoding_format: "float" });
    const unasked = (await (await post("/v1/embeddings", { model: MODEL, input })).json()) as typeof float;
    for (const [at, { embedding, index }] of float.data.entries()) {
      expect(index).toBe(at);
      const bytes = Buffer.from((base64.data[at]?.embedding as unknown as string) ?? "", "base64");
      expect(embedding).toEqual([...new Float32Array(new Uint8Array(bytes).buffer)]);
      expect(unasked.data[at]?.embedding).toEqual(embedding);
    }
  });

  test("embeds lists, tokens and lists of tokens, each vector at its place", async () => {
    const both = await client.embeddings.create({ model: MODEL, input: ["one", "two"] });
    const two = await client.embeddings.create({ model: MODEL, input: "two" });
    expect(both.data[1]?.embedding).toEqual(two.data[0]?.embedding ?? []);
    const tokens = await client.embeddings.create({ model: MODEL, input: [3923, 374, 420] });
    expect(tokens.usage.prompt_tokens).toBe(3);
    const lists = await client.embeddings.create({ model: MODEL, input: [[1], [3923, 374, 420]] });
    expect(lists.usage.prompt_tokens).toBe(4);
    expect(lists.data[1]?.embedding).toEqual(tokens.data[0]?.embedding ?? []);
  });

  test("chooses the length of the vectors, each of length one", async () => {
    for (const dimensions of [1, 64, 1024]) {
      const { data } = await client.embeddings.create({ model: MODEL, input: "a spider", dimensions });
      expect(data[0]?.embedding).toHaveLength(dimensions);
      expect(cosine(data[0]?.embedding, data[0]?.embedding)).toBeCloseTo(1, 5);
    }
  });

  test("finds a text that is near another", async () => {
    const { data } = await client.embeddings.create({
      model: MODEL,
      input: ["How do I reset my password?", "Resetting a forgotten password", "Bananas ripen in warm weather"],
    });
    const [question, near, far] = data.map(({ embedding }) => embedding);
    expect(cosine(question, near)).toBeGreaterThan(cosine(question, far) + 0.2);
  });

  test("sends more inputs than a source accepts, in one call with one charge", async () => {
    const input = Array.from({ length: 1_000 }, (_, at) => `sentence number ${at}`);
    const { data, response } = await client.embeddings.create({ model: MODEL, input }).withResponse();
    expect(data.data.map(({ index }) => index)).toEqual(input.map((_, at) => at));
    const last = await client.embeddings.create({ model: MODEL, input: input.at(-1) ?? "" });
    expect(data.data.at(-1)?.embedding).toEqual(last.data[0]?.embedding ?? []);
    const row = await usageOf(response.headers.get("x-request-id"));
    expect(row).toMatchObject({ status: "succeeded", units: { input_tokens: data.usage.total_tokens } });
    expect(row?.["settled"]).toBe(BigInt(data.usage.total_tokens) * 2_000n);
  });

  test("gets responses of many megabytes completely", async () => {
    const many = Array.from({ length: 2_048 }, (_, at) => `${at}`);
    const base64 = await client.embeddings.create({ model: MODEL, input: many, dimensions: 1_024 });
    expect(base64.data).toHaveLength(2_048);
    expect(base64.data.every(({ embedding }) => embedding.length === 1_024)).toBe(true);
    const words = Array.from({ length: 200 }, (_, at) => `w${at * 7_919}`).join(" ");
    const input = Array.from({ length: 800 }, (_, at) => `${at} ${words}`);
    const response = await post("/v1/embeddings", { model: MODEL, input, dimensions: 1_024 });
    const text = await response.text();
    expect(text.length).toBeGreaterThan(10 * 1_048_576);
    const { data } = JSON.parse(text) as OpenAI.CreateEmbeddingResponse;
    expect(data.map(({ embedding }) => embedding.length)).toEqual(input.map(() => 1_024));
  });

  test("is charged for our own count if a source reports none, and at the hold for an absurd one", async () => {
    for (const [model, nano] of [
      ["sandbox-embed-no-usage", 14_000n],
      ["sandbox-embed-bad-usage", undefined],
    ] as const) {
      const { data, response } = await client.embeddings
        .create({ model, input: "How many legs has a spider?" })
        .withResponse();
      expect(data.usage.total_tokens).toBe(7);
      const row = await usageOf(response.headers.get("x-request-id"));
      expect(row).toMatchObject({ is_estimated: true, settled: nano ?? row?.["held"] });
    }
  });
});

describe("a rejected call", () => {
  const long = "spider ".repeat(9_000);
  test.each([
    ["a chat model", { model: "sandbox-chat", input: "x" }, "model_not_supported", "model"],
    ["an unknown model", { model: "nobody", input: "x" }, "model_not_found", "model"],
    ["no input", { model: MODEL }, "missing_required_parameter", "input"],
    ["an empty text", { model: MODEL, input: "" }, "invalid_request", "input"],
    ["an empty list", { model: MODEL, input: [] }, "invalid_request", "input"],
    ["an empty text among others", { model: MODEL, input: ["a", ""] }, "invalid_request", "input[1]"],
    ["an empty list of tokens", { model: MODEL, input: [[1], []] }, "invalid_request", "input[1]"],
    ["a mixed list", { model: MODEL, input: ["a", 1] }, "invalid_request", "input[1]"],
    ["a token out of range", { model: MODEL, input: [[1], [2, 200_019]] }, "unsupported_value", "input[1][1]"],
    ["too many inputs", { model: MODEL, input: Array(2_049).fill("a") }, "unsupported_value", "input"],
    ["too many tokens", { model: MODEL, input: Array(8_193).fill(1) }, "context_length_exceeded", "input"],
    ["too long a text", { model: MODEL, input: long }, "context_length_exceeded", "input"],
    [
      "too long a text in a later request to the source",
      { model: MODEL, input: [...Array(300).fill("a"), long] },
      "context_length_exceeded",
      "input[300]",
    ],
    ["a length out of bounds", { model: MODEL, input: "a", dimensions: 1_025 }, "unsupported_value", "dimensions"],
    ["another encoding", { model: MODEL, input: "a", encoding_format: "hex" }, "unsupported_value", "encoding_format"],
  ])("for %s is a 400 that names the parameter, and costs nothing", async (_what, body, code, param) => {
    const response = await post("/v1/embeddings", body);
    const { error } = (await response.json()) as { error: object };
    expect([response.status, error]).toEqual([400, expect.objectContaining({ code, param })]);
    const row = await usageOf(response.headers.get("x-request-id"));
    expect(row?.["settled"] ?? 0n).toBe(0n);
  });

  test("is a chat call that names an embedding model", async () => {
    const response = await post("/v1/chat/completions", { model: MODEL, messages: [{ role: "user", content: "x" }] });
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: expect.objectContaining({ code: "model_not_supported", param: "model" }) },
    ]);
  });

  test.each([
    ["sandbox-embed-error", 502, "upstream_error"],
    ["sandbox-embed-rate-limited", 503, "overloaded"],
  ])("by %s is %d and releases the hold", async (model, status, code) => {
    const response = await post("/v1/embeddings", { model, input: "a" });
    expect([response.status, await response.json()]).toEqual([status, { error: expect.objectContaining({ code }) }]);
    const row = await usageOf(response.headers.get("x-request-id"));
    expect(row).toMatchObject({ status: "failed", settled: 0n });
  });
});

describe("a source over HTTP", () => {
  test.each(["upstream-embed", "upstream-floats"])("%s returns the same floats in either encoding", async (model) => {
    const input = ["one text", "another text", "a third"];
    const before = upstream.requests.length;
    const { data, usage } = await client.embeddings.create({ model, input, user: "someone" });
    // Two inputs a request; a source that knows no encodings answered in numbers.
    expect(upstream.requests.length - before).toBe(2);
    expect(upstream.requests.at(-1)?.body).toMatchObject({ model: "mock-ok", user: "someone" });
    expect(data.map(({ embedding }) => embedding)).toEqual(
      input.map((text) => [...Float32Array.from(mockVector(text))]),
    );
    expect(usage).toMatchObject({ prompt_tokens: 6, total_tokens: 6 });
    const float = await client.embeddings.create({ model, input, encoding_format: "float" });
    expect(float.data).toEqual(data);
  });

  test("is aborted when the client disconnects, and the hold is released", async () => {
    const controller = new AbortController();
    const before = upstream.requests.length;
    const leaving = client.embeddings
      .create({ model: "upstream-silent", input: "a" }, { signal: controller.signal })
      .catch((error: unknown) => error);
    const call = await upstream.received(before + 1);
    controller.abort();
    expect(await leaving).toBeInstanceOf(OpenAI.APIUserAbortError);
    await call.finished;
    expect(call.closedByClientAt).not.toBeNull();
  });
});

test("a failing model is replaced by one with vectors of the same length, at its own price", async () => {
  const { id, key } = await createWorkspace(stack, { creditsNano: 1_000_000_000n });
  const set = (fallback: string) =>
    stack.command("admin", "fallback-chains", "set", "upstream-down", fallback, "--workspace", id);
  expect((await set("upstream-embed")).stderr).toBe("");
  const other = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: key, maxRetries: 0 });
  const { data, response } = await other.embeddings.create({ model: "upstream-down", input: "abc" }).withResponse();
  expect([data.model, data.data[0]?.embedding.length]).toEqual(["upstream-embed", 8]);
  const told = ["x-model-used", "x-fallback-from", "x-fallback-depth"].map((name) => response.headers.get(name));
  expect(told).toEqual(["upstream-embed", "upstream-down", "1"]);
});

describe("an estimate", () => {
  const chat = { messages: [{ role: "user" as const, content: "Say exactly: eight legs" }], max_tokens: 40 };

  test.each([
    ["sandbox-chat", "/v1/chat/completions", chat],
    ["sandbox-chat", "/v1/chat/completions", { ...chat, max_tokens: undefined, n: 2 }],
    ["sandbox-embed", "/v1/embeddings", { input: ["How many legs has a spider?", "acht 🐳"] }],
    ["sandbox-embed", "/v1/embeddings", { input: [[1, 2, 3], [4]] }],
  ])("for %s equals the hold of the call, and is at least its cost", async (model, path, body) => {
    const asked = await post(`/v1/models/${model}/estimate`, { ...body, model });
    const estimate = (await asked.json()) as Estimate;
    expect([asked.status, validate("Estimate", estimate)]).toEqual([200, null]);
    expect(asked.headers.get("x-credits-used")).toBeNull();
    expect(await usageOf(asked.headers.get("x-request-id"))).toBeUndefined();
    const response = await post(path, { ...body, model });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    const row = await usageOf(response.headers.get("x-request-id"));
    expect(estimate.max_credits).toBe(creditsNumber(BigInt(String(row?.["held"]))));
    expect(Number(response.headers.get("x-credits-used"))).toBeLessThanOrEqual(estimate.max_credits);
    expect(estimate.estimated_credits).toBeLessThanOrEqual(estimate.max_credits);
    if (path === "/v1/embeddings") {
      expect(estimate.estimated_credits).toBe(Number(response.headers.get("x-credits-used")));
    }
    // Without `model` in the body it is the same call.
    const short = (await (await post(`/v1/models/${model}/estimate`, body)).json()) as Estimate;
    expect(short).toEqual(estimate);
  });

  test("of a body for another model, or without one, is rejected like the call", async () => {
    const codeOf = async (slug: string, body: unknown): Promise<unknown> => {
      const response = await post(`/v1/models/${slug}/estimate`, body);
      const { error } = (await response.json()) as { error: { code: string; param: string } };
      return [response.status, error.code, error.param];
    };
    expect(await codeOf("nobody", chat)).toEqual([400, "model_not_found", "model"]);
    expect(await codeOf("sandbox-chat", { ...chat, model: MODEL })).toEqual([400, "unsupported_value", "model"]);
    expect(await codeOf("sandbox-chat", { input: "x" })).toEqual([400, "missing_required_parameter", "messages"]);
    expect(await codeOf(MODEL, { input: ["a", ""] })).toEqual([400, "invalid_request", "input[1]"]);
  });
});
