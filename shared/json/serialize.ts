/** Serializes JSON: with sorted members, and with the exact digits of large integers. */
import { runWhole } from "../base/time-slices.ts";
import { JSON_AT_ONCE_BYTES_MAX, QUOTE, stringEnd } from "./tokens.ts";

/** Returns JSON with sorted object members: equal values have equal texts. For values of bounded depth only. */
export function canonicalJson(value: unknown): string {
  const parts: string[] = [];
  runWhole(writingCanonical(value, (part) => parts.push(part)));
  return parts.join("");
}

/** Writes the text of `canonicalJson` in chunks. Yields between them so that other calls can use the thread. For JSON values only. */
export function* writingCanonical(value: unknown, write: (part: string) => void): Generator<void, void> {
  let text = "";
  const put = function* (part: string): Generator<void, void> {
    text += part;
    if (text.length < JSON_AT_ONCE_BYTES_MAX) return;
    write(text);
    text = "";
    yield;
  };
  yield* putting(value, put);
  write(text);
}

type Put = (part: string) => Generator<void, void>;

function* putting(value: unknown, put: Put): Generator<void, void> {
  if (typeof value !== "object" || value === null) {
    yield* put(JSON.stringify(value) ?? "null");
    return;
  }
  const isList = Array.isArray(value);
  let before = isList ? "[" : "{";
  if (isList) {
    for (const item of value as readonly unknown[]) {
      yield* put(before);
      yield* putting(item, put);
      before = ",";
    }
  } else {
    const members = value as Readonly<Record<string, unknown>>;
    for (const name of sortedNames(members)) {
      const member = members[name];
      if (member === undefined) continue;
      yield* put(`${before}${JSON.stringify(name)}:`);
      yield* putting(member, put);
      before = ",";
    }
  }
  yield* put(before === "," ? (isList ? "]" : "}") : isList ? "[]" : "{}");
}

/** Returns the member names of an object in sorted order. Integer names come first, sorted by value, as in JavaScript objects. */
function sortedNames(members: object): readonly string[] {
  const names = Object.keys(members);
  const at = names.findIndex((name) => !isIndex(name));
  return at < 0 ? names : [...names.slice(0, at), ...names.slice(at).toSorted()];
}

function isIndex(name: string): boolean {
  const index = Number(name) >>> 0;
  return index < 0xff_ff_ff_ff && String(index) === name;
}

// Integers of a JSON text that a double cannot represent: a caller's 64-bit seed, or the bounds of a tool's schema. They are parsed like
// any number, and serialized with their original digits.

/** Maps each parsed number to its original digits. */
export type ExactIntegers = ReadonlyMap<number, string>;

/** Matches texts that may contain integers beyond the precision of a double. Few texts have that many digits in a row. */
const MANY_DIGITS = /\d{16}/;
const INTEGER = /^-?\d+$/;
/** Maximum characters of a number without exponent that a double always represents exactly. */
const SAFE_CHARACTERS_MAX = 15;

/**
 * Returns the integers of a JSON text that a double cannot represent; undefined if there are none. Different integers that parse to the
 * same double are omitted, because they cannot be distinguished.
 */
export function exactIntegersOf(text: string): ExactIntegers | undefined {
  return MANY_DIGITS.test(text) ? runWhole(findingExactIntegers(text)) : undefined;
}

/** Finds exact integers like `exactIntegersOf`, but yields between chunks so that other calls on the thread can run. */
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

/** Returns the index directly behind the number that begins at `start`. */
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

/** Serializes a value to JSON, and writes the given integers with their original digits. */
export function stringifyExact(value: unknown, integers: ExactIntegers | undefined): string {
  if (integers === undefined) return JSON.stringify(value);
  return JSON.stringify(value, (_name, member: unknown) => {
    const digits = typeof member === "number" ? integers.get(member) : undefined;
    return digits === undefined ? member : JSON_TEXT.rawJSON(digits);
  });
}

/** Number of list items that are serialized before the generator yields. */
const ITEMS_AT_ONCE = 1_024;

/**
 * Serializes like `stringifyExact`, but yields between chunks so that other calls on the thread can run. Lists of millions of token numbers
 * take a second.
 */
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

/** The global `JSON` with `rawJSON`, which TypeScript's declarations lack. */
const JSON_TEXT = JSON as unknown as { rawJSON(text: string): unknown };
