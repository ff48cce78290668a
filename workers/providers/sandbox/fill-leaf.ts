/** Generates values without parts: texts, numbers, booleans, members of an enumeration. */
import { asList, type JsonRecord, own } from "./json.ts";
import type { ReadPattern } from "./pattern.ts";
import { membersIn, numbersFor, type Sources, textsFor } from "./property-values.ts";
import type { Random } from "./random.ts";
import { characterCount, firstCharacters, mentions, nameWords } from "./words.ts";

export interface Leaf extends Sources {
  readonly random: Random;
  readonly readPattern: ReadPattern;
  /** Values from the prompt that other properties already use; the chosen value is added. */
  readonly used: Set<string>;
  /** Number of the attempt; above zero, the prompt's own values were invalid. */
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

/** Returns a value of a type or of the schema's enumeration; null for `null` and for an unknown type. */
export function fillLeaf(keywords: JsonRecord, type: string, name: string, leaf: Leaf): unknown {
  return (Object.hasOwn(FILLERS, type) ? FILLERS[type]?.({ ...keywords, type }, name, leaf) : null) ?? null;
}

/** Returns the first offered value that fits and that no other property uses. */
function take<T>(offered: readonly T[], { used }: Leaf, fits: (value: T) => boolean): T | undefined {
  const found = offered.find((value) => !used.has(String(value)) && fits(value));
  if (found !== undefined) used.add(String(found));
  return found;
}

/** Returns the member that the prompt mentions first, else the first member. */
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
  const offered = leaf.turn > 0 ? [] : [...offersFor(name, format, leaf), ...presets];
  const found = take(offered, leaf, fits) ?? pattern?.sample(leaf.random, least, most);
  if (typeof found === "string") return found;
  const formatted = FORMATS.get(String(format))?.(leaf.random, least);
  if (formatted !== undefined) return formatted;
  const base = `${leaf.turn === 0 ? "" : `${leaf.turn} `}${offered[0] ?? placeholder(name, leaf.random)}`;
  // Lengths count characters, not UTF-16 units (JSON Schema validation, 6.3.1).
  return firstCharacters(base + ".".repeat(Math.max(0, least - characterCount(base))), most);
}

/** Returns texts of the prompt for a property; for a known format, only values of that format. */
function offersFor(name: string, format: unknown, leaf: Leaf): readonly string[] {
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

/** Returns small integers, then values at and between the bounds. */
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

/** Returns values from the schema: `default`, then `examples`. */
function presetsOf(keywords: JsonRecord): readonly unknown[] {
  return [own(keywords, "default"), ...asList(own(keywords, "examples"))].filter((preset) => preset !== undefined);
}

const two = (value: number): string => String(value).padStart(2, "0");
const hex = (random: Random, length: number): string =>
  Array.from({ length }, () => random.below(16).toString(16)).join("");
const dateOf = (random: Random): string => `2026-${two(1 + random.below(12))}-${two(1 + random.below(28))}`;
const timeOf = (random: Random): string => `${two(8 + random.below(12))}:${two(random.below(60))}:00Z`;
const urlOf = (random: Random, least: number): string => `https://example.com/${hex(random, 4)}`.padEnd(least, "a");

/** Generators of string formats; a format of variable length is at least `least` characters long. */
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
