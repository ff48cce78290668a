/** Sheets as rows of values: formulas, styles and macros are neither run nor kept. */
import { type CellObject, read, SSF, utils, type WorkSheet } from "@e965/xlsx";

import { MediaError } from "#shared/children/media-error.ts";

import { checkCells, csvRows, type Delimiter } from "../csv.ts";
import type { InputFile } from "../define.ts";
import { corruptOr } from "../faults.ts";
import { textOf } from "../text.ts";
import { isZip, type OfficeFile, openOffice } from "./office.ts";

/** Characters of all cells of a workbook, whose cells may share one long text. */
export const SHEET_CHARACTERS_MAX = 100 * 1_048_576;

export type Cell = string | number | boolean | Date | null;

export interface Sheet {
  readonly name: string;
  readonly rows: readonly (readonly Cell[])[];
}

/** @throws MediaError unsupported, corrupt, too_large */
export async function readSheets(file: InputFile, folder: string, delimiter: Delimiter): Promise<readonly Sheet[]> {
  if (!(await isZip(file))) return [{ name: "Sheet1", rows: csvRows(await csvText(file), delimiter) }];
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

export function officeSheets(office: OfficeFile): readonly Sheet[] {
  if (office.kind === "ods") checkRepeats(office.content);
  try {
    // Dates stay numbers: the library cuts their fraction of a millisecond off, which makes a time a second earlier.
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

/** A sheet may claim to reach further than its cells do: only its cells count. */
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

/** Codes of errors in cells ([MS-XLS] 2.5.10). */
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
  // The text of an error that has no code, such as #SPILL!, is kept as the formatted text alone.
  if (cell.t === "e") return cell.w ?? ERRORS.get(cell.v) ?? "#VALUE!";
  if (cell.v === undefined) return null;
  if (typeof cell.v !== "number" || typeof cell.z !== "string" || !SSF.is_date(cell.z)) return cell.v;
  const isTimeOfDay = cell.v >= 0 && cell.v < 1 && !hasDay(cell.z);
  return dateOf(isTimeOfDay ? cell.v : cell.v + daysBefore) ?? cell.v;
}

/** True if a format shows a year or a day; what it quotes or escapes is text. */
function hasDay(format: string): boolean {
  return /[yd]/i.test(format.replaceAll(/"[^"]*"|\\.|\[[^\]]*\]/g, ""));
}

const DAYS_BEFORE_1904 = 1_462;
const DAY_MS = 86_400_000;
/** The day 0 of serial numbers after the 29th of February 1900, which Excel has and the calendar has not. */
const DAY_ZERO = Date.UTC(1899, 11, 30);

/** Day of the serial number 0, as the beginning of its text. */
const NO_DAY = "1899-12-31T";

/** Date of a serial number, to the millisecond; undefined on the day that was none, and beyond the calendar of dates. */
function dateOf(days: number): Date | undefined {
  if (days >= 60 && days < 61) return undefined;
  const date = new Date(Math.round((days < 60 ? days + 1 : days) * DAY_MS) + DAY_ZERO);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** One cell of an ods may stand for as many as a sheet has: the parser would write them all out. */
function checkRepeats(content: string): void {
  let [rows, cells] = [1, 0];
  for (const [tag] of content.matchAll(/<table:(?:table-row|table-cell|covered-table-cell)\b[^>]*>/g)) {
    const [, count = "1"] = /number-(?:rows|columns)-repeated="(\d{1,9})"/.exec(tag) ?? [];
    if (tag.startsWith("<table:table-row")) rows = Number(count);
    // Empty ones are passed over.
    else if (!tag.endsWith("/>") || tag.includes("value")) cells += rows * Number(count);
  }
  checkCells(cells);
}

/** Text of a cell's value, as text files write it. */
export function cellText(cell: Cell): string {
  if (cell === null) return "";
  if (cell instanceof Date) return dateText(cell);
  return typeof cell === "boolean" ? String(cell).toUpperCase() : String(cell);
}

/** Date, or date and time, of ISO 8601. On the day before the first date of sheets, which stands for none, the time alone. */
export function dateText(date: Date): string {
  if (Number.isNaN(date.getTime())) return "";
  const text = date.toISOString();
  if (text.startsWith(NO_DAY)) return text.slice(NO_DAY.length).replace(/(?:\.000)?Z$/, "");
  return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : text;
}
