import { describe, expect, test } from "bun:test";

import { NO_USAGE, promptTokens, type TokenUsage } from "#shared/calls/pricing/usage.ts";
import { readAnthropicUsage } from "#workers/providers/anthropic/usage.ts";

const usageOf = (usage: Partial<TokenUsage>): TokenUsage => ({ ...NO_USAGE, ...usage });
const split = (minutes: number, hour: number) => ({
  cache_creation: { ephemeral_5m_input_tokens: minutes, ephemeral_1h_input_tokens: hour },
});
const iteration = (type: string, input: number, output: number, more: object = {}) => ({
  type,
  input_tokens: input,
  output_tokens: output,
  ...more,
});

describe("a report", () => {
  test.each<[string, object, Partial<TokenUsage>]>([
    ["plain", { input_tokens: 5, output_tokens: 7 }, { input: 5, output: 7 }],
    ["with nulls", { input_tokens: 5, output_tokens: 7, cache_read_input_tokens: null }, { input: 5, output: 7 }],
    [
      "cached input stands beside input",
      { input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 7 },
      { input: 5, cachedInput: 100, output: 7 },
    ],
    [
      "writes without a split live five minutes",
      { input_tokens: 5, cache_creation_input_tokens: 30, output_tokens: 7 },
      { input: 5, cacheWrite5m: 30, output: 7 },
    ],
    [
      "writes of both lifetimes",
      { input_tokens: 5, cache_creation_input_tokens: 30, ...split(10, 20), output_tokens: 7 },
      { input: 5, cacheWrite5m: 10, cacheWrite1h: 20, output: 7 },
    ],
    [
      "a split without its total",
      { input_tokens: 5, ...split(10, 20), output_tokens: 7 },
      { input: 5, cacheWrite5m: 10, cacheWrite1h: 20, output: 7 },
    ],
    [
      "a split beyond its total",
      { input_tokens: 5, cache_creation_input_tokens: 15, ...split(10, 20), output_tokens: 7 },
      { input: 5, cacheWrite1h: 15, output: 7 },
    ],
    [
      "thinking is part of the output, and never more",
      { input_tokens: 5, output_tokens: 7, output_tokens_details: { thinking_tokens: 9 } },
      { input: 5, output: 7, reasoning: 7 },
    ],
    [
      "compaction is added, an adviser is not",
      {
        input_tokens: 5,
        output_tokens: 7,
        iterations: [iteration("compaction", 100, 20), iteration("message", 5, 7), iteration("advisor_message", 1, 1)],
      },
      { input: 105, output: 27 },
    ],
    [
      "parts have their own cache",
      {
        input_tokens: 5,
        output_tokens: 7,
        ...split(0, 8),
        iterations: [
          iteration("compaction", 100, 20, { cache_read_input_tokens: 50 }),
          iteration("message", 5, 7, { cache_creation_input_tokens: 8 }),
        ],
      },
      { input: 105, cachedInput: 50, cacheWrite1h: 8, output: 27 },
    ],
    [
      "after a fallback the totals are those of the model that answered",
      {
        input_tokens: 5,
        output_tokens: 7,
        iterations: [iteration("message", 4, 0), iteration("fallback_message", 5, 7)],
      },
      { input: 5, output: 7 },
    ],
    ["no iterations", { input_tokens: 5, output_tokens: 7, iterations: [] }, { input: 5, output: 7 }],
  ])("%s", (_name, report, usage) => {
    expect(readAnthropicUsage(report)).toEqual(usageOf(usage));
  });

  test.each<[string, unknown]>([
    ["absent", undefined],
    ["null", null],
    ["empty", {}],
    ["of zeros", { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }],
  ])("that is empty: %s", (_name, report) => {
    expect(readAnthropicUsage(report)).toBeNull();
  });

  test.each<[string, unknown]>([
    ["a text", "12"],
    ["a list", [1]],
    ["negative", { input_tokens: 5, output_tokens: -1 }],
    ["fractional", { input_tokens: 5.5, output_tokens: 1 }],
    ["huge", { input_tokens: 5, output_tokens: 1e9 }],
    ["a text as count", { input_tokens: "5", output_tokens: 1 }],
    ["a negative cache read", { input_tokens: 5, output_tokens: 1, cache_read_input_tokens: -1 }],
    ["a negative cache write", { input_tokens: 5, output_tokens: 1, cache_creation_input_tokens: -1 }],
    ["a negative split", { input_tokens: 5, output_tokens: 1, ...split(-5, 5) }],
    ["negative thinking", { input_tokens: 5, output_tokens: 1, output_tokens_details: { thinking_tokens: -1 } }],
    ["a negative part", { input_tokens: 5, output_tokens: 1, iterations: [iteration("message", -5, 1)] }],
  ])("that is impossible: %s", (_name, report) => {
    expect(readAnthropicUsage(report)).toBe("impossible");
  });
});

describe("a later report of a stream", () => {
  const first = { input_tokens: 43, cache_creation_input_tokens: 30, ...split(10, 20), output_tokens: 1 };

  test("replaces the first, which completes it", () => {
    expect(readAnthropicUsage({ input_tokens: 61, output_tokens: 2 }, first)).toEqual(
      usageOf({ input: 61, cacheWrite5m: 10, cacheWrite1h: 20, output: 2 }),
    );
    expect(readAnthropicUsage({ input_tokens: null, output_tokens: 2 }, first)).toMatchObject({ input: 43, output: 2 });
    expect(readAnthropicUsage({ output_tokens: 2 }, "odd")).toEqual(usageOf({ output: 2 }));
  });

  test("with more cache writes keeps the first report's lifetimes", () => {
    const more = { input_tokens: 43, cache_creation_input_tokens: 50, output_tokens: 2 };
    expect(readAnthropicUsage(more, first)).toMatchObject({ cacheWrite5m: 30, cacheWrite1h: 20 });
    const hourly = { ...first, ...split(0, 30) };
    expect(readAnthropicUsage(more, hourly)).toMatchObject({ cacheWrite5m: 0, cacheWrite1h: 50 });
  });

  test("contains the whole prompt for clients", () => {
    const usage = readAnthropicUsage({ cache_read_input_tokens: 7, output_tokens: 2 }, first);
    expect(promptTokens(usage as TokenUsage)).toBe(43 + 30 + 7);
  });
});
