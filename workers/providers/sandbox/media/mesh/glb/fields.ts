/** Reads what a foreign file says, one field at a time: what is not as it must be is refused. */
import { MediaError } from "#shared/media/media-error.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** Names are shown, never used for more. */
const NAME_CHARACTERS_MAX = 200;

export function corrupt(what: string): MediaError {
  return new MediaError("corrupt", `The mesh is damaged: ${what}.`);
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function fieldsOf(value: unknown, what: string): Fields {
  if (!isFields(value)) throw corrupt(`${what} is no object`);
  return value;
}

/** Extensions of a part of the file; none where there are none. */
export function extensionsOf(parent: Fields): Fields {
  const { extensions } = parent;
  return isFields(extensions) ? extensions : {};
}

/** A list of objects; none where the field is missing. */
export function listOf(parent: Fields, key: string, countMax: number): readonly Fields[] {
  const value = parent[key];
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw corrupt(`${key} is no list`);
  if (value.length > countMax) {
    throw new MediaError("too_large", `The mesh has ${value.length} ${key}; at most ${countMax} are taken.`);
  }
  return value.map((entry: unknown) => fieldsOf(entry, `an entry of ${key}`));
}

/** A whole number from `min` to `max`. */
export function wholeOf(parent: Fields, key: string, min: number, max: number): number {
  const value = parent[key];
  if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
    throw corrupt(`${key} is no whole number from ${min} to ${max}`);
  }
  return value;
}

export function optionalWhole(parent: Fields, key: string, min: number, max: number): number | undefined {
  return parent[key] === undefined ? undefined : wholeOf(parent, key, min, max);
}

/** Whole numbers that point into a list of `count`. */
export function indicesOf(parent: Fields, key: string, count: number): readonly number[] {
  const value = parent[key];
  if (value === undefined) return [];
  if (!Array.isArray(value) || !value.every((entry) => Number.isInteger(entry) && entry >= 0 && entry < count)) {
    throw corrupt(`${key} points to something that is not there`);
  }
  return value as readonly number[];
}

/** So many finite numbers from `min` to `max`. */
export function numbersOf(
  parent: Fields,
  key: string,
  count: number,
  min = -Number.MAX_VALUE,
  max = Number.MAX_VALUE,
): number[] | undefined {
  const value = parent[key];
  if (value === undefined) return undefined;
  const isFine = (entry: unknown): boolean => typeof entry === "number" && entry >= min && entry <= max;
  if (!Array.isArray(value) || value.length !== count || !value.every(isFine)) {
    throw corrupt(`${key} is no list of ${count} numbers from ${min} to ${max}`);
  }
  return [...(value as number[])];
}

export function numberOf(parent: Fields, key: string, min: number, max: number): number | undefined {
  const value = parent[key];
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !(value >= min && value <= max)) {
    throw corrupt(`${key} is no number from ${min} to ${max}`);
  }
  return value;
}

export function nameOf(parent: Fields): { readonly name?: string } {
  const { name } = parent;
  return typeof name === "string" ? { name: name.slice(0, NAME_CHARACTERS_MAX).toWellFormed() } : {};
}

/** Without the fields that are undefined. */
export function given<T extends object>(fields: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]: Exclude<T[Key], undefined>;
  };
}
