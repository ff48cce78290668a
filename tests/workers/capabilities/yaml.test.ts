/** YAML that is read alike by readers of YAML 1.2 and of YAML 1.1. */
import { expect, test } from "bun:test";

import { runCapability } from "./in-folder.ts";

const yamlOf = async (value: unknown, from = "json"): Promise<string> => {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const made = await runCapability("code.transform_json", { data: { text } }, { from, to: "yaml" });
  return String(made.output?.["text"]);
};

/** Texts that PyYAML 6.0.3 (YAML 1.1) reads as numbers, dates, booleans or nothing, and others that Go's reader does. */
const REREAD = ["12:30", "1:2", "190:20:30", "20:30.15", "-1:30", "1_000", "1_0.5", "0b1", "0b1_0", "-0b1", "0o7", "017", "0x1f", "0x_1", "1e3", "1.5e+3", "+1", ".5", "5.", ".inf", "-.INF", ".NaN", "yes", "No", "on", "OFF", "y", "N", "true", "null", "~", "", "=", "<<", "2026-01-02", "2026-1-2", "2026-01-02T03:04:05Z", "2026-01-02 03:04:05.6 -5", "0B1", "0O7", "0X1F"]; // prettier-ignore
const PLAIN = ["tea", "two boxes", "12a", "192.168.0.1", "v1.0", "12:30 h", "1:60", "_1", "e5", "a=b", "yesterday", "http://e.org/x"]; // prettier-ignore

test.each(REREAD)("quotes %p as value and as key", async (text) => {
  expect(await yamlOf({ [text]: [text] })).toBe(`${JSON.stringify(text)}:\n  - ${JSON.stringify(text)}\n`);
});

test.each(PLAIN)("leaves %p unquoted", async (text) => {
  expect(await yamlOf({ [text]: [text] })).toBe(`${text}:\n  - ${text}\n`);
});

test("writes nested lists and tables, and reads them back", async () => {
  const value = {
    a: { b: [1, [2, [3, { x: { w: [], z: {} } }]], {}], c: "tea" },
    "": [[{ e: null, f: [true] }]],
    g: "l1\nl2",
  };
  const text = await yamlOf(value);
  expect(text).toBe(
    'a:\n  b:\n    - 1\n    - - 2\n      - - 3\n        - x:\n            w: []\n            z: {}\n    - {}\n  c: tea\n"":\n  - - e: null\n      f:\n        - true\ng: "l1\\nl2"\n',
  );
  expect(Bun.YAML.parse(text)).toEqual(value);
});

test.each([
  [1e21, "1.0e+21"],
  [1e-7, "1.0e-7"],
  [1.5e300, "1.5e+300"],
  [100_000, "100000"],
])("writes the number %p with a point before its exponent", async (value, text) => {
  expect(await yamlOf(JSON.stringify(value))).toBe(`${text}\n`);
});

test("keeps dates of TOML as dates, and its local times as text", async () => {
  expect(await yamlOf("a = 2026-01-02\nb = 2026-01-02T03:04:05Z\nc = 03:04:05\n", "toml")).toBe(
    'a: 2026-01-02\nb: 2026-01-02T03:04:05Z\nc: "03:04:05"\n',
  );
});
