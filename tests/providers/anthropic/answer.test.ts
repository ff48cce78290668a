import { describe, expect, test } from "bun:test";

import { validate } from "#shared/json/contracts.ts";
import { parseDecimal } from "#shared/base/money.ts";
import type { Price } from "#shared/calls/pricing/price.ts";
import { priceChat } from "#shared/calls/pricing/price.ts";
import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";
import { createRendering } from "#workers/calls/chat/render.ts";
import { messagesRequest } from "#workers/providers/anthropic/request.ts";
import { createReader } from "#workers/providers/anthropic/stream.ts";
import type { ChatDelta, ChatResult } from "#workers/providers/provider.ts";
import { SseParser } from "#workers/providers/sse.ts";

import { messageResult } from "#workers/providers/anthropic/answer.ts";

import { fixture, recorded, usePairs } from "./pair.ts";
import { chatCall, type ChatOptions, failureOf, gather, type Gathered, usageOf } from "../engine/calls.ts";

const start = usePairs();

async function streamed(name: string, request: object = {}, options: ChatOptions = {}): Promise<Gathered> {
  const { provider } = start(recorded(`${name}.sse`));
  return gather(provider.stream(chatCall({ stream: true, ...request }, options)));
}

async function completed(name: string, request: object = {}, options: ChatOptions = {}): Promise<ChatResult> {
  const { provider } = start(recorded(`${name}.json`));
  return provider.complete(chatCall(request, options));
}

const JSON_CALL = {
  response_format: { type: "json_schema", json_schema: { name: "s", schema: { type: "object", properties: {} } } },
};
const BY_TOOL = { traits: ["json_by_tool"] } as const;

interface Expected {
  readonly text: string;
  readonly reasoning?: string;
  readonly thinking?: readonly object[];
  readonly calls?: readonly { id: string; name: string; arguments: unknown }[];
  readonly finish: string;
  readonly usage: Partial<TokenUsage>;
  readonly request?: object;
  readonly options?: ChatOptions;
}

const RECORDED: Readonly<Record<string, Expected>> = {
  text: { text: "Grüße! I'm fine ✨, thanks for asking.", finish: "stop", usage: { input: 12, output: 30 } },
  thinking: {
    text: "925 ÷ 5 = 185",
    reasoning: "The previous result was 925. Now ÷ 5.",
    thinking: [
      {
        type: "thinking",
        thinking: "The previous result was 925. Now ÷ 5.",
        signature: "EvQBCkYICxgCKkAxhD4NUKFzudtZ6NzbZdEiBACIScTz",
      },
    ],
    finish: "stop",
    usage: { input: 69, output: 53 },
  },
  tools: {
    text: "I'll look both up.",
    calls: [
      { id: "toolu_fixtureA", name: "weather", arguments: { location: "San Francisco" } },
      { id: "toolu_fixtureB", name: "updateIssueList", arguments: {} },
    ],
    finish: "tool_calls",
    usage: { input: 565, output: 48 },
  },
  cached: {
    text: "From memory.",
    finish: "stop",
    usage: { input: 21, cachedInput: 18_000, cacheWrite5m: 300, cacheWrite1h: 1_200, output: 9 },
  },
  multimodal: {
    text: "A red square on page 2.",
    thinking: [{ type: "thinking", thinking: "", signature: "CAISqwQKhwEIEBgC" }],
    finish: "stop",
    usage: { input: 1_598, output: 161, reasoning: 139 },
  },
  "json-tool": {
    text: '{"elements":[{"place":"Zürich"}]}',
    finish: "stop",
    usage: { input: 849, output: 47 },
    request: JSON_CALL,
    options: BY_TOOL,
  },
  fallback: { text: "By Gutenberg around 1440.", finish: "stop", usage: { input: 412, output: 264 } },
};

/** JSON is compared by what it means: a stream has the model's own white space. */
const parsed = (text: string): unknown => (text.startsWith("{") ? (JSON.parse(text) as unknown) : text);

describe("a recorded answer", () => {
  test.each(Object.entries(RECORDED))("is complete, streamed: %s", async (name, expected) => {
    const { text, reasoning, thinking, calls, finish, usage, error } = await streamed(
      name,
      expected.request,
      expected.options,
    );
    expect(error).toBeUndefined();
    expect(parsed(text)).toEqual(parsed(expected.text));
    expect(reasoning).toBe(expected.reasoning ?? "");
    // The index is what OpenAI's clients put lists together by.
    expect(thinking).toEqual((expected.thinking ?? []).map((block, index) => ({ index, ...block })));
    expect(calls.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) as unknown }))).toEqual([
      ...(expected.calls ?? []),
    ]);
    expect(finish).toEqual([expected.finish]);
    expect(usage).toEqual(usageOf(expected.usage));
  });

  test.each(Object.entries(RECORDED))("is complete, plain: %s", async (name, expected) => {
    const { choices, usage } = await completed(name, expected.request, expected.options);
    expect(choices).toHaveLength(1);
    const { message, finish_reason: finish, index } = choices[0] as Record<string, unknown>;
    const { tool_calls: calls, ...rest } = message as { tool_calls?: { function: { arguments: string } }[] };
    expect({ index, finish }).toEqual({ index: 0, finish: expected.finish });
    expect(rest as unknown).toEqual({
      role: "assistant",
      content: expected.text,
      refusal: null,
      ...(expected.reasoning === undefined ? {} : { reasoning_content: expected.reasoning }),
      ...(expected.thinking === undefined ? {} : { thinking_blocks: expected.thinking }),
    });
    expect(calls as unknown).toEqual(
      expected.calls?.map(({ id, name: tool, arguments: input }) => ({
        id,
        type: "function",
        function: { name: tool, arguments: JSON.stringify(input) },
      })),
    );
    expect(usage).toEqual(usageOf(expected.usage));
  });

  test.each(Object.keys(RECORDED))("is valid by the published schema, chunk by chunk and joined: %s", async (name) => {
    const { request, options } = RECORDED[name] ?? {};
    const call = { jobId: "0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000", model: "our-slug", createdS: 1, includeUsage: false };
    const rendering = createRendering(call);
    const { deltas } = await streamed(name, request, options);
    for (const delta of deltas.filter(({ choices }) => choices.length > 0)) {
      const chunk = JSON.parse(rendering.chunk(delta).slice("data: ".length)) as unknown;
      expect(validate("ChatCompletionChunk", chunk)).toBeNull();
    }
    const result = await completed(name, request, options);
    expect(validate("ChatCompletion", JSON.parse(rendering.completion(result, NO_USAGE)) as unknown)).toBeNull();
  });

  test("starts with the role, numbers calls from 0 and names each once, on its first piece", async () => {
    const { deltas } = await streamed("tools");
    const pieces = deltas.map(({ choices }) => choices[0]?.["delta"] as Record<string, unknown>);
    expect(pieces[0]).toEqual({ role: "assistant" });
    const calls = pieces.flatMap((piece) => (piece["tool_calls"] ?? []) as object[]);
    expect(calls).toEqual([
      { index: 0, id: "toolu_fixtureA", type: "function", function: { name: "weather", arguments: "" } },
      { index: 0, function: { arguments: '{"location": "San Fr' } },
      { index: 0, function: { arguments: 'ancisco"' } },
      { index: 0, function: { arguments: "}" } },
      { index: 1, id: "toolu_fixtureB", type: "function", function: { name: "updateIssueList", arguments: "" } },
      { index: 1, function: { arguments: "{}" } },
    ]);
  });

  test("has its service tier in OpenAI's names, once", async () => {
    expect((await completed("text")).extra).toEqual({ service_tier: "default" });
    const { deltas } = await streamed("text");
    expect(deltas.filter(({ extra }) => extra !== undefined).map(({ extra }) => extra)).toEqual([
      { service_tier: "default" },
    ]);
  });

  test("reports usage at its end only, so that an interrupted stream is counted by us", async () => {
    const { deltas } = await streamed("text");
    expect(deltas.map(({ usage }) => usage !== undefined)).toEqual(
      deltas.map((_delta, at) => at === deltas.length - 1),
    );
  });

  test("by tool has no text around it, but is the text when the tool was not used", async () => {
    const { deltas } = await streamed("json-tool", JSON_CALL, BY_TOOL);
    const first = deltas
      .map(({ choices }) => (choices[0]?.["delta"] as { content?: string } | undefined)?.content)
      .find(Boolean);
    expect(first).toStartWith('{"elements"');
    expect((await streamed("text", JSON_CALL, BY_TOOL)).text).toBe(RECORDED["text"]?.text ?? "");
    const { choices } = await completed("text", JSON_CALL, BY_TOOL);
    expect(choices[0]?.["message"]).toHaveProperty("content", RECORDED["text"]?.text ?? "");
  });

  test("of a tool that is not JSON stays a call", async () => {
    const gathered = await streamed("tools", JSON_CALL, BY_TOOL);
    expect(gathered.calls.map(({ name }) => name)).toEqual(["weather", "updateIssueList"]);
    expect(gathered).toMatchObject({ text: "I'll look both up.", finish: ["tool_calls"] });
  });

  test("omits tools of the provider, their results and citations", async () => {
    const { text, calls, finish, usage } = await streamed("server-tool");
    expect({ text, calls, finish }).toEqual({ text: "They used leisters.", calls: [], finish: ["stop"] });
    expect(usage).toEqual(usageOf({ input: 4_230, output: 446 }));
  });

  test("that refuses without text is rejected, and the reason is logged only", async () => {
    const { error, deltas } = await streamed("refusal");
    expect(error).toMatchObject({ kind: "refused" });
    expect(error?.detail).toContain("cyber");
    expect(error?.say).toBeUndefined();
    // The role alone is no output: it waits until there is some.
    expect(deltas).toHaveLength(1);
    expect(await failureOf(completed("refusal"))).toMatchObject({ kind: "refused" });
  });

  test("is charged by the last report, also for input", async () => {
    expect((await streamed("late-input")).usage).toEqual(usageOf({ input: 61, output: 2 }));
  });

  test("that starts twice is one answer, and its first report completes the last", async () => {
    const { text, finish, usage, error } = await streamed("duplicate-start");
    expect(error).toBeUndefined();
    expect({ text, finish }).toEqual({ text: "Hello, World!", finish: ["stop"] });
    expect(usage).toEqual(usageOf({ input: 17, output: 227 }));
  });

  test("with a second answer inside fails, since its calls are ambiguous", async () => {
    const { error, finish } = await streamed("spliced-start");
    expect(error).toMatchObject({ kind: "failed" });
    expect(finish).toEqual([]);
  });
});

describe("a plain answer", () => {
  type Block = Record<string, unknown>;
  const said = (text: string): Block => ({ type: "text", text });
  const thought = (signature: string): Block => ({ type: "thinking", thinking: "Hm.", signature });
  const use = (id: string): Block => ({ type: "tool_use", id, name: "f", input: {} });
  const read = (content: readonly Block[], stopReason = "end_turn", more: object = {}, request: object = {}) => {
    const answer = { content, stop_reason: stopReason, usage: { input_tokens: 1, output_tokens: 1 }, ...more };
    return messageResult(JSON.stringify(answer), chatCall(request)).choices[0] as { message: Block } & Block;
  };
  const failure = (run: () => unknown): unknown => {
    try {
      run();
    } catch (error) {
      return error;
    }
    throw new Error("the answer was taken");
  };

  test("contains the position of each block of thinking, so that it can be restored", () => {
    const content = [thought("s1"), said("I look. "), thought("s2"), use("a"), thought("s3"), use("b")];
    expect(read(content, "tool_use").message).toMatchObject({
      content: "I look. ",
      thinking_blocks: [
        thought("s1"),
        { ...thought("s2"), after: { characters: 8, tool_calls: 0 } },
        { ...thought("s3"), after: { characters: 8, tool_calls: 1 } },
      ],
    });
  });

  test("returns unchanged", () => {
    const content = [
      thought("s1"),
      said("🙂 I look. "),
      thought("s2"),
      { type: "redacted_thinking", data: "d" },
      said("Both."),
      use("a"),
      thought("s3"),
      use("b"),
    ];
    const { message } = read(content, "tool_use");
    const messages = [{ role: "user", content: "hi" }, message, { role: "tool", tool_call_id: "a", content: "r" }];
    const body = JSON.parse(messagesRequest(chatCall({ messages }), false).body) as {
      messages: { content: unknown }[];
    };
    expect(body.messages[1]?.content).toEqual(content);
  });

  test("names the matched stop text", () => {
    const choice = read([said("a")], "stop_sequence", { stop_sequence: "END" });
    expect(choice).toMatchObject({ finish_reason: "stop", stop_sequence: "END" });
    expect(read([said("a")], "end_turn", { stop_sequence: null })).not.toHaveProperty("stop_sequence");
  });

  test("with an unknown stop reason fails", () => {
    for (const reason of ["novelty", "toString"]) {
      const error = failure(() => read([said("a")], reason));
      expect(error).toMatchObject({ kind: "failed", detail: `unknown stop reason ${reason}` });
    }
    expect(read([said("a")], "pause_turn")["finish_reason"]).toBe("stop");
  });

  const JSON_OBJECT = { response_format: { type: "json_object" } };

  test.each<[string, string]>([
    ["as it is", '{"a":1}'],
    ["with white space around it", '\n {"a":1} '],
    ["in a code fence", '```json\n{"a":1}\n```'],
    ["in a fence without a name", ' ```\n{"a":1}```\n'],
  ])("is JSON on request: %s", (_name, text) => {
    expect(read([said(text)], "end_turn", {}, JSON_OBJECT).message["content"]).toBe('{"a":1}');
    expect(read([said(text)]).message["content"]).toBe(text);
  });

  test.each<[string, string]>([
    ["words", "Here you are."],
    ["words around it", 'Here: {"a":1}'],
    ["a list", "[1]"],
    ["nothing", ""],
    ["half of it", '{"a":'],
    ["a fence in a fence", '```\n```json\n{"a":1}\n```\n```'],
    ["a fence that is not closed", '```json\n{"a":1}'],
  ])("that is not a JSON object on request fails: %s", (_name, text) => {
    expect(failure(() => read([said(text)], "end_turn", {}, JSON_OBJECT))).toMatchObject({ kind: "failed" });
  });

  test("is not validated as JSON if it was truncated, calls tools or continues a prefill", () => {
    const half = '{"a":';
    expect(read([said(half)], "max_tokens", {}, JSON_OBJECT).message["content"]).toBe(half);
    expect(read([said(half)], "stop_sequence", { stop_sequence: "," }, JSON_OBJECT).message["content"]).toBe(half);
    expect(read([said("I look."), use("a")], "tool_use", {}, JSON_OBJECT).message["content"]).toBe("I look.");
    const messages = [
      { role: "user", content: "hi" },
      { role: "assistant", content: "{" },
    ];
    expect(read([said('"a":1}')], "end_turn", {}, { ...JSON_OBJECT, messages }).message["content"]).toBe('"a":1}');
  });
});

describe("every split of every byte gives the same deltas", () => {
  const read = (chunks: readonly Uint8Array[], request: object, options: ChatOptions): (ChatDelta | "done")[] => {
    const parser = new SseParser();
    const reader = createReader(chatCall(request, options));
    const deltas: (ChatDelta | "done")[] = [];
    const events = chunks.flatMap((chunk) => parser.push(chunk));
    for (const event of [...events, ...parser.end()]) {
      const delta = reader.read(event);
      if (delta !== undefined) deltas.push(delta);
    }
    reader.end();
    return deltas;
  };

  test.each<[string, object, ChatOptions]>([
    ["text", {}, {}],
    ["thinking", {}, {}],
    ["tools", {}, {}],
    ["json-tool", JSON_CALL, BY_TOOL],
  ])("%s", (name, request, options) => {
    const bytes = Buffer.from(fixture(`${name}.sse`));
    const whole = JSON.stringify(read([bytes], request, options));
    expect(whole).toContain('"done"');
    for (let at = 1; at < bytes.length; at += 1) {
      const halves = read([bytes.subarray(0, at), bytes.subarray(at)], request, options);
      if (JSON.stringify(halves) !== whole) throw new Error(`other deltas when cut at byte ${at}`);
    }
    const single = Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1));
    expect(JSON.stringify(read(single, request, options))).toBe(whole);
  });
});

describe("the same answer costs the same, streamed and plain", () => {
  const nano = (credits: string) => parseDecimal(credits, 9);
  /** claude-opus-4-8's, in credits. */
  const PRICE = {
    unit: "per_token",
    tokenRates: {
      input_per_million: nano("500"),
      output_per_million: nano("2500"),
      cached_input_per_million: nano("50"),
      cache_write_per_million: nano("625"),
      cache_write_1h_per_million: nano("1000"),
    },
  } as Price;

  test.each<[string, string]>([
    // input 12 × 500 + output 30 × 2,500
    ["text", "0.081"],
    // 21 × 500 + 18,000 × 50 + 300 × 625 + 1,200 × 1,000 + 9 × 2,500
    ["cached", "2.3205"],
    // 565 × 500 + 48 × 2,500
    ["tools", "0.4025"],
    // 1,598 × 500 + 161 × 2,500, thinking included
    ["multimodal", "1.2015"],
  ])("%s", async (name, credits) => {
    const { usage: byStream } = await streamed(name);
    const { usage: byAnswer } = await completed(name);
    expect(byStream).toEqual(byAnswer);
    expect(priceChat(PRICE, byStream as TokenUsage)).toBe(nano(credits) ?? -1n);
  });
});
