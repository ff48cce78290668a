import { describe, expect, test } from "bun:test";

import { toOpenApi } from "#workers/providers/gemini/schema.ts";
import type { ProviderError } from "#workers/providers/provider.ts";

const convert = (schema: object): unknown => toOpenApi(schema as Record<string, unknown>, "response_format");

function faultOf(schema: object): ProviderError {
  try {
    convert(schema);
  } catch (error) {
    return error as ProviderError;
  }
  throw new Error("the schema was taken");
}

describe("JSON Schema in OpenAPI's format", () => {
  test.each<[string, object, object]>([
    ["a type", { type: "integer", minimum: 1, maximum: 5 }, { type: "INTEGER", minimum: 1, maximum: 5 }],
    ["a type or null", { type: ["number", "null"] }, { type: "NUMBER", nullable: true }],
    ["several types", { type: ["string", "integer"] }, { anyOf: [{ type: "STRING" }, { type: "INTEGER" }] }],
    ["texts to choose from", { enum: ["a", "b"] }, { type: "STRING", enum: ["a", "b"] }],
    ["a text or null", { enum: ["a", null] }, { type: "STRING", enum: ["a"], nullable: true }],
    ["one text", { const: "a" }, { type: "STRING", enum: ["a"] }],
    ["numbers to choose from, which it cannot say", { type: "integer", enum: [1, 2] }, { type: "INTEGER" }],
    [
      "a list",
      { type: "array", items: { type: "string" }, minItems: 1 },
      { type: "ARRAY", items: { type: "STRING" }, minItems: 1 },
    ],
    [
      "one of",
      { oneOf: [{ type: "string" }, { type: "integer" }] },
      { anyOf: [{ type: "STRING" }, { type: "INTEGER" }] },
    ],
    ["something or null", { anyOf: [{ type: "string" }, { type: "null" }] }, { type: "STRING", nullable: true }],
    [
      "what only describes",
      { type: "string", $comment: "x", title: "t", description: "d" },
      { type: "STRING", title: "t", description: "d" },
    ],
    [
      "members in their order",
      {
        $schema: "x",
        type: "object",
        properties: { b: { type: "string", pattern: "^x" }, a: {} },
        required: ["b"],
        additionalProperties: false,
      },
      {
        type: "OBJECT",
        properties: { b: { type: "STRING", pattern: "^x" }, a: {} },
        required: ["b"],
        propertyOrdering: ["b", "a"],
      },
    ],
    [
      "references, with what stands beside them",
      { $defs: { "a/b": { type: "string" } }, properties: { x: { $ref: "#/$defs/a~1b", description: "d" } } },
      { properties: { x: { type: "STRING", description: "d" } }, propertyOrdering: ["x"] },
    ],
    [
      "all of",
      {
        allOf: [
          { properties: { a: {} }, required: ["a"] },
          { properties: { b: {} }, required: ["b"] },
        ],
      },
      { properties: { a: {}, b: {} }, required: ["a", "b"], propertyOrdering: ["a", "b"] },
    ],
  ])("%s", (_name, schema, expected) => {
    expect(convert(schema)).toEqual(expected);
  });

  const branching = Object.fromEntries(
    Array.from({ length: 25 }, (_, at) => [
      `d${at}`,
      { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
    ]),
  );
  test.each<[string, object]>([
    ["refers to itself", { properties: { next: { $ref: "#" } } }],
    ["refers to nothing but itself", { $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" }],
    ["refers to nowhere", { $ref: "#/$defs/none" }],
    ["refers elsewhere", { $ref: "https://example.com/schema.json" }],
    ["grows without bounds when references are put in place", { $defs: { ...branching, d25: {} }, $ref: "#/$defs/d0" }],
    ["excludes", { not: { type: "string" } }],
    ["is a tuple", { type: "array", prefixItems: [{}] }],
  ])("a schema that %s is rejected", (_name, schema) => {
    expect(faultOf(schema)).toMatchObject({ kind: "rejected", code: "unsupported_value", param: "response_format" });
  });
});
