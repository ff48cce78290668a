/** Whether a value meets a JSON Schema, as far as a schema-filling answer needs to know. Never throws, always ends. */
import { meetsFormat } from "./formats.ts";
import { asList, asRecord, isRecord, type JsonRecord, own } from "./json.ts";
import { type Pattern, readPattern } from "./pattern.ts";
import { characterCount } from "./words.ts";

const DEPTH_MAX = 64;
/** Schemas looked at for one document, about 0.2 s. */
const WORK_MAX = 300_000;
/** Steps a pattern takes in the time of a look at a schema. */
const PATTERN_SPEED = 20;
const EMPTY_OBJECT: JsonRecord = Object.freeze({});

/** Follows a local `$ref` ("#", "#/$defs/node", "#anchor"); undefined when it leads nowhere. */
export function resolveRef(ref: string, root: unknown): unknown {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return findAnchor(ref.slice(1), root);
  let target: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    const key = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(target)) target = target[Number(key)];
    else target = isRecord(target) ? own(target, key) : undefined;
  }
  return target;
}

export interface SchemaChecker {
  /** Whether the schema takes the value; an unknown keyword or an unreadable pattern forbids nothing. */
  readonly meets: (schema: unknown, value: unknown) => boolean;
  /** The schemas that apply to a property of this name. */
  readonly propertySchemas: (schema: JsonRecord, key: string) => readonly unknown[];
  /** A pattern, read once; null when it is none we take. */
  readonly patternOf: (source: string) => Pattern | null;
}

/**
 * A checker for the parts of one document, whose references `root` resolves. Its work is bounded, because alternatives
 * that refer to each other multiply without end; once that much is done, whatever comes is taken.
 */
export function createSchemaChecker(root: unknown): SchemaChecker {
  const patterns = new Map<string, Pattern | null>();
  let work = WORK_MAX;

  function patternOf(source: string): Pattern | null {
    let pattern = patterns.get(source);
    if (pattern === undefined) {
      work -= source.length;
      pattern = work < 0 ? null : readPattern(source);
      patterns.set(source, pattern);
    }
    return pattern;
  }

  const matches: Matches = (source, text) => {
    const pattern = patternOf(source);
    work -= pattern === null ? 1 : 1 + (pattern.size * text.length) / PATTERN_SPEED;
    return work < 0 ? undefined : pattern?.matches(text);
  };

  const propertySchemas = (schema: JsonRecord, key: string): readonly unknown[] =>
    findPropertySchemas(schema, key, matches);

  function check(schema: unknown, value: unknown, depth: number): boolean {
    if (schema === false) return false;
    if (!isRecord(schema) || depth > DEPTH_MAX || (work -= 1) < 0) return true;
    const inner: Inner = (part, item) => check(part, item, depth + 1);
    const ref = own(schema, "$ref");
    if (typeof ref === "string" && !inner(resolveRef(ref, root), value)) return false;
    return (
      meetsType(own(schema, "type"), value) &&
      (!Object.hasOwn(schema, "const") || Bun.deepEquals(schema["const"], value, true)) &&
      (!Array.isArray(own(schema, "enum")) || asList(schema["enum"]).some((one) => Bun.deepEquals(one, value, true))) &&
      (typeof value !== "number" || meetsNumber(schema, value)) &&
      (typeof value !== "string" || meetsString(schema, value, matches)) &&
      (!Array.isArray(value) || meetsArray(schema, value, inner)) &&
      (!isRecord(value) || meetsObject(schema, value, inner, matches)) &&
      meetsCombination(schema, (part) => inner(part, value))
    );
  }

  return { meets: (schema, value) => check(schema, value, 0), propertySchemas, patternOf };
}

/** Whether a text matches a pattern; undefined when that cannot be told. */
type Matches = (source: string, text: string) => boolean | undefined;

/** Whether a part of the value meets a part of the schema. */
type Inner = (part: unknown, item: unknown) => boolean;

function meetsCombination(schema: JsonRecord, meets: (part: unknown) => boolean): boolean {
  const { allOf, anyOf, oneOf, not } = schema;
  if (Array.isArray(allOf) && !allOf.every(meets)) return false;
  if (Array.isArray(anyOf) && !anyOf.some(meets)) return false;
  if (Array.isArray(oneOf) && oneOf.filter(meets).length !== 1) return false;
  if (not !== undefined && meets(not)) return false;
  if (!Object.hasOwn(schema, "if")) return true;
  const branch = own(schema, meets(schema["if"]) ? "then" : "else");
  return branch === undefined || meets(branch);
}

function meetsType(type: unknown, value: unknown): boolean {
  if (Array.isArray(type)) return type.some((one) => meetsType(one, value));
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isRecord(value);
    case "integer":
      return Number.isInteger(value);
    case "string":
    case "number":
    case "boolean":
      return typeof value === type;
    default:
      return true;
  }
}

function meetsNumber(schema: JsonRecord, value: number): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  // Draft 4 says `exclusiveMinimum: true` beside `minimum`.
  if (typeof minimum === "number" && (exclusiveMinimum === true ? value <= minimum : value < minimum)) return false;
  if (typeof maximum === "number" && (exclusiveMaximum === true ? value >= maximum : value > maximum)) return false;
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum) return false;
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum) return false;
  return typeof multipleOf !== "number" || multipleOf <= 0 || Number.isInteger(value / multipleOf);
}

function meetsString(schema: JsonRecord, value: string, matches: Matches): boolean {
  const { minLength, maxLength, pattern, format } = schema;
  const length = characterCount(value);
  if (typeof minLength === "number" && length < minLength) return false;
  if (typeof maxLength === "number" && length > maxLength) return false;
  if (typeof pattern === "string" && matches(pattern, value) === false) return false;
  return meetsFormat(format, value);
}

function meetsArray(schema: JsonRecord, value: readonly unknown[], inner: Inner): boolean {
  const { minItems, maxItems, uniqueItems, contains, minContains, maxContains } = schema;
  if (typeof minItems === "number" && value.length < minItems) return false;
  if (typeof maxItems === "number" && value.length > maxItems) return false;
  if (uniqueItems === true && hasDuplicate(value)) return false;
  const { places, rest } = itemSchemas(schema);
  if (!value.every((item, at) => inner(at < places.length ? places[at] : rest, item))) return false;
  if (contains === undefined) return true;
  const count = value.filter((item) => inner(contains, item)).length;
  return (
    count >= (typeof minContains === "number" ? minContains : 1) &&
    (typeof maxContains !== "number" || count <= maxContains)
  );
}

/** Schemas of the first places and of the items after them, in the newest notation and in those before. */
export function itemSchemas(schema: JsonRecord): { readonly places: readonly unknown[]; readonly rest: unknown } {
  const { prefixItems, items, additionalItems } = schema;
  if (Array.isArray(prefixItems)) return { places: prefixItems, rest: items };
  return Array.isArray(items) ? { places: items, rest: additionalItems } : { places: [], rest: items };
}

function meetsObject(schema: JsonRecord, value: JsonRecord, inner: Inner, matches: Matches): boolean {
  const { required, minProperties, maxProperties, propertyNames, dependentRequired, dependentSchemas } = schema;
  const keys = Object.keys(value);
  if (!asList(required).every((key) => Object.hasOwn(value, String(key)))) return false;
  if (typeof minProperties === "number" && keys.length < minProperties) return false;
  if (typeof maxProperties === "number" && keys.length > maxProperties) return false;
  if (propertyNames !== undefined && !keys.every((key) => inner(propertyNames, key))) return false;
  if (!keys.every((key) => findPropertySchemas(schema, key, matches).every((part) => inner(part, value[key]))))
    return false;
  return keys.every(
    (key) =>
      asList(own(asRecord(dependentRequired), key)).every((other) => Object.hasOwn(value, String(other))) &&
      inner(own(asRecord(dependentSchemas), key), value),
  );
}

function findPropertySchemas(schema: JsonRecord, key: string, matches: Matches): readonly unknown[] {
  const found: unknown[] = [];
  const properties = asRecord(own(schema, "properties"));
  if (Object.hasOwn(properties, key)) found.push(properties[key]);
  for (const [pattern, part] of Object.entries(asRecord(own(schema, "patternProperties")))) {
    if (matches(pattern, key) === true) found.push(part);
  }
  if (found.length > 0) return found;
  return [own(schema, "additionalProperties") ?? EMPTY_OBJECT];
}

export function hasDuplicate(values: readonly unknown[]): boolean {
  return new Set(values.map((value) => JSON.stringify(value))).size < values.length;
}

function findAnchor(name: string, root: unknown): unknown {
  const schema = asRecord(root);
  const definitions = [...Object.values(asRecord(schema["$defs"])), ...Object.values(asRecord(schema["definitions"]))];
  return definitions.find((part) => asRecord(part)["$anchor"] === name || asRecord(part)["$id"] === `#${name}`);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
