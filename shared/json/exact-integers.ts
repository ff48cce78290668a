/**
 * Integers of a JSON text that a double cannot represent: a caller's 64-bit seed, or the bounds of a tool's schema. They are parsed like
 * any number, and serialized with their original digits.
 */
import { QUOTE, stringEnd, JSON_AT_ONCE_BYTES_MAX } from "./json-tokens.ts";
import { runWhole } from "./time-slices.ts";

/** Parsed number → original digits. */
export type ExactIntegers = ReadonlyMap<number, string>;

/** Matches texts that may contain such integers: few have so many digits in a row. */
const MANY_DIGITS = /\d{16}/;
const INTEGER = /^-?\d+$/;
/** A double represents every number of at most this many characters without exponent. */
const SAFE_CHARACTERS_MAX = 15;

/**
 * Returns the exact integers of a JSON text, found in one pass; undefined if there are none. Different integers that parse to the same
 * double are omitted, because they cannot be distinguished.
 */
export function exactIntegersOf(text: string): ExactIntegers | undefined {
  return MANY_DIGITS.test(text) ? runWhole(findingExactIntegers(text)) : undefined;
}

/** Finds exact integers and yields between parts, for a shared thread. */
export function* findingExactIntegers(text: string): Generator<void, ExactIntegers | undefined> {
  const sources = new Map<number, string>();
  const same = new Set<number>();
  let next = JSON_AT_ONCE_BYTES_MAX;
  for (let at = 0; at < text.length; at++) {
    if (at >= next) {
      next = at + JSON_AT_ONCE_BYTES_MAX;
      yield;
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = numberEnd(text, at);
      const source = text.slice(at, end);
      at = end - 1;
      if (source.length <= SAFE_CHARACTERS_MAX && !/e/i.test(source)) continue;
      const value = Number(source);
      if (Number.isSafeInteger(value)) continue;
      if ((sources.get(value) ?? source) !== source || !INTEGER.test(source)) same.add(value);
      sources.set(value, source);
    }
  }
  for (const value of same) sources.delete(value);
  return sources.size === 0 ? undefined : sources;
}

const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

/** Returns the position after the number that begins at `start`. */
function numberEnd(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isPart =
      (code >= ZERO && code <= NINE) || code === 0x2e || code === 0x2b || code === MINUS || (code | 0x20) === 0x65;
    if (!isPart) break;
  }
  return at;
}

/** Serializes a value to JSON, with exact digits for its integers. */
export function stringifyExact(value: unknown, integers: ExactIntegers | undefined): string {
  if (integers === undefined) return JSON.stringify(value);
  return JSON.stringify(value, (_name, member: unknown) => {
    const digits = typeof member === "number" ? integers.get(member) : undefined;
    return digits === undefined ? member : JSON_TEXT.rawJSON(digits);
  });
}

/** List items serialized per step. */
const ITEMS_AT_ONCE = 1_024;

/** Serializes like `stringifyExact` and yields between parts, for a shared thread: lists of millions of token numbers take a second. */
export function* stringifyingExact(value: unknown, integers: ExactIntegers | undefined): Generator<void, string> {
  if (!isHolder(value)) return stringifyExact(value, integers);
  if (!Array.isArray(value)) {
    // The engine joins the parts at the end: a list of many megabytes is not copied for each enclosing object.
    let text = "";
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${yield* stringifyingExact(member, integers)}`;
    }
    return `{${text}}`;
  }
  const texts: string[] = [];
  for (let from = 0; from < value.length; from += ITEMS_AT_ONCE) {
    const items: readonly unknown[] = value.slice(from, from + ITEMS_AT_ONCE);
    if (items.some(isHolder)) for (const item of items) texts.push(yield* stringifyingExact(item, integers));
    else texts.push(stringifyExact(items, integers).slice(1, -1));
    yield;
  }
  return `[${texts.join(",")}]`;
}

function isHolder(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** `JSON.rawJSON` is missing in the language's type declarations. */
const JSON_TEXT = JSON as unknown as { rawJSON(text: string): unknown };
