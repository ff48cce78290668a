/** Expressions of workflow definitions: what they give, what they may not say, and what they may not cost. */
import { describe, expect, test } from "bun:test";

import { LIMITS } from "#shared/limits.ts";
import type { Scope } from "#shared/workflows/expressions/scope.ts";
import { compileTemplate } from "#shared/workflows/expressions/template.ts";
import { seeded, testSeed } from "#tests/support/seed.ts";

const scope: Scope = {
  inputs: { topic: "Tea", n: 2, half: 0.5, list: [1, 2, 3], none: null, names: [{ name: "b" }, { name: "a" }] },
  steps: {
    art: { status: "succeeded", output: { data: [{ file_id: "file-1" }, { file_id: "file-2" }], text: 'say "hi"' } },
    skipped: { status: "skipped", output: null },
  },
  run: { id: "01a", attempt: 1 },
  item: { url: "https://example.org/" },
  index: 4,
};

/** Its value, or its fault. */
function resolved(text: string, of: Scope = scope): unknown {
  const template = compileTemplate(text);
  if (template === undefined) return text;
  if ("fault" in template) return `refused: ${template.fault}`;
  const result = template.resolve(of);
  return "fault" in result ? `fault: ${result.fault}` : result.value;
}

describe("a text with expressions", () => {
  test.each<[string, unknown]>([
    ["${{ inputs.n }}", 2],
    ["${{inputs.list}}", [1, 2, 3]],
    ["${{ steps.art.output.data[1].file_id }}", "file-2"],
    ["${{ item.url }}", "https://example.org/"],
    ["${{ index }}", 4],
    ["${{ run.attempt }}", 1],
    ["${{ inputs.none }}", null],
    ["${{ true }}", true],
    ["${{ null }}", null],
  ])("keeps the type of one that stands alone: %s", (text, value) => {
    expect(resolved(text)).toEqual(value);
  });

  test.each<[string, string]>([
    ["About ${{ inputs.topic }}, ${{ inputs.n }} times", "About Tea, 2 times"],
    ["List: ${{ inputs.list }}.", "List: [1,2,3]."],
    ["None: ${{ inputs.none }}.", "None: ."],
    [" ${{ inputs.n }}", " 2"],
    ["Cost: $${{ inputs.n }}", "Cost: ${{ inputs.n }}"],
    ["${{ 'a }} b' }}!", "a }} b!"],
    ["${{ {'a': {'b': 1}}.a.b }}.", "1."],
    ['${{ "\\"}}" }} ', '"}} '],
  ])("has their values inserted: %s", (text, value) => {
    expect(resolved(text)).toBe(value);
  });

  test("is left alone without one", () => {
    expect(compileTemplate("costs $5 {{ x }}")).toBeUndefined();
  });

  test("is refused where one is not closed", () => {
    expect(resolved("a ${{ inputs.n }")).toBe("refused: Expected }} behind ${{.");
  });
});

describe("a path", () => {
  test("reads null of a step that was skipped, whatever is asked of it", () => {
    expect(resolved("${{ steps.skipped.output.data[0].url }}")).toBeNull();
  });

  test.each<[string, string]>([
    ["${{ inputs.missing }}", "fault: inputs.missing is not there."],
    ["${{ steps.art.output.data[2] }}", "fault: steps.art.output.data[2] is not there."],
    ["${{ inputs.list.length }}", "fault: inputs.list.length is not there."],
    ["${{ inputs.topic[0] }}", "fault: inputs.topic[0] is not there."],
    ["${{ inputs.toString }}", "fault: inputs.toString is not there."],
    ["${{ inputs.constructor }}", "refused: Expected a path without constructor."],
    ["${{ steps.art.__proto__ }}", "refused: Expected a path without __proto__."],
    ["${{ inputs }}", "refused: Expected inputs to be followed by a name, as in inputs.name."],
    ["${{ steps[0] }}", "refused: Expected steps to be followed by a name, as in steps.name."],
    ["${{ process.env }}", "refused: Expected a path that begins with inputs, steps, run, item or index, got process."],
    [`\${{ item${".a".repeat(32)} }}`, "refused: Expected a path of at most 32 parts, got 33."],
  ])("is refused or fails by name: %s", (text, said) => {
    expect(resolved(text)).toBe(said);
  });
});

describe("an expression in CEL", () => {
  test.each<[string, unknown]>([
    ["${{ inputs.n > 1 && inputs.topic != '' }}", true],
    ["${{ inputs.n + 1 }}", 3],
    ["${{ inputs.n * inputs.half }}", 1],
    ["${{ 7 / 2 }}", 3],
    ["${{ inputs.n / 4 }}", 0.5],
    ["${{ size(inputs.list) == 3 ? 'three' : 'more' }}", "three"],
    ["${{ inputs.names.map(one, one.name) }}", ["b", "a"]],
    ["${{ inputs.list.filter(x, x > 1).map(y, y * 2) }}", [4, 6]],
    ["${{ has(inputs.missing) }}", false],
    ["${{ steps.skipped.output == null }}", true],
    ["${{ inputs['topic'].upperAscii() + '!' }}", "TEA!"],
    ["${{ {'a': inputs.n, 'b': [true, null]} }}", { a: 2, b: [true, null] }],
    ["${{ inputs.list[inputs.n] }}", 3],
  ])("gives values of JSON: %s", (text, value) => {
    expect(resolved(text)).toEqual(value);
  });

  test.each<[string, RegExp]>([
    ["${{ inputs.topic.matches('(a+)+$') }}", /^refused: Expected a function among .*, got matches\.$/],
    ["${{ inputs.list.map(x, inputs.list.map(y, x * y)) }}", /^refused: Expected no map\(\) within another/],
    [
      "${{ cel.bind(a, inputs.topic + inputs.topic, cel.bind(b, a + a, b)) }}",
      /^refused: Expected a function among .*, got bind\.$/,
    ],
    ["${{ duration('1111111111') }}", /got duration\.$/],
    ["${{ type(inputs.n) }}", /got type\.$/],
    ["${{ timestamp('2026-01-01T00:00:00Z') }}", /got timestamp\.$/],
    ["${{ bytes(inputs.topic).json() }}", /got (?:bytes|json)\.$/],
    [
      "${{ inputs.list.map(x, [x, x]).map(y, [y, y]) }}",
      /^refused: Expected map\(\) of a list that is named or written out/,
    ],
    ["${{ inputs.list.map(x, [x, x]).filter(y, true) }}", /^refused: Expected filter\(\) of a list/],
    ["${{ (inputs.list + inputs.list).map(x, x) }}", /^refused: Expected map\(\) of a list/],
    ["${{ inputs.topic.split('').map(x, x) }}", /^refused: Expected map\(\) of a list/],
    ["${{ inputs.names.map(steps, steps.a) }}", /^refused: Expected a variable of map\(\) other than/],
    ["${{ inputs.topic.split('').join(inputs.topic) }}", /^refused: Expected join\(\) with a text of at most 100/],
    [`\${{ ${"inputs.topic+".repeat(17)}'' }}`, /^refused: Expected at most 16 additions/],
    ["${{ [[[[[1]]]]] }}", /^refused: Expected lists and objects of at most 4 levels/],
    ["${{ {'__proto__': 1} }}", /^refused: Expected no key __proto__/],
    ["${{ inputs['constructor'] == 1 }}", /^refused: Expected a path without constructor/],
    ["${{ inputs.list.map(x, inputs) }}", /^refused: Expected inputs to be followed by a name/],
    ["${{ inputs.list.map(x, y) }}", /^refused: Expected a path that begins with .*, got y\.$/],
    ["${{ globalThis.process == null }}", /^refused: Expected a path that begins with .*, got globalThis\.$/],
    ["${{ 1 + 'a' }}", /^refused: Expected an expression in CEL: /],
    ["${{ inputs.n + }}", /^refused: Expected an expression in CEL: /],
    ["${{ }}", /^refused: Expected an expression in CEL: /],
  ])("is refused when the definition is written: %s", (text, said) => {
    expect(resolved(text)).toMatch(said);
  });

  test.each<[string, RegExp]>([
    ["${{ inputs.topic + inputs.n }}", /^fault: no such overload/],
    ["${{ 9007199254740993 }}", /^fault: Expected an expression to give integers below/],
    ["${{ 1.0 / 0.0 }}", /^fault: Expected an expression to give finite numbers/],
    ["${{ inputs.names.map(x, x.constructor) }}", /^fault: No such key: constructor/],
  ])("fails by name when it is run: %s", (text, said) => {
    expect(resolved(text)).toMatch(said);
  });

  test("is refused when it is too deep, of too many parts or too long", () => {
    expect(resolved(`\${{ ${"(".repeat(30)}1${")".repeat(30)} }}`)).toMatch(/^refused: .*depth/i);
    const sum = (count: number): string => `\${{ ${Array.from({ length: count }, () => "1").join("+")} }}`;
    expect(resolved(sum(201))).toMatch(/^refused: Expected an expression in CEL: /);
    const long = (length: number): string => `\${{'${"a".repeat(length - 2)}'}}`;
    expect(resolved(long(LIMITS.expressionCharsMax))).toHaveLength(LIMITS.expressionCharsMax - 2);
    expect(resolved(long(LIMITS.expressionCharsMax + 1))).toMatch(/^refused: Expected an expression of at most 2000/);
  });

  test("goes through a list of a thousand items, and not of one more", () => {
    const of = (length: number): Scope => ({ ...scope, inputs: { list: Array.from({ length }, () => 1) } });
    expect(resolved("${{ inputs.list.map(x, x + 1) }}", of(1_000))).toHaveLength(1_000);
    expect(resolved("${{ inputs.list.map(x, x + 1) }}", of(1_001))).toMatch(
      /^fault: Expected a list of at most 1000 items/,
    );
    // Without going through it, its length is of no account.
    expect(resolved("${{ size(inputs.list) }}", of(100_000))).toBe(100_000);
  });

  test("goes through a list beside small values alone", () => {
    const of = (length: number): Scope => ({ ...scope, inputs: { list: [1], text: "x".repeat(length) } });
    const many = (length: number): Scope => ({
      ...of(length),
      inputs: { ...of(length).inputs, list: Array.from({ length: 1_000 }, () => 1) },
    });
    expect(resolved("${{ inputs.list.map(x, inputs.text) }}", of(60_000))).toHaveLength(1);
    expect(resolved("${{ inputs.list.map(x, size(inputs.text)) }}", many(10_000))).toHaveLength(1_000);
    expect(resolved("${{ inputs.list.map(x, size(inputs.text)) }}", many(70_000))).toMatch(
      /^fault: Expected smaller values where an expression goes through a list/,
    );
  });

  test("reads no value of more than eight levels, which a plain path does", () => {
    const deep = (depth: number): Scope => ({
      ...scope,
      inputs: { deep: JSON.parse("[".repeat(depth) + "]".repeat(depth)) },
    });
    expect(resolved("${{ size(inputs.deep) }}", deep(8))).toBe(1);
    expect(resolved("${{ size(inputs.deep) }}", deep(9))).toMatch(/^fault: Expected values of at most 8 levels/);
    expect(resolved("${{ inputs.deep }}", deep(60))).toHaveLength(1);
  });

  test("gives no more than a megabyte", () => {
    const of: Scope = {
      ...scope,
      inputs: { text: "x".repeat(520_000), many: Array.from({ length: 600_000 }, () => 1) },
    };
    expect(resolved("${{ size(inputs.many) }}", of)).toMatch(/^fault: Expected values of at most 1048576 bytes in all/);
    expect(resolved("${{ inputs.text.split('') }}", of)).toBe(
      "fault: Expected an expression to give at most 1048576 bytes.",
    );
    expect(resolved("${{ inputs.text }}${{ inputs.text }}${{ inputs.text }}", of)).toBe(
      "fault: Expected a text of at most 1048576 characters.",
    );
  });
});

test("names what it reads, and what only looks like it is left out", () => {
  const template = compileTemplate(
    "${{ steps.a.output }} ${{ steps['b'].output.map(one, one.x + index) }} $${{ steps.c }}",
  );
  expect(template).toMatchObject({
    references: [{ root: "steps", name: "a" }, { root: "steps", name: "b" }, { root: "index" }],
  });
});

test("random texts are refused or resolved, and never throw", () => {
  const chance = seeded(testSeed("expressions"));
  const below = (count: number): number => Math.floor(chance() * count);
  const pieces = [
    ..."inputs.list inputs.n steps.art.output item index 'a' 1 2.5 null true x __proto__ constructor".split(" "),
    ..."[ ] ( ) { } : , + - * / % == < && || ? ! . \\ \" ' }} ${{".split(" "),
    ...".map(x, .filter(x, .size() has( cel.bind(x, .matches(".split(" "),
    " in ",
  ];
  for (let round = 0; round < 20_000; round += 1) {
    const text = Array.from({ length: 1 + below(14) }, () => pieces[below(pieces.length)]).join("");
    expect(resolved(`\${{ ${text} }}`)).toBeDefined();
  }
});
