/** Bodies of runs against what is published: faults by their places, and texts of nothing. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Ajv } from "ajv";
import { afterAll, describe, expect, test } from "bun:test";

import { ApiError } from "#shared/base/errors.ts";
import type { Schema } from "#shared/calls/capabilities/entry.ts";
import { CAPABILITIES, CHECKS } from "#shared/calls/capabilities/list.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";

const scratch = temporaryDirectory();
afterAll(() => scratch.remove());

const PHOTO = { image: { file_id: "file-sample-photo" } };

function refused(id: string, body: object): readonly [code: string, param: string | null, message: string] {
  try {
    CHECKS.get(id)?.(body);
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.param, error.message];
    throw error;
  }
  throw new Error("it was not refused");
}

describe("an error of a pipeline step is reported", () => {
  const at = "params.operations[0]";
  const names = "resize, crop, rotate, adjust, filter, watermark, composite, chroma_key";
  test.each<[unknown, string, string, string]>([
    [
      { operation: "resise" },
      "unsupported_value",
      `${at}.operation`,
      `${at}.operation must be one of ${names}, got "resise".`,
    ],
    [
      { operation: "resise", params: {} },
      "unsupported_value",
      `${at}.operation`,
      `${at}.operation must be one of ${names}, got "resise".`,
    ],
    [{ operation: 5 }, "unsupported_value", `${at}.operation`, `${at}.operation must be one of ${names}, got 5.`],
    [{ params: {} }, "missing_required_parameter", `${at}.operation`, `Missing required parameter: ${at}.operation.`],
    [
      { operation: "filter" },
      "missing_required_parameter",
      `${at}.params`,
      `Missing required parameter: ${at}.params.`,
    ],
    [
      { operation: "resize", parms: {} },
      "unknown_parameter",
      `${at}.parms`,
      `${at}.parms is not a known parameter. Did you mean params?`,
    ],
    [
      { operation: "resize", params: { widht: 3 } },
      "unknown_parameter",
      `${at}.params.widht`,
      `${at}.params.widht is not a known parameter. Did you mean width?`,
    ],
    [
      { operation: "filter", params: {} },
      "missing_required_parameter",
      `${at}.params.type`,
      `Missing required parameter: ${at}.params.type.`,
    ],
  ])("%j", (step, code, param, message) => {
    expect(refused("image.pipeline", { input: PHOTO, params: { operations: [step] } })).toEqual([code, param, message]);
  });
});

test("an unknown param is reported by its name", () => {
  expect(refused("image.resize", { input: PHOTO, params: { widht: 3 } })).toEqual([
    "unknown_parameter",
    "params.widht",
    "params.widht is not a known parameter. Did you mean width?",
  ]);
});

test("an empty input is a text, in every form, and not an image", () => {
  const check = CHECKS.get("code.transform_json");
  for (const data of [{ text: "" }, { base64: "" }]) expect(check?.({ input: { data } }).input).toEqual({ data });
  expect(refused("image.metadata", { input: { image: { base64: "" } } })[1]).toBe("input.image.base64");
});

test("every schema compiles as capabilities.md states", async () => {
  const said = /```js\n([^]*?)```/.exec(readFileSync("schemas/docs/reference/capabilities.md", "utf8"))?.[1] ?? "";
  const [imports, body] = [/^import .*\n/m.exec(said)?.[0] ?? "", said.replace(/^import .*\n/m, "")];
  const file = join(scratch.directory, "snippet.mjs");
  // Its package is found from here only.
  const from = imports.replace('"ajv"', JSON.stringify(import.meta.resolve("ajv")));
  writeFileSync(file, `${from}export function compile(tool) {\n${body}\nreturn validate;\n}\n`);
  const { compile } = (await import(file)) as { readonly compile: (tool: object) => unknown };
  for (const tool of CAPABILITIES) {
    expect(typeof compile(tool)).toBe("function");
    for (const schema of [tool.params_schema, tool.input_schema]) new Ajv({ strict: false }).compile(schema);
  }
  const trim = CAPABILITIES.find(({ id }) => id === "video.trim");
  expect(() => new Ajv().compile(trim?.params_schema ?? {})).toThrow("x-svc-");
});

test.each(CAPABILITIES.map((capability) => [capability.id, capability] as const))(
  "null means that an optional member is absent: %s",
  (id, { input_schema: inputSchema, params_schema: paramsSchema, sample_input: input, examples }) => {
    const params = examples[0]?.params ?? {};
    const body = { input: withNulls(inputSchema, input), params: withNulls(paramsSchema, params) };
    expect(CHECKS.get(id)?.(body)).toEqual(CHECKS.get(id)?.({ input, params }));
  },
);

/** Returns the value with null for each member that it does not have. */
function withNulls({ properties = {} }: Schema, given: Readonly<Record<string, unknown>>): object {
  const all = Object.entries(properties as Readonly<Record<string, Schema>>).map(([name, schema]) => {
    const value = given[name] ?? null;
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return [name, isObject ? withNulls(schema, value as Readonly<Record<string, unknown>>) : value];
  });
  return { ...given, ...Object.fromEntries(all) };
}
