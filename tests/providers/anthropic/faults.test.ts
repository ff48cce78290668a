import { afterEach, describe, expect, test } from "bun:test";

import { NO_USAGE } from "#shared/pricing/usage.ts";
import type { ProviderErrorClass } from "#workers/providers/provider.ts";

import { errorReply, VENDOR_MARK } from "./errors.ts";
import type { AnthropicServer } from "./server.ts";
import { callOf, errorOf, gather, type Gathered, startPair } from "./support.ts";

const servers: AnthropicServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

function start() {
  const pair = startPair();
  servers.push(pair.server);
  return pair;
}

/** A stream of the behaviour that the server knows by this name. */
function streamed(behaviour: string, request: object = {}, signal = new AbortController().signal): Promise<Gathered> {
  const { provider } = start();
  return gather(provider.stream(callOf({ stream: true, ...request }, { sourceModel: `mock-${behaviour}`, signal })));
}

function completed(behaviour: string, request: object = {}) {
  return start().provider.complete(callOf(request, { sourceModel: `mock-${behaviour}` }));
}

const TEXT = "hello there";

describe("a stream that goes wrong", () => {
  test.each<[string, ProviderErrorClass]>([
    ["error-first", "busy"],
    ["error-mid", "busy"],
    ["cut-first", "failed"],
    ["cut-fin", "failed"],
    ["cut-rst", "failed"],
    ["cut-end", "failed"],
    ["cut-in-json", "failed"],
    ["cut-in-utf8", "failed"],
    ["no-stop-reason", "failed"],
    ["spliced", "failed"],
    ["empty-stream", "failed"],
    ["html", "failed"],
    ["html-502", "failed"],
    ["redirect", "failed"],
    ["reset", "failed"],
    ["reset-head", "failed"],
    ["refusal", "refused"],
    ["rate-limit", "busy"],
    ["server-error", "failed"],
  ])("never looks whole: %s is %s", async (behaviour, kind) => {
    const { error, finish } = await streamed(behaviour);
    expect(error?.kind).toBe(kind);
    expect(finish).toEqual([]);
  });

  test("has given what came before", async () => {
    for (const behaviour of ["error-mid", "cut-end", "cut-in-json"]) {
      const { text, usage } = await streamed(behaviour, { messages: [{ role: "user", content: "say a b c d e f g" }] });
      expect(text).toBe("a b");
      expect(usage).toBeUndefined();
    }
  });

  test("ends at once when the caller does, and its socket closes", async () => {
    for (const behaviour of ["hang", "hang-head", "stall"]) {
      const { server, provider } = start();
      const abort = new AbortController();
      const call = callOf({ stream: true }, { sourceModel: `mock-${behaviour}`, signal: abort.signal });
      const gathered = gather(provider.stream(call));
      const received = await server.received(1);
      abort.abort();
      expect((await gathered).error?.kind).toBe("aborted");
      await received.finished;
      expect(received.closedByClientAt).not.toBeNull();
    }
  });
});

describe("a stream that is odd but whole", () => {
  test.each([
    "ok",
    "no-message-stop",
    "malformed",
    "start-twice",
    "start-twice-late",
    "foreign",
    "crlf",
    "cr",
    "silent-20",
    "delay-20",
    "split-1",
    "split-7",
  ])("comes out: %s", async (behaviour) => {
    const messages = [{ role: "user", content: "say Où crème 🙂 brûlée" }];
    const { text, finish, usage, error } = await streamed(behaviour, { messages });
    expect(error).toBeUndefined();
    expect({ text, finish }).toEqual({ text: "Où crème 🙂 brûlée", finish: ["stop"] });
    expect(usage).toMatchObject({ output: 4 });
  });

  test("of interleaved calls keeps them apart", async () => {
    for (const behaviour of ["tools-parallel", "tools-interleaved"]) {
      const { calls, finish } = await streamed(behaviour);
      expect(finish).toEqual(["tool_calls"]);
      expect(calls).toEqual([
        { id: "toolu_mock0", name: "get_weather", arguments: '{"city":"Paris"}' },
        { id: "toolu_mock1", name: "get_time", arguments: '{"zone":"Europe/Paris"}' },
        { id: "toolu_mock2", name: "lookup", arguments: '{"term":"café 🙂"}' },
      ]);
    }
  });

  test("of arguments that are none has {}, and of arguments that are no JSON what the model wrote", async () => {
    expect((await streamed("tool-no-input")).calls[0]?.arguments).toBe("{}");
    expect((await streamed("tool-invalid-json")).calls[0]?.arguments).toBe('{"city":');
  });

  test.each([
    ["length", "length"],
    ["refusal-late", "content_filter"],
    ["tool-use", "tool_calls"],
  ])("ends for its reason: %s", async (behaviour, reason) => {
    expect((await streamed(behaviour)).finish).toEqual([reason]);
    expect((await completed(behaviour)).choices[0]?.["finish_reason"]).toBe(reason);
  });

  test("gives thinking that can be sent back", async () => {
    const signed = { type: "thinking", thinking: "Let me think about it.", signature: "EvQBCkYICxgCKkAxhD4N" };
    expect(await streamed("thinking")).toMatchObject({ text: "Four.", reasoning: signed.thinking, thinking: [signed] });
    expect((await completed("thinking")).choices[0]?.["message"]).toMatchObject({ thinking_blocks: [signed] });
    const hidden = { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix" };
    expect(await streamed("redacted")).toMatchObject({ text: "Four.", reasoning: "", thinking: [hidden] });
  });
});

describe("a conversation with tools", () => {
  test("goes on over several turns with what the model gave", async () => {
    const { server, provider } = start();
    const tools = [
      { type: "function", function: { name: "get_weather" } },
      { type: "function", function: { name: "get_time" } },
      { type: "function", function: { name: "lookup" } },
    ];
    const asked = { role: "user", content: "What is it like?" };
    const first = await provider.complete(callOf({ messages: [asked], tools }, { sourceModel: "mock-tools-parallel" }));
    const message = first.choices[0]?.["message"] as { tool_calls: { id: string }[] };
    const results = message.tool_calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "fine" }));
    const messages = [asked, message, ...results, { role: "user", content: `say ${TEXT}` }];
    const second = await gather(provider.stream(callOf({ messages, tools, stream: true }, { sourceModel: "mock-ok" })));
    expect(second.error).toBeUndefined();
    expect(server.refusals).toEqual([]);
    expect(second.finish).toEqual(["stop"]);
  });
});

describe("usage", () => {
  const input = expect.any(Number) as number;

  test.each<[string, unknown]>([
    ["ok", { ...NO_USAGE, input, output: 2 }],
    ["usage-cached", { ...NO_USAGE, input, cachedInput: 2_000, cacheWrite5m: 100, cacheWrite1h: 200, output: 2 }],
    ["usage-late", { ...NO_USAGE, input, output: 2 }],
    ["usage-growing", { ...NO_USAGE, input, output: 2 }],
    ["usage-missing", undefined],
    ["usage-zero", null],
    ["usage-negative", "impossible"],
    ["usage-fractional", "impossible"],
    ["usage-huge", "impossible"],
    ["usage-nan", "impossible"],
  ])("of a stream: %s", async (behaviour, usage) => {
    const gathered = await streamed(behaviour);
    expect(gathered).toMatchObject({ text: TEXT, finish: ["stop"], error: undefined });
    expect(gathered.usage).toEqual(usage as typeof gathered.usage);
  });

  test.each<[string, unknown]>([
    ["ok", { ...NO_USAGE, input, output: 2 }],
    ["usage-cached", { ...NO_USAGE, input, cachedInput: 2_000, cacheWrite5m: 100, cacheWrite1h: 200, output: 2 }],
    ["usage-missing", null],
    ["usage-zero", null],
    ["usage-negative", "impossible"],
    ["usage-huge", "impossible"],
  ])("of a plain answer: %s", async (behaviour, usage) => {
    expect((await completed(behaviour)).usage as unknown).toEqual(usage);
  });
});

describe("a plain answer that is none", () => {
  test.each<[string, ProviderErrorClass]>([
    ["html", "failed"],
    ["html-502", "failed"],
    ["cut-json", "failed"],
    ["cut-body", "failed"],
    ["empty", "failed"],
    ["redirect", "failed"],
    ["reset", "failed"],
    ["no-stop-reason", "failed"],
    ["error-in-200", "busy"],
    ["refusal", "refused"],
  ])("%s is %s", async (behaviour, kind) => {
    const error = await errorOf(completed(behaviour));
    expect(error.kind).toBe(kind);
    expect(error.say ?? "").not.toContain(VENDOR_MARK);
  });

  test("tells when to come back", async () => {
    expect(await errorOf(completed("429-7"))).toMatchObject({ kind: "busy", status: 429, retryAfterMs: 7_000 });
    expect((await streamed("529-3")).error).toMatchObject({ kind: "busy", status: 529, retryAfterMs: 3_000 });
  });
});

describe("the server itself", () => {
  test("takes its behaviours from the model, then the queue, then the default, and refuses a wrong key", async () => {
    const { server, provider } = start();
    server.setDefault({ text: "default" });
    server.next(errorReply("timeout"));
    const said = async (sourceModel: string): Promise<unknown> => {
      const { choices } = await provider.complete(callOf({}, { sourceModel }));
      return (choices[0]?.["message"] as { content: string } | undefined)?.content;
    };
    expect((await errorOf(said("m"))).kind).toBe("timeout");
    expect(await said("m")).toBe("default");
    expect(await said("mock-thinking")).toBe("Four.");
    const answer = await fetch(`${server.url}/messages`, {
      method: "POST",
      headers: { "x-api-key": "sk-x" },
      body: "{}",
    });
    expect(answer.status).toBe(401);
    expect(server.faults).toEqual([]);
  });

  test("refuses what Anthropic refuses", async () => {
    const { server } = start();
    const headers = {
      "x-api-key": "sk-ant-ours",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
    };
    const user = { role: "user", content: [{ type: "text", text: "hi" }] };
    const good = { model: "m", max_tokens: 10, messages: [user] };
    const statusOf = async (body: object): Promise<number> =>
      (await fetch(`${server.url}/messages`, { method: "POST", headers, body: JSON.stringify(body) })).status;
    expect(await statusOf(good)).toBe(200);
    const tool = { name: "f", input_schema: { type: "object" } };
    const wrong = [
      { ...good, max_tokens: undefined },
      { ...good, seed: 1 },
      { ...good, messages: [user, user] },
      { ...good, messages: [{ role: "user", content: [{ type: "text", text: " " }] }] },
      {
        ...good,
        messages: [user, { role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: {} }] }, user],
      },
      { ...good, temperature: 1.5 },
      { ...good, tool_choice: { type: "any" } },
      { ...good, tools: [tool], tool_choice: { type: "any" }, thinking: { type: "adaptive" } },
      { ...good, thinking: { type: "enabled", budget_tokens: 1_024 } },
    ];
    for (const body of wrong) expect(await statusOf(body)).toBe(400);
  });
});
