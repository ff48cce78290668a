import { describe, expect, test } from "bun:test";

import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import { validate } from "#shared/json/contracts.ts";
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { createRendering } from "#workers/calls/chat/render.ts";
import { inOldForm, usesFunctions, withTools } from "#workers/calls/chat/legacy-functions.ts";

const request = (members: object): ChatCompletionRequest => ({
  model: "m",
  messages: [{ role: "user", content: "Hi" }],
  ...members,
});
const weather = { name: "get_weather", parameters: { type: "object", properties: {} } };

describe("functions of a request", () => {
  test.each<[unknown, unknown]>([
    [undefined, undefined],
    ["auto", "auto"],
    ["none", "none"],
    [{ name: "get_weather" }, { type: "function", function: { name: "get_weather" } }],
  ])("become tools, one call at a time, and function_call %j the choice among them", (function_call, tool_choice) => {
    const asked = request({ functions: [weather], ...(function_call === undefined ? {} : { function_call }) });
    expect(usesFunctions(asked)).toBe(true);
    const read: unknown = withTools(asked);
    expect(read).toEqual({
      ...request({}),
      tools: [{ type: "function", function: weather }],
      ...(tool_choice === undefined ? {} : { tool_choice }),
      parallel_tool_calls: false,
    });
    expect(validate("ChatCompletionRequest", read)).toBeNull();
  });

  test("in earlier turns become calls and their results", () => {
    const call = { name: "get_weather", arguments: '{"city":"Paris"}' };
    const messages = [
      { role: "user", content: "Weather?" },
      { role: "assistant", content: null, function_call: call },
      { role: "function", name: "get_weather", content: "18 degrees" },
    ];
    const read = withTools(request({ messages }));
    expect(read.messages as unknown).toEqual([
      messages[0],
      { role: "assistant", content: null, tool_calls: [{ id: "call_1", type: "function", function: call }] },
      { role: "tool", tool_call_id: "call_1", content: "18 degrees" },
    ]);
    expect(validate("ChatCompletionRequest", read)).toBeNull();
  });

  test("are ignored beside tools or if empty", () => {
    for (const asked of [request({}), request({ tools: [{ type: "function", function: weather }] })]) {
      expect(withTools(asked)).toBe(asked);
      expect(usesFunctions(asked)).toBe(false);
    }
  });
});

describe("an answer to functions", () => {
  const rendering = inOldForm(
    createRendering({ jobId: "0199a5b2-7e1d-7000-8000-00000000000a", model: "m", createdS: 1, includeUsage: false }),
  );
  const call = { id: "call_1", type: "function", function: { name: "get_weather", arguments: "{}" } };

  test("has its first call as function_call", () => {
    const message = { role: "assistant", content: null, tool_calls: [call, { ...call, id: "call_2" }] };
    const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
    const told: unknown = JSON.parse(rendering.completion({ choices, usage: null }, NO_USAGE));
    expect(validate("ChatCompletion", told)).toBeNull();
    expect(told).toMatchObject({
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: null, function_call: call.function },
          finish_reason: "function_call",
        },
      ],
    });
    expect(JSON.stringify(told)).not.toContain("tool_calls");
  });

  test("streams the pieces of its first call only", () => {
    const piece = (index: number, text: string) => ({
      choices: [{ index: 0, delta: { tool_calls: [{ index, function: { arguments: text } }] }, finish_reason: null }],
    });
    const read = (text: string) => JSON.parse(text.slice("data: ".length)) as { choices: unknown[] };
    expect(read(rendering.chunk(piece(0, "{}"))).choices).toEqual([
      { index: 0, delta: { function_call: { arguments: "{}" } }, finish_reason: null },
    ]);
    expect(read(rendering.chunk(piece(1, "{}"))).choices).toEqual([{ index: 0, delta: {}, finish_reason: null }]);
  });
});
