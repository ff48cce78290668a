/** Expressions of workflow definitions: what they give, what they may not say, and what they may not cost. */
import { describe, expect, test } from "bun:test";

import type { Scope } from "#shared/workflows/expressions/scope.ts";
import { compileTemplate, EXPRESSION_CHARS_MAX } from "#shared/workflows/expressions/template.ts";
import { seeded, testSeed } from "#tests/support/seed.ts";
import { EXPRESSION_VALUE_BYTES_MAX } from "#shared/workflows/expressions/work.ts";

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

const TOO_MUCH = /^fault: (The expression is too expensive|Expected an expression to return at most)/;

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
  ])("keeps the type of a single expression: %s", (text, value) => {
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

  test("is unchanged without an expression", () => {
    expect(compileTemplate("costs $5 {{ x }}")).toBeUndefined();
  });

  test("is rejected if an expression is not closed", () => {
    expect(resolved("a ${{ inputs.n }")).toBe("refused: Expected }} after ${{.");
  });
});

describe("a path", () => {
  test("reads null of a skipped step, for any member", () => {
    expect(resolved("${{ steps.skipped.output.data[0].url }}")).toBeNull();
  });

  test.each<[string, string]>([
    ["${{ inputs.missing }}", "fault: inputs.missing does not exist."],
    ["${{ steps.art.output.data[2] }}", "fault: steps.art.output.data[2] does not exist."],
    ["${{ inputs.list.length }}", "fault: inputs.list.length does not exist."],
    ["${{ inputs.topic[0] }}", "fault: inputs.topic[0] does not exist."],
    ["${{ inputs.toString }}", "fault: inputs.toString does not exist."],
    ["${{ inputs.constructor }}", "refused: Expected a path without constructor."],
    ["${{ steps.art.__proto__ }}", "refused: Expected a path without __proto__."],
    ["${{ inputs }}", "refused: Expected inputs to be followed by a name, as in inputs.name."],
    ["${{ steps[0] }}", "refused: Expected steps to be followed by a name, as in steps.name."],
    ["${{ process.env }}", "refused: Expected a path that begins with inputs, steps, run, item or index, got process."],
    [`\${{ item${".a".repeat(32)} }}`, "refused: Expected a path of at most 32 parts, got 33."],
  ])("is rejected or fails by name: %s", (text, said) => {
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
    ["${{ (inputs.n + 0.5) % inputs.n }}", 0.5],
    ["${{ size(inputs.list) == 3 ? 'three' : 'more' }}", "three"],
    ["${{ inputs.names.map(one, one.name) }}", ["b", "a"]],
    ["${{ inputs.list.filter(x, x > 1).map(y, y * 2) }}", [4, 6]],
    ["${{ inputs.list.map(x, x > 1, inputs.list.map(y, x * y)) }}", [[2, 4, 6], [3, 6, 9]]], // prettier-ignore
    ["${{ inputs.list.all(x, x > 0) && inputs.list.exists(x, x == 2) && inputs.list.exists_one(x, x > 2) }}", true],
    ["${{ inputs.names[0].exists(key, key == 'name') }}", true],
    ["${{ has(inputs.missing) || has(steps.skipped.output.text) }}", false],
    ["${{ inputs.missing || true }}", true],
    ["${{ steps.skipped.output == null }}", true],
    ["${{ steps.skipped.output.data[0].url == null }}", true],
    ["${{ inputs['topic'].upperAscii() + '!' }}", "TEA!"],
    ["${{ ' a,b '.trim().split(',').join('-') + 'xyz'.substring(1, 2) }}", "a-by"],
    ["${{ [int('7'), int(2.9), double('1.5'), string(1), string(inputs.half), bool('true')] }}", [7, 2, 1.5, "1", "0.5", true]], // prettier-ignore
    ["${{ ['tea'.contains('e'), 'tea'.startsWith('t'), 'tea'.endsWith('t'), 'tea'.indexOf('a') == 2, 'tat'.lastIndexOf('t') == 2] }}", [true, true, false, true, true]], // prettier-ignore
    ["${{ cel.bind(a, inputs.n + 1, a * a) }}", 9],
    ["${{ inputs.n in [1, 2.0] && 'name' in inputs.names[0] && !('b' in ['a']) }}", true],
    ["${{ {'a': inputs.n, 'b': [true, null]} }}", { a: 2, b: [true, null] }],
    ["${{ {'a': [1, inputs.n]} == {'a': [1.0, 2]} }}", true],
    ["${{ [9007199254740993 == 9007199254740992.0, 3 == inputs.list[2], 1 == 1.5] }}", [false, true, false]],
    ["${{ inputs.list[inputs.n] }}", 3],
    ["${{ -inputs.n <= -2 && 'a' < 'b' }}", true],
  ])("gives values of JSON: %s", (text, value) => {
    expect(resolved(text)).toEqual(value);
  });

  test.each<[string, RegExp]>([
    [
      "${{ inputs.topic.matches('(a+)+$') }}",
      /^refused: Expected one of size, contains, .*cel\.bind, got \.matches\(\)/,
    ],
    ["${{ duration(inputs.topic) == null }}", /^refused: Expected one of has, size, int, .*, got duration\(\)/],
    ["${{ inputs.topic.getHours('UTC') }}", /^refused: .* got \.getHours\(\)/],
    ["${{ bytes(inputs.topic).json() }}", /^refused: .* got bytes\(\)/],
    ["${{ type(inputs.n) }}", /^refused: .* got type\(\)/],
    ["${{ inputs.topic.bind(a, 1, a) }}", /^refused: .* got \.bind\(\)/],
    ["${{ inputs.topic.contains() }}", /^refused: Expected \.contains\(\) with 1 arguments, got 0/],
    ["${{ inputs.list.map(x, inputs) }}", /^refused: Expected inputs to be followed by a name/],
    ["${{ inputs.list.map(x, y) }}", /^refused: Expected a name that begins with .*, got y\.$/],
    ["${{ cel.bind(x, x, 1) }}", /^refused: Expected a name that begins with .*, got x\.$/],
    ["${{ inputs.list.map(inputs, 1) }}", /^refused: Expected a name other than inputs, /],
    ["${{ cel.bind(steps, {'a': 1}, steps.a) }}", /^refused: Expected a name other than inputs, /],
    ["${{ globalThis.process == null }}", /^refused: Expected a name that begins with .*, got globalThis\.$/],
    ["${{ {'__proto__': inputs.n} }}", /^refused: Expected no member named __proto__/],
    ["${{ {1: inputs.n} }}", /^refused: Expected the names of members to be text/],
    ["${{ b'a' }}", /^refused: .* got bytes/],
    ["${{ 1 + 'a' }}", /^refused: Expected two numbers, texts or lists for \+, got a number and text/],
    ["${{ 9007199254740993 }}", /^refused: Expected an expression to return integers below/],
    ["${{ 9223372036854775807 + 1 }}", /^refused: Expected integers of 64 bits/],
    ["${{ 1.0 / 0.0 }}", /^refused: Expected an expression to return finite numbers/],
    ["${{ inputs.n + }}", /^refused: Expected an expression in CEL: /],
    ["${{ }}", /^refused: Expected an expression in CEL: /],
  ])("is rejected when the definition is stored: %s", (text, said) => {
    expect(resolved(text)).toMatch(said);
  });

  test.each<[string, RegExp]>([
    ["${{ inputs.topic + inputs.n }}", /^fault: Expected two numbers, texts or lists for \+, got text and a number/],
    ["${{ inputs.n / 0.0 }}", /^fault: Expected an expression to return finite numbers/],
    ["${{ int(inputs.n) / 0 }}", /^fault: Expected no division by zero/],
    ["${{ inputs.constructor == 1 }}", /^fault: constructor does not exist/],
    ["${{ inputs.topic.constructor == 1 }}", /^fault: constructor does not exist/],
    ["${{ inputs.list['__proto__'] == 1 }}", /^fault: __proto__ does not exist/],
    ["${{ inputs.list[0.5] == 1 }}", /^fault: 0.5 does not exist/],
    ["${{ inputs.names[0][inputs.topic] == 1 }}", /^fault: The member in \[\] does not exist/],
    ["${{ {'__pro' + 'to__': inputs.n} }}", /^fault: Expected no member named __proto__/],
    ["${{ inputs.n ? 1 : 2 }}", /^fault: Expected true or false for \?, got a number/],
    ["${{ inputs.list.all(x, x.ok) }}", /^fault: ok does not exist/],
    ["${{ size(steps.skipped.output.text) }}", /^fault: Expected a text, a list or an object for size\(\), got null/],
  ])("fails by name when it is evaluated: %s", (text, said) => {
    expect(resolved(text)).toMatch(said);
  });

  test.each<[string, unknown]>([
    ["inputs.t.substring(0, size(inputs.t))", "😀😀abc"],
    ["inputs.t.substring(1, 3)", "😀a"],
    ["inputs.t.substring(5)", ""],
    ["inputs.t.indexOf('a')", 2],
    ["inputs.t.lastIndexOf('c')", 4],
    ["inputs.t.lastIndexOf('😀')", 1],
    ["inputs.t.substring(inputs.t.indexOf('b'))", "bc"],
    ["inputs.t.split('')", ["😀", "😀", "a", "b", "c"]],
    ["inputs.t.split('').size() == inputs.t.size()", true],
    // Half a character is no part of a whole one.
    ["[inputs.t.contains(inputs.half), inputs.t.indexOf(inputs.half) == -1, inputs.t.endsWith(inputs.half)]", [false, true, false]], // prettier-ignore
    ["inputs.t.split(inputs.half)", ["😀😀abc"]],
    // U+FFFD comes before U+1F600, whose units of UTF-16 come before it.
    ["['\uFFFD' < '😀', '😀' > '\uFFFD', '😀' < '😀a', 'a' < '😀']", [true, true, true, true]],
  ])("counts characters, not UTF-16 units: %s", (text, value) => {
    expect(resolved(`\${{ ${text} }}`, { ...scope, inputs: { t: "😀😀abc", half: "\ude00" } })).toEqual(value);
  });

  test("fails by name if a text has fewer characters than requested", () => {
    const of = { ...scope, inputs: { t: "😀😀abc" } };
    expect(resolved("${{ inputs.t.substring(2, 6) }}", of)).toBe(
      "fault: Expected substring() within a text of 5 characters, got 2 to 6.",
    );
    expect(resolved("${{ inputs.t.substring(3, 2) }}", of)).toMatch(/^fault: .* got 3 to 2\.$/);
  });

  test("is rejected when it is too deep, of too many parts or too long", () => {
    expect(resolved(`\${{ ${"(".repeat(30)}1${")".repeat(30)} }}`)).toMatch(/^refused: .*depth/i);
    const sum = (count: number): string => `\${{ ${Array.from({ length: count }, () => "1").join("+")} }}`;
    expect(resolved(sum(201))).toMatch(/^refused: Expected an expression in CEL: /);
    const long = (length: number): string => `\${{'${"a".repeat(length - 2)}'}}`;
    expect(resolved(long(EXPRESSION_CHARS_MAX))).toHaveLength(EXPRESSION_CHARS_MAX - 2);
    expect(resolved(long(EXPRESSION_CHARS_MAX + 1))).toMatch(/^refused: Expected an expression of at most 2000/);
  });

  test("iterates lists of any length while the work is within its limit", () => {
    const of = (length: number): Scope => ({ ...scope, inputs: { list: Array.from({ length }, () => 1) } });
    expect(resolved("${{ inputs.list.map(x, x + 1) }}", of(20_000))).toHaveLength(20_000);
    expect(resolved("${{ inputs.list.map(x, x + 1) }}", of(100_000))).toMatch(TOO_MUCH);
    // Without going through it, its length is of no account.
    expect(resolved("${{ size(inputs.list) }}", of(1_000_000))).toBe(1_000_000);
  });

  test("returns no more than a megabyte", () => {
    const of: Scope = { ...scope, inputs: { text: "x".repeat(600_000) } };
    for (const text of ["${{ inputs.text + inputs.text }}", "${{ [inputs.text, inputs.text].join() }}"]) {
      expect(resolved(text, of)).toBe("fault: Expected a text of at most 1048576 characters.");
    }
    expect(resolved("${{ [inputs.text, inputs.text] }}", of)).toBe(
      "fault: Expected an expression to return at most 1048576 bytes.",
    );
    expect(resolved("${{ inputs.text }}${{ inputs.text }}", of)).toBe(
      "fault: Expected a text of at most 1048576 characters.",
    );
  });

  test("costs little when the definition is stored", () => {
    const ones = `[${"1,".repeat(40)}]`;
    expect(resolved(`\${{ ${ones}.map(a, a + 1) }}`)).toHaveLength(40);
    expect(resolved(`\${{ ${ones}.map(a, ${ones}.map(b, a + b)) }}`)).toMatch(
      /^refused: The expression is too expensive/,
    );
  });

  test.each<string>([
    "inputs.xs.map(a, inputs.xs.map(b, inputs.xs.map(c, 1)))",
    "inputs.xs.map(x, [x, x, x, x, x, x, x, x]).map(x, x + x + x + x).map(x, x + x + x + x).map(x, x.map(y, 1))",
    `cel.bind(a, inputs.xs + inputs.xs, cel.bind(b, a + a, cel.bind(c, b + b, cel.bind(d, c + c, ${"d + ".repeat(40)}d))))`,
    "inputs.xs.map(x, inputs.xs + inputs.xs)",
    "inputs.xs.all(x, !(-1 in inputs.xs))",
    "inputs.xs.exists(x, inputs.xs.map(y, y) == inputs.keys)",
    "inputs.xs.exists(x, x.missing == 1 || x.other == 1)",
    "inputs.xs.exists(x, inputs.text.contains('b'))",
    "inputs.xs.all(x, inputs.text == inputs.same)",
    "inputs.xs.exists(x, size(inputs.text) == 1)",
    "inputs.xs.exists(x, inputs.text.upperAscii() == '')",
    "inputs.xs.exists(x, size(inputs.keys) == 1)",
    "inputs.xs.map(x, inputs.text.split(''))",
    "inputs.text.split('')",
    "inputs.xs.map(x, inputs.text)",
    // Each place of the text matches the part but for its end.
    "inputs.text.contains(inputs.text.substring(300000) + 'bc')",
    "inputs.text.split(inputs.text.substring(300000) + 'bc')",
  ])("ends soon, for any input: %s", (text) => {
    const xs = Array.from({ length: 5_000 }, (_, at) => at);
    const many = Object.fromEntries(xs.map((at) => [`k${at}`, at]));
    const large = { xs, keys: many, text: "a".repeat(600_000), same: "a".repeat(600_000) };
    expect(resolved(`\${{ ${text} }}`, { ...scope, inputs: large })).toMatch(TOO_MUCH);
  });
});

test("the references of an expression are listed, without similar text", () => {
  const template = compileTemplate(
    "${{ steps.a.output.list[0].x }} ${{ steps['b'].output.map(x, x.x + index) }} ${{ cel.bind(c, steps.c, c.steps) }} $${{ steps.d }}",
  );
  expect(template).toMatchObject({
    references: [
      { root: "steps", name: "a", members: ["output", "list"] },
      { root: "steps", name: "b", members: ["output"] },
      { root: "index", members: [] },
      { root: "steps", name: "c", members: [] },
    ],
  });
});

test("random expressions over large values return small results, or an error", () => {
  const chance = seeded(testSeed("large values"));
  const of = <T>(choices: readonly [T, ...T[]]): T => choices[Math.floor(chance() * choices.length)] ?? choices[0];
  const written = (depth: number, names: readonly string[]): string => {
    if (depth === 0) return of(["inputs.xs", "inputs.text", "inputs.keys", "inputs.n", "'a'", "0", "[]", ...names]);
    const one = (more: readonly string[] = names): string => written(depth - 1, more);
    const name = `v${depth}`;
    const inner = (): string => one([...names, name]);
    return of([
      () => `(${one()} ${of(["+", "==", "in", "<", "&&", "||", "*", "!="])} ${one()})`,
      () => `[${one()}, ${one()}, ${one()}]`,
      () => `{'a': ${one()}, 'b': ${one()}}`,
      () => `${one()}.${of(["map", "filter", "all", "exists", "exists_one"])}(${name}, ${inner()})`,
      () => `cel.bind(${name}, ${one()}, ${inner()})`,
      () => `${one()}.${of(["split", "join", "contains", "indexOf"])}(${one()})`,
      () => `${of(["size", "string", "int"])}(${one()})`,
      () => `(${one()} == null ? ${one()} : ${one()})`,
    ])();
  };
  const xs = Array.from({ length: 2_000 }, (_, at) => `${at}`);
  const large = { xs, keys: Object.fromEntries(xs.map((at) => [at, xs])), text: "ab".repeat(300_000), n: 7 };
  for (let round = 0; round < 500; round += 1) {
    const text = written(1 + Math.floor(chance() * 4), []);
    const value = resolved(`\${{ ${text} }}`, { ...scope, inputs: large });
    expect(JSON.stringify(value).length).toBeLessThan(2 * EXPRESSION_VALUE_BYTES_MAX);
  }
});

test("random texts are rejected or resolved, and never throw", () => {
  const chance = seeded(testSeed("expressions"));
  const below = (count: number): number => Math.floor(chance() * count);
  const pieces = [
    ..."inputs.list inputs.n steps.art.output item index 'a' 1 2.5 null true x __proto__ constructor".split(" "),
    ..."[ ] ( ) { } : , + - * / % == < && || ? ! . \\ \" ' }} ${{".split(" "),
    ...".map(x, .filter(x, .all(x, .size() .split( .join() has( cel.bind(x, .matches(".split(" "),
    " in ",
  ];
  for (let round = 0; round < 20_000; round += 1) {
    const text = Array.from({ length: 1 + below(14) }, () => pieces[below(pieces.length)]).join("");
    expect(resolved(`\${{ ${text} }}`)).toBeDefined();
  }
});
