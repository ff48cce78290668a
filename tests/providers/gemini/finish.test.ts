import { describe, expect, test } from "bun:test";

import { finishReason } from "#workers/providers/gemini/finish.ts";

describe("Gemini's finish reason", () => {
  test.each<[unknown, ReturnType<typeof finishReason>]>([
    ["STOP", "stop"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "content_filter"],
    ["RECITATION", "content_filter"],
    ["LANGUAGE", "content_filter"],
    ["BLOCKLIST", "content_filter"],
    ["PROHIBITED_CONTENT", "content_filter"],
    ["SPII", "content_filter"],
    ["IMAGE_SAFETY", "content_filter"],
    ["IMAGE_PROHIBITED_CONTENT", "content_filter"],
    ["IMAGE_RECITATION", "content_filter"],
    ["MODEL_ARMOR", "content_filter"],
    // It has not stopped yet
    ["FINISH_REASON_UNSPECIFIED", undefined],
    ["", undefined],
    [null, undefined],
    [undefined, undefined],
  ])("%s becomes %s", (word, expected) => {
    expect(finishReason({ finishReason: word })).toBe(expected);
  });

  test.each([
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
    "MALFORMED_RESPONSE",
    "OTHER",
    "IMAGE_OTHER",
    "NO_IMAGE",
    "A_WORD_OF_TOMORROW",
  ])("%s fails", (word) => {
    const stop = { finishReason: word, finishMessage: "why" };
    expect(() => finishReason(stop)).toThrow(
      expect.objectContaining({ kind: "failed", detail: expect.stringContaining(word) }),
    );
  });
});
