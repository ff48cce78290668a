/** Sheets as rows of values: formulas, styles and macros are neither run nor kept. */
import { read, utils, type WorkSheet } from "@e965/xlsx";
import { parse } from "csv-parse/sync";

import { MediaError } from "#shared/children/media-error.ts";

import type { InputFile } from "../define.ts";
import { textOf } from "../text.ts";
import { isZip, type OfficeFile, openOffice } from "./office.ts";

/** Cells of all sheets of a spreadsheet, empty ones between others counted. */
export const DOCUMENT_CELLS_MAX = 1_000_000;

export type Cell = string | number | boolean | Date | null;

export interface Sheet {
  readonly name: string;
  readonly rows: readonly (readonly Cell[])[];
}

export const DELIMITERS = { comma: ",", semicolon: ";", tab: "\t" } as const;

/** @throws MediaError unsupported, corrupt, too_large */
export async function readSheets(file: InputFile, folder: string, delimiter: string): Promise<readonly Sheet[]> {
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
    const book = read(office.bytes, {
      type: "buffer",
      cellDates: true,
      UTC: true,
      cellFormula: false,
      cellHTML: false,
    });
    let cells = 0;
    return book.SheetNames.map((name) => {
      const sheet = book.Sheets[name] ?? {};
      cells += measured(sheet);
      checkCells(cells);
      const rows = utils.sheet_to_json<Cell[]>(sheet, { header: 1, raw: true, defval: null, UTC: true });
      return { name, rows };
    });
  } catch (error) {
    if (error instanceof MediaError) throw error;
    throw new MediaError("corrupt", "The spreadsheet cannot be read.", { cause: error });
  }
}

/** A sheet may claim to reach further than its cells do: it is cut to them. */
function measured(sheet: WorkSheet): number {
  const end = { r: -1, c: -1 };
  for (const key of Object.keys(sheet)) {
    if (key.startsWith("!")) continue;
    const { r, c } = utils.decode_cell(key);
    if (r > end.r) end.r = r;
    if (c > end.c) end.c = c;
  }
  if (end.r < 0) delete sheet["!ref"];
  else sheet["!ref"] = utils.encode_range({ s: { r: 0, c: 0 }, e: end });
  return (end.r + 1) * (end.c + 1);
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

function checkCells(cells: number): void {
  const max = DOCUMENT_CELLS_MAX;
  if (cells > max) throw new MediaError("too_large", `Expected at most ${max} cells, got more.`);
}

function csvRows(text: string, delimiter: string): readonly (readonly string[])[] {
  let cells = 0;
  try {
    return parse(text, {
      delimiter,
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      on_record: (record: string[]) => {
        cells += record.length;
        checkCells(cells);
        return record;
      },
    });
  } catch (error) {
    if (error instanceof MediaError) throw error;
    const [said = ""] = String(error instanceof Error ? error.message : error).split("\n");
    throw new MediaError("corrupt", `The CSV cannot be read: ${said.slice(0, 200)}`, { cause: error });
  }
}

/** Text of a cell's value, as text files write it. */
export function cellText(cell: Cell): string {
  if (cell === null) return "";
  if (cell instanceof Date) return dateText(cell);
  return typeof cell === "boolean" ? String(cell).toUpperCase() : String(cell);
}

export function dateText(date: Date): string {
  if (Number.isNaN(date.getTime())) return "";
  const text = date.toISOString();
  return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : text;
}
