/** Comments are written in the field's terms. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "bun:test";

import { commentsOf, strangeSentences } from "#tests/support/comments.ts";

const ROOT = join(import.meta.dir, "..");
const SOURCES = new Bun.Glob("{schemas,shared,ingress,workers,deploy}/**/*.{ts,mjs}");
const GENERATED = "schemas/generated/";

describe("comments", () => {
  test("name their subject and use the field's terms", () => {
    const strange: string[] = [];
    for (const file of SOURCES.scanSync({ cwd: ROOT })) {
      if (file.startsWith(GENERATED)) continue;
      for (const { at, text } of commentsOf(file, readFileSync(join(ROOT, file), "utf8"))) {
        strange.push(...strangeSentences(text).map((sentence) => `${at} ${sentence}`));
      }
    }
    expect(strange).toEqual([]);
  });

  test.each([
    "Those of the queued that are not due yet.",
    "Whoever leaves ends it.",
    "The others are told of it.",
    "Best effort. Nobody waits for it.",
  ])("are refused: %s", (text) => {
    expect(strangeSentences(text)).toHaveLength(1);
  });

  test("may quote such words", () => {
    expect(strangeSentences('Returns the column `told` of an answer that says "nobody".')).toEqual([]);
  });

  test("are found with their line", () => {
    const source = "const a = 1;\n/**\n * One.\n */\n// Two\n// lines.\nconst b = '// none';\n";
    expect(commentsOf("a.ts", source)).toEqual([
      { at: "a.ts:2", text: "One." },
      { at: "a.ts:5", text: "Two lines." },
    ]);
  });
});
