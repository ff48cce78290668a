/**
 * Integers that a double cannot hold, as they stood in a JSON text: a caller's 64-bit seed, or the bounds of a tool's schema.
 * They are read like any number, and written again by their digits.
 */

/** Number as it was read → its digits. */
export type ExactIntegers = ReadonlyMap<number, string>;

/** Few texts have so many digits in a row; those are parsed a second time. */
const MANY_DIGITS = /\d{16}/;
const INTEGER = /^-?\d+$/;

interface Context {
  readonly source?: string;
}

/**
 * Those of a text that is JSON; undefined when there are none. Two that read as the same number are left out, since
 * nothing would tell them apart.
 */
export function exactIntegersOf(text: string): ExactIntegers | undefined {
  if (!MANY_DIGITS.test(text)) return undefined;
  const found = new Map<number, string>();
  const same = new Set<number>();
  const note = (_name: string, value: unknown, { source = "" }: Context = {}): unknown => {
    if (typeof value !== "number" || Number.isSafeInteger(value) || !INTEGER.test(source)) return value;
    if ((found.get(value) ?? source) !== source) same.add(value);
    found.set(value, source);
    return value;
  };
  JSON.parse(text, note);
  for (const value of same) found.delete(value);
  return found.size === 0 ? undefined : found;
}

/** JSON text of a value, its integers by their digits. */
export function stringifyExact(value: unknown, integers: ExactIntegers | undefined): string {
  if (integers === undefined) return JSON.stringify(value);
  return JSON.stringify(value, (_name, member: unknown) => {
    const digits = typeof member === "number" ? integers.get(member) : undefined;
    return digits === undefined ? member : JSON_TEXT.rawJSON(digits);
  });
}

/** Newer than the types of the language are. */
const JSON_TEXT = JSON as unknown as { rawJSON(text: string): unknown };
