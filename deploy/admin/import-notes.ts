/** Values of a file of unknown shape, and notes about what of it could not be taken over. */
import type { Positions } from "#shared/calls/catalogue/positions.ts";

export interface Note {
  /** 1-based line of the file; absent if unknown. */
  readonly line?: number;
  /** Path inside the file, such as `model_list[3].litellm_params.rpm`. */
  readonly place: string;
  /** Why it was not taken over, and what to do. Contains no values of the file but names of models and variables. */
  readonly reason: string;
}

export type Members = Readonly<Record<string, unknown>>;

export interface Notes {
  readonly all: readonly Note[];
  add(place: string, reason: string): void;
}

/** @param positions of the file that the places are in */
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

/** Returns a mapping; of anything else an empty one, with a note unless it is absent. */
export function membersOf(value: unknown, place: string, notes: Notes): Members {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Members;
  if (value !== undefined && value !== null) notes.add(place, "expected a mapping");
  return {};
}

/** Returns a list; of anything else an empty one, with a note unless it is absent. */
export function listOf(value: unknown, place: string, notes: Notes): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (value !== undefined && value !== null) notes.add(place, "expected a list");
  return [];
}

/** Returns an own member of a record. A name in a file may equal an inherited member, such as `constructor`. */
export function ownOf<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Returns a text that is not empty; undefined for anything else. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** Returns a positive number, given as a number or as text; undefined for other values. */
export function positiveIn(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number > 0 ? number : undefined;
}
