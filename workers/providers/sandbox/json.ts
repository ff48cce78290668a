/** Reading JSON whose shape is not certain: a member of another type is as good as absent. */

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

/** Lone surrogates, which no UTF-8 text can hold, become U+FFFD. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value.toWellFormed() : undefined;
}

/** Own members only, so that a schema naming `constructor` or `toString` finds what the document really has. */
export function own(record: JsonRecord, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
