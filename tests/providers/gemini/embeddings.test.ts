import { describe, expect, test } from "bun:test";

import { createGemini } from "#workers/providers/gemini/index.ts";
import type { EmbeddingsCall } from "#workers/providers/provider.ts";

import { type Behaviour, ok } from "../engine/behaviour.ts";
import { failureOf, usageOf, useServers } from "../engine/calls.ts";
import { startGeminiServer } from "./server.ts";

const own = useServers();

function start(...behaviours: readonly Behaviour[]) {
  const server = own(startGeminiServer({ apiKey: "key-ours" }));
  server.next(...behaviours);
  const { embeddings } = createGemini({ baseUrl: server.url, headers: { "x-goog-api-key": "key-ours" } });
  if (!embeddings) throw new Error("Gemini has no embeddings");
  return { server, provider: embeddings };
}

function mediaCall(inputs: EmbeddingsCall["inputs"], options: Partial<EmbeddingsCall> = {}): EmbeddingsCall {
  return {
    inputs,
    sourceModel: "embedder",
    dimensions: undefined,
    signal: new AbortController().signal,
    adapt: () => undefined,
    ...options,
  };
}

const floats = (...values: readonly number[]): Float32Array => Float32Array.from(values);

/** Scales a vector that Google has cut to length one, as it must be handed on. */
const unit = (...values: readonly number[]): Float32Array =>
  floats(...values).map((number) => number / Math.hypot(...values));

describe("embeddings", () => {
  test("of one text request one vector", async () => {
    const { server, provider } = start();
    const result = await provider.embed(mediaCall(["four"]));
    expect(result).toEqual({ vectors: [floats(4, 1 / 2, 1 / 3, 1 / 4)], usage: null });
    expect(server.requests).toMatchObject([
      {
        path: "/v1beta/models/embedder:embedContent",
        headers: { "x-goog-api-key": "key-ours" },
        body: { model: "models/embedder", content: { parts: [{ text: "four" }] } },
      },
    ]);
    expect(server.requests[0]?.body).not.toHaveProperty("outputDimensionality");
  });

  test("of several texts send one request, with the requested length for each, and keep their order", async () => {
    const { server, provider } = start();
    const { vectors } = await provider.embed(mediaCall(["a", "é🙂", "ccc"], { dimensions: 2 }));
    expect(vectors).toEqual([unit(1, 0.5), unit(3, 0.5), unit(3, 0.5)]);
    const entry = (text: string) => ({
      model: "models/embedder",
      content: { parts: [{ text }] },
      outputDimensionality: 2,
    });
    expect(server.requests).toMatchObject([
      {
        path: "/v1beta/models/embedder:batchEmbedContents",
        body: { requests: [entry("a"), entry("é🙂"), entry("ccc")] },
      },
    ]);
  });

  test("of more than a hundred texts send requests of at most a hundred", async () => {
    const { server, provider } = start();
    const inputs = Array.from({ length: 201 }, (_, at) => "x".repeat(at));
    const { vectors } = await provider.embed(mediaCall(inputs));
    expect(vectors.map((vector) => vector[0])).toEqual(inputs.map(({ length }) => length));
    expect(server.requests.map(({ path }) => path.split(":")[1])).toEqual([
      "batchEmbedContents",
      "batchEmbedContents",
      "embedContent",
    ]);
    expect(server.faults).toEqual([]);
  });

  test("of a requested length have unit length, except for zero vectors", async () => {
    const embeddings = [{ values: [3, -4] }, { values: [0, 0] }, { values: [1e-5, 0] }];
    const { provider } = start(ok({ embeddings }));
    const { vectors } = await provider.embed(mediaCall(["a", "b", "c"], { dimensions: 2 }));
    expect(vectors).toEqual([floats(3 / 5, -4 / 5), floats(0, 0), floats(1, 0)]);
  });

  test("apply a source's edits in each entry", async () => {
    const { server, provider } = start();
    const adapt = (body: Record<string, unknown>): void => void (body["taskType"] = "SEMANTIC_SIMILARITY");
    await provider.embed(mediaCall(["a", "b"], { adapt }));
    const { requests } = server.requests[0]!.body as { requests: { taskType: string }[] };
    expect(requests.map(({ taskType }) => taskType)).toEqual(["SEMANTIC_SIMILARITY", "SEMANTIC_SIMILARITY"]);
  });

  test("report Google's usage, summed, and none if one request has none", async () => {
    const usage = { usage: { promptTokenCount: 7 } };
    const inputs = Array.from({ length: 150 }, () => "x");
    expect((await start(usage, usage).provider.embed(mediaCall(inputs))).usage).toEqual(usageOf({ input: 14 }));
    expect((await start(usage).provider.embed(mediaCall(inputs))).usage).toBeNull();
    expect((await start({ usage: { promptTokenCount: -7 } }).provider.embed(mediaCall(["a"]))).usage).toBe(
      "impossible",
    );
  });

  test("of token numbers are rejected, before anything is sent", async () => {
    const { server, provider } = start();
    const error = await failureOf(provider.embed(mediaCall(["a", [1, 2, 3]])));
    expect(error).toMatchObject({ kind: "rejected", code: "unsupported_value", param: "input" });
    expect(server.requests).toEqual([]);
  });

  test.each([
    ["rate-limit", { kind: "busy", retryAfterMs: 34_400 }],
    ["too-long", { kind: "rejected", code: "context_length_exceeded" }],
    ["key-invalid", { kind: "misconfigured" }],
    ["html", { kind: "failed" }],
    ["cut-body", { kind: "failed" }],
    ["error-in-200", { kind: "busy" }],
    ["reset", { kind: "failed" }],
  ])("%s has its class", async (name, expected) => {
    const { provider } = start();
    expect(await failureOf(provider.embed(mediaCall(["a"], { sourceModel: `mock-${name}` })))).toMatchObject(expected);
  });

  test.each<[string, unknown]>([
    ["nothing", {}],
    ["too few vectors", { embeddings: [{ values: [1] }] }],
    ["a vector that is none", { embeddings: [{ values: [1] }, null] }],
    ["an empty vector", { embeddings: [{ values: [1] }, { values: [] }] }],
    ["another length than was asked for", { embeddings: [{ values: [1] }, { values: [1, 2] }] }],
    ["texts for numbers", { embeddings: [{ values: [1] }, { values: ["1"] }] }],
    ["a number beyond a float", { embeddings: [{ values: [1] }, { values: [1e300] }] }],
    ["null for a number", { embeddings: [{ values: [1] }, { values: [null] }] }],
  ])("an answer with %s is a failure", async (_name, body) => {
    const { provider } = start(ok(body));
    expect(await failureOf(provider.embed(mediaCall(["a", "b"], { dimensions: 1 })))).toMatchObject({ kind: "failed" });
  });

  test("an abort ends the call and the provider's socket", async () => {
    const { server, provider } = start();
    const abort = new AbortController();
    const result = failureOf(provider.embed(mediaCall(["a"], { sourceModel: "mock-silent", signal: abort.signal })));
    const call = await server.received(1);
    abort.abort();
    expect(await result).toMatchObject({ kind: "aborted" });
    await call.finished;
    expect(server.openSockets()).toBe(0);
  });
});
