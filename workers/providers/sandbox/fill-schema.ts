/**
 * Writes a value that meets a JSON Schema, with what the prompt offers. Bounded in depth, items and work; a schema that
 * asks for more than that, or for the impossible, gets the nearest value found.
 */
import { createSchemaChecker, hasDuplicate, itemSchemas, type SchemaChecker } from "./check-schema.ts";
import type { Facts } from "./facts.ts";
import { fillLeaf, type Leaf } from "./fill-leaf.ts";
import { flattenSchema, type FlatSchema, mergeFlat } from "./flatten-schema.ts";
import { asList, asRecord, isRecord, type JsonRecord, own } from "./json.ts";
import { countItems, speaksOf } from "./match-property.ts";
import type { Random } from "./random.ts";
import { singular } from "./words.ts";

export interface FillOptions {
  readonly facts: Facts;
  readonly random: Random;
  /** A sentence or two, for properties that hold prose. */
  readonly prose: () => string;
  /** Optional properties: all of them, or those the prompt speaks of. */
  readonly optional: "all" | "mentioned";
  /** Which of several names that stand together comes first: parallel calls take one each. */
  readonly focus: number;
}

const DEPTH_MAX = 24;
/** Deeper than this, or inside the same reference twice, only what is required is written. */
const CLOSING_DEPTH = 8;
const CLOSING_REPEATS = 1;
/** Alternatives within alternatives. */
const NESTING_MAX = 16;
/** Other values tried for a leaf when the first does not do, as under `not` or `oneOf`. */
const LEAF_TRIES = 4;
const VALUES_MAX = 2_000;
const ITEMS_MAX = 1_000;
const ATTEMPTS_MAX = 24;

/** A value for `schema`; see FillOptions for where it comes from. */
export function fillSchema(schema: unknown, options: FillOptions): unknown {
  const checker = createSchemaChecker(schema);
  let first: { readonly value: unknown } | undefined;
  for (const optional of [options.optional, "none"] as const) {
    const value = createFilling(schema, options, optional, checker).fill(schema, "", { depth: 0, refs: [] });
    if (checker.meets(schema, value)) return value;
    first ??= { value };
  }
  return first?.value;
}

interface Place {
  readonly depth: number;
  readonly refs: readonly string[];
}

function createFilling(
  root: unknown,
  options: FillOptions,
  optional: "all" | "mentioned" | "none",
  checker: SchemaChecker,
) {
  const leaf: Leaf = { ...options, checker, used: new Set(), salt: 0 };
  let left = VALUES_MAX;

  const isWorkLeft = (): boolean => left > 0;

  function fill(schema: unknown, name: string, place: Place): unknown {
    left -= 1;
    if (left < 0 || place.depth > DEPTH_MAX) return null;
    let first: { readonly value: unknown } | undefined;
    let attempts = 0;
    const used = [...leaf.used];
    for (const value of candidates(flattenSchema(schema, root), name, place, 0)) {
      if (checker.meets(schema, value)) return value;
      first ??= { value };
      attempts += 1;
      if (attempts >= ATTEMPTS_MAX || left < 0) break;
      leaf.used = new Set(used);
    }
    return first === undefined ? null : first.value;
  }

  /** Values for each way through the alternatives, the likeliest first. */
  function* candidates(flat: FlatSchema, name: string, place: Place, nesting: number): Generator<unknown, void, void> {
    // Alternatives within alternatives multiply: the work counts as if each were a value.
    left -= 1;
    if (left < 0 || nesting > NESTING_MAX) return;
    const [branches, ...rest] = flat.choices;
    const refs = [...place.refs, ...flat.refs];
    const here = { depth: place.depth, refs };
    if (branches === undefined) {
      if (!flat.isImpossible) yield* plain(flat.record, name, here);
      return;
    }
    for (const branch of isClosing(here) ? branches.toSorted((a, b) => rank(a) - rank(b)) : nullLast(branches)) {
      const merged = mergeFlat({ ...flat, choices: [], refs: [] }, flattenSchema(branch, root));
      yield* candidates({ ...merged, choices: [...merged.choices, ...rest] }, name, here, nesting + 1);
    }
  }

  function* plain(record: JsonRecord, name: string, place: Place): Generator<unknown, void, void> {
    if (Object.hasOwn(record, "const")) {
      yield record["const"];
      return;
    }
    const types = typesOf(record);
    const ordered = isClosing(place) && types.includes("null") ? ["null"] : types.toSorted(nullTypeLast);
    for (const type of Array.isArray(own(record, "enum")) ? ["enum"] : ordered) {
      if (type === "object") yield fillObject(record, { depth: place.depth + 1, refs: place.refs });
      else if (type === "array") yield fillArray(record, name, { depth: place.depth + 1, refs: place.refs });
      else {
        const { salt } = leaf;
        try {
          for (let tries = 0; tries < LEAF_TRIES; tries += 1) {
            leaf.salt = salt + tries;
            yield fillLeaf(record, type, name, leaf);
          }
        } finally {
          leaf.salt = salt;
        }
      }
    }
  }

  function fillObject(record: JsonRecord, place: Place): JsonRecord {
    const entries = new Map<string, unknown>();
    const required = new Set(asList(own(record, "required")).map(String));
    const most = numberOr(own(record, "maxProperties"), Infinity);
    const put = (key: string): void => {
      const schemas = checker.propertySchemas(record, key);
      const schema = schemas.length === 1 ? schemas[0] : { allOf: schemas };
      const value = fill(schema, key, place);
      if (required.has(key) || checker.meets(schema, value)) entries.set(key, value);
    };
    let open = most - required.size;
    for (const key of new Set([...Object.keys(asRecord(own(record, "properties"))), ...required])) {
      if (!required.has(key) && (open < 1 || !isWanted(record, key, place))) continue;
      put(key);
      if (!required.has(key) && entries.has(key)) open -= 1;
    }
    // Grows while it is walked: what a dependency adds may have dependencies of its own.
    for (const key of entries.keys()) {
      for (const other of asList(own(asRecord(own(record, "dependentRequired")), key)).map(String)) {
        required.add(other);
        if (!entries.has(other)) put(other);
      }
    }
    const least = Math.min(numberOr(own(record, "minProperties"), mapSize(record, place)), ITEMS_MAX, most);
    for (let tries = 0; entries.size < least && tries < least + 8; tries += 1) {
      const key = extraKey(record, tries);
      if (key !== undefined && !entries.has(key)) put(key);
    }
    return Object.fromEntries(entries);
  }

  function isWanted(record: JsonRecord, key: string, place: Place): boolean {
    if (optional === "none" || isClosing(place)) return false;
    return optional === "all" || speaksOf(key, asRecord(asRecord(own(record, "properties"))[key]), options.facts);
  }

  /** Entries for an object that is a map: no declared properties, but a schema for the others. */
  function mapSize(record: JsonRecord, place: Place): number {
    const isMap = isRecord(own(record, "additionalProperties")) && own(record, "properties") === undefined;
    return isMap && optional === "all" && !isClosing(place) ? 1 : 0;
  }

  function extraKey(record: JsonRecord, tries: number): string | undefined {
    const names = own(record, "propertyNames");
    if (names !== undefined) {
      leaf.salt += 1;
      const key = fill({ allOf: [{ type: "string" }, names] }, "key", { depth: CLOSING_DEPTH, refs: [] });
      return typeof key === "string" ? key : undefined;
    }
    const patterns = Object.keys(asRecord(own(record, "patternProperties")));
    if (own(record, "additionalProperties") === false || (patterns.length > 0 && tries % 2 === 1)) {
      return (
        checker.patternOf(patterns[tries % Math.max(1, patterns.length)] ?? "(?=)")?.sample(options.random, 1, 64) ??
        undefined
      );
    }
    return options.facts.topics()[tries]?.toLowerCase() ?? `item${tries + 1}`;
  }

  function fillArray(record: JsonRecord, name: string, place: Place): unknown[] {
    const { places, rest } = itemSchemas(record);
    const isUnique = own(record, "uniqueItems") === true;
    const least = Math.min(numberOr(own(record, "minItems"), 0), ITEMS_MAX);
    const most = Math.min(numberOr(own(record, "maxItems"), ITEMS_MAX), rest === false ? places.length : ITEMS_MAX);
    const items: unknown[] = [];
    // A list may repeat what other properties took: the participants' list has everyone in it.
    const { salt, used } = leaf;
    leaf.used = new Set();
    const put = (schema: unknown): void => {
      const value = fill(schema, singular(name), place);
      if (!isUnique || !hasDuplicate([...items, value])) items.push(value);
      else leaf.salt += 1;
    };

    const contains = own(record, "contains");
    const wantedContains = contains === undefined ? 0 : numberOr(own(record, "minContains"), 1);
    for (const schema of places.slice(0, most)) put(schema);
    const isOptional = !isClosing(place) && optional !== "none";
    const named = isOptional && rest !== undefined ? countItems(name, flattenSchema(rest, root).record, options) : 0;
    const usual = place.refs.length > 0 ? Math.min(named, 1) : named;
    const wanted = Math.min(most, Math.max(least, isOptional ? places.length + usual : 0, wantedContains));
    for (let tries = 0; items.length < wanted && tries < wanted * 3 + 8 && isWorkLeft(); tries += 1) {
      const isContained = tries < wantedContains;
      put(isContained ? { allOf: [rest ?? {}, contains] } : (rest ?? {}));
    }
    leaf.salt = salt;
    leaf.used = new Set([...used, ...leaf.used]);
    // Items the schema of the rest cannot have are better left out, as long as enough remain.
    while (items.length > Math.max(least, places.length) && !checker.meets(rest ?? {}, items.at(-1))) items.pop();
    return items;
  }

  return { fill };
}

function isClosing(place: Place): boolean {
  if (place.depth >= CLOSING_DEPTH) return true;
  const last = place.refs.at(-1);
  return last !== undefined && place.refs.filter((ref) => ref === last).length > CLOSING_REPEATS;
}

/** Branches that end a recursion first: null, then those without a further reference. */
function rank(branch: unknown): number {
  if (isNull(branch)) return 0;
  return JSON.stringify(branch).includes('"$ref"') ? 2 : 1;
}

function nullLast(branches: readonly unknown[]): readonly unknown[] {
  return branches.some(isNull) ? branches.toSorted((a, b) => Number(isNull(a)) - Number(isNull(b))) : branches;
}

function isNull(branch: unknown): boolean {
  const { type, const: constant } = asRecord(branch);
  return type === "null" || constant === null;
}

function nullTypeLast(a: string, b: string): number {
  return Number(a === "null") - Number(b === "null");
}

/** The types a schema names, or the one its keywords speak of. */
function typesOf(record: JsonRecord): string[] {
  const type = own(record, "type");
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.map(String);
  const has = (...keys: readonly string[]): boolean => keys.some((key) => Object.hasOwn(record, key));
  if (has("properties", "required", "additionalProperties", "patternProperties", "minProperties", "propertyNames"))
    return ["object"];
  if (has("items", "prefixItems", "minItems", "maxItems", "contains", "uniqueItems")) return ["array"];
  if (has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")) return ["number"];
  return ["string", "object", "integer", "boolean", "null", "array"];
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === "number" && value >= 0 ? value : otherwise;
}
