/**
 * Yes-or-no checks for the schemas on the hot path. Ajv's code prepares an error at every step: 4 to 11 µs for a valid
 * chat body of 20 messages, where these take 0.6 to 1.5 µs (Bun 1.4.4, 2 busy cores, medians not taken: orientation).
 * A yes is right; after a no, Ajv decides and names the fault. Only keywords those schemas use are known here, any other
 * one stops the generator.
 */
import { resolvePart, type Schema, tagValue } from "./schema-files.ts";

/** Statements for one keyword of `schema`; they return false when `value`, a variable, does not meet it. */
type Write = (value: string, parameter: unknown, schema: Schema, writer: Writer) => string;

interface Writer {
  statements(schema: Schema, value: string): string;
  /** A function that tells whether its argument meets the schema. */
  functionFor(schema: Schema): string;
  newVariable(): string;
  /** A constant that holds the compiled pattern. */
  expression(pattern: string): string;
  /** The schema itself, or the part it refers to. */
  resolve(schema: Schema): Schema;
}

const TYPE_TESTS: Readonly<Record<string, (value: string) => string>> = {
  string: (value) => `typeof ${value} === "string"`,
  number: (value) => `Number.isFinite(${value})`,
  integer: (value) => `Number.isInteger(${value})`,
  boolean: (value) => `typeof ${value} === "boolean"`,
  null: (value) => `${value} === null`,
  array: (value) => `Array.isArray(${value})`,
  object: (value) => `isObject(${value})`,
};

/** These may let through less than Ajv does, never more. */
const FORMATS: Readonly<Record<string, string>> = {
  uuid: "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
};

/** Keywords that would make a condition false where Ajv finds it true. */
const INEXACT = /"(minLength|maxLength|format)":/;

const ANNOTATIONS = new Set(["title", "description", "deprecated"]);

const ANY_TYPE: Readonly<Record<string, Write>> = {
  type: (value, types) => demand([types].flat().map((type) => typeTest(type, value))),
  const: (value, wanted) => demand([`${value} === ${JSON.stringify(wanted)}`]),
  enum: (value, wanted) => demand((wanted as unknown[]).map((item) => `${value} === ${JSON.stringify(item)}`)),
  $ref: (value, _name, schema, writer) => demand([`${writer.functionFor(schema)}(${value})`]),
  allOf: (value, schemas, _schema, writer) =>
    (schemas as Schema[]).map((schema) => writer.statements(schema, value)).join(""),
  anyOf: (value, schemas, _schema, writer) =>
    demand((schemas as Schema[]).map((schema) => `${writer.functionFor(schema)}(${value})`)),
  oneOf: (value, branches, schema, writer) => tagged(value, branches as Schema[], schema, writer),
  if: (value, condition, schema, writer) => {
    if (INEXACT.test(JSON.stringify(condition))) throw new Error("a condition of a hot schema must be exact");
    const branch = (key: "then" | "else"): string => writer.statements((schema[key] ?? {}) as Schema, value);
    return `if (${writer.functionFor(condition as Schema)}(${value})) {\n${branch("then")}} else {\n${branch("else")}}\n`;
  },
};

/** Keywords that pass values of any other type. */
const BY_TYPE: Readonly<Record<string, Readonly<Record<string, Write>>>> = {
  number: {
    minimum: (value, limit) => demand([`${value} >= ${String(limit)}`]),
    maximum: (value, limit) => demand([`${value} <= ${String(limit)}`]),
  },
  string: {
    // UTF-16 units: never fewer than the characters Ajv counts, and at most twice as many
    minLength: (value, limit) => demand([`${value}.length >= ${limit === 1 ? 1 : Number(limit) * 2}`]),
    maxLength: (value, limit) => demand([`${value}.length <= ${String(limit)}`]),
    pattern: (value, pattern, _schema, writer) => demand([`${writer.expression(String(pattern))}.test(${value})`]),
    format: (value, format, _schema, writer) => {
      const pattern = FORMATS[String(format)] ?? unknown(`the format ${String(format)}`);
      return demand([`${writer.expression(pattern)}.test(${value})`]);
    },
  },
  array: {
    minItems: (value, limit) => demand([`${value}.length >= ${String(limit)}`]),
    maxItems: (value, limit) => demand([`${value}.length <= ${String(limit)}`]),
    items: (value, schema, _schema, writer) => {
      const item = writer.newVariable();
      return `for (const ${item} of ${value}) {\n${writer.statements(schema as Schema, item)}}\n`;
    },
  },
  object: {
    required: (value, names) =>
      (names as string[]).map((name) => demand([`${member(value, name)} !== undefined`])).join(""),
    properties: (value, properties, _schema, writer) =>
      Object.entries(properties as Record<string, Schema>)
        .map(([name, schema]) => {
          const property = writer.newVariable();
          const statements = writer.statements(schema, property);
          const read = `const ${property} = ${member(value, name)};\n`;
          return statements === "" ? "" : `${read}if (${property} !== undefined) {\n${statements}}\n`;
        })
        .join(""),
    additionalProperties: (value, schema, siblings, writer) => {
      if (siblings["properties"] !== undefined) unknown("additionalProperties beside properties");
      const name = writer.newVariable();
      const property = writer.newVariable();
      return `for (const ${name} in ${value}) {\nconst ${property} = ${value}[${name}];\n${writer.statements(schema as Schema, property)}}\n`;
    },
  },
};

const KNOWN = new Set([
  ...ANNOTATIONS,
  "discriminator",
  "then",
  "else",
  ...[ANY_TYPE, ...Object.values(BY_TYPE)].flatMap(Object.keys),
]);

/** Source of `checks`, a record from title to check, for some of the named parts. */
export function checksSource(parts: ReadonlyMap<string, Schema>, titles: readonly string[]): string {
  const functions = new Map<string, string>();
  const expressions: string[] = [];
  let variables = 0;
  const writer: Writer = {
    newVariable: () => `v${++variables}`,
    expression(pattern) {
      const known = expressions.indexOf(pattern);
      return `checkedPattern${known === -1 ? expressions.push(pattern) - 1 : known}`;
    },
    resolve: (schema) => resolvePart(schema, parts),
    functionFor(schema) {
      const name = `is${(schema["$ref"] as string | undefined) ?? functions.size}`;
      if (functions.has(name)) return name;
      functions.set(name, ""); // taken before its body is written: a schema may contain itself
      const body = writer.statements(writer.resolve(schema), "value");
      functions.set(name, `function ${name}(value) {\n${body}return true;\n}`);
      return name;
    },
    statements(schema, value) {
      const stranger = Object.keys(schema).find((keyword) => !KNOWN.has(keyword));
      if (stranger !== undefined) unknown(`the keyword ${stranger}`);
      const write = (table: Readonly<Record<string, Write>>): string =>
        Object.entries(table)
          .map(([keyword, one]) => (schema[keyword] === undefined ? "" : one(value, schema[keyword], schema, writer)))
          .join("");
      const byType = Object.entries(BY_TYPE).map(([type, table]) => {
        const body = write(table);
        const isCertain = schema["type"] === type || (schema["type"] === "integer" && type === "number");
        return body === "" || isCertain ? body : `if (${typeTest(type, value)}) {\n${body}}\n`;
      });
      return write(ANY_TYPE) + byType.join("");
    },
  };
  const rows = titles.map((title) => `${title}: ${writer.functionFor({ $ref: title })},`);
  return [
    'function isObject(value) {\nreturn typeof value === "object" && value !== null && !Array.isArray(value);\n}',
    ...expressions.map(
      (pattern, index) => `const checkedPattern${index} = new RegExp(${JSON.stringify(pattern)}, "u");`,
    ),
    ...functions.values(),
    `export const checks = {\n${rows.join("\n")}\n};`,
  ].join("\n");
}

/** A union whose branches are told apart by one member: only the right branch is entered. */
function tagged(value: string, branches: readonly Schema[], schema: Schema, writer: Writer): string {
  const tag = (schema["discriminator"] as { propertyName: string } | undefined)?.propertyName;
  if (tag === undefined) return unknown("oneOf without a discriminator");
  const rows = branches.map((branch) => {
    const check = writer.functionFor(branch);
    return `case ${JSON.stringify(tagValue(writer.resolve(branch), tag))}:\n${demand([`${check}(${value})`])}break;\n`;
  });
  return `${demand([typeTest("object", value)])}switch (${member(value, tag)}) {\n${rows.join("")}default:\nreturn false;\n}\n`;
}

function demand(alternatives: readonly string[]): string {
  return `if (!(${alternatives.join(" || ")})) return false;\n`;
}

function typeTest(type: unknown, value: string): string {
  return TYPE_TESTS[String(type)]?.(value) ?? unknown(`the type ${String(type)}`);
}

function member(value: string, name: string): string {
  return `${value}[${JSON.stringify(name)}]`;
}

function unknown(what: string): never {
  throw new Error(`${what} is not known to the generator of checks (deploy/generate/checks.ts)`);
}
