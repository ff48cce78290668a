import { describe, expect, test } from "bun:test";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";

const outputOf = async (id: string, input: Parameters<typeof runCapability>[1], params: object = {}) =>
  (await runCapability(id, input, params)).output;
const code = (text: string) => ({ code: { text } });

describe("a schema of code.transform_json", () => {
  const draft07 = "http://json-schema.org/draft-07/schema#";
  const check = (text: string, schema: object) =>
    outputOf("code.transform_json", { data: { text } }, { from: "json", schema });

  test.each([
    ["draft/2020-12/schema", { prefixItems: [{ type: "string" }], items: false }, '["a"]', "[1]"],
    ["draft/2020-12/schema", { dependentRequired: { a: ["b"] } }, '{"a":1,"b":1}', '{"a":1}'],
    ["draft/2020-12/schema", { properties: { a: true }, unevaluatedProperties: false }, '{"a":1}', '{"b":1}'],
    ["draft/2020-12/schema", { $defs: { a: { minimum: 1 } }, $ref: "#/$defs/a" }, "1", "0"],
    ["draft/2019-09/schema", { contains: { const: 1 }, maxContains: 1 }, "[1]", "[1,1]"],
    ["draft-07/schema", { $schema: draft07, prefixItems: [{ type: "string" }], minItems: 1 }, "[1]", "[]"],
    ["draft-07/schema", { items: [{ type: "string" }], additionalItems: false }, '["a"]', '["a","b"]'],
    ["draft/2020-12/schema", { items: { multipleOf: 0.01 } }, "[19.99, 4.35, -0.07, 1e20, 0]", "[19.995]"],
    ["draft/2020-12/schema", { items: { multipleOf: 0.0001 } }, "[0.0075]", "[1e-7]"],
    ["draft-07/schema", { $schema: draft07, type: "integer", multipleOf: 0.5 }, "1e308", "0.25"],
    ["draft-07/schema", { $schema: draft07, multipleOf: 0.123456789 }, "0.246913578", "1e308"],
    ["draft-06/schema", { $schema: "http://json-schema.org/draft-06/schema", contains: { const: 1 } }, "[1]", "[2]"],
  ])("of %s validates %j", async (draft, schema, valid, broken) => {
    const named =
      draft === "draft/2019-09/schema" ? { $schema: `https://json-schema.org/${draft}`, ...schema } : schema;
    expect(await check(valid, named)).toMatchObject({ json_schema: draft });
    expect(await refused(check(broken, named))).toContain("corrupt: The data does not meet the schema");
  });

  test.each(["toString", "constructor", "__proto__"])("requires %s of the data itself", async (name) => {
    expect(await refused(check("{}", { required: [name] }))).toContain("corrupt: The data does not meet the schema");
    expect(await check(`{"${name}":1}`, { required: [name] })).toMatchObject({ from: "json" });
  });

  test.each([
    ["$dynamicRef", { $dynamicRef: "#a", $defs: { a: { $dynamicAnchor: "a" } } }],
    ["__proto__", JSON.parse('{"properties":{"__proto__":{"type":"number"}}}') as object],
    ["$async", { $async: true, type: "string" }],
    ["unevaluatedItems beside contains", { contains: { const: 1 }, unevaluatedItems: false }],
    ["unevaluatedProperties beside an if", { if: { properties: { a: true } }, unevaluatedProperties: false }],
  ])("with %s is rejected, since it would differ from the draft", async (what, schema) => {
    expect(await refused(check('{"a":1}', schema))).toStartWith(`unsupported: Expected params.schema without ${what}`);
  });

  test("lists the known drafts if its own is not", async () => {
    const schema = { $schema: "http://json-schema.org/draft-04/schema#" };
    expect(await refused(check("1", schema))).toBe(
      "invalid: Expected params.schema.$schema to name draft 2020-12, 2019-09, 07, 06 of JSON Schema.",
    );
  });
});

describe("exact output of", () => {
  test("formatted code", async () => {
    expect(await outputOf("code.format", code("const a={b:1}"), { language: "javascript" })).toEqual({
      text: "const a = { b: 1 };\n",
    });
    expect(await outputOf("code.format", code("select a,b from t where x=1"), { language: "sql" })).toEqual({
      text: "select\n  a,\n  b\nfrom\n  t\nwhere\n  x = 1\n",
    });
  });

  test("minified code", async () => {
    expect(await outputOf("code.minify", code("/* a */ .a { color: #ff0000 }"), { language: "css" })).toMatchObject({
      text: ".a{color:red}",
    });
    expect(
      await outputOf("code.minify", code("function add(first, second) { return first + second }\nadd(1, 2);"), {
        language: "js",
      }),
    ).toMatchObject({ text: "function add(n,d){return n+d}add(1,2);\n" });
  });

  test.each([
    ["css", 'a { b: "/*! c */" } /* d */ /*! e */ f { g: h }', '/*! e */\na{b:"/*! c */"}f{g:h}'],
    ["css", "/*! a */ b { c: d }", "/*! a */\nb{c:d}"],
    ["js", "/* a */ b(); /*! c */ d()", "b();/*! c */d();\n"],
    ["ts", "/** @license A */ let a: number", "/** @license A */let a;\n"],
    ["html", "<!--! a --><!-- b --><p>c</p>", "<!--! a --><p>c</p>"],
    ["svg", '<svg xmlns="http://www.w3.org/2000/svg"><!--! a --><!-- b --></svg>', '<svg xmlns="http://www.w3.org/2000/svg"><!--! a--></svg>'], // prettier-ignore
  ])("legal comments of %s in %j", async (language, text, minified) => {
    expect((await outputOf("code.minify", code(text), { language }))?.["text"]).toBe(minified);
  });

  // As Go's regexp, the library of RE2's author, finds them.
  test.each<[string, string, number[], string, string[]]>([
    ["x*", "axb", [0, 1, 3], "-a-b-", ["a", "b"]],
    ["x*", "xx", [0], "-", ["", ""]],
    ["(?:)", "ab", [0, 1, 2], "-a-b-", ["a", "b"]],
    ["a|", "baac", [0, 1, 2, 4], "-b--c-", ["b", "", "c"]],
    [",", "a,,b,", [1, 2, 4], "a--b-", ["a", "", "b", ""]],
  ])("no empty match after a match: %s in %s", async (pattern, input, places, replaced, parts) => {
    const of = (params: object) => outputOf("code.regex", { text: { text: input } }, { pattern, ...params });
    const matches = (await of({}))?.["matches"] as readonly { index: number }[];
    expect(matches.map(({ index }) => index)).toEqual(places);
    expect(await of({ mode: "replace", replacement: "-" })).toEqual({ text: replaced });
    expect(await of({ mode: "split" })).toEqual({ parts });
  });

  test("groups by their names", async () => {
    const params = { pattern: "(?P<year>[0-9]+)-(?<month>[0-9]+)?" };
    expect(await outputOf("code.regex", { text: { text: "2024-" } }, params)).toMatchObject({
      matches: [{ groups: ["2024", null], named_groups: { year: "2024", month: null } }],
    });
  });

  test("a patch, which changes one text into the other", async () => {
    const [old, next] = ["one\ntwo\nthree\n", "one\n2\nthree\nfour\n"];
    const made = await outputOf("code.diff", { old: { text: old }, new: { text: next } });
    expect(made).toMatchObject({ added: 2, removed: 1 });
    const patch = { text: String(made?.["text"]) };
    expect(await outputOf("code.diff", { old: { text: old }, patch }, { mode: "apply" })).toEqual({ text: next });
  });

  test("matches, with their groups and positions", async () => {
    const text = { text: "a1 b22" };
    expect(await outputOf("code.regex", { text }, { pattern: "([a-z])([0-9]+)" })).toEqual({
      matches: [
        { text: "a1", index: 0, groups: ["a", "1"] },
        { text: "b22", index: 3, groups: ["b", "22"] },
      ],
      is_cut: false,
    });
    expect(await outputOf("code.regex", { text }, { pattern: "[0-9]+", mode: "replace", replacement: "#" })).toEqual({
      text: "a# b#",
    });
    expect(await outputOf("code.regex", { text }, { pattern: " ", mode: "split" })).toEqual({ parts: ["a1", "b22"] });
  });

  test.each([
    ["json", '{"a":[1,{"b":"c"}]}', '{\n  "a": [\n    1,\n    {\n      "b": "c"\n    }\n  ]\n}\n'],
    ["yaml", "a: 1\nb:\n  - x\n", '{\n  "a": 1,\n  "b": [\n    "x"\n  ]\n}\n'],
    ["toml", "a = 1\n[t]\nb = 'c'\n", '{\n  "a": 1,\n  "t": {\n    "b": "c"\n  }\n}\n'],
    ["csv", "a,b\n1,2\n", '[\n  {\n    "a": "1",\n    "b": "2"\n  }\n]\n'],
  ])("data in %s", async (from, text, expected) => {
    expect(await outputOf("code.transform_json", { data: { text } }, { from })).toEqual({ from, text: expected });
  });

  test("data processed by jq and written as TOML", async () => {
    const data = { text: '{"items":[{"n":1},{"n":3}]}' };
    const made = await outputOf(
      "code.transform_json",
      { data },
      { jq: '{total: ([.items[].n] | add), t: {a: "b"}}', to: "toml" },
    );
    expect(made).toMatchObject({ text: 'total = 4\n\n[t]\na = "b"\n' });
  });
});

describe("a script", () => {
  test("returns its last value and its printed output", async () => {
    expect(
      await outputOf("code.run_javascript", code("print('a', 1, {b: 2}); args.n * 2"), { args: { n: 21 } }),
    ).toEqual({
      value: 42,
      printed: ['a 1 {"b":2}'],
    });
  });

  test.each([
    ["has no process", "typeof process + typeof fetch + typeof require", { value: "undefinedundefinedundefined" }],
    ["counts what is not there as null", "undefined", { value: null }],
  ])("%s", async (_what, text, expected) => {
    expect(await outputOf("code.run_javascript", code(text))).toMatchObject(expected);
  });

  test.each([
    ["never ends", "for (;;) {}", "too_large: Expected the script to end within params.timeout."],
    ["takes all memory", "const a = []; for (;;) a.push(new Array(100000).fill(1))", "invalid: The script failed"],
    ["calls itself for ever", "const f = () => f(); f()", "invalid: The script failed"],
    ["throws", "throw new TypeError('no')", "invalid: The script failed: TypeError: no"],
  ])("that %s is ended with a reason", async (_what, text, said) => {
    expect(await refused(runCapability("code.run_javascript", code(text), { timeout: 0.5 }))).toContain(said);
  });
});

describe("rejected:", () => {
  test.each<[string, () => Promise<unknown>, string]>([
    [
      "code that is none",
      () => runCapability("code.format", code("const ="), { language: "javascript" }),
      "corrupt: The code cannot be read: ",
    ],
    [
      "a language that is not known",
      () => runCapability("code.highlight", code("a"), { language: "klingon" }),
      "invalid: Expected params.language",
    ],
    [
      "a comparison with nothing",
      () => runCapability("code.diff", { old: { text: "a" } }),
      "invalid: Expected input.new for params.mode diff, got none.",
    ],
    [
      "a patch that does not fit",
      () =>
        runCapability(
          "code.diff",
          { old: { text: "x\n" }, patch: { text: "--- a\n+++ b\n@@ -1 +1 @@\n-y\n+z\n" } },
          { mode: "apply" },
        ),
      "invalid: Expected a patch that matches",
    ],
    [
      "look-around",
      () => runCapability("code.regex", { text: { text: "a" } }, { pattern: "(?=a)" }),
      "invalid: Expected params.pattern in RE2's syntax",
    ],
    [
      "a replacement of nothing that is replaced",
      () => runCapability("code.regex", { text: { text: "a" } }, { pattern: "a", replacement: "b" }),
      "invalid_request params.replacement: Expected params.replacement to be absent with params.mode",
    ],
    [
      "an XML of entities",
      () => runCapability("code.transform_json", { data: { text: '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>' } }),
      "corrupt: The XML cannot be read",
    ],
    [
      "data that breaks its schema",
      () => runCapability("code.transform_json", { data: { text: "1" } }, { schema: { type: "string" } }),
      "corrupt: The data does not meet the schema",
    ],
    [
      "a jq program that is none",
      () => runCapability("code.transform_json", { data: { text: "1" } }, { jq: "[" }),
      "invalid: Expected params.jq",
    ],
  ])("%s", async (_what, run, said) => {
    expect(await refused(run())).toContain(said);
  });
});

test("a pattern that would keep a backtracking engine busy without end takes linear time", async () => {
  const text = { text: `${"a".repeat(5_000)}b` };
  expect(await outputOf("code.regex", { text }, { pattern: "(a+)+$" })).toEqual({ matches: [], is_cut: false });
});

test("XML is read with its attributes", async () => {
  const made = await outputOf("code.transform_json", { data: { text: '<a x="1"><b>c</b></a>' } });
  expect(String(made?.["text"])).toContain('"c"');
});
