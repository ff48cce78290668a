/** Flattens a schema before it is filled. Resolves references, merges `allOf`, and chooses one branch of each alternative. */
import { asList, asRecord, isRecord, type JsonRecord, own } from "./json.ts";

export interface Flat {
  /** Merged keywords of the schema, all of which apply. */
  readonly keywords: JsonRecord;
  /** References that were resolved to reach the schema, for detecting recursion. */
  readonly references: readonly string[];
  /** True if no value can meet the schema. */
  readonly isImpossible: boolean;
  /** Number of times that all combinations of branches had been used before this one. */
  readonly round: number;
}

interface Part extends Omit<Flat, "round"> {
  /** Lists of alternatives. One branch of each list applies in addition to the keywords. */
  readonly choices: readonly (readonly unknown[])[];
}

const ANYTHING: Part = { keywords: {}, choices: [], references: [], isImpossible: false };
/** Maximum number of schemas merged for one value. Paired references and `allOf` can double the work at each step. */
const MERGES_MAX = 500;
const APART = new Set(["$ref", "allOf", "anyOf", "oneOf", "if", "then", "else"]);

/**
 * Returns one combination of a schema's alternatives.
 * @param turn number of the combination; 0 takes the first branch everywhere
 * @param order sorts the branches of an alternative, the most likely first
 */
export function flattenSchema(
  schema: unknown,
  root: unknown,
  turn = 0,
  order: (branches: readonly unknown[], references: readonly string[]) => readonly unknown[] = (branches) => branches,
): Flat {
  let work = MERGES_MAX;

  function flatten(part: unknown): Part {
    if (part === false) return { ...ANYTHING, isImpossible: true };
    if (!isRecord(part) || (work -= 1) < 0) return ANYTHING;
    const keywords = Object.fromEntries(Object.entries(part).filter(([key]) => !APART.has(key)));
    const choices = [part["anyOf"], part["oneOf"]].map(asList).filter((branches) => branches.length > 0);
    const condition = own(part, "if");
    if (condition !== undefined) choices.push([{ allOf: [condition, part["then"] ?? {}] }, part["else"] ?? {}]);
    const parts = asList(part["allOf"]).map(flatten);
    const { $ref: reference } = part;
    if (typeof reference === "string") {
      const target = flatten(resolveReference(reference, root));
      parts.unshift({ ...target, references: [reference, ...target.references] });
    }
    return [...parts, { ...ANYTHING, keywords, choices }].reduce(merge);
  }

  let flat = flatten(schema);
  let round = turn;
  while (flat.choices.length > 0) {
    const [branches = [], ...choices] = flat.choices;
    const ordered = order(branches, flat.references);
    flat = merge({ ...flat, choices }, flatten(ordered[round % ordered.length]));
    round = Math.floor(round / ordered.length);
  }
  return { ...flat, round, isImpossible: flat.isImpossible || own(flat.keywords, "type") === NO_TYPE };
}

/** Resolves a reference such as "#" or "#/$defs/node". A reference that cannot be resolved allows any value. */
function resolveReference(reference: string, root: unknown): unknown {
  if (!/^#(?:\/|$)/.test(reference)) return undefined;
  return reference
    .split("/")
    .slice(1)
    .map((key) => decodePercent(key).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((target, key) => (Array.isArray(target) ? target[Number(key)] : own(asRecord(target), key)), root);
}

function decodePercent(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function merge(a: Part, b: Part): Part {
  const keywords: Record<string, unknown> = { ...a.keywords };
  for (const [key, value] of Object.entries(b.keywords)) {
    const join = Object.hasOwn(keywords, key) ? MERGES.get(key) : undefined;
    keywords[key] = join === undefined ? value : join(keywords[key], value);
  }
  return {
    keywords,
    choices: [...a.choices, ...b.choices],
    references: [...a.references, ...b.references],
    isImpossible: a.isImpossible || b.isImpossible,
  };
}

type Merge = (a: unknown, b: unknown) => unknown;

const NO_TYPE = "none";
const both: Merge = (a, b) => (a === false || b === false ? false : { allOf: [a, b] });
const members: Merge = (a, b) => {
  const [left, right] = [asRecord(a), asRecord(b)];
  const joined = Object.entries(right).map(([key, part]) => [
    key,
    Object.hasOwn(left, key) ? both(left[key], part) : part,
  ]);
  return { ...left, ...(Object.fromEntries(joined) as JsonRecord) };
};
const types: Merge = (a, b) => {
  const [left, right] = [a, b].map((one) => (Array.isArray(one) ? asList(one) : [one])) as [unknown[], unknown[]];
  // Integers are numbers: the intersection of `number` and `integer` is `integer`.
  const allows = (list: readonly unknown[], type: unknown): boolean =>
    list.includes(type) || (type === "integer" && list.includes("number"));
  const shared = [...new Set([...left, ...right])].filter((type) => allows(left, type) && allows(right, type));
  return shared.length === 0 ? NO_TYPE : shared;
};
const larger: Merge = (a, b) => Math.max(Number(a), Number(b));
const smaller: Merge = (a, b) => Math.min(Number(a), Number(b));

/** Functions that merge two values of a keyword into one that is as strict as both. For other keywords, the later value is used. */
const MERGES: ReadonlyMap<string, Merge> = new Map<string, Merge>([
  ["type", types],
  ["enum", (a, b) => asList(a).filter((one) => asList(b).some((other) => Bun.deepEquals(one, other, true)))],
  ["required", (a, b) => [...new Set([...asList(a), ...asList(b)])]],
  ["properties", members],
  ["additionalProperties", both],
  ["items", both],
  ...["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"].map((key) => [key, larger] as const),
  ...["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"].map((key) => [key, smaller] as const),
]);
