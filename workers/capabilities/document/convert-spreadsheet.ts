import { join } from "node:path";

import { type CellObject, utils, write } from "@e965/xlsx";
import { stringify } from "csv-stringify/sync";

import { MediaError } from "#shared/children/media-error.ts";

import { columnsOf, delimiterOf, delimiterParam, freeName, recordsOf } from "../csv.ts";
import { defineCapability, input } from "../define.ts";
import { choice, flag, text } from "../params.ts";
import { isZip } from "./office.ts";
import { type Cell, cellText, Duration, readSheets, type Sheet } from "./sheets.ts";

const MEDIA_TYPES = {
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  ods: "application/vnd.oasis.opendocument.spreadsheet",
  csv: "text/csv",
  json: "application/json",
} as const;

export default defineCapability({
  id: "document.convert_spreadsheet",
  display_name: "Convert spreadsheet",
  description:
    "Converts between xlsx, ods and csv, and to JSON. Values only: formulas and styles are dropped, errors are their text. A CSV value becomes a number only if the number is written exactly like the value.",
  output_modality: "document",
  input: { document: input("document", "The spreadsheet: xlsx, ods or csv.", { takesText: true }) },
  params: {
    to: choice("Format of the result.", ["xlsx", "ods", "csv", "json"], { required: true }),
    sheet: text("Name of the sheet. Default: the first for csv and json, all for xlsx and ods.", {
      max: 100,
    }),
    header: flag("Use the first row as column names (the keys of JSON objects).", true),
    delimiter: delimiterParam("Delimiter of csv, for reading and writing. `auto` detects it, and writes commas."),
  },
  sample_input: { document: { file_id: "file-sample-sheet" } },
  examples: [
    { title: "The first sheet as CSV", params: { to: "csv" } },
    { title: "A named sheet as JSON", params: { to: "json", sheet: "Orders" } },
  ],
  price: { unit: "per_operation", operation_price: "0.1" },
  engine: "office",
  async run({ params, inputs, folder }) {
    const { to, sheet: wanted } = params;
    const { sheets: all, formulas, notes } = await readSheets(inputs.document, folder, params.delimiter);
    const named = wanted === undefined ? all : all.filter(({ name }) => name === wanted);
    const [first] = named;
    if (!first) {
      const names = all.map(({ name }) => name).slice(0, 20).join(", "); // prettier-ignore
      throw new MediaError("invalid", `Expected params.sheet to be one of ${names}, got ${wanted ?? "none"}.`);
    }
    const isBook = to === "xlsx" || to === "ods";
    const sheets = isBook ? named : [first];
    const path = join(folder, `sheet.${to}`);
    await Bun.write(
      path,
      to === "json"
        ? `${JSON.stringify(jsonOf(first.rows, params.header), null, 1)}\n`
        : to === "csv"
          ? stringify(first.rows.map((row) => row.map(cellText)), { delimiter: delimiterOf(params.delimiter) })
          : bookOf(sheets, to, !(await isZip(inputs.document))),
    ); // prettier-ignore
    const facts = sheets.map(({ name, rows }) => ({ name, rows: rows.length, columns: columnsOf(rows) }));
    return {
      output: { sheets: facts, sheet_names: all.map(({ name }) => name) },
      files: [{ path, mediaType: MEDIA_TYPES[to], name: `sheet.${to}` }],
      notes: [
        ...(isBook && formulas > 0 ? [`Not kept: ${formulas} formulas; their cells have the stored values.`] : []),
        ...notes,
      ],
    };
  },
});

function jsonOf(rows: Sheet["rows"], hasHeader: boolean): unknown[] {
  const plain = rows.map((row) =>
    row.map((cell) => (cell instanceof Date || cell instanceof Duration ? cellText(cell) : cell)),
  );
  if (!hasHeader) return plain;
  return [...recordsOf<Cell>(plain, cellText)];
}

function bookCell(cell: Cell, to: "xlsx" | "ods", isCsv: boolean): Cell | CellObject {
  // The library writes no format into an ods, where the number alone would be a number of days.
  if (cell instanceof Duration) return to === "ods" ? cellText(cell) : { t: "n", v: cell.days, z: "[h]:mm:ss" };
  if (typeof cell !== "string") return cell;
  if (to === "xlsx" && cell.length > CELL_LETTERS_MAX) {
    const got = cell.length;
    throw new MediaError("too_large", `Expected at most ${CELL_LETTERS_MAX} letters in a cell, got ${got}.`);
  }
  return isCsv && isNumber(cell) ? Number(cell) : cell;
}

/**
 * Maximum number of columns, and maximum characters of a cell. These are the limits of xlsx; they also apply to ods, because the same
 * programs open both formats.
 */
const COLUMNS_MAX = 16_384;
const CELL_LETTERS_MAX = 32_767;
/** Maximum number of significant digits of a number in a spreadsheet. */
const DIGITS_MAX = 15;
const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/** True if the text is a number that prints as the same text. `1.10`, `007`, `-0` and `1e5` therefore remain text. */
function isNumber(text: string): boolean {
  return NUMBER.test(text) && String(Number(text)) === text && text.replaceAll(/\D/g, "").length <= DIGITS_MAX;
}

/** Creates a spreadsheet file from sheets. @throws MediaError too_large */
function bookOf(sheets: readonly Sheet[], to: "xlsx" | "ods", isCsv: boolean): Uint8Array {
  const book = utils.book_new();
  const taken = new Set<string>();
  for (const [at, { name, rows }] of sheets.entries()) {
    const columns = columnsOf(rows);
    if (columns > COLUMNS_MAX)
      throw new MediaError("too_large", `Expected at most ${COLUMNS_MAX} columns, got ${columns}.`);
    // Text of a CSV becomes a number only if the number prints as the same text. Text never becomes a formula.
    const typed = rows.map((row) => row.map((cell) => bookCell(cell, to, isCsv)));
    const fit = name
      .replaceAll(/[[\]:*?/\\]/g, "_")
      .slice(0, 31)
      .replaceAll(/^'|'$/g, "_");
    const sheet = utils.aoa_to_sheet(typed, { UTC: true, cellDates: true });
    const isFree = fit !== "" && !taken.has(fit);
    utils.book_append_sheet(book, sheet, freeName(isFree ? fit : `Sheet ${at + 1}`, at, taken));
  }
  return write(book, { type: "buffer", bookType: to, compression: true, cellDates: true }) as Uint8Array;
}
