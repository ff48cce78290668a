/**
 * Generates a value that meets a JSON Schema, with values from the prompt: fills the schema, validates with Ajv, and refills invalid parts
 * in another way. For an impossible schema, or beyond the limits, returns the first value.
 */
import { fillLeaf } from "./fill-leaf.ts";
import { type Flat, flattenSchema } from "./flatten-schema.ts";
import { asList, asRecord, isRecord, type JsonRecord, own } from "./json.ts";
import { createPatternReader, type ReadPattern, type Work } from "./pattern.ts";
import { membersIn, numbersFor, offersText, type Sources } from "./property-values.ts";
import type { Random } from "./random.ts";
import { createVerify, type Verify } from "./verify-schema.ts";
import { mentions, nameWords, singular, topicsOf } from "./words.ts";

export interface FillOptions extends Sources {
  readonly seed: () => Random;
  /** Optional properties: all, or only those that the prompt mentions. */
  readonly optional: "all" | "mentioned";
}

export interface SchemaWriter {
  /** Returns a value for the schema, equal for equal options. */
  fill(schema: unknown, options: FillOptions): unknown;
  /** Returns true if the value provably meets the schema. */
  meets(schema: unknown, value: unknown): boolean;
}

const DEPTH_MAX = 24;
/** Depth beyond which only required members are written; also applies inside a repeated reference. */
const CLOSING_DEPTH = 8;
const ROUNDS_MAX = 24;
/** Round from which optional properties are omitted. */
const ROUNDS_WITH_OPTIONAL = 12;
/** Attempts for a part before its surrounding parts change as well. */
const TURNS_OWN = 5;
/** Most values of all rounds together, about 0.2 s. */
const VALUES_MAX = 10_000;
/** Most work on patterns in all rounds together, about 50 ms. */
const PATTERN_WORK_MAX = 500_000;
const ITEMS_MAX = 1_000;
const ITEMS_USUAL_MAX = 5;
/** Most compiled schemas that are cached. */
const KNOWN_MAX = 64;
const KNOWN_CHARACTERS_MAX = 16_384;

export function createSchemaWriter(): SchemaWriter {
  const known = new Map<string, Verify>();

  function verifyOf(schema: unknown): Verify {
    const text = JSON.stringify(schema) ?? "";
    const verify = known.get(text) ?? createVerify(text);
    if (known.size >= KNOWN_MAX) known.clear();
    if (text.length <= KNOWN_CHARACTERS_MAX) known.set(text, verify);
    return verify;
  }

  return {
    fill: (schema, options) => fillSchema(schema, options, verifyOf(schema)),
    meets: (schema, value) => verifyOf(schema)(value)?.length === 0,
  };
}

function fillSchema(schema: unknown, options: FillOptions, verify: Verify): unknown {
  const turns = new Map<string, number>();
  const work: Work = { left: VALUES_MAX };
  const readPattern = createPatternReader({ left: PATTERN_WORK_MAX });
  let first: { readonly value: unknown } | undefined;
  for (let round = 0; round < ROUNDS_MAX && work.left > 0; round += 1) {
    const optional = round < ROUNDS_WITH_OPTIONAL ? options.optional : "none";
    const value = createFiller(schema, { ...options, optional, readPattern }, turns, work)(schema, ROOT);
    const faults = verify(value);
    if (faults?.length === 0) return value;
    first ??= { value };
    if (faults === undefined) break;
    for (const path of new Set(faults)) takeTurn(path, turns);
  }
  return first?.value;
}

/** Changes the attempt of an invalid part; after several attempts, also of its surrounding parts. */
function takeTurn(path: string, turns: Map<string, number>): void {
  const turn = (turns.get(path) ?? 0) + 1;
  turns.set(path, turn);
  if (path !== "" && turn % TURNS_OWN === 0) takeTurn(path.slice(0, path.lastIndexOf("/")), turns);
}

interface Place {
  /** JSON pointer in Ajv's format. */
  readonly path: string;
  /** Name of the property, or of the list that contains the value. */
  readonly name: string;
  readonly depth: number;
  readonly references: readonly string[];
  /** Number of the attempt; above zero, the value must differ from earlier values. */
  readonly turn: number;
}

const ROOT: Place = { path: "", name: "", depth: 0, references: [], turn: 0 };

interface Options extends Omit<FillOptions, "optional"> {
  readonly optional: FillOptions["optional"] | "none";
  readonly readPattern: ReadPattern;
}

function createFiller(
  root: unknown,
  options: Options,
  turns: ReadonlyMap<string, number>,
  work: Work,
): (schema: unknown, place: Place) => unknown {
  const { facts, optional } = options;
  const random = options.seed();
  /** Values from the prompt that other properties already use. */
  let used = new Set<string>();

  function fill(schema: unknown, place: Place): unknown {
    work.left -= 1;
    if (work.left < 0 || place.depth > DEPTH_MAX) return null;
    const turn = (turns.get(place.path) ?? 0) + place.turn;
    const flat = flattenSchema(schema, root, turn, (branches, further) => inOrder(branches, isClosing(place, further)));
    if (flat.isImpossible) return null;
    return fillFlat(flat, { ...place, references: [...place.references, ...flat.references] });
  }

  function fillFlat({ keywords, round }: Flat, place: Place): unknown {
    if (Object.hasOwn(keywords, "const")) return keywords["const"];
    const types = inOrder(typesOf(keywords), isClosing(place));
    const type = types[round % types.length];
    if (type === "object") return fillObject(keywords, place);
    if (type === "array") return fillArray(keywords, place);
    return fillLeaf(keywords, type ?? "", place.name, {
      ...options,
      random,
      used,
      turn: Math.floor(round / types.length),
    });
  }

  function fillObject(keywords: JsonRecord, place: Place): JsonRecord {
    const entries = new Map<string, unknown>();
    const properties = asRecord(own(keywords, "properties"));
    const others = own(keywords, "additionalProperties");
    const required = new Set(asList(own(keywords, "required")).map(String));
    const put = (key: string): void => {
      const path = `${place.path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const schema = own(properties, key) ?? others ?? {};
      entries.set(key, fill(schema, { ...place, path, name: key, depth: place.depth + 1, turn: 0 }));
    };
    const declared = Object.keys(properties).filter(
      (key) => required.has(key) || isWanted(key, properties[key], place),
    );
    for (const key of new Set([...declared, ...required])) put(key);
    // An object with free keys gets one entry.
    const usual = isRecord(others) && entries.size === 0 && optional === "all" && !isClosing(place) ? 1 : 0;
    const least = Math.min(numberOr(keywords["minProperties"], usual), ITEMS_MAX);
    for (let at = 0; entries.size < least && at < least + 8; at += 1) {
      const key = topicsOf(facts.text)[at]?.toLowerCase() ?? `item${at + 1}`;
      if (!entries.has(key)) put(key);
    }
    return Object.fromEntries(entries);
  }

  /** Returns true if an optional property is written: where possible and, for `mentioned`, only if the prompt mentions it. */
  function isWanted(name: string, schema: unknown, place: Place): boolean {
    if (optional === "none" || isClosing(place) || schema === false) return false;
    const words = nameWords(name);
    if (optional === "all" || facts.valueOf(words) !== undefined || mentions(facts.text, words.join(" "))) return true;
    const { enum: members } = flattenSchema(schema, root).keywords;
    return Array.isArray(members) ? membersIn(members, facts).length > 0 : offersText(name, options);
  }

  function fillArray(keywords: JsonRecord, place: Place): unknown[] {
    const { prefixItems, items: rest, additionalItems } = keywords;
    // Before 2020, `items` had the role of `prefixItems`.
    const places = asList(prefixItems ?? rest);
    const others = Array.isArray(rest) ? additionalItems : rest;
    const most = Math.min(numberOr(keywords["maxItems"], ITEMS_MAX), others === false ? places.length : ITEMS_MAX);
    const least = Math.min(numberOr(keywords["minItems"], 0), most);
    const isOpen = optional !== "none" && !isClosing(place);
    const usual = isOpen && others !== undefined && others !== false ? usualCount(place, others) : 0;
    const wanted = Math.min(most, Math.max(least, isOpen ? places.length + usual : 0));
    const items: unknown[] = [];
    // A list may repeat values of other properties: a list of participants contains everyone.
    const before = used;
    used = new Set();
    for (let tries = 0; items.length < wanted && tries < wanted * 3 + 8 && work.left > 0; tries += 1) {
      const at = items.length;
      const schema = at < places.length ? places[at] : (others ?? {});
      const turn = keywords["uniqueItems"] === true ? tries - at : 0;
      const name = singular(place.name);
      const item = fill(schema, { ...place, path: `${place.path}/${at}`, name, depth: place.depth + 1, turn });
      if (keywords["uniqueItems"] !== true || !items.some((one) => Bun.deepEquals(one, item, true))) items.push(item);
    }
    used = new Set([...before, ...used]);
    return items;
  }

  /** Returns the default number of items: one per matching value in the prompt, else one or two. */
  function usualCount({ name, references }: Place, items: unknown): number {
    const { type, enum: members } = flattenSchema(items, root).keywords;
    let count = Math.max(facts.quoted.length, ...facts.names.map((group) => group.names.length), 0);
    if (Array.isArray(members)) count = Math.max(1, membersIn(members, facts).length);
    else if (type === "number" || type === "integer") count = numbersFor(name, facts).length;
    const least = optional === "all" && !Array.isArray(members) ? 2 : 1;
    return references.length > 0 ? 1 : Math.min(ITEMS_USUAL_MAX, Math.max(count, least));
  }

  return fill;
}

function isClosing({ depth, references }: Place, further: readonly string[] = []): boolean {
  const all = [...references, ...further];
  return depth >= CLOSING_DEPTH || all.filter((one) => one === all.at(-1)).length > 1;
}

/** Orders types, or schemas by type. Null comes last; to end a recursion, types with the fewest parts come first. */
function inOrder<T>(branches: readonly T[], closing: boolean): readonly T[] {
  const rank = (branch: T): number => {
    const { type = branch, const: constant } = asRecord(branch);
    if (!closing) return Number(type === "null" || constant === null);
    const size = ["null", "array", "object"].indexOf(String(type));
    return size === -1 ? Number(isRecord(type)) * 3 : size;
  };
  return branches.toSorted((a, b) => rank(a) - rank(b));
}

/** Returns the types of a schema, or the type that its keywords imply. */
function typesOf(keywords: JsonRecord): readonly string[] {
  const type = own(keywords, "type");
  if (Array.isArray(own(keywords, "enum"))) return ["enum"];
  if (type !== undefined) return (Array.isArray(type) ? asList(type) : [type]).map(String);
  const names = Object.keys(keywords).join(" ");
  if (/\b(?:required|\w*[pP]roperties)\b/.test(names)) return ["object"];
  if (/\b(?:\w*[iI]tems)\b/.test(names)) return ["array"];
  if (/\b(?:minimum|maximum|exclusiveM\w+|multipleOf)\b/.test(names)) return ["number"];
  return ["string", "object", "integer", "boolean", "null", "array"];
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === "number" && value >= 0 ? value : otherwise;
}
