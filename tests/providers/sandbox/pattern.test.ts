import { expect, test } from "bun:test";
import fc from "fast-check";

import { createPatternReader, type Pattern } from "#workers/providers/sandbox/pattern.ts";
import { createRandom } from "#workers/providers/sandbox/random.ts";

/** Each with as much work as one document has. */
const readPattern = (source: string): Pattern | null => createPatternReader({ remaining: 500_000 })(source);
const ATOMS = ["a", "b", "[ab]", "[^a]", ".", "\\d", "\\w", "\\s", "[0-9-]", "(?:ab)", "(a|b1)", "\\.", "[\\]x]", "\\u0061", "(?!b)a"]; // prettier-ignore
const piece = fc
  .tuple(fc.constantFrom(...ATOMS), fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?"))
  .map(([atom, count]) => (atom.startsWith("(?!") ? atom : atom + count));
const pattern = fc
  .tuple(fc.array(piece, { maxLength: 5 }), fc.array(piece, { maxLength: 3 }), fc.boolean(), fc.boolean(), fc.boolean())
  .map(([first, second, hasSecond, isStart, isEnd]) => {
    const body = hasSecond ? `(?:${first.join("")}|${second.join("")})` : first.join("");
    return `${isStart ? "^" : ""}${body}${isEnd ? "$" : ""}`;
  });
const CHARACTERS = ["a", "b", "1", "-", ".", " ", "\n", "]", "x", "é", "👋"];

test("agrees with JavaScript's own patterns on matches", () => {
  const text = fc.string({ unit: fc.constantFrom(...CHARACTERS), maxLength: 8 });
  const agrees = (source: string, one: string): void =>
    expect(readPattern(source)?.matches(one)).toBe(new RegExp(source, "u").test(one));
  fc.assert(fc.property(pattern, text, agrees), { numRuns: 2_000 });
});

test("writes texts that match, within the requested length", () => {
  fc.assert(
    fc.property(pattern, fc.nat(1_000), fc.nat(6), fc.nat(40), (source, seed, least, more) => {
      const text = readPattern(source)?.sample(createRandom(seed), least, least + more);
      if (typeof text !== "string") return;
      expect(text).toMatch(new RegExp(source, "u"));
      expect(Array.from(text).length).toBeWithin(least, least + more + 1);
    }),
    { numRuns: 500 },
  );
});

test.each(["(a", "[a-", "a**", "\\p{constructor}", "x".repeat(1_001)])("does not read %j", (source) => {
  expect(readPattern(source)).toBeNull();
});

test.each(["(b)\\1", "(?<=b)a"])("rejects nothing if it cannot decide: %s", (source) => {
  expect(readPattern(source)?.matches("b")).toBeTrue();
});

test("ends on patterns that keep a backtracking engine busy without end", () => {
  const text = `${"a".repeat(2_000)}!`;
  expect(readPattern("^(a+)+$")?.matches(text)).toBeBoolean();
  expect(readPattern("^(a|a?)+$")?.matches(text)).toBeBoolean();
  expect(readPattern("((((a*)*)*)*)*b")?.sample(createRandom(1), 0, 40)).toEndWith("b");
});
