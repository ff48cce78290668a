import { describe, expect, test } from "bun:test";

import * as fc from "fast-check";

import { ApiError } from "#shared/base/errors.ts";
import { JSON_PARTS_MAX, type JsonBounds, JsonPieces, readJson } from "#shared/json/parse.ts";
import { runWhole } from "#shared/base/time-slices.ts";
import { testSeed } from "#tests/support/seed.ts";
import { JSON_DEPTH_MAX, JSON_AT_ONCE_BYTES_MAX } from "#shared/json/tokens.ts";

/** By default in pieces that cut everything that can be cut. */
function read(text: string, pieceChars = 1, bounds: JsonBounds = {}): unknown {
  return runWhole(new JsonPieces(text, bounds, pieceChars).read());
}

function refusal(text: string, pieceChars?: number, bounds?: JsonBounds): ApiError {
  try {
    read(text, pieceChars, bounds);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("it was accepted");
}

/** True if the engine's own parser takes the text for JSON. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Names and numbers that are longer than a piece are refused: of these texts none has any. */
const PIECES = fc.integer({ min: 24, max: 200 });
const NAME = fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom("__proto__", "1", "constructor", "ü\n", '"\\'));
const { value: VALUE } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.constantFrom(
      null,
      true,
      false,
      0,
      -1.5,
      12e8,
      "",
      "\\".repeat(60),
      '"'.repeat(51),
      "\u0000ä你".repeat(40),
      "x".repeat(300),
    ),
    fc.string({ maxLength: 10, unit: "binary" }),
    fc.array(tie("value"), { maxLength: 8 }),
    fc.array(fc.tuple(NAME, tie("value")), { maxLength: 8 }).map((members) => Object.fromEntries(members)),
  ),
}));
const TEXT = fc
  .tuple(VALUE, fc.constantFrom(undefined, 1, "\t"))
  .map(([value, space]) => JSON.stringify(value, null, space));
const RUNS = { numRuns: 1_000, seed: testSeed("json pieces") };

describe("JSON in pieces", () => {
  test("parses like JSON.parse, for every division", () => {
    fc.assert(
      fc.property(TEXT, PIECES, (text, size) => {
        expect(read(text, size)).toStrictEqual(JSON.parse(text));
      }),
      RUNS,
    );
  });

  test("is rejected if JSON.parse rejects it, with the position, and only then", () => {
    const broken = fc
      .tuple(
        TEXT,
        fc.nat(),
        fc.nat({ max: 2 }),
        fc.constantFrom("", ",", "]", "}", "[", "{", ":", '"', "\\", "1", "-", "n", " ", "\n", "\u0001"),
      )
      .map(
        ([text, at, cut, put]) =>
          text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + cut),
      );
    fc.assert(
      fc.property(broken, PIECES, (text, size) => {
        if (isJson(text)) expect(read(text, size)).toStrictEqual(JSON.parse(text));
        else {
          const { code, message } = refusal(text, size);
          expect(code).toBe("invalid_json");
          expect(message).toMatch(
            /^The body is not valid JSON: expected .+ at character \d+|has more than|nested deeper/,
          );
        }
      }),
      RUNS,
    );
  });

  test.each([
    ['{"a":[1,2,', "expected a value at character 11, where the body ends"],
    ['{"a":[1,2', 'expected "," or "]" at character 10, where the body ends'],
    ['{"a":[1,2}', 'expected "," or "]" at character 10'],
    ['{"a":[1,2],}', "expected a member name in double quotes at character 12"],
    ['{"a":1[2]}', 'expected "," or "}" at character 7'],
    ['{"a":-[2]}', "expected a value at character 6"],
    ['{"a"[2]}', 'expected ":" at character 5'],
    ["[[1] [2]]", 'expected "," or "]" at character 6'],
    ["[[1]2]", 'expected "," or "]" at character 5'],
    ["[,[1]]", "expected a value at character 2"],
    ["[1]]", "expected nothing more after the value at character 4"],
    ["[1],[2]", "expected nothing more after the value at character 4"],
    ["[1] 2", "expected nothing more after the value at character 5"],
    ["1,2", "expected nothing more after the value at character 2"],
    ['["aaaaaa\n"]', "expected an escape instead of a control character at character 9"],
    ['["aaaaaa\\x"]', "expected a known escape at character 9"],
    ['["aaaaaaaaaa', "expected a closing quote at character 13, where the body ends"],
    ['{"a":[1],"b', "expected a closing quote at character 12, where the body ends"],
    ["", "expected a value at character 1, where the body ends"],
    ["   ", "expected a value at character 4, where the body ends"],
  ])("names the position at which %j stops being JSON", (text, message) => {
    for (const size of [4, 5, 100]) expect(refusal(text, size).message).toBe(`The body is not valid JSON: ${message}.`);
  });

  test("keeps the last of two members of a name, and one called __proto__", () => {
    const text = '{"b":[1],"a":1,"b":{"__proto__":[2]},"a":[3]}';
    expect(read(text, 12)).toStrictEqual(JSON.parse(text));
    expect(Object.keys((read(text, 16) as { b: object }).b)).toEqual(["__proto__"]);
  });

  test("is bounded in depth, like a small text", () => {
    const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
    expect(read(nested(JSON_DEPTH_MAX))).toBeArray();
    expect(refusal(nested(JSON_DEPTH_MAX + 1)).message).toBe(
      "The body is nested deeper than 64 levels at character 65.",
    );
  });

  test("is rejected for a number beyond a double, and for one that is longer than a piece", () => {
    expect(refusal("[1e400]", 50).message).toBe("The number at character 2 of the body is too large.");
    expect(refusal(`[0.${"1".repeat(50)}]`, 50).message).toContain(
      "The number at character 2 of the body has more than 50",
    );
  });

  test("is rejected for a name that is longer than a piece", () => {
    expect(refusal(`{"a":1,"${"b".repeat(51)}":1}`, 50).message).toContain(
      "The name at character 8 of the body has more",
    );
    expect(read(`{"a":1,"${"b".repeat(40)}":"${"b".repeat(400)}"}`, 50)).toBeObject();
  });
});

describe("the parts of a large text", () => {
  const list = (one: string, count: number): string => `[${Array.from({ length: count }, () => one).join(",")}]`;
  /** A small bound, and pieces of which the texts below have several. */
  const [most, piece] = [1_000, 512];
  const few = { partsMax: most };

  test("may reach the bound, and are rejected one past it", () => {
    // The list itself is one part.
    expect(read(list("1", JSON_PARTS_MAX - 1), 65_536)).toHaveLength(JSON_PARTS_MAX - 1);
    const { code, message } = refusal(list("1", JSON_PARTS_MAX), 65_536);
    expect(code).toBe("request_too_large");
    expect(message).toBe(
      `Expected at most ${JSON_PARTS_MAX} values and names of members in the body, got more at character ${2 * JSON_PARTS_MAX}.`,
    );
  });

  test.each(["null", "true", "false", '"a"', "[]", "{}"])("are counted if they are %s", (one) => {
    expect(read(list(one, most - 1), piece, few)).toHaveLength(most - 1);
    expect(refusal(list(one, most), piece, few).code).toBe("request_too_large");
  });

  test("are names and values of members", () => {
    const members = (count: number) => `{${Array.from({ length: count }, (_one, at) => `"${at}":1`).join(",")}}`;
    expect(Object.keys(read(members(most / 2 - 1), piece, few) as object)).toHaveLength(most / 2 - 1);
    expect(refusal(members(most / 2), piece, few).code).toBe("request_too_large");
  });

  test("exclude numbers if a contract has many", () => {
    const bounds = { ...few, countsNumbers: false };
    const numbers = (lists: number) => list(list("1", most / 2), lists);
    expect(refusal(numbers(2), piece, few).message).toContain("values and names of members");
    expect(read(numbers(10), piece, bounds)).toHaveLength(10);
    expect(refusal(list("[1]", most), piece, bounds).code).toBe("request_too_large");
  });

  test("are bounded in one list, for every type", () => {
    const bounds = { ...few, countsNumbers: false };
    expect(read(list("1", most), piece, bounds)).toHaveLength(most);
    const { code, message } = refusal(list("1", most + 1), piece, bounds);
    expect(code).toBe("request_too_large");
    expect(message).toStartWith(`Expected at most ${most} items of a list in the body`);
  });
});

test("texts parsed at once and in pieces differ by their size only", () => {
  const small = `{"a":"${"x".repeat(JSON_AT_ONCE_BYTES_MAX - 8)}"}`;
  const large = `${small} `;
  expect(small).toHaveLength(JSON_AT_ONCE_BYTES_MAX);
  expect(readJson(Buffer.from(large)).value).toEqual(readJson(Buffer.from(small)).value);
  expect(() => readJson(Buffer.from(`${small}x`))).toThrow(/expected nothing more after the value at character/);
});
