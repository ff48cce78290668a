/** Builds examples from a schema. They are deterministic and valid against the schema. */
import { mergedObject, type Resolve, type Schema, typesOf } from "./document.ts";

/** Optional members that an example contains: none ("required") or all. */
export type Extent = "required" | "all";

/** Maximum nesting depth at which optional members are included. Deeper objects have only their required members. */
const DEPTH_MAX = 4;
/** Maximum nesting depth of a value. A schema whose required members contain each other has no finite value. */
const NESTING_MAX = 24;

const FORMATS: Readonly<Record<string, string>> = {
  uuid: "01a22327-d14c-7e0b-9a52-6fe1c2d87b40",
  "date-time": "2026-01-31T12:00:00Z",
  uri: "https://example.com/file",
  email: "person@example.com",
  binary: "<bytes>",
};

/** Candidates for a string with a pattern. The first candidate that matches is used. */
const TEXTS = [
  "text",
  "example",
  "https://example.com/file",
  "file-0123456789abcdef0123456789abcdef",
  "batch_0123456789abcdef0123456789abcdef",
  "batch_req_0123456789abcdef0123456789abcdef",
  FORMATS["uuid"] ?? "",
  "code.regex",
  "unit",
  "2026-01-31",
  "1",
];

/** Returns an example value of a schema. @throws Error for a schema without a finite value */
export function exampleOf(schema: Schema, resolve: Resolve, extent: Extent, depth = 0): unknown {
  if (depth > NESTING_MAX) throw new Error(`${schema.title ?? "a schema"} has no finite example`);
  const full = resolve(schema);
  const stated = statedExample(full);
  if (stated !== undefined) return stated.value;
  const next = (inner: Schema): unknown => exampleOf(inner, resolve, extent, depth + 1);
  const [variant] = full.oneOf ?? full.anyOf ?? [];
  if (variant) {
    const { oneOf: _one, anyOf: _any, ...rest } = full;
    const inner = resolve(variant);
    const isObject = rest.properties !== undefined;
    return exampleOf(isObject ? mergedObject({ allOf: [rest, inner] }, resolve) : inner, resolve, extent, depth + 1);
  }
  // The example of a conditional schema meets its condition.
  const { if: condition, then, ...base } = full;
  const merged = mergedObject(condition && then ? { allOf: [base, condition, then] } : full, resolve);
  if (merged.properties || typesOf(merged)[0] === "object") {
    const isFull = extent === "all" && depth < DEPTH_MAX;
    const { properties = {}, required = [], propertyNames } = merged;
    const mayBe = new RegExp(propertyNames?.pattern ?? "", "u");
    const members = Object.entries(properties).filter(([name, member]) => {
      if (required.includes(name)) return true;
      return isFull && mayBe.test(name) && resolve(member).deprecated !== true && !isForbidden(resolve(member));
    });
    return Object.fromEntries(members.map(([name, member]) => [name, next(member)]));
  }
  return scalarOf(merged, next);
}

/** Returns a value that the schema itself contains: an example, constant, default or enum value. */
function statedExample({
  example,
  examples,
  const: constant,
  enum: values,
  default: usual,
}: Schema): { value: unknown } | undefined {
  for (const value of [example, examples?.[0], constant, usual === null ? undefined : usual, values?.[0]]) {
    if (value !== undefined) return { value };
  }
  return undefined;
}

/** Returns true for the schema of a member that must be absent: `{not: {}}` or `false`. */
function isForbidden(schema: Schema): boolean {
  return Object.hasOwn(schema, "not");
}

function scalarOf(schema: Schema, next: (inner: Schema) => unknown): unknown {
  const [type = "string"] = typesOf(schema);
  switch (type) {
    case "array": {
      const { items = {}, minItems = 1 } = schema;
      return schema.maxItems === 0 ? [] : Array.from({ length: Math.max(1, minItems) }, () => next(items));
    }
    case "integer":
    case "number":
      return numberOf(schema);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return textOf(schema);
  }
}

function numberOf({ minimum, maximum, exclusiveMinimum }: Schema): number {
  const least = exclusiveMinimum === undefined ? (minimum ?? 1) : exclusiveMinimum + 1;
  return Math.min(Math.max(1, least), maximum ?? Infinity);
}

function textOf({ format = "", pattern, minLength = 0, maxLength = Infinity }: Schema): string {
  const known = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (known !== undefined && pattern === undefined) return known;
  const matches = (text: string): boolean =>
    (pattern === undefined || new RegExp(pattern, "u").test(text)) &&
    text.length >= minLength &&
    text.length <= maxLength;
  return TEXTS.find(matches) ?? "x".repeat(minLength);
}
