import { expect, test } from "bun:test";
import fc from "fast-check";

import { readPattern } from "#workers/providers/sandbox/pattern.ts";
import { createRandom } from "#workers/providers/sandbox/random.ts";

const atom = fc.constantFrom(
  "a",
  "b",
  "[ab]",
  "[^a]",
  ".",
  "\\d",
  "\\w",
  "\\s",
  "[0-9-]",
  "(?:ab)",
  "(a|b1)",
  "\\.",
  "[\\]x]",
  "\\u0061",
  "",
);
const piece = fc
  .tuple(atom, fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?"))
  .map(([one, count]) => (one === "" ? "" : one + count));
const pattern = fc
  .tuple(fc.array(piece, { maxLength: 5 }), fc.array(piece, { maxLength: 3 }), fc.boolean(), fc.boolean(), fc.boolean())
  .map(([first, second, hasSecond, isStart, isEnd]) => {
    const body = hasSecond ? `(?:${first.join("")}|${second.join("")})` : first.join("");
    return `${isStart ? "^" : ""}${body}${isEnd ? "$" : ""}`;
  });

test("agrees with the language's own patterns on what matches", () => {
  fc.assert(
    fc.property(
      pattern,
      fc.string({ unit: fc.constantFrom("a", "b", "1", "-", ".", " ", "\n", "]", "x", "é", "👋"), maxLength: 8 }),
      (source, text) => {
        expect(readPattern(source)?.matches(text)).toBe(new RegExp(source, "u").test(text));
      },
    ),
    { numRuns: 3_000 },
  );
});

test("writes texts that match, within the length asked for", () => {
  fc.assert(
    fc.property(pattern, fc.nat(1_000), fc.nat(6), fc.nat(40), (source, seed, least, more) => {
      const text = readPattern(source)?.sample(createRandom(seed), least, least + more);
      if (typeof text !== "string") return;
      expect(text).toMatch(new RegExp(source, "u"));
      expect(text.length).toBeGreaterThanOrEqual(least);
      expect(text.length).toBeLessThanOrEqual(least + more);
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  "(?=a)b",
  "(?<!a)b",
  "\\bword",
  "(a)\\1",
  "[a-",
  "(a",
  "a**",
  "\\p{Script=Greek}",
  "\\p{constructor}",
  "x{5000}",
  "(((a{999}){999}){999})",
])("leaves %j alone", (source) => {
  expect(readPattern(source)).toBeNull();
});

test("ends on patterns that keep a backtracking engine busy for ever", () => {
  const text = `${"a".repeat(5_000)}!`;
  expect(readPattern("^(a+)+$")?.matches(text)).toBe(false);
  expect(readPattern("^(a|a?)+$")?.matches(text)).toBe(false);
  expect(readPattern("((((a*)*)*)*)*b")?.sample(createRandom(1), 0, 40)).toEndWith("b");
});
