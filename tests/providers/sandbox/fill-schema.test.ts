import { expect, test } from "bun:test";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";

import { createFacts } from "#workers/providers/sandbox/facts.ts";
import { createSchemaWriter } from "#workers/providers/sandbox/fill-schema.ts";
import { createRandom } from "#workers/providers/sandbox/random.ts";

import { anySchema, type Schema } from "./any-schema.ts";

const PROMPTS = [
  "",
  "What's the weather in Paris, Rome and Oslo for 3 days?",
  'Create a user named "Ada Lovelace", age: 36, email ada@example.com, born 1815-12-10, see https://example.com/ada',
  "order 77 of 12.5 kg, not urgent, size small, status: open",
  "天気はどうですか 👋",
];

// Without ownProperties every object would have a property called `constructor`.
const OPTIONS = { strict: false, ownProperties: true };
const [newest, draft7] = [new Ajv2020(OPTIONS), new Ajv(OPTIONS)].map((ajv) => addFormats(ajv));
const writer = createSchemaWriter();

function fill(schema: Schema, prompt = "", seed = 1, optional: "all" | "mentioned" = "all"): unknown {
  const facts = createFacts(prompt);
  return writer.fill(schema, { facts, seed: () => createRandom(seed), prose: () => `About ${prompt}.`, optional });
}

function expectValid(schema: Schema, value: unknown, validator = newest!): void {
  if (validator.validate(schema, value)) return;
  throw new Error(`${JSON.stringify(value)} does not meet ${JSON.stringify(schema)}: ${validator.errorsText()}`);
}

test("writes a valid document for any schema that can be met", () => {
  fc.assert(
    fc.property(
      anySchema,
      fc.constantFrom(...PROMPTS),
      fc.nat(1_000),
      fc.constantFrom("all", "mentioned"),
      (schema, ...rest) => expectValid(schema, fill(schema, ...rest)),
    ),
    { numRuns: 200 },
  );
});

const TEXT = { type: "string" };
const NODE = {
  type: "object",
  properties: { value: TEXT, next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } },
  required: ["value", "next"],
  additionalProperties: false,
};
const SUM = { type: "object", properties: { left: { $ref: "#/$defs/term" } }, required: ["left"] };

const SPECIAL: readonly (readonly [what: string, schema: Schema])[] = [
  ["a linked list", { $defs: { node: NODE }, $ref: "#/$defs/node" }],
  [
    "a tree",
    { type: "object", properties: { children: { type: "array", items: { $ref: "#" } } }, required: ["children"] },
  ],
  ["a recursion by its first branch", { $defs: { term: { anyOf: [SUM, { type: "number" }] } }, $ref: "#/$defs/term" }],
  ["a reference with escaped characters", { $defs: { "a/b~c d": { type: "integer" } }, $ref: "#/$defs/a~1b~0c%20d" }],
  ["oneOf that overlaps", { oneOf: [{ type: "integer" }, { type: "number" }] }],
  ["not", { type: "object", properties: { a: { type: "integer", not: { enum: [1, 2] } } }, required: ["a"] }],
  ["a map", { type: "object", additionalProperties: { type: "number" } }],
  ["at most one property", { properties: { a: TEXT, b: TEXT, c: TEXT }, required: ["c"], maxProperties: 1 }],
  ["a narrow range", { type: "number", exclusiveMinimum: 0.1, exclusiveMaximum: 0.2 }],
  ["a long e-mail address", { type: "string", format: "email", minLength: 40 }],
  ["__proto__", JSON.parse('{"properties":{"__proto__":{"type":"integer"}},"required":["__proto__"]}') as Schema],
];

test.each(SPECIAL)("writes a valid document for %s", (_, schema) => expectValid(schema, fill(schema)));

test("writes a tuple of draft 7", () => {
  const $schema = "http://json-schema.org/draft-07/schema#";
  const schema = { $schema, type: "array", items: [{ type: "integer" }, TEXT], additionalItems: false, minItems: 2 };
  expectValid(schema, fill(schema), draft7);
});

const IMPOSSIBLE: readonly Schema[] = [
  false,
  { $ref: "#" },
  { $ref: "#/nowhere%" },
  { type: "object", properties: { n: { $ref: "#" } }, required: ["n"] },
  { $defs: { a: { oneOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" },
  { type: "array", minItems: 1e9, items: { type: "array", minItems: 1e9 } },
  { type: "string", minLength: 1e9 },
  { type: "integer", minimum: 5, maximum: 4 },
  { type: "string", pattern: "(?=x)y" },
  { type: "string", pattern: "((((a{1000}){1000}){1000}){1000})" },
  { type: "string", pattern: "^(a+)+$", minLength: 5_000, not: { pattern: "a" } },
  { enum: [] },
  { type: "nonsense" },
];

test.each(IMPOSSIBLE)("ends with a similar value for %j", (schema) => {
  expect(() => JSON.stringify(fill(schema))).not.toThrow();
});

test("leaves optional properties out unless the prompt mentions them", () => {
  const properties = { city: TEXT, limit: { type: "integer" }, unit: { enum: ["metric", "imperial"] } };
  const schema = { type: "object", properties, required: [] };
  expect(fill(schema, "hello", 1, "mentioned")).toEqual({});
  expect(fill(schema, "limit 5, metric, in Paris", 1, "mentioned")).toEqual({
    city: "Paris",
    limit: 5,
    unit: "metric",
  });
});

test("uses the schema's default before an invented value", () => {
  expect(fill({ type: "integer", default: 40 })).toBe(40);
  expect(fill({ type: "string", examples: ["x-1"] })).toBe("x-1");
});

test("writes equal values for the same seed", () => {
  const schema = { type: "array", items: { type: "string", format: "uuid" }, minItems: 3 };
  expect(fill(schema, "", 5)).toEqual(fill(schema, "", 5));
  expect(fill(schema, "", 5)).not.toEqual(fill(schema, "", 6));
});
