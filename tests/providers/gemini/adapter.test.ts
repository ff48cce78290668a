import { describe, expect, test } from "bun:test";

import { validate } from "#shared/json/contracts.ts";
import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";
import { createRendering } from "#workers/calls/chat/render.ts";
import { createGemini } from "#workers/providers/gemini/index.ts";
import { createReader } from "#workers/providers/gemini/stream.ts";
import type { ChatDelta } from "#workers/providers/provider.ts";
import { SseParser } from "#workers/providers/sse.ts";

import cached from "./fixtures/cached.json" with { type: "json" };
import multimodal from "./fixtures/multimodal.json" with { type: "json" };
import noArguments from "./fixtures/no-arguments.json" with { type: "json" };
import partialArguments from "./fixtures/partial-arguments.json" with { type: "json" };
import text from "./fixtures/text.json" with { type: "json" };
import toolCall from "./fixtures/tool-call.json" with { type: "json" };
import { type Behaviour, eventReply, eventsText, ok } from "../engine/behaviour.ts";
import { chatCall, failureOf, gather, type Gathered, joinedDeltas, usageOf, useServers } from "../engine/calls.ts";
import { TOOL_CALLS } from "../engine/named.ts";
import { startGeminiServer } from "./server.ts";

const own = useServers();

function start(...behaviours: readonly Behaviour[]) {
  const server = own(startGeminiServer({ apiKey: "key-ours" }));
  server.next(...behaviours);
  const { chat } = createGemini({ baseUrl: server.url, headers: { "x-goog-api-key": "key-ours" } });
  if (!chat) throw new Error("Gemini has no chat");
  return { server, provider: chat };
}

const STREAM = { stream: true };

async function streamed(...behaviours: readonly Behaviour[]): Promise<Gathered> {
  const { provider } = start(...behaviours);
  return gather(provider.stream(chatCall(STREAM)));
}

function named(name: string, request: object = {}) {
  const { provider } = start();
  const model = `mock-${name}`;
  return {
    plain: () => provider.complete(chatCall(request, { sourceModel: model })),
    stream: () => gather(provider.stream(chatCall({ ...request, ...STREAM }, { sourceModel: model }))),
  };
}

const messageOf = (result: { readonly choices: readonly Record<string, unknown>[] }, at = 0) =>
  result.choices[at]?.["message"] as Record<string, unknown>;

const TEXT = 'There are **3** "r"s – look: st**r**awbe**rr**y 🍓.';
const SIGNATURE = { google: { thought_signature: "c2lnbmF0dXJlIG9mIHRob3VnaHRz" } };
const CALL_ID = expect.stringMatching(/^call_[0-9a-f]{24}$/) as unknown as string;

describe("recorded answers", () => {
  test("a text is complete, plain and streamed", async () => {
    const gathered = await streamed(eventReply(...text.chunks));
    const usage = usageOf({ input: 9, output: 311, reasoning: 282 });
    expect(gathered).toMatchObject({ text: TEXT, reasoning: "", finish: ["stop"], usage });
    expect(gathered.error).toBeUndefined();
    const { provider } = start(ok(text.plain));
    const result = await provider.complete(chatCall({}));
    expect(result).toEqual({
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: TEXT, refusal: null },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage,
    });
  });

  test("a call is complete, with our own id and the signature to return", async () => {
    const gathered = await streamed(eventReply(...toolCall.chunks));
    const call = { id: CALL_ID, name: "weather", arguments: '{"location":"San Francisco"}', extra: SIGNATURE };
    expect(gathered).toMatchObject({ text: "", finish: ["tool_calls"], calls: [call], error: undefined });
    const { provider } = start(ok(toolCall.plain));
    const result = await provider.complete(chatCall({}));
    expect(result.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        content: null,
        tool_calls: [
          {
            id: CALL_ID,
            type: "function",
            function: { name: "weather", arguments: '{"location":"San Francisco"}' },
            extra_content: SIGNATURE,
          },
        ],
      },
    });
  });

  test("arguments in pieces become one text, also if the call's last event is missing", async () => {
    const { calls, finish, usage, error } = await streamed(eventReply(...partialArguments.chunks));
    expect(error).toBeUndefined();
    expect(calls).toEqual([
      { id: CALL_ID, name: "writeItems", arguments: expect.any(String) as string, extra: SIGNATURE },
    ]);
    expect(JSON.parse(calls[0]?.arguments ?? "")).toEqual({
      items: [
        { name: "Fresh apple", price: 0.5 },
        { name: "Ripe banana 🍌", ripe: true },
      ],
      "and so on": null,
    });
    expect(finish).toEqual(["tool_calls"]);
    expect(usage).toEqual(usageOf({ input: 54, output: 195, reasoning: 121 }));
  });

  test("a call without arguments has an empty object, and later calls keep their own", async () => {
    const { calls, reasoning, usage, error } = await streamed(eventReply(...noArguments.chunks));
    expect(error).toBeUndefined();
    expect(reasoning).toStartWith("**Reading**");
    expect(calls.map(({ name, arguments: written }) => [name, written])).toEqual([
      ["read_theme", "{}"],
      ["read_screen", '{"id":"A"}'],
      ["read_screen", '{"id":"B"}'],
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
    expect(usage).toEqual(usageOf({ input: 249, output: 241, reasoning: 183 }));
  });
});

describe("golden usage", () => {
  const GOLDEN: readonly [string, { readonly plain: unknown; readonly chunks: readonly unknown[] }, TokenUsage][] = [
    ["plain text", text, usageOf({ input: 9, output: 311, reasoning: 282 })],
    ["a cached prompt", cached, usageOf({ input: 52, cachedInput: 2_048, output: 8 })],
    ["tools", toolCall, usageOf({ input: 29, output: 60, reasoning: 45 })],
    [
      "pictures, sound and documents, part of the picture cached",
      multimodal,
      usageOf({ input: 100, cachedInput: 300, audioInput: 160, imageInput: 840, output: 25, reasoning: 20 }),
    ],
  ];

  test.each(GOLDEN)("%s: streamed and not, to the token", async (_name, recorded, expected) => {
    const { provider } = start(ok(recorded.plain));
    expect((await provider.complete(chatCall({}))).usage).toEqual(expected);
    expect((await streamed(eventReply(...recorded.chunks))).usage).toEqual(expected);
  });
});

describe("every split of every byte", () => {
  const read = (chunks: readonly Uint8Array[]): ChatDelta[] => {
    const parser = new SseParser();
    const reader = createReader();
    const events = [...chunks.flatMap((chunk) => parser.push(chunk)), ...parser.end()];
    const deltas = events.map((event) => reader.read(event));
    reader.end();
    return deltas.filter((delta) => delta !== undefined && delta !== "done");
  };
  /** Ids are random. */
  const withoutIds = (deltas: readonly ChatDelta[]): string =>
    JSON.stringify(deltas).replaceAll(/call_[0-9a-f]+/g, "id");

  test.each([
    ["text", text.chunks],
    ["a call", toolCall.chunks],
    ["arguments in pieces", partialArguments.chunks],
  ])("gives the same deltas: %s", (_name, chunks) => {
    const bytes = Buffer.from(eventsText(chunks, "\r\n"));
    const whole = withoutIds(read([bytes]));
    for (let at = 1; at < bytes.length; at++) {
      expect(withoutIds(read([bytes.subarray(0, at), bytes.subarray(at)]))).toBe(whole);
    }
    expect(withoutIds(read(Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1))))).toBe(whole);
  });
});

describe("delivered chunks and answers are valid by our own contract", () => {
  const rendering = createRendering({ jobId: crypto.randomUUID(), model: "m", createdS: 1, includeUsage: false });

  test.each([
    ["text", text.chunks],
    ["a call", toolCall.chunks],
    ["arguments in pieces", partialArguments.chunks],
    ["reasoning", noArguments.chunks],
  ])("every chunk: %s", async (_name, chunks) => {
    const { deltas } = await streamed(eventReply(...chunks));
    const shown = deltas.filter(({ choices }) => choices.length > 0);
    expect(shown.length).toBeGreaterThan(0);
    for (const delta of shown) {
      expect(validate("ChatCompletionChunk", JSON.parse(rendering.chunk(delta).slice("data: ".length)))).toBeNull();
    }
    expect(shown[0]?.choices[0]?.["delta"]).toMatchObject({ role: "assistant" });
    for (const delta of shown.slice(1)) expect(delta.choices[0]?.["delta"]).not.toHaveProperty("role");
  });

  test.each([
    ["text", text.plain],
    ["a call", toolCall.plain],
    ["an empty answer", { candidates: [{ finishReason: "STOP" }] }],
    ["a call without a name", { candidates: [{ content: { parts: [{ functionCall: {} }] }, finishReason: "STOP" }] }],
    [
      "odd parts",
      {
        candidates: [
          { content: { parts: [null, 7, "x", { text: 7 }, { functionCall: 7 }] }, finishReason: "STOP" },
          null,
        ],
      },
    ],
  ])("the plain answer: %s", async (_name, body) => {
    const { provider } = start(ok(body));
    const completion = JSON.parse(rendering.completion(await provider.complete(chatCall({})), NO_USAGE)) as unknown;
    expect(validate("ChatCompletion", completion)).toBeNull();
  });
});

describe("a finish reason", () => {
  test.each([
    ["finish-safety", "content_filter"],
    ["finish-recitation", "content_filter"],
    ["finish-prohibited_content", "content_filter"],
    ["finish-max_tokens", "length"],
    ["ok", "stop"],
    ["tools-said", "tool_calls"],
  ])("of %s is %s, plain and streamed", async (name, expected) => {
    const { plain, stream } = named(name);
    expect((await plain()).choices[0]?.["finish_reason"]).toBe(expected);
    expect(await stream()).toMatchObject({ finish: [expected], error: undefined });
  });

  test.each(["finish-malformed_function_call", "finish-other"])("of %s is a failure", async (name) => {
    const { plain, stream } = named(name);
    expect(await failureOf(plain())).toMatchObject({ kind: "failed" });
    expect((await stream()).error).toMatchObject({ kind: "failed" });
  });

  test.each(["content-policy", "finish-safety-empty"])("%s is a refusal, before any content", async (name) => {
    const { plain, stream } = named(name);
    expect(await failureOf(plain())).toMatchObject({ kind: "refused" });
    const { error, text: said, finish } = await stream();
    expect(error).toMatchObject({ kind: "refused" });
    expect([said, finish]).toEqual(["", []]);
  });

  test("together with the limit is length, with the content so far", async () => {
    const { plain } = named("ok", { max_completion_tokens: 2 });
    const result = await plain();
    expect(messageOf(result)["content"]).toBe("A local");
    expect(result.choices[0]?.["finish_reason"]).toBe("length");
  });
});

describe("tool calls", () => {
  const WANTED = TOOL_CALLS.map(({ name, arguments: text }) => ({ id: CALL_ID, name, arguments: text }));

  test.each(["tools-parallel", "tools-partial"])(
    "%s: indexes from 0, unique ids, arguments that join",
    async (name) => {
      const { calls, finish, error } = await named(name).stream();
      expect(error).toBeUndefined();
      // First, because Bun's toMatchObject writes its matchers over what it looked at.
      expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
      expect(calls).toMatchObject(WANTED);
      expect(calls.map(({ extra }) => extra)).toEqual([
        { google: { thought_signature: "c2lnbmF0dXJl" } },
        undefined,
        undefined,
      ]);
      expect(finish).toEqual(["tool_calls"]);
    },
  );

  test("the joined streamed calls equal the plain ones", async () => {
    const { plain, stream } = named("tools-parallel");
    const calls = messageOf(await plain())["tool_calls"];
    expect(calls).toMatchObject(WANTED.map(({ id, ...fn }) => ({ id, type: "function", function: fn })));
    expect((await stream()).calls).toMatchObject(WANTED);
  });

  test("keep Google's id, unless two calls share one", async () => {
    const parts = ["g1", "g1", ""].map((id) => ({ functionCall: { id, name: "f", args: {} } }));
    const candidates = [{ content: { parts }, finishReason: "STOP" }];
    const { calls } = await streamed(eventReply({ candidates }));
    expect(calls.map(({ id }) => id)).toEqual(["g1", CALL_ID, CALL_ID]);
    expect(calls[1]?.id).not.toBe(calls[2]?.id);
  });

  test("follow a text if the model wrote one first", async () => {
    const { plain, stream } = named("tools-said");
    expect(messageOf(await plain())["content"]).toBe("Let me look.");
    expect((await stream()).text).toBe("Let me look.");
  });

  const ended = (...parts: readonly object[]) => ({ candidates: [{ content: { parts }, finishReason: "STOP" }] });

  test("without end are a failure, with bounded memory", async () => {
    const calls = Array.from({ length: 5_000 }, () => ({ functionCall: { name: "f" } }));
    expect((await streamed(eventReply(ended(...calls)))).error).toMatchObject({ kind: "failed" });
    const events = Array.from({ length: 500 }, (_, index) => ({
      candidates: [{ index, content: { parts: [{ text: "a" }] } }],
    }));
    expect((await streamed(eventReply(...events))).error).toMatchObject({ kind: "failed" });
  });

  test.each(["location", "$", "$.", "$.a[", "$.a[20000]", `$${".a".repeat(100)}`, "$.a[0].b]"])(
    "with arguments at %j are a failure",
    async (jsonPath) => {
      const open = { functionCall: { name: "f", willContinue: true } };
      const piece = { functionCall: { partialArgs: [{ jsonPath, stringValue: "x" }] } };
      expect((await streamed(eventReply(ended(open, piece)))).error).toMatchObject({ kind: "failed" });
    },
  );

  test("whose pieces end with the answer are complete", async () => {
    const open = { functionCall: { name: "f", willContinue: true } };
    const piece = { functionCall: { partialArgs: [{ jsonPath: "$.a", numberValue: 1 }], willContinue: true } };
    const { calls, error } = await streamed(eventReply(ended(open, piece)));
    expect(error).toBeUndefined();
    expect(calls[0]?.arguments).toBe('{"a":1}');
  });

  test("with arguments named like inherited members keep them", async () => {
    const open = { functionCall: { name: "f", willContinue: true } };
    const piece = { functionCall: { partialArgs: [{ jsonPath: "$.__proto__.x", stringValue: "y" }] } };
    const { calls } = await streamed(
      eventReply({ candidates: [{ content: { parts: [open, piece] }, finishReason: "STOP" }] }),
    );
    expect(calls[0]?.arguments).toBe('{"__proto__":{"x":"y"}}');
    expect(({} as { x?: string }).x).toBeUndefined();
  });
});

describe("a tool conversation of several turns", () => {
  const tools = [{ type: "function", function: { name: "get_weather", parameters: { type: "object" } } }];
  const question = { role: "user", content: "say Sunny in Paris." };

  test.each([
    ["returned by the client", (message: object) => message, "c2lnbmF0dXJl"],
    [
      "dropped by the client",
      ({ tool_calls, ...message }: Record<string, unknown>) => ({
        ...message,
        tool_calls: (tool_calls as Record<string, unknown>[]).map(({ extra_content: _dropped, ...call }) => call),
      }),
      "skip_thought_signature_validator",
    ],
  ])("continues with signatures %s", async (_name, treat, expected) => {
    const { server, provider } = start();
    const first = await provider.complete(
      chatCall({ messages: [question], tools }, { sourceModel: "mock-tools-parallel" }),
    );
    const message = messageOf(first);
    const results = (message["tool_calls"] as { id: string }[]).map(({ id }, index) => ({
      role: "tool",
      tool_call_id: id,
      content: index === 0 ? '{"sky":"blue"}' : "nothing",
    }));
    const messages = [question, treat(message), ...results];
    const { text: said, error } = await gather(
      provider.stream(chatCall({ messages, tools, ...STREAM }, { sourceModel: "mock-needs-signatures" })),
    );
    expect(error).toBeUndefined();
    expect(said).toBe("Sunny in Paris.");
    const { contents } = server.requests[1]!.body as { contents: { role: string; parts: Record<string, unknown>[] }[] };
    expect(contents.map(({ role }) => role)).toEqual(["user", "model", "user"]);
    expect(contents[1]?.parts.map((part) => part["thoughtSignature"])).toEqual([expected, undefined, undefined]);
    expect(contents[2]?.parts.map((part) => (part["functionResponse"] as { name: string }).name)).toEqual(
      TOOL_CALLS.map(({ name }) => name),
    );
    expect(server.faults).toEqual([]);
  });
});

describe("reasoning", () => {
  test("is reasoning_content and counts as output, plain and streamed", async () => {
    const { plain, stream } = named("reasoning");
    const result = await plain();
    expect(messageOf(result)).toMatchObject({ content: "Four.", reasoning_content: "Let me think about it." });
    expect(result.usage).toMatchObject({ output: 6, reasoning: 5 });
    expect(await stream()).toMatchObject({
      text: "Four.",
      reasoning: "Let me think about it.",
      usage: { output: 6, reasoning: 5 },
    });
  });

  test("is counted if it is hidden", async () => {
    const { plain } = named("reasoning", { reasoning_effort: "none" });
    const result = await plain();
    expect(messageOf(result)).not.toHaveProperty("reasoning_content");
    expect(result.usage).toMatchObject({ output: 6, reasoning: 5 });
  });
});

describe("several answers and their probabilities", () => {
  test("n gives as many choices, plain and streamed", async () => {
    const { plain, stream } = named("ok", { n: 3 });
    expect((await plain()).choices.map((choice) => choice["index"])).toEqual([0, 1, 2]);
    const { deltas, error } = await stream();
    expect(error).toBeUndefined();
    for (const index of [0, 1, 2]) expect(joinedDeltas(deltas, index)).toMatchObject({ finish: ["stop"] });
    expect(joinedDeltas(deltas, 2).text).toContain("word by word");
  });

  test("logprobs are mapped token by token", async () => {
    const { plain } = named("ok", {
      logprobs: true,
      top_logprobs: 2,
      messages: [{ role: "user", content: "say é a" }],
    });
    expect((await plain()).choices[0]?.["logprobs"]).toEqual({
      content: [
        {
          token: "é",
          logprob: -0.5,
          bytes: [195, 169],
          top_logprobs: [
            { token: "é", logprob: -0.5, bytes: [195, 169] },
            { token: "other", logprob: -9, bytes: [111, 116, 104, 101, 114] },
          ],
        },
        {
          token: " a",
          logprob: -1,
          bytes: [32, 97],
          top_logprobs: [
            { token: " a", logprob: -1, bytes: [32, 97] },
            { token: "other", logprob: -9, bytes: [111, 116, 104, 101, 114] },
          ],
        },
      ],
      refusal: null,
    });
  });
});

describe("a usage report", () => {
  test("that is empty is ignored, plain and streamed", async () => {
    const { plain, stream } = named("usage-empty");
    expect((await plain()).usage).toBeNull();
    const { usage, error } = await stream();
    expect([usage, error]).toEqual([undefined, undefined]);
  });

  test("without counts does not replace one with counts", async () => {
    const end = { candidates: [{ finishReason: "STOP" }], usageMetadata: { trafficType: "ON_DEMAND" } };
    const { usage } = await streamed(eventReply({ ...text.chunks[0] }, end));
    expect(usage).toEqual(usageOf({ input: 9, output: 287, reasoning: 282 }));
  });
});

describe("an unusual event", () => {
  test("with usage only is activity without choices", async () => {
    const { deltas } = await streamed(eventReply({ usageMetadata: { trafficType: "ON_DEMAND" } }, ...text.chunks));
    expect(deltas[0]).toEqual({ choices: [] });
  });
});

describe("an interrupted stream", () => {
  test("with one of two candidates open is incomplete", async () => {
    const piece = (index: number, finishReason?: string) => ({
      candidates: [{ index, content: { parts: [{ text: "a" }] }, finishReason }],
    });
    expect((await streamed(eventReply(piece(0), piece(1), piece(0, "STOP")))).error).toMatchObject({ kind: "failed" });
    expect((await streamed(eventReply(piece(0, "STOP"), piece(1, "STOP")))).error).toBeUndefined();
  });
});

describe("an invalid plain answer", () => {
  test.each([
    ["null", "null"],
    ["a list", "[]"],
    ["no candidates", {}],
    ["empty candidates", { candidates: [] }],
    ["candidates that are none", { candidates: [null, 7] }],
    ["no finish reason", { candidates: [{ content: { parts: [{ text: "a" }] } }] }],
    [
      "one finish reason of two",
      { candidates: [{ content: { parts: [{ text: "a" }] }, finishReason: "STOP" }, { content: { parts: [] } }] },
    ],
    [
      "a finish reason that is none",
      { candidates: [{ content: { parts: [{ text: "a" }] }, finishReason: "FINISH_REASON_UNSPECIFIED" }] },
    ],
  ])("%s is a failure", async (_name, body) => {
    const { provider } = start(ok(body));
    expect(await failureOf(provider.complete(chatCall({})))).toMatchObject({ name: "ProviderError", kind: "failed" });
  });

  test("a key that Google rejects is our error, not the caller's", async () => {
    const server = own(startGeminiServer({ apiKey: "another" }));
    const { chat } = createGemini({ baseUrl: server.url, headers: { "x-goog-api-key": "key-ours" } });
    expect(await failureOf(chat!.complete(chatCall({})))).toMatchObject({ kind: "misconfigured", code: undefined });
  });
});
