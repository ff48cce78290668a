import { expect, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";

import { createFacts } from "#workers/providers/sandbox/facts.ts";
import { fillSchema } from "#workers/providers/sandbox/fill-schema.ts";
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
const validator = new Ajv2020({ strict: false, ownProperties: true });
addFormats(validator);

function fill(schema: Schema, prompt = "", seed = 1, optional: "all" | "mentioned" = "all"): unknown {
  const facts = createFacts(prompt);
  return fillSchema(schema, { facts, random: createRandom(seed), prose: () => `About ${prompt}.`, optional, focus: 0 });
}

function expectValid(schema: Schema, value: unknown): void {
  if (!validator.validate(schema, value)) {
    throw new Error(`${JSON.stringify(value)} does not meet ${JSON.stringify(schema)}: ${validator.errorsText()}`);
  }
}

test("writes a valid document for any schema that can be met", () => {
  fc.assert(
    fc.property(
      anySchema,
      fc.constantFrom(...PROMPTS),
      fc.nat(1_000),
      fc.constantFrom("all", "mentioned"),
      (schema, prompt, seed, optional) => {
        expectValid(schema, fill(schema, prompt, seed, optional));
      },
    ),
    { numRuns: 600 },
  );
});

const TEXT = { type: "string" };
const NODE = {
  type: "object",
  properties: { value: TEXT, next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } },
  required: ["value", "next"],
  additionalProperties: false,
};

// As text, because an object with a member called `then` looks like a promise.
const CONDITION = JSON.parse(
  '{"type":"object","properties":{"k":{"const":"b"}},"required":["k"],"if":{"properties":{"k":{"const":"b"}}},"then":{"required":["z"]}}',
) as Schema;

const SPECIAL: readonly (readonly [what: string, schema: Schema])[] = [
  ["a linked list", { $defs: { node: NODE }, $ref: "#/$defs/node" }],
  [
    "a tree that refers to its root",
    { type: "object", properties: { children: { type: "array", items: { $ref: "#" } } }, required: ["children"] },
  ],
  [
    "a recursive expression whose first branch recurs",
    {
      $defs: {
        term: {
          anyOf: [
            {
              type: "object",
              properties: { left: { $ref: "#/$defs/term" }, right: { $ref: "#/$defs/term" } },
              required: ["left", "right"],
            },
            { type: "number" },
          ],
        },
      },
      $ref: "#/$defs/term",
    },
  ],
  ["a reference by anchor", { $defs: { a: { $anchor: "here", type: "integer" } }, $ref: "#here" }],
  ["a reference with escaped characters", { $defs: { "a/b~c d": { type: "integer" } }, $ref: "#/$defs/a~1b~0c%20d" }],
  ["oneOf that overlaps", { oneOf: [{ type: "integer" }, { type: "number" }] }],
  ["not", { type: "integer", not: { enum: [1, 2] } }],
  ["a condition", CONDITION],
  [
    "a dependency",
    { type: "object", properties: { a: TEXT }, required: ["a"], dependentRequired: { a: ["b"], b: ["c"] } },
  ],
  ["contains", { type: "array", items: { type: "integer" }, contains: { const: 7 }, minContains: 2, minItems: 4 }],
  [
    "bounded names",
    {
      type: "object",
      minProperties: 3,
      propertyNames: { pattern: "^[a-z]{3}$" },
      additionalProperties: { type: "integer" },
    },
  ],
  [
    "pattern properties",
    {
      type: "object",
      minProperties: 2,
      patternProperties: { "^x_[a-z]+$": { type: "integer" } },
      additionalProperties: false,
    },
  ],
  ["a map", { type: "object", additionalProperties: { type: "number" } }],
  [
    "at most one property",
    { type: "object", properties: { a: TEXT, b: TEXT, c: TEXT }, required: ["c"], maxProperties: 1 },
  ],
  ["a narrow range", { type: "number", exclusiveMinimum: 0.1, exclusiveMaximum: 0.2 }],
  ["a long e-mail address", { type: "string", format: "email", minLength: 40 }],
  [
    "a property called __proto__",
    JSON.parse('{"type":"object","properties":{"__proto__":{"type":"integer"}},"required":["__proto__"]}') as Schema,
  ],
  [
    "an open tuple of draft 7",
    { type: "array", items: [{ type: "integer" }, TEXT], additionalItems: false, minItems: 2 },
  ],
];

test.each(SPECIAL)("writes a valid document for %s", (_, schema) => {
  const value = fill(schema);
  if (Array.isArray((schema as { items?: unknown }).items))
    expect(value).toEqual([expect.any(Number), expect.any(String)]);
  else expectValid(schema, value);
});

const IMPOSSIBLE: readonly Schema[] = [
  false,
  { $ref: "#" },
  { $ref: "#/nowhere" },
  { type: "object", properties: { n: { $ref: "#" } }, required: ["n"] },
  { $defs: { a: { oneOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" },
  { type: "array", minItems: 1e9, items: { type: "array", minItems: 1e9 } },
  { type: "string", minLength: 1e9 },
  { type: "integer", minimum: 5, maximum: 4 },
  { type: "string", pattern: "(?=x)y" },
  { type: "string", pattern: "((((a{1000}){1000}){1000}){1000})" },
  { enum: [] },
  { type: "nonsense" },
];

test.each(IMPOSSIBLE)("ends with something near for %j", (schema) => {
  expect(() => JSON.stringify(fill(schema))).not.toThrow();
});

test("leaves optional properties out unless the prompt speaks of them", () => {
  const schema = {
    type: "object",
    properties: { city: TEXT, limit: { type: "integer" }, unit: { enum: ["metric", "imperial"] } },
    required: [],
  };
  expect(fill(schema, "hello", 1, "mentioned")).toEqual({});
  expect(fill(schema, "limit 5, metric, in Paris", 1, "mentioned")).toEqual({
    city: "Paris",
    limit: 5,
    unit: "metric",
  });
});

test("takes the author's default before an invented value", () => {
  expect(fill({ type: "integer", default: 40 })).toBe(40);
  expect(fill({ type: "string", examples: ["x-1"] })).toBe("x-1");
});

test("writes the same for the same seed", () => {
  const schema = { type: "array", items: { type: "string", format: "uuid" }, minItems: 3 };
  expect(fill(schema, "", 5)).toEqual(fill(schema, "", 5));
  expect(fill(schema, "", 5)).not.toEqual(fill(schema, "", 6));
});
