/**
 * Generates a value that meets a JSON Schema, with values from the prompt. It fills the schema, validates the value with Ajv, and fills
 * invalid parts again in another way. For an impossible schema, or beyond the limits, it returns the first value.
 */
import { Ajv, type Options, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020.js";

import { type Flat, flattenSchema } from "./flatten-schema.ts";
import { asList, asRecord, isRecord, type JsonRecord, own } from "./json.ts";
import { createPatternReader, type ReadPattern, type Work } from "./pattern.ts";
import { membersIn, numbersFor, hasTextFor, type Sources, textsFor } from "./property-values.ts";
import type { Random } from "./random.ts";
import { characterCount, firstCharacters, mentions, nameWords, singular, topicsOf } from "./words.ts";

export interface FillOptions extends Sources {
  readonly seed: () => Random;
  /** Selects the optional properties that are written: all, or only those that the prompt mentions. */
  readonly optional: "all" | "mentioned";
}

export interface SchemaWriter {
  /** Returns a value for the schema. Equal options produce equal values. */
  fill(schema: unknown, options: FillOptions): unknown;
  /** Returns true if validation proves that the value meets the schema. */
  meets(schema: unknown, value: unknown): boolean;
}

const DEPTH_MAX = 24;
/** Depth beyond which only required members are written. The same applies inside a repeated reference. */
const CLOSING_DEPTH = 8;
const ROUNDS_MAX = 24;
/** Number of rounds with optional properties. Later rounds omit them. */
const ROUNDS_WITH_OPTIONAL = 12;
/** Number of attempts for one part of a value. After them, the surrounding parts change as well. */
const TURNS_OWN = 5;
/** Maximum number of values generated in all rounds together, about 0.2 s. */
const VALUES_MAX = 10_000;
/** Work budget for patterns in all rounds together, about 50 ms. */
const PATTERN_WORK_MAX = 500_000;
const ITEMS_MAX = 1_000;
const ITEMS_USUAL_MAX = 5;
/** Maximum number of compiled schemas in the cache. */
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
  const work: Work = { remaining: VALUES_MAX };
  const readPattern = createPatternReader({ remaining: PATTERN_WORK_MAX });
  let first: { readonly value: unknown } | undefined;
  for (let round = 0; round < ROUNDS_MAX && work.remaining > 0; round += 1) {
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

/**
 * Counts a failed attempt for an invalid part of the value, so that the next fill writes the part differently. After several attempts, the
 * surrounding parts are written differently as well.
 */
function takeTurn(path: string, turns: Map<string, number>): void {
  const turn = (turns.get(path) ?? 0) + 1;
  turns.set(path, turn);
  if (path !== "" && turn % TURNS_OWN === 0) takeTurn(path.slice(0, path.lastIndexOf("/")), turns);
}

interface Place {
  /** JSON pointer to the value, in Ajv's format. */
  readonly path: string;
  /** Name of the property that contains the value, or of the list that contains it. */
  readonly name: string;
  readonly depth: number;
  readonly references: readonly string[];
  /** Number of the attempt, from 0. After the first attempt, the value must differ from earlier values. */
  readonly turn: number;
}

const ROOT: Place = { path: "", name: "", depth: 0, references: [], turn: 0 };

interface ValueOptions extends Omit<FillOptions, "optional"> {
  readonly optional: FillOptions["optional"] | "none";
  readonly readPattern: ReadPattern;
}

function createFiller(
  root: unknown,
  options: ValueOptions,
  turns: ReadonlyMap<string, number>,
  work: Work,
): (schema: unknown, place: Place) => unknown {
  const { facts, optional } = options;
  const random = options.seed();
  /** Values from the prompt that other properties already use. */
  let used = new Set<string>();

  function fill(schema: unknown, place: Place): unknown {
    work.remaining -= 1;
    if (work.remaining < 0 || place.depth > DEPTH_MAX) return null;
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

  /**
   * Returns true if an optional property should be written. With `mentioned`, the prompt must mention it. Returns false where only required
   * members are written.
   */
  function isWanted(name: string, schema: unknown, place: Place): boolean {
    if (optional === "none" || isClosing(place) || schema === false) return false;
    const words = nameWords(name);
    if (optional === "all" || facts.valueOf(words) !== undefined || mentions(facts.text, words.join(" "))) return true;
    const { enum: members } = flattenSchema(schema, root).keywords;
    return Array.isArray(members) ? membersIn(members, facts).length > 0 : hasTextFor(name, options);
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
    for (let tries = 0; items.length < wanted && tries < wanted * 3 + 8 && work.remaining > 0; tries += 1) {
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

  /** Returns the default number of list items: one per matching value in the prompt, otherwise one or two. */
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

/** Sorts types, or schemas by type. Null comes last. To end a recursion, types with the fewest parts come first. */
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

// Generates values without parts: texts, numbers, booleans, members of an enumeration.

interface Leaf extends Sources {
  readonly random: Random;
  readonly readPattern: ReadPattern;
  /** Values from the prompt that other properties already use. The chosen value is added to them. */
  readonly used: Set<string>;
  /** Number of the attempt, from 0. After the first attempt, values taken from the prompt have proven invalid. */
  readonly turn: number;
}

const TEXT_CHARACTERS_MAX = 20_000;

type Filler = (keywords: JsonRecord, name: string, leaf: Leaf) => unknown;

const FILLERS: Readonly<Record<string, Filler>> = {
  enum: pickMember,
  string: fillText,
  integer: fillNumber,
  number: fillNumber,
  boolean: fillBoolean,
};

/** Returns a value of a type or of the schema's enumeration. Null for the type `null` and for an unknown type. */
function fillLeaf(keywords: JsonRecord, type: string, name: string, leaf: Leaf): unknown {
  return (Object.hasOwn(FILLERS, type) ? FILLERS[type]?.({ ...keywords, type }, name, leaf) : null) ?? null;
}

/**
 * Returns the first candidate that is valid and that no other property uses; undefined if there is none. Marks the returned value as used.
 */
function take<T>(candidates: readonly T[], { used }: Leaf, fits: (value: T) => boolean): T | undefined {
  const found = candidates.find((value) => !used.has(String(value)) && fits(value));
  if (found !== undefined) used.add(String(found));
  return found;
}

/** Returns the enumeration's member that the prompt mentions first; otherwise the first member. */
function pickMember(keywords: JsonRecord, _name: string, leaf: Leaf): unknown {
  const members = asList(keywords["enum"]);
  const found = leaf.turn > 0 ? undefined : take(membersIn(members, leaf.facts), leaf, () => true);
  return found ?? members[leaf.turn % members.length];
}

function fillText(keywords: JsonRecord, name: string, leaf: Leaf): string {
  const { minLength, maxLength, pattern: source, format } = keywords;
  const least = typeof minLength === "number" ? Math.min(minLength, TEXT_CHARACTERS_MAX) : 0;
  const most = typeof maxLength === "number" ? maxLength : Infinity;
  const pattern = typeof source === "string" ? leaf.readPattern(source) : null;
  const fits = (text: string): boolean => {
    const length = characterCount(text);
    return length >= least && length <= most && (pattern?.matches(text) ?? true);
  };
  const presets = presetsOf(keywords).filter((preset) => typeof preset === "string");
  const candidates = leaf.turn > 0 ? [] : [...promptTextsFor(name, format, leaf), ...presets];
  const found = take(candidates, leaf, fits) ?? pattern?.sample(leaf.random, least, most);
  if (typeof found === "string") return found;
  const formatted = FORMATS.get(String(format))?.(leaf.random, least);
  if (formatted !== undefined) return formatted;
  const base = `${leaf.turn === 0 ? "" : `${leaf.turn} `}${candidates[0] ?? placeholder(name, leaf.random)}`;
  // Lengths count characters, not UTF-16 units (JSON Schema validation, 6.3.1).
  return firstCharacters(base + ".".repeat(Math.max(0, least - characterCount(base))), most);
}

/** Returns texts from the prompt for a property. For a known format, only values of that format are returned. */
function promptTextsFor(name: string, format: unknown, leaf: Leaf): readonly string[] {
  if (!FORMATS.has(String(format))) return textsFor(name, leaf);
  const { emails, urls, dates } = leaf.facts;
  const isoDates = dates.filter((date) => /^\d{4}/.test(date));
  return new Map(Object.entries({ email: emails, uri: urls, date: isoDates })).get(String(format)) ?? [];
}

function placeholder(name: string, random: Random): string {
  const words = nameWords(name);
  if (words.at(-1) === "id") return `${words.join("-")}-${random.below(9_000) + 1_000}`;
  return ["sample", ...words].join(" ");
}

function fillNumber(keywords: JsonRecord, name: string, leaf: Leaf): number {
  const presets = presetsOf(keywords).filter((preset) => typeof preset === "number");
  const fits = (value: number): boolean => fitsNumber(keywords, value);
  const found = leaf.turn > 0 ? undefined : take([...numbersFor(name, leaf.facts), ...presets], leaf, fits);
  const numbers = [...new Set(numbersInRange(keywords).filter(fits))];
  return found ?? numbers[leaf.turn % numbers.length] ?? 0;
}

function fitsNumber(keywords: JsonRecord, value: number): boolean {
  const { type, minimum = value, maximum = value, exclusiveMinimum, exclusiveMaximum, multipleOf } = keywords;
  return (
    (type !== "integer" || Number.isInteger(value)) &&
    (typeof multipleOf !== "number" || Number.isInteger(value / multipleOf)) &&
    value >= Number(minimum) &&
    value <= Number(maximum) &&
    (typeof exclusiveMinimum !== "number" || value > exclusiveMinimum) &&
    (typeof exclusiveMaximum !== "number" || value < exclusiveMaximum)
  );
}

/** Returns candidate numbers: small integers first, then values at and between the bounds. */
function numbersInRange({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonRecord): number[] {
  const isNumber = (bound: unknown): bound is number => typeof bound === "number";
  const low = Math.max(-Infinity, ...[minimum, exclusiveMinimum].filter(isNumber));
  const high = Math.min(Infinity, ...[maximum, exclusiveMaximum].filter(isNumber));
  const step = isNumber(multipleOf) && multipleOf > 0 ? multipleOf : 1;
  const start = Number.isFinite(low) ? Math.ceil(low / step) : Math.min(0, Math.floor(high / step) - 50);
  // Rounds multiples of a decimal step such as 0.01, which otherwise gain stray digits.
  const steps = Array.from({ length: 100 }, (_, at) => Number(((start + at) * step).toPrecision(12)));
  const between = [low + (high - low) / 2, low + (high - low) / 3, low + 0.5, high - 0.5];
  return [1, start + 0.5, 2, 10, 0, ...steps, ...between].filter(Number.isFinite);
}

function fillBoolean(keywords: JsonRecord, name: string, { facts, turn }: Leaf): boolean {
  const words = nameWords(name);
  if (turn > 0) return turn % 2 === 0;
  const said = facts.valueOf(words) ?? "";
  if (/^(?:true|yes|false|no)\b/i.test(said)) return /^(?:true|yes)/i.test(said);
  if (["no", "not", "without", "don't"].some((not) => mentions(facts.text, [not, ...words].join(" ")))) return false;
  return mentions(facts.text, words.join(" ")) || presetsOf(keywords)[0] !== false;
}

/** Returns values that the schema suggests: `default`, then `examples`. */
function presetsOf(keywords: JsonRecord): readonly unknown[] {
  return [own(keywords, "default"), ...asList(own(keywords, "examples"))].filter((preset) => preset !== undefined);
}

const two = (value: number): string => String(value).padStart(2, "0");
const hex = (random: Random, length: number): string =>
  Array.from({ length }, () => random.below(16).toString(16)).join("");
const dateOf = (random: Random): string => `2026-${two(1 + random.below(12))}-${two(1 + random.below(28))}`;
const timeOf = (random: Random): string => `${two(8 + random.below(12))}:${two(random.below(60))}:00Z`;
const urlOf = (random: Random, least: number): string => `https://example.com/${hex(random, 4)}`.padEnd(least, "a");

/** Generators of string formats. A value of variable length has at least `least` characters. */
const FORMATS: ReadonlyMap<string, (random: Random, least: number) => string> = new Map([
  ["date-time", (random) => `${dateOf(random)}T${timeOf(random)}`],
  ["date", dateOf],
  ["time", timeOf],
  ["duration", (random) => `PT${5 + random.below(50)}M`],
  ["email", (random, least) => `user${random.below(100)}@example.com`.padStart(least, "u")],
  ["hostname", (random) => `host${random.below(100)}.example.com`],
  ["ipv4", (random) => `192.0.2.${1 + random.below(254)}`],
  ["ipv6", (random) => `2001:db8::${hex(random, 3)}1`],
  ...["uri", "url", "uri-reference", "uri-template"].map((name) => [name, urlOf] as const),
  ["uuid", (random) => `${hex(random, 8)}-${hex(random, 4)}-4${hex(random, 3)}-8${hex(random, 3)}-${hex(random, 12)}`],
  ["json-pointer", (_random, least) => "/items/0".padEnd(least, "a")],
  ["relative-json-pointer", (_random, least) => "0/items".padEnd(least, "a")],
  ["regex", (_random, least) => "[a-z]+".padStart(least, "a")],
  ["byte", (_random, least) => "c2FuZGJveDEy".repeat(Math.max(1, Math.ceil(least / 12)))],
]);

// Validates values against a client's schema with Ajv, in limited time. Loaded for the first schema.

/** Returns the JSON pointers of invalid parts of a value; empty for a valid value. Undefined if Ajv cannot decide. */
type Verify = (value: unknown) => readonly string[] | undefined;

/**
 * Maximum length of a schema that is compiled, in characters. Compiling takes about 4 ms per 1,000 characters. Longer schemas are filled
 * but not verified.
 */
const SCHEMA_CHARACTERS_MAX = 32_768;
/** Maximum number of references and pattern positions for one value. Both can multiply without limit. */
const WORK_MAX = 50_000;
const COUNTER = "x-sandbox-counter";
/** Matches the tuple syntax of JSON Schema before 2020. Ajv has a separate class for each syntax. */
const OLD_TUPLE = /"items"\s*:\s*\[/;

/**
 * Creates the function that validates values against a schema.
 * @param schema as JSON text
 */
function createVerify(schema: string): Verify {
  const work: Work = { remaining: 0 };
  const validate = compile(schema, work);
  return (value) => {
    work.remaining = WORK_MAX;
    try {
      if (validate === undefined || validate(value)) return validate && [];
      return (validate.errors ?? []).map((error) => error.instancePath);
    } catch {
      // Too many references, or endless recursion that exhausted the stack.
      return undefined;
    }
  };
}

/** Compiles a schema; undefined for an invalid or too long schema. */
function compile(text: string, work: Work): ValidateFunction | undefined {
  if (text.length > SCHEMA_CHARACTERS_MAX) return undefined;
  const readPattern = createPatternReader(work);
  // An unreadable pattern allows everything. Ajv distinguishes patterns by toString.
  const engine = (source: string): { test(text: string): boolean; toString(): string } => ({
    test: (one) => readPattern(source)?.matches(one) ?? true,
    toString: () => source,
  });
  const options = { ...OPTIONS, code: { regExp: Object.assign(engine, { code: "engine" }) } };
  const ajv = OLD_TUPLE.test(text) ? new Ajv(options) : new Ajv2020(options);
  addFormats(ajv);
  const count = (): boolean => {
    work.remaining -= 1;
    if (work.remaining < 0) throw new Error(`expected at most ${WORK_MAX} references in a value`);
    return true;
  };
  ajv.addKeyword({ keyword: COUNTER, schema: false, errors: false, validate: count });
  try {
    return ajv.compile(JSON.parse(text, withCounter) as object);
  } catch {
    return undefined;
  }
}

function withCounter(_key: string, value: unknown): unknown {
  const { $ref, $dynamicRef } = asRecord(value);
  return typeof ($ref ?? $dynamicRef) === "string" ? { ...asRecord(value), [COUNTER]: true } : value;
}

const OPTIONS: Options = {
  allErrors: true,
  inlineRefs: false,
  logger: false,
  meta: false,
  // Without this option, every object would have a property `constructor`.
  ownProperties: true,
  strict: false,
  validateSchema: false,
};
