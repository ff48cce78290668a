/**
 * Integers that a double cannot hold, as they stood in a JSON text: a caller's 64-bit seed, or the bounds of a tool's schema.
 * They are read like any number, and written again by their digits.
 */
import { QUOTE, stringEnd, JSON_AT_ONCE_BYTES_MAX } from "./json-tokens.ts";
import { runWhole } from "./time-slices.ts";

/** Number as it was read → its digits. */
export type ExactIntegers = ReadonlyMap<number, string>;

/** Few texts have so many digits in a row, or an exponent. */
const MANY_DIGITS = /\d{16}/;
const INTEGER = /^-?\d+$/;
/** A number of fewer characters and without exponent is held by a double. */
const SAFE_CHARACTERS_MAX = 15;

/**
 * Those of a text that is JSON, found in one pass over it; undefined when there are none. Of numbers that read as the same
 * one, none is kept: nothing would tell them apart.
 */
export function exactIntegersOf(text: string): ExactIntegers | undefined {
  return MANY_DIGITS.test(text) ? runWhole(findingExactIntegers(text)) : undefined;
}

/** The same with stops, for a thread that others wait for. */
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

/** Position behind the number that begins at `start`. */
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

/** JSON text of a value, its integers by their digits. */
export function stringifyExact(value: unknown, integers: ExactIntegers | undefined): string {
  if (integers === undefined) return JSON.stringify(value);
  return JSON.stringify(value, (_name, member: unknown) => {
    const digits = typeof member === "number" ? integers.get(member) : undefined;
    return digits === undefined ? member : JSON_TEXT.rawJSON(digits);
  });
}

/** Items of a list that are written at once. */
const ITEMS_AT_ONCE = 1_024;

/** Returns the same text, with stops, for a thread that others wait for: lists of millions of token numbers take a second. */
export function* stringifyingExact(value: unknown, integers: ExactIntegers | undefined): Generator<void, string> {
  if (!isHolder(value)) return stringifyExact(value, integers);
  if (!Array.isArray(value)) {
    // Joined by the engine once the whole is read: a list of many megabytes is not copied for each object around it.
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

/** Newer than the types of the language are. */
const JSON_TEXT = JSON as unknown as { rawJSON(text: string): unknown };
