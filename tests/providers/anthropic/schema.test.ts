import { describe, expect, test } from "bun:test";

import { closedSchema } from "#workers/providers/anthropic/schema.ts";

const closed = (schema: unknown) => closedSchema(schema, "p");
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const shut = (properties: object, more: object = {}) => object(properties, { ...more, additionalProperties: false });

describe("a supported schema", () => {
  test.each<[string, object, object]>([
    [
      "objects are closed at every depth",
      object({ a: object({ b: { type: "null" } }) }),
      shut({ a: shut({ b: { type: "null" } }) }),
    ],
    ["what was closed stays so", shut({}, { required: [] }), shut({}, { required: [] })],
    ["an empty object", { type: "object", additionalProperties: false }, shut({})],
    [
      "an open one with named members is closed",
      object({ a: { type: "string" } }, { additionalProperties: true }),
      shut({ a: { type: "string" } }),
    ],
    ["several types", { type: ["string", "null"], title: "t" }, { type: ["string", "null"], title: "t" }],
    [
      "an object or nothing",
      { type: ["object", "null"], properties: {} },
      { type: ["object", "null"], properties: {}, additionalProperties: false },
    ],
    ["choices", { enum: ["a", 1, null], default: "a" }, { enum: ["a", 1, null], default: "a" }],
    ["a constant", { const: 1 }, { const: 1 }],
    ["references", { $ref: "#/$defs/a", $defs: { a: object({}) } }, { $ref: "#/$defs/a", $defs: { a: shut({}) } }],
    [
      "one of several is any of them",
      { oneOf: [{ type: "string" }, object({})] },
      { anyOf: [{ type: "string" }, shut({})] },
    ],
    ["all of several", { allOf: [object({})] }, { allOf: [shut({})] }],
    ["lists", { type: "array", items: object({}), minItems: 1 }, { type: "array", items: shut({}), minItems: 1 }],
    ["formats", { type: "string", format: "date" }, { type: "string", format: "date" }],
    [
      "what cannot be enforced becomes words",
      { type: "string", format: "iban", minLength: 2, pattern: "^a", description: "An account." },
      { type: "string", description: 'An account.\nformat: "iban", minLength: 2, pattern: "^a"' },
    ],
    [
      "longer lists",
      { type: "array", items: { type: "null" }, minItems: 2 },
      { type: "array", items: { type: "null" }, description: "minItems: 2" },
    ],
    ["what schemas say of themselves is left out", { $schema: "x", $id: "y", type: "null" }, { type: "null" }],
  ])("%s", (_name, schema, expected) => {
    const before = structuredClone(schema);
    expect(closed(schema)).toEqual(expected as ReturnType<typeof closed>);
    expect(schema).toEqual(before);
  });
});

describe("an unsupported schema", () => {
  test.each<[string, unknown]>([
    ["objects of any members", { type: "object" }],
    ["deep inside, too", object({ a: { type: "array", items: { type: "object" } } })],
    ["maps", { type: "object", properties: {}, additionalProperties: { type: "string" } }],
    ["anything at all", {}],
    ["true", true],
    ["anything with words", object({ a: { description: "x" } })],
  ])("is rejected: %s", (_name, schema) => {
    expect(() => closed(schema)).toThrow(expect.objectContaining({ code: "unsupported_value", param: "p" }) as Error);
  });
});
