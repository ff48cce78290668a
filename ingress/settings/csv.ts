/** Lists as text/csv, for spreadsheets. */
import { stringify } from "csv-stringify/sync";

import type { RouteCall } from "../serve.ts";

/** Whether the client asks for CSV rather than JSON. */
export function wantsCsv({ request }: RouteCall): boolean {
  return /\btext\/csv\b/i.test(request.headers.get("accept") ?? "");
}

/** What a spreadsheet could take for a formula is marked as text. */
export function csv(
  rows: readonly Readonly<Record<string, unknown>>[],
  columns: readonly string[],
  name: string,
): Response {
  const text = stringify(
    rows.map((row) => columns.map((column) => cell(row[column]))),
    { header: true, columns: [...columns], escape_formulas: true },
  );
  return new Response(text, {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${name}.csv"`,
    },
  });
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
