import { describe, expect, test } from "bun:test";

import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import type { ProviderErrorClass } from "#workers/providers/provider.ts";

import { ERRORS } from "./errors.ts";
import { usePairs } from "./pair.ts";
import { chatCall, failureOf, gather, type Gathered } from "../engine/calls.ts";
import { hinted } from "../engine/named.ts";

const start = usePairs();

/** A stream of the behaviour that the server knows by this name. */
function streamed(behaviour: string, request: object = {}, signal = new AbortController().signal): Promise<Gathered> {
  const { provider } = start();
  return gather(provider.stream(chatCall({ stream: true, ...request }, { sourceModel: `mock-${behaviour}`, signal })));
}

function completed(behaviour: string, request: object = {}) {
  return start().provider.complete(chatCall(request, { sourceModel: `mock-${behaviour}` }));
}

const TEXT = "A local answer, word by word, with an é and a 🙂 in it.";

describe("a faulty stream", () => {
  test.each<[string, ProviderErrorClass]>([
    ["spliced", "failed"],
    ["refusal", "refused"],
  ])("is never complete: %s is %s", async (behaviour, kind) => {
    const { error, finish } = await streamed(behaviour);
    expect(error?.kind).toBe(kind);
    expect(finish).toEqual([]);
  });
});

describe("an unusual but complete stream", () => {
  test.each(["start-twice", "start-twice-late"])("succeeds: %s", async (behaviour) => {
    const messages = [{ role: "user", content: "say Où crème 🙂 brûlée" }];
    const { text, finish, usage, error } = await streamed(behaviour, { messages });
    expect(error).toBeUndefined();
    expect({ text, finish }).toEqual({ text: "Où crème 🙂 brûlée", finish: ["stop"] });
    expect(usage).toMatchObject({ output: 4 });
  });

  test("of arguments that are not JSON has the model's text", async () => {
    expect((await streamed("tools-invalid-json")).calls[0]?.arguments).toBe('{"city":');
  });

  test.each([
    ["length", "length"],
    ["refusal-late", "content_filter"],
    ["tool-use", "tool_calls"],
  ])("ends for its reason: %s", async (behaviour, reason) => {
    expect((await streamed(behaviour)).finish).toEqual([reason]);
    expect((await completed(behaviour)).choices[0]?.["finish_reason"]).toBe(reason);
  });

  test("returns thinking that can be sent back", async () => {
    const signed = { type: "thinking", thinking: "Let me think about it.", signature: "EvQBCkYICxgCKkAxhD4N" };
    expect(await streamed("reasoning")).toMatchObject({
      text: "Four.",
      reasoning: signed.thinking,
      thinking: [signed],
    });
    expect((await completed("reasoning")).choices[0]?.["message"]).toMatchObject({ thinking_blocks: [signed] });
    const hidden = { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix" };
    expect(await streamed("redacted")).toMatchObject({ text: "Four.", reasoning: "", thinking: [hidden] });
  });
});

describe("a conversation with tools", () => {
  test("continues over several turns with the model's output", async () => {
    const { server, provider } = start();
    const tools = [
      { type: "function", function: { name: "get_weather" } },
      { type: "function", function: { name: "get_time" } },
      { type: "function", function: { name: "lookup" } },
    ];
    const asked = { role: "user", content: "What is it like?" };
    const first = await provider.complete(
      chatCall({ messages: [asked], tools }, { sourceModel: "mock-tools-parallel" }),
    );
    const message = first.choices[0]?.["message"] as { tool_calls: { id: string }[] };
    const results = message.tool_calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "fine" }));
    const messages = [asked, message, ...results, { role: "user", content: "say hello there" }];
    const second = await gather(
      provider.stream(chatCall({ messages, tools, stream: true }, { sourceModel: "mock-ok" })),
    );
    expect(second.error).toBeUndefined();
    expect(server.refusals).toEqual([]);
    expect(second.finish).toEqual(["stop"]);
  });
});

describe("usage", () => {
  const input = expect.any(Number) as number;

  test.each<[string, unknown]>([
    ["ok", { ...NO_USAGE, input, output: 14 }],
    ["usage-cached", { ...NO_USAGE, input, cachedInput: 2_000, cacheWrite5m: 100, cacheWrite1h: 200, output: 14 }],
  ])("of a stream: %s", async (behaviour, usage) => {
    const gathered = await streamed(behaviour);
    expect(gathered).toMatchObject({ text: TEXT, finish: ["stop"], error: undefined });
    expect(gathered.usage).toEqual(usage as typeof gathered.usage);
  });

  test.each<[string, unknown]>([
    ["ok", { ...NO_USAGE, input, output: 14 }],
    ["usage-cached", { ...NO_USAGE, input, cachedInput: 2_000, cacheWrite5m: 100, cacheWrite1h: 200, output: 14 }],
  ])("of a plain answer: %s", async (behaviour, usage) => {
    expect((await completed(behaviour)).usage as unknown).toEqual(usage);
  });
});

describe("an invalid plain answer", () => {
  test.each<[string, ProviderErrorClass]>([
    ["no-finish", "failed"],
    ["refusal", "refused"],
  ])("%s is %s", async (behaviour, kind) => {
    expect((await failureOf(completed(behaviour))).kind).toBe(kind);
  });

  test("contains the retry time, also for 529", async () => {
    const { provider } = start(hinted(ERRORS.overloaded, { "retry-after": "3" }));
    expect(await failureOf(provider.complete(chatCall()))).toMatchObject({ kind: "busy", retryAfterMs: 3_000 });
  });
});
