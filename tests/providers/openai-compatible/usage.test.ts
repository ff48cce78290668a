import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { completionTokens, NO_USAGE, promptTokens, type TokenUsage } from "#shared/calls/pricing/usage.ts";
import { readOpenAiUsage } from "#workers/providers/openai-compatible/usage.ts";

type Expected = Partial<TokenUsage> | null | "impossible";

const TABLE: readonly [string, unknown, Expected][] = [
  // What providers send
  ["totals alone", { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }, { input: 5, output: 3 }],
  [
    "OpenAI's details",
    {
      prompt_tokens: 100,
      completion_tokens: 40,
      total_tokens: 140,
      prompt_tokens_details: { cached_tokens: 60, audio_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 30, audio_tokens: 4, accepted_prediction_tokens: 2 },
    },
    { input: 30, cachedInput: 60, audioInput: 10, output: 36, audioOutput: 4, reasoning: 30 },
  ],
  [
    "cache writes and pictures",
    {
      prompt_tokens: 100,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 30, image_tokens: 40 },
      completion_tokens_details: { image_tokens: 5 },
    },
    { input: 10, cachedInput: 20, cacheWrite5m: 30, imageInput: 40, output: 45, imageOutput: 5 },
  ],
  [
    "DeepSeek's cache hits",
    { prompt_tokens: 100, completion_tokens: 5, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 },
    { input: 36, cachedInput: 64, output: 5 },
  ],
  [
    "Groq's times beside the counts",
    { queue_time: 0.04, prompt_tokens: 210, prompt_time: 0.01, completion_tokens: 15, total_tokens: 225 },
    { input: 210, output: 15 },
  ],
  [
    "xAI's reasoning beside the completion, as its total tells",
    {
      prompt_tokens: 12,
      completion_tokens: 2,
      total_tokens: 334,
      prompt_tokens_details: { text_tokens: 12, cached_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 320 },
    },
    { input: 10, cachedInput: 2, output: 322, reasoning: 320 },
  ],
  [
    "the same with less reasoning than completion",
    {
      prompt_tokens: 10,
      completion_tokens: 50,
      total_tokens: 80,
      completion_tokens_details: { reasoning_tokens: 20 },
    },
    { input: 10, output: 70, reasoning: 20 },
  ],
  [
    "more reasoning than completion, without a total",
    { prompt_tokens: 10, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 8 } },
    { input: 10, output: 13, reasoning: 8 },
  ],
  ["null details", { prompt_tokens: 5, completion_tokens: 3, prompt_tokens_details: null }, { input: 5, output: 3 }],
  [
    "null inside details",
    { prompt_tokens: 5, completion_tokens: 3, prompt_tokens_details: { cached_tokens: null } },
    { input: 5, output: 3 },
  ],
  ["a prompt alone", { prompt_tokens: 5 }, { input: 5 }],
  ["a completion alone", { completion_tokens: 5 }, { output: 5 }],
  // Parts beyond their whole: the whole counts
  [
    "more cached than prompted",
    { prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 25 } },
    { cachedInput: 10, output: 1 },
  ],
  [
    "parts that together exceed the prompt",
    { prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 8, audio_tokens: 8 } },
    { cachedInput: 8, audioInput: 2, output: 1 },
  ],
  [
    "more audio than completion",
    { prompt_tokens: 1, completion_tokens: 10, completion_tokens_details: { audio_tokens: 25 } },
    { input: 1, audioOutput: 10 },
  ],
  // No report
  ["nothing", undefined, null],
  ["null", null, null],
  ["an empty object", {}, null],
  ["zeros", { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, null],
  // Reports that cannot be true
  ["a negative prompt", { prompt_tokens: -1, completion_tokens: 3 }, "impossible"],
  ["a negative completion", { prompt_tokens: 5, completion_tokens: -4 }, "impossible"],
  ["a negative detail", { prompt_tokens: 5, prompt_tokens_details: { cached_tokens: -1 } }, "impossible"],
  ["a fraction", { prompt_tokens: 5.5, completion_tokens: 3 }, "impossible"],
  ["a huge count", { prompt_tokens: 1e18, completion_tokens: 1 }, "impossible"],
  ["a huge detail", { prompt_tokens: 5, completion_tokens_details: { reasoning_tokens: 1e18 } }, "impossible"],
  ["NaN", { prompt_tokens: Number.NaN, completion_tokens: 1 }, "impossible"],
  ["infinity", { prompt_tokens: Infinity, completion_tokens: 1 }, "impossible"],
  ["text", { prompt_tokens: "NaN", completion_tokens: "3" }, "impossible"],
  ["a number as text", { prompt_tokens: "5", completion_tokens: 3 }, "impossible"],
  ["true", { prompt_tokens: true, completion_tokens: 3 }, "impossible"],
  ["a text as the report", "5 tokens", "impossible"],
  ["a number as the report", 5, "impossible"],
  ["false as the report", false, "impossible"],
  ["details that are no object", { prompt_tokens: 5, completion_tokens: 3, prompt_tokens_details: 7 }, { input: 5, output: 3 }], // prettier-ignore
];

describe("OpenAI's usage report", () => {
  test.each(TABLE)("%s", (_name, report, expected) => {
    const usage = readOpenAiUsage(report);
    if (expected === null || expected === "impossible") expect(usage).toBe(expected);
    else expect(usage).toEqual({ ...NO_USAGE, ...expected });
  });

  test("does not contain the lifetime of cache writes: the request does", () => {
    const report = { prompt_tokens: 100, completion_tokens: 1, prompt_tokens_details: { cache_write_tokens: 30 } };
    expect(readOpenAiUsage(report, true)).toEqual({ ...NO_USAGE, input: 70, cacheWrite1h: 30, output: 1 });
    expect(readOpenAiUsage(report, false)).toEqual({ ...NO_USAGE, input: 70, cacheWrite5m: 30, output: 1 });
  });

  test("buckets are integers, not negative, and add up to the totals for any report", () => {
    const tokens = fc.nat({ max: 1_000_000 });
    const report = fc.record(
      {
        prompt_tokens: tokens,
        completion_tokens: tokens,
        total_tokens: tokens,
        prompt_tokens_details: fc.record(
          { cached_tokens: tokens, cache_write_tokens: tokens, audio_tokens: tokens, image_tokens: tokens },
          { requiredKeys: [] },
        ),
        completion_tokens_details: fc.record(
          { reasoning_tokens: tokens, audio_tokens: tokens, image_tokens: tokens },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: ["prompt_tokens", "completion_tokens"] },
    );
    fc.assert(
      fc.property(report, (value) => {
        const usage = readOpenAiUsage(value);
        if (usage === null) return;
        if (usage === "impossible") throw new Error("every number was possible");
        for (const count of Object.values(usage)) {
          if (typeof count === "number") expect(Number.isInteger(count) && count >= 0).toBe(true);
        }
        expect(promptTokens(usage)).toBe(value.prompt_tokens);
        const beside = completionTokens(usage) - value.completion_tokens;
        expect([0, usage.reasoning]).toContain(beside);
      }),
    );
  });

  test("never throws, for any input", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        readOpenAiUsage(value);
        readOpenAiUsage({ prompt_tokens: value, completion_tokens: 1, prompt_tokens_details: value });
      }),
    );
  });
});
