/** Readers for values of a file of unknown structure, and notes about values that could not be imported. */
import type { Positions } from "#shared/calls/catalogue/positions.ts";

export interface Note {
  /** 1-based line of the file; absent if unknown. */
  readonly line?: number;
  /** Path inside the file, such as `model_list[3].litellm_params.rpm`. */
  readonly place: string;
  /** Reason why the value was not imported, and what to do. It contains no values of the file except names of models and variables. */
  readonly reason: string;
}

export type Members = Readonly<Record<string, unknown>>;

export interface Notes {
  readonly all: readonly Note[];
  add(place: string, reason: string): void;
}

/**
 * Creates an empty list of notes.
 * @param positions line numbers of the file that the notes refer to
 */
export function openNotes(positions: Pick<Positions, "lineOf">): Notes {
  const all: Note[] = [];
  return {
    all,
    add(place, reason) {
      const line = positions.lineOf(place);
      all.push(line === undefined ? { place, reason } : { line, place, reason });
    },
  };
}

/** Returns the value if it is a mapping, otherwise an empty mapping. Adds a note when the value is present but not a mapping. */
export function membersOf(value: unknown, place: string, notes: Notes): Members {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Members;
  if (value !== undefined && value !== null) notes.add(place, "expected a mapping");
  return {};
}

/** Returns the value if it is a list, otherwise an empty list. Adds a note when the value is present but not a list. */
export function listOf(value: unknown, place: string, notes: Notes): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (value !== undefined && value !== null) notes.add(place, "expected a list");
  return [];
}

/** Returns a member that the record itself has, not an inherited one. A name in a file may be `constructor`, for example. */
export function ownOf<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Returns the trimmed text; undefined for empty text and for other types. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** Returns a positive number, read from a number or from text; undefined for other values. */
export function positiveIn(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number > 0 ? number : undefined;
}
