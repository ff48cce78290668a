import { describe, expect, test } from "bun:test";

import { validate } from "#shared/json/contracts.ts";
import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";
import { createRendering } from "#workers/calls/chat/render.ts";
import { createOpenAiCompatible } from "#workers/providers/openai-compatible/index.ts";
import { chatRequest } from "#workers/providers/openai-compatible/request.ts";
import type { ChatCall } from "#workers/providers/provider.ts";

import anthropicToolCall from "./fixtures/anthropic-tool-call.json" with { type: "json" };
import azureReasoning from "./fixtures/azure-reasoning.json" with { type: "json" };
import groqReasoning from "./fixtures/groq-reasoning.json" with { type: "json" };
import groqToolCall from "./fixtures/groq-tool-call.json" with { type: "json" };
import openaiText from "./fixtures/openai-text.json" with { type: "json" };
import xaiToolCall from "./fixtures/xai-tool-call.json" with { type: "json" };
import { type Behaviour, eventReply, ok } from "../engine/behaviour.ts";
import { chatCall, failureOf, gather, type Gathered, HELLO, usageOf, useServers } from "../engine/calls.ts";
import { TOOL_CALLS } from "../engine/named.ts";
import { startOpenAiServer } from "./server.ts";

const own = useServers();

function start(...behaviours: readonly Behaviour[]) {
  const server = own(startOpenAiServer({ apiKey: "sk-ours" }));
  server.next(...behaviours);
  const provider = createOpenAiCompatible({ baseUrl: server.url, headers: { authorization: "Bearer sk-ours" } });
  return { server, provider };
}

describe("the sent body", () => {
  const bodyOf = (request: object, isStream: boolean, adapt: ChatCall["adapt"] = () => undefined) =>
    JSON.parse(chatRequest({ ...chatCall(request), sourceModel: "their-model", adapt }, isStream).body) as Record<
      string,
      unknown
    >;

  test("is the client's, unknown members included, with the source's model name", () => {
    const request = { temperature: 0.5, seed: 7, x_new_member: { deep: [1, null] }, user: "u" };
    expect(bodyOf(request, false)).toEqual({ ...HELLO, ...request, model: "their-model" });
    expect(chatRequest(chatCall({}), false).path).toBe("/chat/completions");
  });

  test("always requests usage in a stream, and keeps other stream options", () => {
    for (const options of [undefined, null, {}, { include_usage: false }, { include_usage: true }]) {
      expect(bodyOf({ stream: true, stream_options: options }, true)).toMatchObject({
        stream: true,
        stream_options: { include_usage: true },
      });
    }
    expect(bodyOf({ stream_options: { include_obfuscation: false } }, true)["stream_options"]).toEqual({
      include_obfuscation: false,
      include_usage: true,
    });
  });

  test("has no stream options in a plain call", () => {
    for (const stream of [false, null]) {
      const body = bodyOf({ stream, stream_options: null }, false);
      expect(body).not.toHaveProperty("stream");
      expect(body).not.toHaveProperty("stream_options");
    }
  });

  test("contains no member that could change the address, account or model", () => {
    const steering = {
      api_base: "http://evil/",
      base_url: "http://evil/",
      api_key: "sk-x",
      api_version: "1",
      extra_headers: { authorization: "x" },
      custom_llm_provider: "x",
      models: ["dearer/model"],
      fallbacks: ["dearer/model"],
      route: "fallback",
      provider: { order: ["x"] },
      preset: "dearer",
      plugins: [{ id: "web" }],
      transforms: ["middle-out"],
    };
    expect(bodyOf(steering, false)).toEqual({ ...HELLO, model: "their-model" });
  });

  test("keeps nested data with such names", () => {
    const metadata = { api_key: "a label", base_url: "another" };
    const tools = [
      { type: "function", function: { name: "f", parameters: { type: "object", properties: { models: {} } } } },
    ];
    expect(bodyOf({ metadata, tools }, false)).toMatchObject({ metadata, tools });
  });

  test("is passed to the source's edits when it is complete, and the edits take precedence", () => {
    const body = bodyOf({ api_key: "sk-x", stream: true }, true, (sent) => {
      expect(sent).toMatchObject({ model: "their-model", stream_options: { include_usage: true } });
      expect(sent).not.toHaveProperty("api_key");
      delete sent["stream_options"];
      Object.assign(sent, { model: "pinned", api_version: "2" });
    });
    expect(body).toEqual({ ...HELLO, stream: true, model: "pinned", api_version: "2" });
  });

  test("leaves the request itself untouched", () => {
    const call = chatCall({ api_key: "sk-x", stream: true });
    const before = structuredClone(call.request);
    chatRequest(call, true);
    chatRequest(call, false);
    expect(call.request).toEqual(before);
  });

  test("uses the fixed endpoint for any request", async () => {
    const { server, provider } = start();
    const hostile = {
      host: "http://evil/",
      url: "//evil",
      path: "/../x",
      headers: { authorization: "Bearer x" },
      "\u0000": 1,
    };
    await provider.complete(chatCall(hostile));
    expect(server.requests[0]).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: "Bearer sk-ours", host: `127.0.0.1:${server.port}` },
    });
  });
});

interface Recorded {
  readonly done?: boolean;
  readonly plain?: object;
  readonly chunks: readonly object[];
}

const streamReply = ({ chunks, done }: Recorded): Behaviour =>
  eventReply(...chunks, ...(done === true ? ["[DONE]"] : []));

async function streamed(...behaviours: readonly Behaviour[]): Promise<Gathered> {
  const { provider } = start(...behaviours);
  return gather(provider.stream(chatCall({ stream: true })));
}

async function completed(body: unknown) {
  const { provider } = start(ok(body));
  return provider.complete(chatCall({}));
}

const WEATHER = '{"location":"San Francisco"}';
const XAI_USAGE = usageOf({ input: 1, cachedInput: 306, output: 253, reasoning: 227 });

describe("recorded answers", () => {
  test.each<[string, Recorded, Partial<Omit<Gathered, "deltas" | "error">>]>([
    [
      "OpenAI, text",
      openaiText,
      { text: "**Galaxy Day** – look up ✨", finish: ["stop"], usage: usageOf({ input: 16, output: 8 }) },
    ],
    [
      "Azure, reasoning that is counted but not shown",
      azureReasoning,
      { text: "Capital of Denmark.", finish: ["stop"], usage: usageOf({ input: 15, output: 78, reasoning: 64 }) },
    ],
    [
      "Groq, a tool called without arguments",
      groqToolCall,
      {
        text: "",
        calls: [{ id: "ax9fskhev", name: "weather", arguments: "{}" }],
        finish: ["tool_calls"],
        usage: usageOf({ input: 210, output: 15 }),
      },
    ],
    [
      "Groq, visible reasoning",
      groqReasoning,
      {
        text: "Three.",
        reasoning: "Okay, count the r.",
        finish: ["stop"],
        usage: usageOf({ input: 17, output: 649, reasoning: 570 }),
      },
    ],
    [
      "xAI, reasoning, a tool and a cached prompt",
      xaiToolCall,
      {
        text: "",
        reasoning: "First, the weather.",
        calls: [{ id: "call_79382389", name: "weather", arguments: WEATHER }],
        finish: ["tool_calls"],
        usage: XAI_USAGE,
      },
    ],
    [
      "Anthropic's compatible endpoint, whose first call has index 1 and which counts nothing",
      anthropicToolCall,
      {
        text: "Reading it.",
        calls: [{ id: "toolu_fixture", name: "read_file", arguments: '{"path": "a.txt"}' }],
        finish: ["tool_calls"],
        usage: undefined,
      },
    ],
  ])("%s: the stream is complete", async (_name, recorded, expected) => {
    const gathered = await streamed(streamReply(recorded));
    expect(gathered.error).toBeUndefined();
    expect(gathered).toMatchObject(expected);
  });

  test.each<[string, Recorded & { plain: object }, Record<string, unknown>, TokenUsage]>([
    ["OpenAI, text", openaiText, { content: "**Galaxy Day** – look up ✨" }, usageOf({ input: 16, output: 8 })],
    [
      "Groq, a tool",
      groqToolCall,
      {
        content: null,
        tool_calls: [{ id: "ax9fskhev", type: "function", function: { name: "weather", arguments: "{}" } }],
      },
      usageOf({ input: 210, output: 15 }),
    ],
    [
      "Groq, reasoning",
      groqReasoning,
      { content: "Three.", reasoning_content: "Okay, count the r." },
      usageOf({ input: 17, output: 649, reasoning: 570 }),
    ],
    ["xAI", xaiToolCall, { content: "", reasoning_content: "First, the weather." }, XAI_USAGE],
  ])("%s: the plain answer is complete", async (_name, recorded, message, usage) => {
    const result = await completed(recorded.plain);
    expect(result.choices).toHaveLength(1);
    expect(result.choices[0]?.["message"]).toMatchObject({ role: "assistant", ...message });
    expect(result.usage).toEqual(usage);
  });

  test("the same answer has equal usage, plain and streamed", async () => {
    for (const recorded of [openaiText, groqToolCall, groqReasoning, xaiToolCall]) {
      expect((await streamed(streamReply(recorded))).usage).toEqual((await completed(recorded.plain)).usage);
    }
  });

  test("only the fingerprint and the tier are passed on beside the choices, nothing of the vendor's own", async () => {
    expect((await completed(groqToolCall.plain)).extra).toEqual({
      system_fingerprint: "fp_f8b414701e",
      service_tier: "on_demand",
    });
    const { deltas } = await streamed(streamReply(azureReasoning));
    for (const delta of deltas) expect(delta).not.toHaveProperty("extra");
  });

  test("an event without choices and usage is ignored, such as Azure's prompt filter result", async () => {
    const { deltas } = await streamed(streamReply(azureReasoning));
    expect(deltas[0]?.choices[0]?.["delta"]).toMatchObject({ role: "assistant" });
  });
});

describe("delivered chunks and answers are valid by our own contract", () => {
  const rendering = createRendering({ jobId: crypto.randomUUID(), model: "m", createdS: 1, includeUsage: false });
  const fault = (chunk: string) => validate("ChatCompletionChunk", JSON.parse(chunk.slice("data: ".length)));

  test.each<[string, Recorded]>([
    ["OpenAI", openaiText],
    ["Azure", azureReasoning],
    ["Groq, tool", groqToolCall],
    ["Groq, reasoning", groqReasoning],
    ["xAI, which leaves finish_reason out", xaiToolCall],
    ["Anthropic's compatible endpoint", anthropicToolCall],
  ])("every chunk of %s", async (_name, recorded) => {
    const { deltas } = await streamed(streamReply(recorded));
    for (const delta of deltas) expect(fault(rendering.chunk(delta))).toBeNull();
  });

  test.each<[string, object]>([
    ["OpenAI", openaiText.plain],
    ["Groq, which leaves content out", groqToolCall.plain],
    ["xAI", xaiToolCall.plain],
    ["a choice with a message alone", { choices: [{ message: { content: "hi" } }] }],
    [
      "no finish reason",
      { choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: null }] },
    ],
    ["an empty finish reason", { choices: [{ index: 0, message: { content: "hi" }, finish_reason: "" }] }],
    ["a vendor's own finish reason", { choices: [{ index: 0, message: { content: "hi" }, finish_reason: "eos" }] }],
    ["null tool calls", { choices: [{ message: { content: "hi", tool_calls: null }, finish_reason: "stop" }] }],
    [
      "tool arguments as an object",
      {
        choices: [
          { message: { tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: { a: 1 } } }] } },
        ],
      },
    ],
    [
      "tool calls without arguments",
      { choices: [{ message: { tool_calls: [{ id: "a", type: "function", function: { name: "f" } }] } }] },
    ],
    ["odd elements among good ones", { choices: [null, { message: { content: "hi", tool_calls: [null, 7] } }, "x"] }],
  ])("the plain answer of %s", async (_name, body) => {
    const result = await completed(body);
    const text = rendering.completion(result, NO_USAGE);
    expect(validate("ChatCompletion", JSON.parse(text))).toBeNull();
  });

  test.each<[string, object]>([
    ["a choice with a delta alone", { delta: { content: "a" } }],
    ["a choice without a delta", { index: 0, finish_reason: null }],
    ["a null delta", { index: 0, delta: null, finish_reason: null }],
    ["null tool calls", { index: 0, delta: { content: "a", tool_calls: null } }],
    ["odd tool calls", { index: 0, delta: { tool_calls: [null, "x", { index: 0, id: "a" }] } }],
    ["an index that is none", { index: "0", delta: { content: "a" } }],
    ["an empty finish reason", { index: 0, delta: { content: "a" }, finish_reason: "" }],
  ])("a chunk with %s", async (_name, choice) => {
    const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
    const { deltas, error } = await streamed(eventReply({ choices: [choice] }, end, "[DONE]"));
    expect(error).toBeUndefined();
    expect(deltas).toHaveLength(2);
    for (const delta of deltas) expect(fault(rendering.chunk(delta))).toBeNull();
  });
});

describe("a finish reason", () => {
  const plain = async (finish_reason: unknown, message: object = { content: "hi" }) =>
    (await completed({ choices: [{ index: 0, message, finish_reason }] })).choices[0]?.["finish_reason"];

  test.each([
    ["stop", "stop"],
    ["length", "length"],
    ["content_filter", "content_filter"],
    ["eos", "stop"],
    ["end_turn", "stop"],
    ["max_tokens", "length"],
    ["model_length", "length"],
    ["tool_use", "tool_calls"],
    ["something new", "stop"],
    [null, "stop"],
    ["", "stop"],
  ])("%j becomes %s", async (given, told) => {
    expect(await plain(given)).toBe(told);
  });

  test("missing beside tool calls becomes tool_calls", async () => {
    const tool_calls = [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }];
    expect(await plain(null, { content: null, tool_calls })).toBe("tool_calls");
  });

  test("of `error` is a failure, plain and streamed", async () => {
    const { provider } = start(ok({ choices: [{ message: { content: "" }, finish_reason: "error" }] }));
    expect(await failureOf(provider.complete(chatCall({})))).toMatchObject({ kind: "failed" });
    const { error } = await streamed(eventReply({ choices: [{ delta: { content: "a" }, finish_reason: "error" }] }));
    expect(error).toMatchObject({ kind: "failed" });
  });
});

describe("parallel tool calls", () => {
  test("of a plain answer are complete", async () => {
    const { provider } = start();
    const plain = await provider.complete(chatCall({}, { sourceModel: "mock-tools-parallel" }));
    expect(plain.choices[0]?.["message"]).toMatchObject({
      tool_calls: TOOL_CALLS.map(({ name, arguments: text }, at) => ({
        id: `call_mock${at}`,
        type: "function",
        function: { name, arguments: text },
      })),
    });
  });

  const deltaOf = (...tool_calls: readonly object[]) => ({ choices: [{ index: 0, delta: { tool_calls } }] });
  const end = { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] };
  const fn = (text: string, name?: string) => ({
    function: { ...(name === undefined ? {} : { name }), arguments: text },
  });

  test.each<[string, object[]]>([
    [
      "that start at 1",
      [
        deltaOf({ index: 1, id: "a", ...fn("{", "f") }),
        deltaOf({ index: 2, id: "b", ...fn("{}", "g") }),
        deltaOf({ index: 1, ...fn("}") }),
      ],
    ],
    [
      "with gaps",
      [
        deltaOf({ index: 3, id: "a", ...fn("{", "f") }),
        deltaOf({ index: 9, id: "b", ...fn("{}", "g") }),
        deltaOf({ index: 3, ...fn("}") }),
      ],
    ],
    [
      "that all have index 0",
      [
        deltaOf({ index: 0, id: "a", ...fn("{}", "f") }),
        deltaOf({ index: 0, id: "b", ...fn("{", "g") }),
        deltaOf({ index: 0, ...fn("}") }),
      ],
    ],
    [
      "without any index",
      [deltaOf({ id: "a", ...fn("{}", "f") }, { id: "b", ...fn("{", "g") }), deltaOf({ ...fn("}") })],
    ],
    [
      "with the id in every piece",
      [
        deltaOf({ index: 0, id: "a", ...fn("{", "f") }),
        deltaOf({ index: 0, id: "a", ...fn("}") }, { index: 1, id: "b", ...fn("{}", "g") }),
      ],
    ],
    [
      "with an empty id in later pieces",
      [
        deltaOf({ index: 0, id: "a", ...fn("{", "f") }),
        deltaOf({ index: 0, id: "", ...fn("}") }),
        deltaOf({ index: 1, id: "b", ...fn("{}", "g") }),
      ],
    ],
    [
      "with arguments as objects",
      [
        deltaOf(
          { index: 0, id: "a", function: { name: "f", arguments: {} } },
          { index: 1, id: "b", function: { name: "g", arguments: {} } },
        ),
      ],
    ],
  ])("get indexes from 0 without a hole: calls %s", async (_name, chunks) => {
    const { calls, error } = await streamed(eventReply(...chunks, end, "[DONE]"));
    expect(error).toBeUndefined();
    expect(calls).toEqual([
      { id: "a", name: "f", arguments: "{}" },
      { id: "b", name: "g", arguments: "{}" },
    ]);
  });

  test("or choices without end are a failure, with bounded memory", async () => {
    const calls = Array.from({ length: 5_000 }, (_, index) => deltaOf({ index, id: `call${index}` }));
    expect((await streamed(eventReply(...calls, end))).error).toMatchObject({ kind: "failed" });
    const choices = Array.from({ length: 500 }, (_, index) => ({ choices: [{ index, delta: {} }] }));
    expect((await streamed(eventReply(...choices, end))).error).toMatchObject({ kind: "failed" });
  });
});

describe("a stream in unusual form", () => {
  test.each([
    ["repeat", "one é é two 🙂 three"],
    ["event-name", "one é two 🙂 three"],
  ])("%s is read unchanged", async (name, said) => {
    const { provider } = start();
    const request = { stream: true, messages: [{ role: "user", content: "say one é two 🙂 three" }] };
    const { text, finish, error } = await gather(provider.stream(chatCall(request, { sourceModel: `mock-${name}` })));
    expect({ text, finish, error }).toEqual({ text: said, finish: ["stop"], error: undefined });
  });

  test("a later report replaces an earlier one, also an impossible one", async () => {
    const chunk = (completion_tokens: number, finish_reason: string | null = null) => ({
      choices: [{ index: 0, delta: { content: "a" }, finish_reason }],
      usage: { prompt_tokens: 3, completion_tokens },
    });
    expect((await streamed(eventReply(chunk(9), chunk(-1), chunk(4, "stop")))).usage).toEqual(
      usageOf({ input: 3, output: 4 }),
    );
    expect((await streamed(eventReply(chunk(9), chunk(-1, "stop")))).usage).toBe("impossible");
  });

  test("usage after the finish reason counts, for every division of the bytes", async () => {
    for (const splitBytes of [1, 64, 100_000]) {
      const { provider } = start({ text: "one two", splitBytes });
      const { usage } = await gather(provider.stream(chatCall({ stream: true })));
      expect(usage).toEqual(usageOf({ input: 1, output: 2 }));
    }
  });
});

describe("a usage report", () => {
  test("of null is ignored", async () => {
    const { provider } = start();
    expect((await provider.complete(chatCall({}, { sourceModel: "mock-usage-null" }))).usage).toBeNull();
    const options = { sourceModel: "mock-usage-null" };
    expect((await gather(provider.stream(chatCall({ stream: true }, options)))).usage).toBeUndefined();
  });

  test("of invalid JSON fails the plain answer, and only its event of a stream", async () => {
    const { provider } = start();
    expect(await failureOf(provider.complete(chatCall({}, { sourceModel: "mock-usage-bare-nan" })))).toMatchObject({
      kind: "failed",
    });
    const { usage, text, error } = await gather(
      provider.stream(chatCall({ stream: true }, { sourceModel: "mock-usage-bare-nan" })),
    );
    expect(error).toBeUndefined();
    expect(usage).toBeUndefined();
    expect(text).toContain("word by word");
  });
});

describe("an interrupted stream", () => {
  const a = (index: number, finish_reason: string | null = null) => ({
    choices: [{ index, delta: { content: "a" }, finish_reason }],
  });

  test.each<[string, unknown[]]>([
    ["the end of the body without a finish reason", [a(0)]],
    ["empty finish reasons all along", [{ choices: [{ delta: { content: "a" }, finish_reason: "" }] }]],
    ["one of two choices still open", [a(0), a(1), a(0, "stop")]],
    ["a malformed last event", [a(0), '{"choices":[{"finish_re']],
    ["choices that are none", [{ choices: [null, 7, "x"] }, { choices: "none" }, { choices: {} }]],
    ["JSON that is no object", ["null", "[]", "7", '"text"']],
  ])("%s is incomplete", async (_name, events) => {
    expect((await streamed(eventReply(...events))).error).toMatchObject({ kind: "failed" });
  });

  test("an event that is nested without end is skipped like a malformed one", async () => {
    const deep = `{"choices":[{"index":0,"delta":{"content":${DEEP}},"finish_reason":null}]}`;
    const { text, error } = await streamed(eventReply(a(0), deep, a(0, "stop")));
    expect(error).toBeUndefined();
    expect(text).toBe("aa");
  });

  test("brackets in a text do not count as depth", async () => {
    const content = `\\"${"[{".repeat(500)}`;
    const { text } = await streamed(eventReply({ choices: [{ index: 0, delta: { content }, finish_reason: "stop" }] }));
    expect(text).toBe(content);
  });

  test("both of two choices ended is complete", async () => {
    expect((await streamed(eventReply(a(0), a(1), a(1, "stop"), a(0, "length")))).error).toBeUndefined();
  });

  test("an error as first event has its class", async () => {
    const refused = { error: { message: "No.", code: "content_filter" } };
    expect((await streamed(eventReply(refused))).error).toMatchObject({ kind: "refused" });
  });

  test("a line without end is rejected at its limit", async () => {
    const { server, provider } = start();
    const { error } = await gather(provider.stream(chatCall({ stream: true }, { sourceModel: "mock-huge-1g" })));
    expect(error).toMatchObject({ kind: "failed" });
    await (
      await server.received(1)
    ).finished;
    expect(server.openSockets()).toBe(0);
  });
});

/** The parser takes it; writing it again would block the process for seconds. */
const DEEP = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;

describe("an invalid plain answer", () => {
  test.each<[string, unknown]>([
    ["null", "null"],
    ["an array", "[]"],
    ["no choices", {}],
    ["empty choices", { choices: [] }],
    ["choices that are no objects", { choices: [null, 7] }],
    ["a choice without a message", { choices: [{ index: 0, finish_reason: "stop" }] }],
    ["a null message", { choices: [{ index: 0, message: null }] }],
    ["nested without end", `{"choices":[{"message":{"content":${DEEP}}}]}`],
  ])("%s is a failure", async (_name, body) => {
    const { provider } = start(ok(body));
    expect(await failureOf(provider.complete(chatCall({})))).toMatchObject({ name: "ProviderError", kind: "failed" });
  });

  test("about the length of the context names it", async () => {
    const { provider } = start();
    const call = chatCall({}, { sourceModel: "mock-context-length" });
    expect(await failureOf(provider.complete(call))).toMatchObject({
      kind: "rejected",
      code: "context_length_exceeded",
      param: "messages",
    });
  });
});
