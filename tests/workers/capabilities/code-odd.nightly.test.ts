/** Code and data as users have them: broken, deep, large, or made to end what reads them. */
import { describe, expect, test } from "bun:test";

import { loadJq } from "jq-wasm";

import { JQ_VERSION } from "#workers/capabilities/code/transform-json.ts";
import { loadCapability } from "#workers/capabilities/list.ts";
import { CAPABILITY_PARAM_BYTES_MAX } from "#workers/capabilities/limits.ts";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";

const outputOf = async (id: string, input: Parameters<typeof runCapability>[1], params: object = {}) =>
  (await runCapability(id, input, params)).output;
const code = (text: string) => ({ code: { text } });
const transformed = async (text: string, params: object = {}) =>
  (await outputOf("code.transform_json", { data: { text } }, params))?.["text"];
const valueOf = async (text: string) => (await outputOf("code.run_javascript", code(text)))?.["value"];

describe("a later run is unaffected", () => {
  test.each(["constructor", "__proto__", "toString"])("by highlighting in %s", async (language) => {
    expect(await refused(runCapability("code.highlight", code("a"), { language }))).toContain(
      "invalid: Expected params",
    );
    expect(await outputOf("code.highlight", code("a"), { language: "ts" })).toEqual({ lines: 1 });
  });

  test("by a jq program that uses all of its engine", async () => {
    const jq = "reduce range(100000) as $i (null; [.])|tojson|length";
    expect(await refused(runCapability("code.transform_json", { data: { text: "1" } }, { jq }))).toBe(
      "invalid: Expected params.jq to be a program that runs: it needs more memory or depth than jq has here.",
    );
    expect(await transformed("1", { jq: ". + 1" })).toBe("2\n");
  });
});

describe("jq", () => {
  test.each<[string, string, unknown]>([
    ["knows what its manual of today has", '"  a b " | [trim, trimstr(" "), have_decnum]', ["a b", " a b", true]],
    ["counts letters, not bytes", '"здравствуй мир!" | index("!")', 14],
    ["binds after it adds", "1 + 2 as $x | -$x", -3],
    ["deletes nothing at no place", "[1] | del(.[nan])", [1]],
    ["makes no text of none", '"" * 1000000000', ""],
  ])("%s", async (_what, jq, value) => {
    expect(JSON.parse(String(await transformed("null", { jq })))).toEqual(value);
  });

  test.each([
    [".a[", "syntax error, unexpected end of file"],
    ["1 +\n | 2", "(line 2, column 2)"],
    ["nothing_such", "nothing_such/0 is not defined (line 1, column 1)."],
    ["{} | keys | .[0] | error", "(not a string): null."],
    ['error("tea")', "to be a program that runs: tea."],
    ['1 | error({"a": 1})', "(not a string)"],
  ])("reports the error in %s", async (jq, said) => {
    const message = await refused(runCapability("code.transform_json", { data: { text: "null" } }, { jq }));
    expect(message).toStartWith("invalid: Expected params.jq to be a program that runs: ");
    expect(message).toContain(said);
    expect(message).not.toMatch(/top-level|compile error|stdin|Aborted/);
  });

  test("is of the version that its capability names", async () => {
    const { long_description } = await loadCapability("code.transform_json");
    expect(long_description).toContain(`jq ${JQ_VERSION}`);
    expect((await loadJq()).version).toBe(`jq-${JQ_VERSION}`);
  });

  test("returns no number that would change", async () => {
    const failing = (jq: string) => refused(runCapability("code.transform_json", { data: { text: "1" } }, { jq }));
    expect(await failing("1e1000")).toStartWith("unsupported: Expected numbers that JSON can hold");
    expect(await failing("[10000000000000000000001]")).toStartWith("unsupported: Expected integers of at most");
  });
});

describe("unparsable code is reported with its line", () => {
  test.each([
    ["code.format", "javascript", "let a;\nconst =", "(line 2, column 7)"],
    ["code.format", "html", "<p>\n<b></p></i>", "(line 2, column 4)"],
    ["code.minify", "js", "let a;\nconst =", "line 2"],
    ["code.minify", "css", "a{}\nb { c", "line 2"],
  ])("by %s of %s", async (id, language, text, said) => {
    const message = await refused(runCapability(id, code(text), { language }));
    expect(message).toStartWith("corrupt: The code cannot be read: ");
    expect(message).toContain(said);
  });

  test("or with its depth, if its engine would crash", async () => {
    expect(await refused(runCapability("code.minify", code("a{".repeat(20_000)), { language: "css" }))).toContain(
      "too_large: Expected CSS nested at most 200 deep",
    );
  });
});

describe("a param with any object is bounded like JSON", () => {
  const max = CAPABILITY_PARAM_BYTES_MAX;
  const longest = { a: "x".repeat(max - '{"a":""}'.length) };

  test.each(["code.run_javascript", "code.run_python"])("the args of %s", async (id) => {
    expect((await outputOf(id, code("1"), { args: longest }))?.["value"]).toBe(1);
    expect(await refused(runCapability(id, code("1"), { args: { ...longest, b: 1 } }))).toBe(
      `invalid_request params.args: Expected params.args of at most ${max} bytes as JSON, got ${max + ',"b":1'.length}.`,
    );
  });

  test("the schema of code.transform_json", async () => {
    const schema = { description: "x".repeat(max) };
    const message = await refused(runCapability("code.transform_json", { data: { text: "1" } }, { schema }));
    expect(message).toStartWith(
      `invalid_request params.schema: Expected params.schema of at most ${max} bytes as JSON`,
    );
  });
});

test("a limit of a param counts characters, not surrogates", async () => {
  const jq = (length: number) => `"${"\u{1F47B}".repeat(length - 2)}"`;
  expect(await transformed("1", { jq: jq(10_000) })).toBe(`${jq(10_000)}\n`);
  for (const length of [10_001, 20_001]) {
    const message = await refused(runCapability("code.transform_json", { data: { text: "1" } }, { jq: jq(length) }));
    expect(message).toContain("params.jq must have at most 10000 characters");
  }
});

test("JSON is minified without changing values", async () => {
  const text = '{ "a" : 12345678901234567890, "b":[ 1.0 , 1e400 ], "a": " x \\" y ", "__proto__": null }';
  expect((await outputOf("code.minify", code(text), { language: "json" }))?.["text"]).toBe(
    '{"a":12345678901234567890,"b":[1.0,1e400],"a":" x \\" y ","__proto__":null}',
  );
});

test("text that is not a patch is rejected, an empty one changes nothing", async () => {
  const apply = (patch: string) => runCapability("code.diff", { old: { text: "a\n" }, patch: { text: patch } }, { mode: "apply" }); // prettier-ignore
  expect(await refused(apply("garbage"))).toBe("corrupt: Expected input.patch to be a unified diff of one file.");
  expect((await apply("")).output).toEqual({ text: "a\n" });
});

test("a replacement of gigabytes is rejected before it is built", async () => {
  const text = { text: "x,".repeat(100_000) };
  const params = { pattern: ",", mode: "replace", replacement: "y".repeat(10_000) };
  expect(await refused(runCapability("code.regex", { text }, params))).toContain("too_large: Expected matches and");
  const groups = { pattern: `${"(".repeat(50)}.*${")".repeat(50)}` };
  expect(await refused(runCapability("code.regex", { text }, groups))).toContain("too_large: Expected at most");
});

describe("data", () => {
  test.each([
    ["a table of TOML", "[a]\nb = 1\n", "toml"],
    ["tables of TOML", "[[a]]\nb = 1\n", "toml"],
    ["a list of JSON", "[\n  1\n]", "json"],
    ["a list of lists of JSON", "[[1, 2],\n[3, 4]]\n", "json"],
    ["a table of CSV", "a,b\n1,2\n", "csv"],
    ["a list of YAML", "- a, b\n- c\n", "yaml"],
    ["a mapping of YAML", "key: |\n  x = 1\n", "yaml"],
  ])("that is %s is detected", async (_what, text, from) => {
    expect(await outputOf("code.transform_json", { data: { text } })).toMatchObject({ from });
  });

  test("keeps its times, empty tables and unusual numbers as TOML", async () => {
    const text = "d = 1979-05-27T07:32:00Z\nl = 1979-05-27\n";
    expect(await transformed(text, { from: "toml", to: "toml" })).toBe(text);
    expect(await transformed(text, { from: "toml", to: "yaml" })).toBe("d: 1979-05-27T07:32:00Z\nl: 1979-05-27\n");
    const odd = { a: {}, b: { c: {} }, d: "\u007f", e: [{ f: 1 }], g: 1e21, h: 2 ** 60 };
    const toml = String(await transformed(JSON.stringify({ ...odd, h: 1 }), { to: "toml" }));
    expect(toml).toBe('d = "\\u007f"\ne = [{ f = 1 }]\ng = 1e+21\nh = 1\n\n[a]\n\n[b.c]\n');
    expect(JSON.parse(String(await transformed(toml, { from: "toml" })))).toEqual({ ...odd, h: 1 });
    expect(await transformed("a: .inf\nb: -.inf\nc: .nan\n", { to: "toml" })).toBe("a = inf\nb = -inf\nc = nan\n");
  });

  test.each<[string, string, object, string]>([
    ["an integer beyond a double's", '{"a": 12345678901234567890}', {}, "unsupported: Expected integers of at most"],
    ["one of YAML", "a: 9223372036854775807", {}, "unsupported: Expected integers of at most"],
    ["one of YAML in hexadecimal", "a: 0x20000000000001", {}, "unsupported: Expected integers of at most"],
    ["one of YAML in octal", "a: 0o400000000000000001", {}, "unsupported: Expected integers of at most"],
    ["a number that is none", '{"a": 1e400}', {}, "unsupported: Expected numbers that JSON can hold"],
    ["one before jq", "a: .nan", { jq: ".", to: "yaml" }, "unsupported: Expected numbers that JSON can hold"],
    ["a null in a list of TOML", "[null]", { jq: "{a: .}", to: "toml" }, "invalid: Expected no null in a list"],
    ["a program that fails in the end", "1", { jq: '1, error("x")' }, "invalid: Expected params.jq"],
    ["an option for a program", "1", { jq: "--help" }, "invalid: Expected params.jq"],
  ])("of %s is rejected", async (_what, text, params, said) => {
    expect(await refused(runCapability("code.transform_json", { data: { text } }, params))).toContain(said);
  });

  test("of intended large numbers is kept, and jq has no access to the machine", async () => {
    expect(await transformed('{"a": 1e21, "b": "12345678901234567890"}')).toContain("1e+21");
    expect(await transformed("1", { jq: '[env | keys[] | select(test("SLUICE|^_$"))]' })).toBe('[\n  "_"\n]\n');
    expect(await transformed("1", { jq: "env._" })).not.toContain("node_modules");
    expect(await transformed("1", { jq: "-1" })).toBe("-1\n");
  });
});

describe("a script", () => {
  test.each<[string, string, unknown]>([
    ["a promise", "(async () => { await 1; return 4 })()", 4],
    ["big integers", "[10n ** 20n, { a: 1n }]", ["100000000000000000000", { a: "1" }]],
    ["an error", "new TypeError('x')", { name: "TypeError", message: "x" }],
    ["nothing", "() => 1", null],
    ["a value of its own", "JSON.stringify = () => '1'; ({ toJSON() { return 5 } })", 5],
  ])("may return %s", async (_what, text, value) => {
    expect(await valueOf(text)).toEqual(value);
  });

  test("prints its output, by any method of its console", async () => {
    const text =
      "print(1n, Symbol('x'), undefined); const a = {}; a.a = a; const { error } = console; error(a, new Error('b'))";
    expect(await outputOf("code.run_javascript", code(text))).toMatchObject({
      printed: ["1 Symbol(x) undefined", "[object] Error: b (line 1)"],
    });
  });

  test.each([
    ["throws a message that is no text", "throw { message: 1 }", 'invalid: The script failed: {"message":1}'],
    ["throws a big integer", "throw 1n", "invalid: The script failed: 1"],
    ["throws what it says of time", "throw new Error('interrupted')", "invalid: The script failed: Error: interrupted"],
    ["throws below", "\n\nnull.x", "cannot read property 'x' of null (line 3)"],
    ["rejects", "Promise.reject(new Error('no'))", "invalid: The script failed: Error: no (line 1)"],
    ["waits for ever", "new Promise(() => {})", "invalid: Expected the script's promise to be settled"],
    ["gives a circle", "const a = {}; a.a = a; a", "invalid: The script failed: TypeError: circular reference"],
    ["loops in its value", "({ toJSON() { for (;;); } })", "too_large: Expected the script to end within"],
    ["loops in a job", "Promise.resolve().then(() => { for (;;); })", "too_large: Expected the script to end within"],
    ["gives too much", "'x'.repeat(2000000)", "too_large: Expected a value of at most 1048576 bytes"],
  ])("that %s is rejected with a reason", async (_what, text, said) => {
    expect(await refused(runCapability("code.run_javascript", code(text), { timeout: 0.3 }))).toContain(said);
  });
});
