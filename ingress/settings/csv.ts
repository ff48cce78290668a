/** Lists as text/csv, for spreadsheets. */
import { stringify } from "csv-stringify/sync";

import type { RouteCall } from "../serve.ts";

/** True if the client asks for CSV rather than JSON. */
export function wantsCsv({ request }: RouteCall): boolean {
  return /\btext\/csv\b/i.test(request.headers.get("accept") ?? "");
}

/** Rows written at once: the calls of others take their turns between. */
const PIECE = 500;

/** Written as the client reads it. */
export function csv(
  rows: readonly Readonly<Record<string, unknown>>[],
  columns: readonly string[],
  name: string,
): Response {
  const encoder = new TextEncoder();
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = rows.slice(at, at + PIECE).map((row) => columns.map((column) => cell(row[column])));
      const header = at === 0;
      at += PIECE;
      controller.enqueue(encoder.encode(stringify(piece, { header, columns: [...columns] })));
      if (at >= rows.length) return controller.close();
      await new Promise((resolve) => setImmediate(resolve));
    },
  });
  return new Response(body, {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${name}.csv"`,
    },
  });
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return typeof value === "bigint" ? value.toString() : JSON.stringify(value);
  return FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value;
}

/** Matches text that a spreadsheet takes for a formula; it is marked as text, except negative amounts. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/;
const NUMBER = /^-\d+(\.\d+)?$/;
