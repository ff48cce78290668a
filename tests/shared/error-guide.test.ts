import { describe, expect, test } from "bun:test";

import { ERROR_GUIDE } from "#shared/error-guide.ts";

const WORDS_MAX = 25;

describe("cause and fix of an error code", () => {
  test.each(Object.entries(ERROR_GUIDE))("%s: whole sentences of at most 25 words", (_code, { cause, fix }) => {
    for (const text of [cause, fix]) {
      expect(text).toMatch(/^[A-Z`][^]*\.$/);
      const sentences = text.split(/(?<=[.:])\s+(?=[A-Z`])/);
      expect(sentences.filter((sentence) => sentence.split(/\s+/).length > WORDS_MAX)).toEqual([]);
    }
  });
});
