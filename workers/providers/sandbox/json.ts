/** Reads JSON of unknown shape: a member of another type counts as absent. */

export type JsonRecord = Readonly<Record<string, unknown>>;

const NOTHING: JsonRecord = Object.freeze({});

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function asRecord(value: unknown): JsonRecord {
  return isRecord(value) ? value : NOTHING;
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Replaces lone surrogates, which are invalid in UTF-8, by U+FFFD. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value.toWellFormed() : undefined;
}

/** Reads own members only, so that a schema with `constructor` or `toString` reads the document. */
export function own(record: JsonRecord, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
