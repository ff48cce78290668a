/** Brings a schema into the form a filler can walk: references followed, `allOf` merged, alternatives listed apart. */
import { resolveRef } from "./check-schema.ts";
import { asList, asRecord, isRecord, type JsonRecord, own } from "./json.ts";

export interface FlatSchema {
  /** Keywords that hold in any case. */
  readonly record: JsonRecord;
  /** One branch of each list holds as well: `anyOf`, `oneOf`, and the two ways through an `if`. */
  readonly choices: readonly (readonly unknown[])[];
  /** References followed on the way, to notice recursion. */
  readonly refs: readonly string[];
  /** Nothing can meet the schema. */
  readonly isImpossible: boolean;
}

/** References and `allOf` within each other; both double the work when they come in pairs. */
const FLAT_DEPTH_MAX = 24;
const ANYTHING: FlatSchema = { record: {}, choices: [], refs: [], isImpossible: false };
const STRUCTURE = new Set(["$ref", "allOf", "anyOf", "oneOf", "if", "then", "else"]);

export function flattenSchema(schema: unknown, root: unknown, depth = 0): FlatSchema {
  if (schema === false) return { ...ANYTHING, isImpossible: true };
  if (!isRecord(schema) || depth > FLAT_DEPTH_MAX) return ANYTHING;
  const record: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) if (!STRUCTURE.has(key)) record[key] = value;
  const choices = [own(schema, "anyOf"), own(schema, "oneOf")].filter((list) => asList(list).length > 0).map(asList);
  const condition = own(schema, "if");
  if (condition !== undefined) {
    choices.push([{ allOf: [condition, own(schema, "then") ?? {}] }, own(schema, "else") ?? {}]);
  }
  let flat: FlatSchema = { record, choices, refs: [], isImpossible: false };
  for (const part of asList(own(schema, "allOf"))) flat = mergeFlat(flat, flattenSchema(part, root, depth + 1));
  const ref = own(schema, "$ref");
  if (typeof ref !== "string") return flat;
  const target = mergeFlat(flattenSchema(resolveRef(ref, root), root, depth + 1), flat);
  return { ...target, refs: [ref, ...target.refs] };
}

/** Both schemas at once. */
export function mergeFlat(a: FlatSchema, b: FlatSchema): FlatSchema {
  return {
    record: mergeRecords(a.record, b.record),
    choices: [...a.choices, ...b.choices],
    refs: [...a.refs, ...b.refs],
    isImpossible: a.isImpossible || b.isImpossible,
  };
}

type Merge = (a: unknown, b: unknown) => unknown;

const larger: Merge = (a, b) => (typeof a === "number" && typeof b === "number" ? Math.max(a, b) : b);
const smaller: Merge = (a, b) => (typeof a === "number" && typeof b === "number" ? Math.min(a, b) : b);
const both: Merge = (a, b) => ({ allOf: [a, b] });

/** How two values of a keyword become one that is as strict as both. A keyword not listed keeps the later value. */
const MERGES: Readonly<Record<string, Merge>> = {
  type: mergeTypes,
  enum: (a, b) => asList(a).filter((one) => asList(b).some((other) => Bun.deepEquals(one, other, true))),
  required: (a, b) => [...new Set([...asList(a), ...asList(b)])],
  properties: mergeProperties,
  patternProperties: mergeProperties,
  additionalProperties: (a, b) => (a === false || b === false ? false : both(a, b)),
  items: (a, b) => (Array.isArray(a) || Array.isArray(b) ? a : both(a, b)),
  not: (a, b) => ({ anyOf: [a, b] }),
  contains: (a) => a,
  uniqueItems: (a, b) => a === true || b === true,
  minimum: larger,
  exclusiveMinimum: larger,
  minLength: larger,
  minItems: larger,
  minProperties: larger,
  minContains: larger,
  maximum: smaller,
  exclusiveMaximum: smaller,
  maxLength: smaller,
  maxItems: smaller,
  maxProperties: smaller,
  maxContains: smaller,
};

function mergeRecords(a: JsonRecord, b: JsonRecord): JsonRecord {
  const merged: Record<string, unknown> = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const merge = Object.hasOwn(MERGES, key) ? MERGES[key] : undefined;
    merged[key] = Object.hasOwn(merged, key) && merge !== undefined ? merge(merged[key], value) : value;
  }
  return merged;
}

function mergeTypes(a: unknown, b: unknown): unknown {
  const left = Array.isArray(a) ? asList(a) : [a];
  const right = Array.isArray(b) ? asList(b) : [b];
  const shared = left.filter((type) => right.includes(type));
  // Whole numbers are numbers: `number` and `integer` meet in `integer`.
  const isWhole = (types: readonly unknown[], others: readonly unknown[]): boolean =>
    types.includes("number") && others.includes("integer");
  if ((isWhole(left, right) || isWhole(right, left)) && !shared.includes("integer")) shared.push("integer");
  return shared;
}

function mergeProperties(a: unknown, b: unknown): unknown {
  const left = asRecord(a);
  const entries = Object.entries(asRecord(b)).map(
    ([key, schema]) => [key, Object.hasOwn(left, key) ? both(left[key], schema) : schema] as const,
  );
  return { ...left, ...Object.fromEntries(entries) };
}
