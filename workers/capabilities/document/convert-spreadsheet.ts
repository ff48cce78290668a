import { join } from "node:path";

import { utils, write } from "@e965/xlsx";
import { stringify } from "csv-stringify/sync";

import { MediaError } from "#shared/media/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { choice, flag, text } from "../params.ts";
import { type Cell, cellText, dateText, DELIMITERS, readSheets, type Sheet } from "./sheets.ts";

const MEDIA_TYPES = {
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  ods: "application/vnd.oasis.opendocument.spreadsheet",
  csv: "text/csv",
  json: "application/json",
} as const;

export default defineCapability({
  id: "document.convert_spreadsheet",
  display_name: "Convert spreadsheet",
  description: "Turns xlsx, ods or csv into one another or into JSON: the values, without formulas and styles.",
  output_modality: "document",
  input: { document: input("document", "The spreadsheet: xlsx, ods or csv.", { takesText: true }) },
  params: {
    to: choice("Format of the result.", ["xlsx", "ods", "csv", "json"], { required: true }),
    sheet: text("Name of the sheet; the first for csv and json, all for xlsx and ods where it is not given.", {
      max: 100,
    }),
    header: flag("The first row names the columns, as the members of JSON.", true),
    delimiter: choice("Between the values of csv, read or written.", ["comma", "semicolon", "tab"], {
      default: "comma",
    }),
  },
  sample_input: { document: { file_id: "file-sample-sheet" } },
  examples: [
    { title: "The first sheet as CSV", params: { to: "csv" } },
    { title: "A sheet by its name, as JSON", params: { to: "json", sheet: "Orders" } },
  ],
  price: { unit: "per_operation", operation_price: "0.1" },
  engine: "office",
  async run({ params, inputs, folder }) {
    const { to, sheet: wanted } = params;
    const delimiter = DELIMITERS[params.delimiter];
    const all = await readSheets(inputs.document, folder, delimiter);
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
          ? stringify(first.rows.map((row) => row.map(cellText)), { delimiter })
          : bookOf(sheets, to),
    ); // prettier-ignore
    const facts = sheets.map(({ name, rows }) => ({ name, rows: rows.length, columns: columnsOf(rows) }));
    return {
      output: { sheets: facts, sheet_names: all.map(({ name }) => name) },
      files: [{ path, mediaType: MEDIA_TYPES[to], name: `sheet.${to}` }],
    };
  },
});

function columnsOf(rows: Sheet["rows"]): number {
  return rows.reduce((most, row) => Math.max(most, row.length), 0);
}

function jsonOf(rows: Sheet["rows"], hasHeader: boolean): unknown[] {
  const plain = rows.map((row) => row.map((cell) => (cell instanceof Date ? dateText(cell) : cell)));
  if (!hasHeader) return plain;
  const [head = [], ...others] = plain;
  const taken = new Set<string>();
  const names = Array.from({ length: columnsOf(rows) }, (_, at) => {
    const own = cellText(head[at] ?? null) || `column_${at + 1}`;
    const name = taken.has(own) ? `${own}_${at + 1}` : own;
    taken.add(name);
    return name;
  });
  return others.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? null])));
}

const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;

function bookOf(sheets: readonly Sheet[], to: "xlsx" | "ods"): Uint8Array {
  const book = utils.book_new();
  for (const [at, { name, rows }] of sheets.entries()) {
    // The text of a CSV that is a number becomes one; nothing becomes a formula.
    const typed = rows.map((row) =>
      row.map((cell): Cell => (typeof cell === "string" && NUMBER.test(cell) ? Number(cell) : cell)),
    );
    const own = name
      .replaceAll(/[[\]:*?/\\]/g, "_")
      .slice(0, 31)
      .replaceAll(/^'|'$/g, "_");
    const sheet = utils.aoa_to_sheet(typed, { UTC: true, cellDates: true });
    utils.book_append_sheet(book, sheet, own === "" || book.SheetNames.includes(own) ? `Sheet ${at + 1}` : own);
  }
  return write(book, { type: "buffer", bookType: to, compression: true, cellDates: true }) as Uint8Array;
}
