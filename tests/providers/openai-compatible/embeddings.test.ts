import { describe, expect, test } from "bun:test";

import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { createOpenAiEmbeddings } from "#workers/providers/openai-compatible/embeddings.ts";
import { type EmbeddingsCall } from "#workers/providers/provider.ts";

import { type Behaviour, ok, type ReplyBehaviour } from "../engine/behaviour.ts";
import { failureOf, useServers } from "../engine/calls.ts";
import { embeddingsReply, mockVector } from "./embeddings.ts";
import { ERRORS, openAiError } from "./errors.ts";
import { startOpenAiServer } from "./server.ts";

const own = useServers();

function start(...behaviours: readonly Behaviour[]) {
  const server = own(startOpenAiServer({ apiKey: "sk-ours" }));
  server.next(...behaviours);
  const provider = createOpenAiEmbeddings({ baseUrl: server.url, headers: { authorization: "Bearer sk-ours" } });
  return { server, embed: (call: Partial<EmbeddingsCall> = {}) => provider.embed(mediaCall(call)) };
}

function mediaCall(call: Partial<EmbeddingsCall>): EmbeddingsCall {
  return {
    inputs: ["one text", "another"],
    sourceModel: "m",
    dimensions: undefined,
    signal: new AbortController().signal,
    adapt: () => undefined,
    ...call,
  };
}

const floats = (numbers: readonly number[]): number[] => [...Float32Array.from(numbers)];

describe("a request", () => {
  test("uses base64 and the caller's settings, under the source's name", async () => {
    const { server, embed } = start();
    await embed({ sourceModel: "text-embedding-3-small", dimensions: 4, user: "someone" });
    expect(server.requests[0]?.path).toBe("/v1/embeddings");
    expect(server.requests[0]?.body).toEqual({
      model: "text-embedding-3-small",
      input: ["one text", "another"],
      encoding_format: "base64",
      dimensions: 4,
      user: "someone",
    });
  });

  test("omits defaults, and is changed by its source last", async () => {
    const { server, embed } = start();
    await embed({ inputs: [[1, 2, 3]], adapt: (body) => delete body["encoding_format"] });
    expect(server.requests[0]?.body).toEqual({ model: "m", input: [[1, 2, 3]] });
  });

  test("hangs on its caller's signal: the socket is closed when that fires", async () => {
    const { server, embed } = start("hang");
    const controller = new AbortController();
    const failing = failureOf(embed({ signal: controller.signal }));
    const call = await server.received(1);
    controller.abort();
    expect((await failing).kind).toBe("aborted");
    await call.finished;
    expect(call.closedByClientAt).not.toBeNull();
  });
});

describe("an answer", () => {
  test("has the same floats in base64 and as numbers", async () => {
    const wanted = ["one text", "another"].map((input) => floats(mockVector(input)));
    const { embed } = start();
    const base64 = await embed();
    const numbers = await embed({ adapt: (body) => (body["encoding_format"] = "float") });
    expect(base64.vectors.map((vector) => [...vector])).toEqual(wanted);
    expect(numbers.vectors.map((vector) => [...vector])).toEqual(wanted);
    expect(base64.usage).toEqual({ ...NO_USAGE, input: 3 });
  });

  test("is sorted by its indexes", async () => {
    const data = [1, 0].map((index) => ({ index, embedding: [index, 0.5] }));
    const { embed } = start(ok({ data }));
    expect((await embed()).vectors.map((vector) => vector[0])).toEqual([0, 1]);
  });

  test("without indexes keeps its order, and without usage reports none", async () => {
    const { embed } = start(ok({ data: [{ embedding: [1] }, { embedding: [2] }] }));
    const { vectors, usage } = await embed();
    expect([vectors.map((vector) => vector[0]), usage]).toEqual([[1, 2], null]);
  });

  test.each([
    [{ prompt_tokens: -3, total_tokens: -3 }, "impossible"],
    [{ prompt_tokens: 1.5 }, "impossible"],
    [{ prompt_tokens: 0, total_tokens: 0 }, null],
    [
      { prompt_tokens: 5, total_tokens: 5, completion_tokens: 0 },
      { ...NO_USAGE, input: 5 },
    ],
  ])("that reports %j counts as %j", async (usage, expected) => {
    const { embed } = start({ usage });
    expect((await embed()).usage).toEqual(expected as never);
  });

  const one = { index: 0, embedding: [1, 2] };
  test.each([
    ["no JSON", "<html>"],
    ["no list", { data: null }],
    ["too few vectors", { data: [one] }],
    ["too many vectors", { data: [one, { ...one, index: 1 }, { ...one, index: 2 }] }],
    ["an index given twice", { data: [one, one] }],
    ["an index out of range", { data: [one, { ...one, index: 2 }] }],
    ["a vector that is none", { data: [one, { index: 1, embedding: null }] }],
    ["an empty vector", { data: [one, { index: 1, embedding: [] }] }],
    ["a number that is none", { data: [one, { index: 1, embedding: [1, "2"] }] }],
    ["a number beyond a float", { data: [one, { index: 1, embedding: [1, 1e39] }] }],
    ["base64 that is none", { data: [one, { index: 1, embedding: "*" }] }],
    ["base64 of half a float", { data: [one, { index: 1, embedding: "AAAAAAA=" }] }],
    ["base64 of no number", { data: [one, { index: 1, embedding: "AADAfw==" }] }],
  ])("with %s is a failure of the source", async (_what, body) => {
    const { embed } = start(ok(body));
    expect((await failureOf(embed())).kind).toBe("failed");
  });

  test("with an error inside a 200 is that error", async () => {
    const { embed } = start(ok(ERRORS.quota.body));
    expect((await failureOf(embed())).kind).toBe("misconfigured");
  });

  test("that is truncated is a failure", async () => {
    const reply = embeddingsReply({ model: "m", input: "x" });
    const { embed } = start({ ...reply, cut: { afterBytes: 20, how: "fin" } });
    expect((await failureOf(embed())).kind).toBe("failed");
  });
});

describe("an error", () => {
  const refuse = (message: string, members: Parameters<typeof openAiError>[2] = {}): ReplyBehaviour =>
    openAiError(400, message, members);

  test.each([
    ["This model's maximum context length is 8192 tokens, however you requested 9000 tokens", null],
    ["Invalid 'input[22]': maximum input length is 8192 tokens.", "input[22]"],
    ["Requested 400000 tokens, max 300000 tokens per request", null],
    ["Too many tokens in batch. Max is 16384 got 17555", null],
  ])("about a long input is reported as such: %s", async (message, param) => {
    const { embed } = start(refuse(message));
    expect(await failureOf(embed())).toMatchObject({ kind: "rejected", code: "context_length_exceeded", param });
  });

  test("about something else keeps its class and parameter", async () => {
    const { embed } = start(refuse("no", { param: "dimensions", code: "unsupported_value" }));
    expect(await failureOf(embed())).toMatchObject({
      kind: "rejected",
      code: "unsupported_value",
      param: "dimensions",
    });
  });

  test.each([
    ["rate-limit", "busy"],
    ["quota", "misconfigured"],
    ["unauthorized", "misconfigured"],
    ["server-error", "failed"],
    ["content-policy", "refused"],
  ] as const)("%s is %s", async (name, kind) => {
    const { embed } = start(ERRORS[name]);
    expect((await failureOf(embed())).kind).toBe(kind);
  });
});
