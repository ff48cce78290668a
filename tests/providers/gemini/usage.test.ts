import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { completionTokens, NO_USAGE, promptTokens, type TokenUsage } from "#shared/calls/pricing/usage.ts";
import { readUsage } from "#workers/providers/gemini/usage.ts";

type Expected = Partial<TokenUsage> | null | "impossible";

const split = (modality: string, tokenCount: unknown) => ({ modality, tokenCount });

const TABLE: readonly [string, unknown, Expected][] = [
  // What Google sends
  ["totals alone", { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 }, { input: 5, output: 3 }],
  [
    "thoughts beside the candidates",
    { promptTokenCount: 9, candidatesTokenCount: 29, thoughtsTokenCount: 282, totalTokenCount: 320 },
    { input: 9, output: 311, reasoning: 282 },
  ],
  [
    "thoughts alone",
    { promptTokenCount: 9, thoughtsTokenCount: 7, totalTokenCount: 16 },
    { input: 9, output: 7, reasoning: 7 },
  ],
  [
    "cached tokens within the prompt",
    { promptTokenCount: 100, cachedContentTokenCount: 64, candidatesTokenCount: 1 },
    { input: 36, cachedInput: 64, output: 1 },
  ],
  [
    "modalities, those of the cache apart",
    {
      promptTokenCount: 100,
      candidatesTokenCount: 10,
      cachedContentTokenCount: 30,
      promptTokensDetails: [split("TEXT", 20), split("IMAGE", 40), split("AUDIO", 40)],
      cacheTokensDetails: [split("AUDIO", 30)],
      candidatesTokensDetails: [split("TEXT", 4), split("IMAGE", 5), split("AUDIO", 1)],
    },
    { input: 20, cachedInput: 30, imageInput: 40, audioInput: 10, output: 4, imageOutput: 5, audioOutput: 1 },
  ],
  [
    "video and documents, which cost what text does",
    { promptTokenCount: 50, promptTokensDetails: [split("VIDEO", 30), split("DOCUMENT", 20)] },
    { input: 50 },
  ],
  [
    "prompts of built-in tools",
    { promptTokenCount: 5, toolUsePromptTokenCount: 4, candidatesTokenCount: 1 },
    { input: 9, output: 1 },
  ],
  [
    "thoughts within the candidates, as the total tells",
    { promptTokenCount: 10, candidatesTokenCount: 50, thoughtsTokenCount: 20, totalTokenCount: 60 },
    { input: 10, output: 50, reasoning: 20 },
  ],
  ["a prompt alone", { promptTokenCount: 5 }, { input: 5 }],
  // Parts beyond their whole: the whole counts
  ["more cached than prompted", { promptTokenCount: 10, cachedContentTokenCount: 25 }, { cachedInput: 10 }],
  [
    "a cached modality larger than it was",
    { promptTokenCount: 10, promptTokensDetails: [split("AUDIO", 2)], cacheTokensDetails: [split("AUDIO", 5)] },
    { input: 10 },
  ],
  [
    "more pictures than prompt",
    { promptTokenCount: 10, promptTokensDetails: [split("IMAGE", 99)] },
    { imageInput: 10 },
  ],
  // No report
  ["nothing", undefined, null],
  ["null", null, null],
  ["an empty object", {}, null],
  ["kind of traffic alone", { trafficType: "ON_DEMAND" }, null],
  ["zeros", { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 }, null],
  // Reports that cannot be true
  ["a negative prompt", { promptTokenCount: -1, candidatesTokenCount: 3 }, "impossible"],
  ["negative candidates", { promptTokenCount: 5, candidatesTokenCount: -3 }, "impossible"],
  ["negative thoughts", { promptTokenCount: 5, thoughtsTokenCount: -3 }, "impossible"],
  ["a negative detail", { promptTokenCount: 5, promptTokensDetails: [split("AUDIO", -1)] }, "impossible"],
  ["a fraction", { promptTokenCount: 5.5 }, "impossible"],
  ["a huge count", { promptTokenCount: 1e18 }, "impossible"],
  ["a huge total", { promptTokenCount: 5, totalTokenCount: 1e18 }, "impossible"],
  ["a number as text", { promptTokenCount: "5" }, "impossible"],
  ["a text as the report", "5 tokens", "impossible"],
  ["a list as the report", [], "impossible"],
  [
    "details that are none",
    { promptTokenCount: 5, promptTokensDetails: 7, cacheTokensDetails: [null, 7, "x"] },
    { input: 5 },
  ],
];

describe("Gemini's usage report", () => {
  test.each(TABLE)("%s", (_name, report, expected) => {
    const usage = readUsage(report);
    if (expected === null || expected === "impossible") expect(usage).toBe(expected);
    else expect(usage).toEqual({ ...NO_USAGE, ...expected });
  });

  test("buckets are integers, not negative, and add up to the totals for any report", () => {
    const tokens = fc.nat({ max: 1_000_000 });
    const details = fc.array(
      fc.record({ modality: fc.constantFrom("TEXT", "IMAGE", "AUDIO", "VIDEO"), tokenCount: tokens }),
      { maxLength: 4 },
    );
    const report = fc.record(
      {
        promptTokenCount: tokens,
        candidatesTokenCount: tokens,
        thoughtsTokenCount: tokens,
        cachedContentTokenCount: tokens,
        promptTokensDetails: details,
        cacheTokensDetails: details,
        candidatesTokensDetails: details,
      },
      { requiredKeys: ["promptTokenCount", "candidatesTokenCount"] },
    );
    fc.assert(
      fc.property(report, (value) => {
        const usage = readUsage(value);
        if (usage === null) return;
        if (usage === "impossible") throw new Error("every number was possible");
        for (const count of Object.values(usage)) {
          if (typeof count === "number") expect(Number.isInteger(count) && count >= 0).toBe(true);
        }
        expect(promptTokens(usage)).toBe(value.promptTokenCount);
        expect(completionTokens(usage)).toBe(value.candidatesTokenCount + (value.thoughtsTokenCount ?? 0));
      }),
    );
  });

  test("never throws, for any input", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        readUsage(value);
        readUsage({ promptTokenCount: value, promptTokensDetails: value, cacheTokensDetails: [value] });
      }),
    );
  });
});
