import { describe, expect, test } from "bun:test";

import type { Trait } from "#shared/calls/model.ts";
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { createOpenAiCompatible } from "#workers/providers/openai-compatible/index.ts";
import { chatRequest } from "#workers/providers/openai-compatible/request.ts";
import { type ChatUsage, ProviderError } from "#workers/providers/provider.ts";

import { chatCall, HELLO, useServers } from "../engine/calls.ts";
import { startOpenAiServer } from "./server.ts";

const own = useServers();

type Body = Record<string, unknown>;

const bodyOf = (request: object, ...traits: readonly Trait[]): Body =>
  JSON.parse(chatRequest(chatCall(request, { traits }), false).body) as Body;

function faultOf(request: object, ...traits: readonly Trait[]): ProviderError {
  try {
    bodyOf(request, ...traits);
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
  throw new Error("the request was taken");
}

describe("a reasoning effort", () => {
  test.each(["none", "low", "xhigh", null])("of %j is sent to models that reason", (reasoning_effort) => {
    expect(bodyOf({ reasoning_effort })).toHaveProperty("reasoning_effort", reasoning_effort);
  });

  test.each([{ reasoning_effort: "none" }, { reasoning_effort: null }, {}])(
    "of none is omitted for a model that does not: %j",
    (request) => {
      expect(bodyOf(request, "no_reasoning")).toEqual({ ...HELLO, model: "m" });
    },
  );

  test.each(["minimal", "low", "high", "odd"])("of %s is rejected by name for such a model", (reasoning_effort) => {
    const fault = faultOf({ reasoning_effort }, "no_reasoning");
    expect(fault).toMatchObject({ kind: "rejected", code: "unsupported_value", param: "reasoning_effort" });
    expect(fault.say).toContain(reasoning_effort);
  });
});

const HOUR = { cache_control: { type: "ephemeral", ttl: "1h" } };
const SHORT = { cache_control: { type: "ephemeral" } };
const text = (more: object): object => ({ role: "user", content: [{ type: "text", text: "a", ...more }] });
const tool = (more: object, inner: object = {}): object => ({
  type: "function",
  function: { name: "f", ...inner },
  ...more,
});

describe("cache hints", () => {
  test("are omitted at every position for a source without support", () => {
    const request = { ...HOUR, tools: [tool(HOUR)], messages: [{ ...text(HOUR), ...SHORT }] };
    expect(JSON.stringify(bodyOf(request))).not.toContain("cache_control");
    expect(JSON.stringify(bodyOf({ ...request, messages: [text(HOUR)] }, "cache_control")).split("1h")).toHaveLength(4);
  });

  test.each<[string, object, string]>([
    ["text after text", { messages: [text(HOUR), text(SHORT)] }, "messages[1].content[0].cache_control.ttl"],
    ["text after tools", { tools: [tool(HOUR)], messages: [text(SHORT)] }, "messages[0].content[0].cache_control.ttl"],
    ["a message after its call", { ...SHORT, messages: [{ ...text({}), ...HOUR }] }, "messages[0].cache_control.ttl"],
    ["a function after a tool", { tools: [tool(SHORT), tool({}, HOUR)] }, "tools[1].function.cache_control.ttl"],
    [
      "five minutes said in words",
      { tools: [tool(HOUR)], messages: [text({ cache_control: { type: "ephemeral", ttl: "5m" } })] },
      "messages[0].content[0].cache_control.ttl",
    ],
  ])("with different lifetimes have no exact price: %s", (_name, request, param) => {
    expect(faultOf(request, "cache_control")).toMatchObject({ kind: "rejected", code: "unsupported_value", param });
    // Where they are left out there is nothing to price.
    expect(bodyOf(request)).toBeObject();
  });

  const REPORT = { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cache_write_tokens: 80 } };

  /** Returns the usage that a call is said to have, plain and streamed. */
  async function usagesOf(request: object, ...traits: readonly Trait[]): Promise<(ChatUsage | undefined)[]> {
    const server = own(startOpenAiServer());
    const choice = { index: 0, finish_reason: "stop" };
    const reply = (type: string, body: string) => ({ status: 200, headers: { "content-type": type }, body }) as const;
    const whole = { choices: [{ ...choice, message: { role: "assistant", content: "a" } }], usage: REPORT };
    const chunk = { choices: [{ ...choice, delta: { content: "a" } }], usage: REPORT };
    server.next(
      reply("application/json", JSON.stringify(whole)),
      reply("text/event-stream", `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`),
    );
    const provider = createOpenAiCompatible({ baseUrl: server.url, headers: {} });
    const plain = (await provider.complete(chatCall(request, { traits }))).usage;
    let streamed: ChatUsage | undefined;
    for await (const delta of provider.stream(chatCall({ ...request, stream: true }, { traits }))) {
      if (delta.usage !== undefined) streamed = delta.usage;
    }
    return [plain, streamed];
  }

  test.each<[string, object, readonly Trait[], "cacheWrite1h" | "cacheWrite5m"]>([
    ["an hour in a block", { messages: [text(HOUR)] }, ["cache_control"], "cacheWrite1h"],
    ["an hour in several", { tools: [tool(HOUR)], messages: [text(HOUR)] }, ["cache_control"], "cacheWrite1h"],
    ["an hour for the whole call", HOUR, ["cache_control"], "cacheWrite1h"],
    ["five minutes", { messages: [text(SHORT)] }, ["cache_control"], "cacheWrite5m"],
    ["nothing", {}, ["cache_control"], "cacheWrite5m"],
    ["an hour of a source that hears nothing of it", { messages: [text(HOUR)] }, [], "cacheWrite5m"],
  ])("determine the price of cache writes: %s", async (_name, request, traits, bucket) => {
    const expected = { ...NO_USAGE, input: 20, [bucket]: 80, output: 5 };
    expect(await usagesOf(request, ...traits)).toEqual([expected, expected]);
  });
});
