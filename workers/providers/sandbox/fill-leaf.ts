/** Values without parts: texts, numbers, booleans, members of an enumeration. */
import type { SchemaChecker } from "./check-schema.ts";
import type { Facts } from "./facts.ts";
import { sampleFormat } from "./formats.ts";
import { asList, type JsonRecord, own } from "./json.ts";
import { numbersFor, textsFor } from "./match-property.ts";
import type { Random } from "./random.ts";
import { characterCount, firstCharacters, nameWords, paddedWords } from "./words.ts";

export interface Leaf {
  readonly facts: Facts;
  readonly random: Random;
  readonly prose: () => string;
  readonly focus: number;
  readonly checker: SchemaChecker;
  /** Pieces of the prompt already given to another property. */
  used: Set<string>;
  /** Above zero, values must differ from those before: the prompt's have all been tried. */
  salt: number;
}

const TEXT_CHARACTERS_MAX = 20_000;

/** A value of a type, or of the schema's enumeration; null for `null` and for a type JSON does not have. */
export function fillLeaf(record: JsonRecord, type: string, name: string, leaf: Leaf): unknown {
  switch (type) {
    case "enum":
      return pickMember(record, leaf);
    case "string":
      return fillText(record, name, leaf);
    case "integer":
    case "number":
      return fillNumber({ ...record, type }, name, leaf);
    case "boolean":
      return fillBoolean(record, name, leaf);
    default:
      return null;
  }
}

/** The member the prompt mentions first, else the first; with salt, the next. */
function pickMember(record: JsonRecord, leaf: Leaf): unknown {
  const members = asList(own(record, "enum")).filter((member) =>
    leaf.checker.meets({ ...record, enum: [member] }, member),
  );
  const text = paddedWords(leaf.facts.text);
  const mentioned = members
    .map((member) => ({ member, at: typeof member === "string" ? text.indexOf(paddedWords(member)) : -1 }))
    .filter(({ member, at }) => at !== -1 && !leaf.used.has(`enum ${String(member)}`))
    .toSorted((a, b) => a.at - b.at)[0];
  if (mentioned !== undefined && leaf.salt === 0) {
    leaf.used.add(`enum ${String(mentioned.member)}`);
    return mentioned.member;
  }
  return members[leaf.salt % Math.max(1, members.length)] ?? null;
}

function fillText(record: JsonRecord, name: string, leaf: Leaf): string {
  const fits = (text: string): boolean => leaf.checker.meets(record, text);
  const { minLength, maxLength, pattern, format } = record;
  const least = typeof minLength === "number" ? Math.min(minLength, TEXT_CHARACTERS_MAX) : 0;
  const most = typeof maxLength === "number" ? maxLength : Infinity;
  let nearest: string | undefined;
  if (leaf.salt === 0) {
    for (const text of [...textsFor(name, format, leaf), ...defaultsOf(record)]) {
      if (typeof text !== "string") continue;
      if (fits(text)) return use(text, leaf);
      nearest ??= text;
    }
  }
  if (typeof pattern === "string") {
    const sample = leaf.checker.patternOf(pattern)?.sample(leaf.random, least, most);
    if (typeof sample === "string") return sample;
  }
  const formatted = sampleFormat(format, leaf.random, least);
  if (formatted !== undefined) return formatted;
  const base = nearest ?? placeholder(name, leaf);
  return fitLength(leaf.salt === 0 ? base : `${leaf.salt} ${base}`, least, most);
}

/** Remembers a piece of the prompt, so that the next property takes another. */
function use(text: string, leaf: Leaf): string {
  leaf.used.add(text);
  return text;
}

function placeholder(name: string, leaf: Leaf): string {
  const words = nameWords(name);
  if (words.at(-1) === "id") return `${words.join("-")}-${leaf.random.below(9_000) + 1_000}`;
  return words.length === 0 ? "sample" : `sample ${words.join(" ")}`;
}

/** Lengths count characters, not UTF-16 units (JSON Schema validation, 6.3.1). */
function fitLength(text: string, least: number, most: number): string {
  const length = characterCount(text);
  return length > most ? firstCharacters(text, most) : text + ".".repeat(Math.max(0, least - length));
}

function fillNumber(record: JsonRecord, name: string, leaf: Leaf): number {
  const fits = (value: unknown): value is number => typeof value === "number" && leaf.checker.meets(record, value);
  if (leaf.salt === 0) {
    for (const number of [...numbersFor(name, leaf.facts, leaf.used), ...defaultsOf(record)]) {
      if (!fits(number)) continue;
      leaf.used.add(String(number));
      return number;
    }
  }
  const numbers = numbersInRange(record);
  if (leaf.salt === 0) return numbers.find(fits) ?? 0;
  const fitting = [...new Set(numbers)].filter(fits);
  return fitting[leaf.salt % Math.max(1, fitting.length)] ?? 0;
}

/** Small whole numbers first, then what lies at and between the bounds. */
function numbersInRange(record: JsonRecord): number[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = record;
  const numbers = (...values: readonly unknown[]): number[] => values.filter((value) => typeof value === "number");
  const low = Math.max(-Infinity, ...numbers(minimum, exclusiveMinimum));
  const high = Math.min(Infinity, ...numbers(maximum, exclusiveMaximum));
  const step = typeof multipleOf === "number" && multipleOf > 0 ? multipleOf : 1;
  const start = Number.isFinite(low) ? Math.ceil(low / step) : Number.isFinite(high) ? Math.floor(high / step) - 50 : 0;
  // Multiples of a decimal step, such as 0.01, gain stray digits; the rounded form is tried too.
  const steps = Array.from({ length: 100 }, (_, i) => (start + i) * step).flatMap((value) => [
    value,
    Number(value.toFixed(12)),
  ]);
  const between = [low + (high - low) / 2, low + (high - low) / 3, low, high, low + 0.5, high - 0.5, low * 2, high * 2];
  return [1, start + 0.5, 2, 10, 0, ...steps, ...between].filter(Number.isFinite);
}

function fillBoolean(record: JsonRecord, name: string, leaf: Leaf): boolean {
  const words = nameWords(name);
  const said = leaf.facts.valueOf(words)?.toLowerCase();
  if (said === "true" || said === "yes") return true;
  if (said === "false" || said === "no") return false;
  if (leaf.salt > 0) return leaf.salt % 2 === 0;
  const phrase = words.join(" ");
  if (["no", "not", "without", "don t"].some((not) => leaf.facts.mentions(`${not} ${phrase}`))) return false;
  if (words.length > 0 && leaf.facts.mentions(phrase)) return true;
  const [preset] = defaultsOf(record);
  return typeof preset === "boolean" ? preset : true;
}

/** What the schema's author offers: `default`, then `examples`. */
function defaultsOf(record: JsonRecord): readonly unknown[] {
  const preset = own(record, "default");
  return [...(preset === undefined ? [] : [preset]), ...asList(own(record, "examples"))];
}
