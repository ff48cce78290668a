/** Reads spreadsheets as rows of values. Formulas and macros are not run, and styles are not kept. */
import { type CellObject, read, SSF, utils, type WorkSheet } from "@e965/xlsx";

import { MediaError } from "#shared/children/media-error.ts";

import { checkCells, csvRows, type Delimiter } from "../csv.ts";
import type { InputFile } from "../define.ts";
import { corruptOr } from "../faults.ts";
import { textOf } from "../text.ts";
import { isZip, type OfficeFile, openOffice } from "./office.ts";

/** Maximum characters in all cells of a workbook. Many cells can share one long text, so a small file can exceed it. */
export const SHEET_CHARACTERS_MAX = 100 * 1_048_576;

/** Elapsed time, which may exceed a day. */
export class Duration {
  readonly days: number;

  constructor(days: number) {
    this.days = days;
  }

  /** Returns hours, minutes and seconds, such as `36:00:00`. Milliseconds are added if they are not 0. */
  toString(): string {
    const ms = Math.round(Math.abs(this.days) * DAY_MS);
    const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
    const rest = ms % 1_000 === 0 ? "" : `.${String(ms % 1_000).padStart(3, "0")}`;
    return `${this.days < 0 ? "-" : ""}${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}${rest}`;
  }
}

export type Cell = string | number | boolean | Date | Duration | null;

export interface Sheet {
  readonly name: string;
  readonly rows: readonly (readonly Cell[])[];
}

export interface ReadSheets {
  readonly sheets: readonly Sheet[];
  /** Number of formulas, of which only the stored values are read. */
  readonly formulas: number;
  /** Sentences about values that are missing. */
  readonly notes: readonly string[];
}

/** Reads the sheets of a spreadsheet or CSV file. @throws MediaError unsupported, corrupt, too_large */
export async function readSheets(file: InputFile, folder: string, delimiter: Delimiter): Promise<ReadSheets> {
  if (!(await isZip(file))) {
    return { sheets: [{ name: "Sheet1", rows: csvRows(await csvText(file), delimiter) }], formulas: 0, notes: [] };
  }
  const office = await openOffice(file, folder);
  if (office.kind !== "xlsx" && office.kind !== "ods") {
    throw new MediaError("unsupported", `Expected a spreadsheet as xlsx, ods or csv, got ${office.kind ?? "a zip"}.`);
  }
  return officeSheets(office);
}

async function csvText(file: InputFile): Promise<string> {
  if (file.mediaType.startsWith("text/") || file.mediaType === "application/json") return textOf(file);
  throw new MediaError("unsupported", `Expected a spreadsheet as xlsx, ods or csv, got ${file.mediaType}.`);
}

export function officeSheets(office: OfficeFile): ReadSheets {
  if (office.kind === "ods") checkRepeats(office.content);
  const { all, withoutValue } = office.formulas;
  const odsFormulas = office.kind === "ods" ? (office.content.match(/\stable:formula="/g)?.length ?? 0) : 0;
  const notes =
    withoutValue === 0
      ? []
      : [
          `${withoutValue} of ${all} formulas have no stored value, and their cells are empty. Open the workbook in a spreadsheet program and save it to store the values.`,
        ];
  return { sheets: sheetsOf(office), formulas: all + odsFormulas, notes };
}

function sheetsOf(office: OfficeFile): readonly Sheet[] {
  try {
    // Dates are read as numbers: the library truncates fractions of a millisecond, which makes a time one second early.
    const book = read(office.bytes, { type: "buffer", cellNF: true, cellFormula: false, cellHTML: false });
    const daysBefore = book.Workbook?.WBProps?.date1904 === true ? DAYS_BEFORE_1904 : 0;
    let [cells, characters] = [0, 0];
    return book.SheetNames.map((name) => {
      const sheet = book.Sheets[name] ?? {};
      const { rows, columns } = extentOf(sheet);
      cells += rows * columns;
      checkCells(cells);
      const values = Array.from({ length: rows }, (_row, r) =>
        Array.from({ length: columns }, (_column, c): Cell => {
          const value = valueOf(sheet[utils.encode_cell({ r, c })] as CellObject | undefined, daysBefore);
          if (typeof value === "string") characters += value.length;
          return value;
        }),
      );
      if (characters > SHEET_CHARACTERS_MAX) {
        const said = `Expected cells of at most ${SHEET_CHARACTERS_MAX} characters in all, got ${characters}.`;
        throw new MediaError("too_large", said);
      }
      return { name, rows: values };
    });
  } catch (error) {
    throw corruptOr(error, "The spreadsheet cannot be read.");
  }
}

/** Returns the number of rows and columns that the existing cells of a sheet span. The declared size of a sheet can be larger. */
function extentOf(sheet: WorkSheet): { readonly rows: number; readonly columns: number } {
  let [rows, columns] = [0, 0];
  for (const key of Object.keys(sheet)) {
    if (key.startsWith("!")) continue;
    const { r, c } = utils.decode_cell(key);
    rows = Math.max(rows, r + 1);
    columns = Math.max(columns, c + 1);
  }
  return { rows, columns };
}

/** Texts of spreadsheet errors, by the error code of the cell ([MS-XLS] 2.5.10). */
const ERRORS: ReadonlyMap<unknown, string> = new Map([
  [0x00, "#NULL!"],
  [0x07, "#DIV/0!"],
  [0x0f, "#VALUE!"],
  [0x17, "#REF!"],
  [0x1d, "#NAME?"],
  [0x24, "#NUM!"],
  [0x2a, "#N/A"],
  [0x2b, "#GETTING_DATA"],
]);

function valueOf(cell: CellObject | undefined, daysBefore: number): Cell {
  if (cell === undefined || cell.t === "z") return null;
  // Errors without a code, such as #SPILL!, exist only as formatted text.
  if (cell.t === "e") return cell.w ?? ERRORS.get(cell.v) ?? "#VALUE!";
  if (cell.v === undefined) return null;
  if (typeof cell.v !== "number" || typeof cell.z !== "string" || !SSF.is_date(cell.z)) return cell.v;
  const isTimeOfDay = cell.v >= 0 && cell.v < 1 && !hasDay(cell.z);
  if (!isTimeOfDay && isElapsed(cell.z)) return new Duration(cell.v);
  return dateOf(isTimeOfDay ? cell.v : cell.v + daysBefore) ?? cell.v;
}

/**
 * True if a cell's number format contains a year or a day. Quoted and escaped sections of the format are ignored, because they are plain
 * text.
 */
function hasDay(format: string): boolean {
  return /[yd]/i.test(format.replaceAll(/"[^"]*"|\\.|\[[^\]]*\]/g, ""));
}

/** True if a format counts hours, minutes or seconds beyond their day, such as `[h]:mm`. */
function isElapsed(format: string): boolean {
  return /\[(?:h+|m+|s+)\]/i.test(format.replaceAll(/"[^"]*"|\\./g, ""));
}

const DAYS_BEFORE_1904 = 1_462;
const DAY_MS = 86_400_000;
/**
 * Date that corresponds to serial number 0. It is valid for serial numbers after 28 February 1900, because Excel also counts a 29 February
 * 1900, which did not exist.
 */
const DAY_ZERO = Date.UTC(1899, 11, 30);

/** Start of the ISO 8601 text of a time without a date, which Excel stores as a fraction of serial number 0. */
const NO_DAY = "1899-12-31T";

/**
 * Converts a serial number to a date, exact to the millisecond. Returns undefined for 29 February 1900, which did not exist, and for dates
 * out of range.
 */
function dateOf(days: number): Date | undefined {
  if (days >= 60 && days < 61) return undefined;
  const date = new Date(Math.round((days < 60 ? days + 1 : days) * DAY_MS) + DAY_ZERO);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/**
 * Checks the number of cells that an ods file repeats. One cell can represent a whole sheet, and the parser would create all its copies in
 * memory.
 */
function checkRepeats(content: string): void {
  let [rows, cells] = [1, 0];
  for (const [tag] of content.matchAll(/<table:(?:table-row|table-cell|covered-table-cell)\b[^>]*>/g)) {
    const [, count = "1"] = /number-(?:rows|columns)-repeated="(\d{1,9})"/.exec(tag) ?? [];
    if (tag.startsWith("<table:table-row")) rows = Number(count);
    // Empty cells are not counted.
    else if (!tag.endsWith("/>") || tag.includes("value")) cells += rows * Number(count);
  }
  checkCells(cells);
}

/** Formats a cell's value as text. */
export function cellText(cell: Cell): string {
  if (cell === null) return "";
  if (cell instanceof Date) return dateText(cell);
  if (cell instanceof Duration) return cell.toString();
  return typeof cell === "boolean" ? String(cell).toUpperCase() : String(cell);
}

/** Formats a date, or date and time, in ISO 8601. A cell with serial number 0 has no date, so only its time is returned. */
export function dateText(date: Date): string {
  if (Number.isNaN(date.getTime())) return "";
  const text = date.toISOString();
  if (text.startsWith(NO_DAY)) return text.slice(NO_DAY.length).replace(/(?:\.000)?Z$/, "");
  return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : text;
}
