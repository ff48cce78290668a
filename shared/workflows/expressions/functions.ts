/** All functions available in expressions. They accept no regular expressions, and count characters as code points. */
import { charactersOf, countCharacters, mayHold, unitOf } from "./characters.ts";
import { inRange, isObject, keysOf } from "./operators.ts";
import { ExpressionFault, ITEM_UNITS, typeOf, type Work } from "./work.ts";

interface ExpressionFunction {
  /** Number of arguments, not counting the value on which the function is called. */
  readonly args: { readonly min: number; readonly max: number };
  run(work: Work, ...args: readonly unknown[]): unknown;
}

type Table = ReadonlyMap<string, ExpressionFunction>;

const none = { min: 0, max: 0 } as const;
const one = { min: 1, max: 1 } as const;

const sizeOf = (work: Work, value: unknown): bigint => {
  if (typeof value === "string") return BigInt(countCharacters(read("size", work, value)));
  if (Array.isArray(value)) return BigInt(value.length);
  if (isObject(value)) return BigInt(keysOf(value, work).length);
  throw new ExpressionFault(`Expected a text, a list or an object for size(), got ${typeOf(value)}.`);
};

/** Functions called as `size(x)`. */
export const FUNCTIONS: Table = new Map<string, ExpressionFunction>([
  ["size", { args: one, run: sizeOf }],
  ["int", { args: one, run: (_work, value) => toInteger(value) }],
  ["double", { args: one, run: (_work, value) => toDouble(value) }],
  ["string", { args: one, run: (_work, value) => toText(value) }],
  ["bool", { args: one, run: (_work, value) => toBoolean(value) }],
]);

/** Functions called as `x.contains(y)`. */
export const METHODS: Table = new Map<string, ExpressionFunction>([
  ["size", { args: none, run: sizeOf }],
  ["contains", { args: one, run: (work, of, part) => find("contains", work, of, part) !== -1 }],
  ["startsWith", { args: one, run: (work, of, part) => isAt("startsWith", work, of, part) }],
  ["endsWith", { args: one, run: (work, of, part) => isAt("endsWith", work, of, part) }],
  ["indexOf", { args: one, run: (work, of, part) => place("indexOf", work, of, part) }],
  ["lastIndexOf", { args: one, run: (work, of, part) => place("lastIndexOf", work, of, part) }],
  ["trim", { args: none, run: (work, of) => read("trim", work, of).trim() }],
  ["lowerAscii", { args: none, run: (work, of) => inCase("lowerAscii", work, of, /[A-Z]+/g) }],
  ["upperAscii", { args: none, run: (work, of) => inCase("upperAscii", work, of, /[a-z]+/g) }],
  ["substring", { args: { min: 1, max: 2 }, run: substring }],
  ["split", { args: one, run: split }],
  ["join", { args: { min: 0, max: 1 }, run: join }],
]);

function text(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw new ExpressionFault(`Expected text for ${name}(), got ${typeOf(value)}.`);
}

function read(name: string, work: Work, value: unknown): string {
  const of = text(name, value);
  work.spend(of.length);
  return of;
}

/** Changes the case of ASCII letters, and leaves all other characters unchanged. */
function inCase(name: "lowerAscii" | "upperAscii", work: Work, value: unknown, others: RegExp): string {
  const of = text(name, value);
  work.spend(of.length * ITEM_UNITS);
  return of.replace(others, (letters) => (name === "lowerAscii" ? letters.toLowerCase() : letters.toUpperCase()));
}

/** Counts the work of a search and returns its result in UTF-16 units. A search may compare the whole searched text at each position. */
function find(
  name: "contains" | "indexOf" | "lastIndexOf" | "split",
  work: Work,
  value: unknown,
  sought: unknown,
): number {
  const [of, part] = [text(name, value), text(name, sought)];
  work.spend(of.length + (of.length * Math.min(part.length, of.length)) / 8);
  if (!mayHold(of, part)) return -1;
  return name === "lastIndexOf" ? of.lastIndexOf(part) : of.indexOf(part);
}

function place(name: "indexOf" | "lastIndexOf", work: Work, value: unknown, sought: unknown): bigint {
  const at = find(name, work, value, sought);
  return at === -1 ? -1n : BigInt(countCharacters(read(name, work, value), at));
}

function isAt(name: "startsWith" | "endsWith", work: Work, value: unknown, sought: unknown): boolean {
  const [of, part] = [text(name, value), text(name, sought)];
  work.spend(of.length + part.length);
  return mayHold(of, part) && of[name](part);
}

function substring(work: Work, value: unknown, start: unknown, end?: unknown): string {
  const of = read("substring", work, value);
  const from = index(start);
  const to = end === undefined ? undefined : index(end);
  const [first, last] = [unitOf(of, from), to === undefined ? of.length : unitOf(of, to)];
  if (first !== undefined && last !== undefined && first <= last) return of.slice(first, last);
  const chars = countCharacters(of);
  throw new ExpressionFault(
    `Expected substring() within a text of ${chars} characters, got ${from} to ${to ?? chars}.`,
  );
}

function index(value: unknown): number {
  const at = Number(typeof value === "bigint" || typeof value === "number" ? value : Number.NaN);
  if (Number.isSafeInteger(at) && at >= 0) return at;
  throw new ExpressionFault("Expected whole numbers from 0 for substring().");
}

function split(work: Work, value: unknown, separator: unknown): string[] {
  const [of, between] = [text("split", value), text("split", separator)];
  const isThere = find("split", work, of, between) !== -1;
  // Each part is an object.
  const partUnits = 2 * ITEM_UNITS;
  const partsMax = Math.floor(work.remaining / partUnits) + 1;
  const parts = between === "" ? charactersOf(of, partsMax) : isThere ? of.split(between, partsMax) : [of];
  work.spend(parts.length * partUnits);
  return parts;
}

function join(work: Work, value: unknown, separator: unknown = ""): string {
  if (!Array.isArray(value)) throw new ExpressionFault(`Expected a list for join(), got ${typeOf(value)}.`);
  const between = text("join", separator);
  let chars = between.length * Math.max(0, value.length - 1);
  work.spend(value.length * ITEM_UNITS);
  for (const part of value) chars += text("join", part).length;
  work.spendText(chars);
  return value.join(between);
}

function toInteger(value: unknown): bigint {
  if (typeof value === "bigint") return value;
  if (typeof value === "number" && Number.isFinite(value)) return inRange(BigInt(Math.trunc(value)));
  if (typeof value === "string" && /^[+-]?\d{1,19}$/.test(value)) return inRange(BigInt(value));
  throw new ExpressionFault(`Expected a number, or text that is a whole one, for int(), got ${typeOf(value)}.`);
}

function toDouble(value: unknown): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "string" && value.length <= 64 && /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value)) {
    return Number(value);
  }
  throw new ExpressionFault(`Expected a number, or text that is one, for double(), got ${typeOf(value)}.`);
}

function toText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  throw new ExpressionFault(`Expected text, a number or a boolean for string(), got ${typeOf(value)}.`);
}

function toBoolean(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  if (value === "true" || value === "false") return value === "true";
  throw new ExpressionFault(`Expected a boolean, "true" or "false" for bool(), got ${typeOf(value)}.`);
}
