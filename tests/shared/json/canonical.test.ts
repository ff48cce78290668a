import { expect, test } from "bun:test";

import { canonicalJson, writingCanonical } from "#shared/json/serialize.ts";

test("members are sorted at every depth, for every name", () => {
  const value: unknown = JSON.parse(
    '{"b":[{"z":1,"é":"\\u2028","":null},[]],"10":{},"2":-0,"__proto__":1e21,"01":true}',
  );
  expect(canonicalJson(value)).toBe(
    '{"2":0,"10":{},"01":true,"__proto__":1e+21,"b":[{"":null,"z":1,"é":"\u2028"},[]]}',
  );
});

test("undefined is null in a list, and no member", () => {
  expect(canonicalJson([undefined, { a: undefined, b: 1 }])).toBe('[null,{"b":1}]');
});

test("a large value is written in parts, with a pause after each", () => {
  const value = Array.from({ length: 50_000 }, (_one, at) => ({ b: at, a: "text" }));
  const parts: string[] = [];
  let stops = 0;
  for (const work = writingCanonical(value, (part) => parts.push(part)); work.next().done !== true;) stops += 1;
  expect(parts).toHaveLength(stops + 1);
  expect(stops).toBeGreaterThan(10);
  expect(parts.join("")).toBe(canonicalJson(value));
});
