/** Parses CSV to rows or records, for all capabilities. */
import { parse } from "csv-parse/sync";

import { MediaError } from "#shared/children/media-error.ts";

import { corruptOr } from "./faults.ts";
import { choice } from "./params.ts";

/** Maximum number of cells in all sheets of a spreadsheet, including empty cells between others. */
export const DOCUMENT_CELLS_MAX = 1_000_000;

const DELIMITERS = { comma: ",", semicolon: ";", tab: "\t" } as const;
export type Delimiter = "auto" | keyof typeof DELIMITERS;

export const delimiterParam = (description: string) =>
  choice(description, ["auto", "comma", "semicolon", "tab"], { default: "auto" });

/** Returns the delimiter for CSV output, which is a comma for `auto`. */
export function delimiterOf(name: Delimiter): string {
  return name === "auto" ? "," : DELIMITERS[name];
}

/** Checks the number of cells of a spreadsheet. @throws MediaError too_large */
export function checkCells(cells: number): void {
  const max = DOCUMENT_CELLS_MAX;
  if (cells > max) throw new MediaError("too_large", `Expected at most ${max} cells, got more.`);
}

/** Parses a CSV text to rows, which may differ in length. Empty lines are skipped. @throws MediaError corrupt, too_large */
export function csvRows(text: string, delimiter: Delimiter): readonly (readonly string[])[] {
  let cells = 0;
  const onRecord = (record: string[]): string[] => {
    cells += record.length;
    checkCells(cells);
    return record;
  };
  try {
    const [head, named] = (delimiter === "auto" ? NAMED_DELIMITER.exec(text) : null) ?? [];
    const sign = delimiter === "auto" ? (named ?? foundDelimiter(text)) : DELIMITERS[delimiter];
    return parse(text.slice(head?.length ?? 0), { ...OPTIONS, delimiter: sign, on_record: onRecord });
  } catch (error) {
    if (error instanceof MediaError) throw error;
    const [message = ""] = String(error instanceof Error ? error.message : error).split("\n");
    throw corruptOr(error, `The CSV cannot be read: ${message.slice(0, 200)}`);
  }
}

/** Matches a first line such as `sep=;`, which names the delimiter. Excel and LibreOffice read this line but do not display it. */
const NAMED_DELIMITER = /^\ufeff?sep=([^\w\s"]|\t)(?:\r\n?|\n)/i;
const OPTIONS = { bom: true, relax_column_count: true, skip_empty_lines: true } as const;
const SAMPLE_ROWS = 100;
const SAMPLE_CHARACTERS = 65_536;

/**
 * Detects the delimiter of a CSV text. Returns the first delimiter that gives the same number of columns in all sampled rows. If there is
 * none, returns the most frequent delimiter in the first row.
 */
function foundDelimiter(text: string): string {
  const sample = text.slice(0, SAMPLE_CHARACTERS);
  const found = Object.values(DELIMITERS).map((delimiter) => {
    const counts = sampleCounts(sample, delimiter);
    const [first = 1] = counts;
    return { delimiter, first, isEven: first > 1 && counts.every((count) => count === first) };
  });
  const widest = Math.max(...found.map(({ first }) => first));
  return (found.find(({ isEven }) => isEven) ?? found.find(({ first }) => first === widest))?.delimiter ?? ",";
}

/** Returns the number of columns of each sampled row; empty if the text is not CSV with this delimiter. */
function sampleCounts(sample: string, delimiter: string): readonly number[] {
  const isCut = sample.length === SAMPLE_CHARACTERS;
  const counts: number[] = [];
  const onRecord = (record: string[]): string[] => {
    counts.push(record.length);
    return record;
  };
  try {
    parse(sample, { ...OPTIONS, delimiter, to: SAMPLE_ROWS, relax_quotes: true, on_record: onRecord });
  } catch {
    // A sample that ends within quotes is valid up to its last complete row.
    return isCut ? counts : [];
  }
  // The sample may cut the last row, which is then not counted.
  return isCut && counts.length > 1 && counts.length < SAMPLE_ROWS ? counts.slice(0, -1) : counts;
}

/** Returns the number of columns of the widest row. */
export function columnsOf(rows: readonly (readonly unknown[])[]): number {
  return rows.reduce((most, row) => Math.max(most, row.length), 0);
}

/**
 * Converts rows to objects whose keys are the cells of the first row. A column without a name is `column_<n>`. Duplicate names get the
 * column number: `a,a,b` has the keys `a`, `a_2` and `b`. Missing cells are null.
 * @throws MediaError too_large, because one wide row adds its columns to every object
 */
export function recordsOf<T>(
  rows: readonly (readonly T[])[],
  nameOf: (cell: T) => string,
): readonly Readonly<Record<string, T | null>>[] {
  const [head = [], ...others] = rows;
  const columns = columnsOf(rows);
  checkCells(rows.length * columns);
  const taken = new Set<string>();
  const names = Array.from({ length: columns }, (_, at) => {
    const cell = head[at];
    return freeName((cell === undefined ? "" : nameOf(cell)) || `column_${at + 1}`, at, taken);
  });
  return others.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? null])));
}

/** Returns a name that is not used yet, and adds it to the used names. */
export function freeName(wanted: string, at: number, taken: Set<string>): string {
  let name = wanted;
  for (let more = at + 1; taken.has(name); more++) name = `${wanted}_${more}`;
  taken.add(name);
  return name;
}
