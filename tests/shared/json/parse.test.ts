import { describe, expect, test } from "bun:test";

import * as fc from "fast-check";

import { ApiError } from "#shared/base/errors.ts";
import { locateSyntaxFault, readJson } from "#shared/json/parse.ts";
import { JSON_DEPTH_MAX } from "#shared/json/tokens.ts";

function read(source: string | readonly number[]): { text: string; value: unknown } {
  return readJson(typeof source === "string" ? new TextEncoder().encode(source) : Uint8Array.from(source));
}

function refusal(source: string | readonly number[]): ApiError {
  try {
    read(source);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("it was accepted");
}

function nested(depth: number): string {
  return `${"[".repeat(depth)}${"]".repeat(depth)}`;
}

/** Texts that RFC 8259 refuses, by the kind of fault. */
const NOT_JSON: Readonly<Record<string, readonly string[]>> = {
  nothing: ["", " ", "\n\t "],
  "a literal that is not one": [
    "nul",
    "True",
    "TRUE",
    "undefined",
    "NaN",
    "Infinity",
    "-Infinity",
    "[nan]",
    "truefalse",
    "nulll",
  ],
  "a number that is not one": [
    "+1",
    "-",
    "--1",
    "01",
    "-01",
    "1.",
    ".5",
    "-.5",
    "1.e1",
    "1e",
    "1e+",
    "1E-",
    "0x1F",
    "1_000",
    "1,000",
    "[1a]",
    "[-foo]",
    "0e",
    "2.e3",
    "1e1e1",
    "[1 000]",
    "[- 1]",
    "[١]",
  ],
  "an array that is not one": [
    "[",
    "]",
    "[1",
    "[1,",
    "[1,]",
    "[,1]",
    "[,]",
    "[1,,2]",
    "[1 2]",
    "[1;2]",
    "[1]]",
    "[[1]",
    "[1}",
    "[1:2]",
  ],
  "an object that is not one": [
    "{",
    "}",
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '{,"a":1}',
    '{"a" 1}',
    '{"a",1}',
    "{a:1}",
    "{'a':1}",
    "{1:1}",
    '{"a":1 "b":2}',
    '{"a":1,,"b":2}',
    '{"a":1]',
    '{"a":}',
    "{:1}",
    '{"a"::1}',
    '{"a":1}}',
    "{null:1}",
    '{"a":1,"b"}',
    '{"a":1,/**/}',
  ],
  "a string that is not one": [
    '"',
    '"a',
    "'a'",
    '"\\',
    '"\\"',
    '"\\x"',
    '"\\a"',
    '"\\u"',
    '"\\u00"',
    '"\\u00g0"',
    '"\\u 123"',
    '"a\nb"',
    '"a\tb"',
    '"a\u0000b"',
    '"\u001f"',
    '"\\\u0000"',
    '["a"b]',
    "`a`",
    "\u201ca\u201d",
  ],
  "more than one value": ["1 2", "{}{}", "[] []", '"a" "b"', "{} x", "[1],", '{"a":1},', "1\u0000"],
  "what other languages allow": [
    "// a\n1",
    "/* a */ 1",
    "[1] # a",
    "\u00a0[1]",
    "[1\u2028]",
    "\u000b1",
    "\f[]",
    "<json/>",
    "a=1",
  ],
};

describe("a JSON body", () => {
  test("is returned as text and value", () => {
    const source = ' {"a": [1, -2.5e3, "x\\"[{", null, true], "ü": "你好"}\n';
    expect(read(source)).toEqual({ text: source, value: JSON.parse(source) as unknown });
  });

  test.each(["null", "0", "-0", '""', "[]", "{}", "1", "1e308", "1e-400", "123456789012345678901234567890"])(
    "may be any value: %s",
    (source) => {
      expect(read(source).value).toEqual(JSON.parse(source) as unknown);
    },
  );

  test("parses like JSON.parse, for every value", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (source) => {
        expect(read(source)).toEqual({ text: source, value: JSON.parse(source) as unknown });
      }),
      { numRuns: 2_000 },
    );
  });

  for (const [kind, sources] of Object.entries(NOT_JSON)) {
    test.each(sources.map((source) => [JSON.stringify(source), source]))(
      `is rejected when it contains ${kind}: %s`,
      (_shown, source) => {
        const error = refusal(source);
        expect(error).toMatchObject({ code: "invalid_json", status: 400, param: null });
        expect(error.message).toMatch(/^The body is not valid JSON: (it is empty|expected .+ at line \d+, column \d+)/);
      },
    );
  }

  test("that is truncated anywhere is rejected with the position", () => {
    const source = '{"model":"m","messages":[{"role":"user","content":"a\\nb"}],"n":1.5e0,"stream":true}';
    for (let length = 1; length < source.length; length++) {
      expect(refusal(source.slice(0, length)).message).toContain("at line 1, column");
    }
  });

  test("is never quoted in an error", () => {
    expect(refusal('{"key": sk-secret-value}').message).not.toContain("secret");
    expect(refusal('{"key": "secret').message).not.toContain("secret");
  });

  test("is located by line and column of the error", () => {
    expect(refusal('{\n  "a": 1,\n  "b" 2\n}').message).toBe(
      'The body is not valid JSON: expected ":" at line 3, column 7.',
    );
    expect(locateSyntaxFault('{"a":[1')).toBe('expected "," or "]" at line 1, column 8, where the body ends');
  });
});

describe("the bytes of a body", () => {
  test.each([
    ["a lone byte", [0x22, 0xff, 0x22]],
    ["an overlong slash", [0x22, 0xc0, 0xaf, 0x22]],
    ["an encoded surrogate", [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ["a code point beyond Unicode", [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
    ["a character cut short", [0x22, 0xe4, 0xbd]],
    ["Latin-1", [0x22, 0xfc, 0x22]],
    ["UTF-16 with its mark", [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
  ])("are rejected as %s", (_name, bytes) => {
    expect(refusal(bytes)).toMatchObject({ code: "invalid_json", message: "The body is not valid UTF-8." });
  });

  test("may start with a byte-order mark, which is removed", () => {
    expect(read([0xef, 0xbb, 0xbf, 0x7b, 0x7d])).toEqual({ text: "{}", value: {} });
  });

  test("may hold escaped halves of surrogate pairs", () => {
    expect(read('"\\ud800"').text).toBe('"\\ud800"');
  });
});

describe("the depth of a body", () => {
  test("may reach the bound", () => {
    expect(read(nested(JSON_DEPTH_MAX)).value).toBeArray();
    expect(read(`${'{"a":'.repeat(JSON_DEPTH_MAX)}1${"}".repeat(JSON_DEPTH_MAX)}`).value).toBeObject();
  });

  test("is rejected one past the bound", () => {
    expect(refusal(nested(JSON_DEPTH_MAX + 1))).toMatchObject({
      code: "invalid_json",
      message: "The body is nested deeper than 64 levels at character 65.",
    });
    expect(refusal('[{"a":'.repeat(33)).message).toContain("deeper");
  });

  test("is rejected before it is parsed, for any depth", () => {
    expect(refusal("[".repeat(2_000_000)).message).toContain("deeper");
    expect(refusal(`${"]".repeat(1_000)}${"[".repeat(2_000)}`).message).toContain("deeper");
    expect(refusal(`${"]".repeat(1_000)}${"[".repeat(1_000)}`).message).toContain("not valid JSON");
  });

  test("does not count brackets inside strings, with or without escapes, short or long", () => {
    for (const filler of ["", "a", '\\"', "\\\\", 'x\\"y\\\\', "\\u005b"]) {
      for (const times of [1, 20, 47, 48, 49, 200]) {
        const source = `["${filler.repeat(times)}${"[{".repeat(100)}${filler.repeat(times)}", {"${filler}[[": "\\\\"}]`;
        expect(read(source).value).toEqual(JSON.parse(source) as unknown);
        expect(refusal(`["${filler.repeat(times)}", ${nested(JSON_DEPTH_MAX)}]`).message).toContain("deeper");
      }
    }
  });

  test("restarts after every closed bracket", () => {
    expect(read(`[${Array.from({ length: 500 }, () => "[[{}]]").join(",")}]`).value).toHaveLength(500);
  });
});

describe("a number of a body", () => {
  test.each(["1e400", "-1e400", '{"a":[1E+309]}', "9".repeat(309), `[${"1".repeat(400)}.5]`, "1.8e308"])(
    "is rejected when a double cannot represent it: %s",
    (source) => {
      const error = refusal(source);
      expect(error.code).toBe("invalid_json");
      expect(error.message).toMatch(/^The number at character \d+ of the body is too large\.$/);
    },
  );

  test("is not searched inside strings", () => {
    expect(read('{"1e400":"1e400"}').value).toEqual({ "1e400": "1e400" });
  });

  test("may have any number of digits after the point", () => {
    expect(read(`0.${"1".repeat(1_000)}`).value).toBeCloseTo(0.1111111111);
  });
});

test("a member called __proto__ is an ordinary member and changes no other object", () => {
  const value = read('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}').value as object;
  expect(Object.keys(value)).toEqual(["__proto__", "constructor"]);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});
