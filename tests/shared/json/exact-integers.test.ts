import { describe, expect, test } from "bun:test";

import { exactIntegersOf, stringifyExact, stringifyingExact } from "#shared/json/serialize.ts";
import { runWhole } from "#shared/base/time-slices.ts";

const copied = (text: string): string => stringifyExact(JSON.parse(text), exactIntegersOf(text));

describe("a JSON text that is parsed and written again", () => {
  test.each([
    '{"seed":9007199254740993}',
    '{"a":[18446744073709551615,-9223372036854775808,{"b":12345678901234567890123}]}',
    '{"small":1,"half":1.5,"large":1e+300,"seed":9223372036854775807}',
    '{"text":"9007199254740993","seed":-9007199254740993}',
  ])("keeps its integers: %s", (text) => {
    expect(copied(text)).toBe(text);
  });

  test("has none to keep if doubles can represent them", () => {
    expect(exactIntegersOf('{"a":9007199254740991,"b":"9007199254740993","c":1.2345678901234567}')).toBeUndefined();
  });

  test("keeps neither of two that parse as the same number, and all others", () => {
    const text = '{"a":9007199254740993,"b":9007199254740992,"c":9007199254740995}';
    expect(JSON.parse(copied(text))).toEqual(JSON.parse(text));
    expect(copied(text)).toContain("9007199254740995");
  });

  test("changes no number that was written another way", () => {
    for (const text of [
      '{"a":1e20,"b":100000000000000000001}',
      '{"a":100000000000000000001,"b":100000000000000000000.0}',
    ]) {
      expect(JSON.parse(copied(text))).toEqual(JSON.parse(text));
      expect(copied(text)).not.toContain("100000000000000000001");
    }
  });
});

describe("a JSON text that is written with pauses", () => {
  const INTEGERS = exactIntegersOf('{"seed":9007199254740993}');
  const NUMBERS = Array.from({ length: 5_000 }, (_, at) => at);

  test.each<[string, unknown]>([
    ["an object in lists", { seed: 9_007_199_254_740_992, a: [[{}, [], null, true, 'é\n"\u2028', 1.5], []] }],
    ["a name of its own", JSON.parse('{"__proto__":[1],"0":{"1":-0},"":""}')],
    ["members that are absent", { a: undefined, b: { c: undefined } }],
    ["long lists", [NUMBERS, [...NUMBERS, { a: NUMBERS }], [...NUMBERS, 9_007_199_254_740_992]]],
    ["no holder", "text"],
  ])("is the same text: %s", (_what, value) => {
    expect(runWhole(stringifyingExact(value, INTEGERS))).toBe(stringifyExact(value, INTEGERS));
    expect(runWhole(stringifyingExact(value, undefined))).toBe(JSON.stringify(value));
  });

  test("pauses in lists and between them", () => {
    let stops = 0;
    for (const _ of stringifyingExact({ input: [NUMBERS, NUMBERS] }, undefined)) stops += 1;
    expect(stops).toBeGreaterThan(9);
  });
});
