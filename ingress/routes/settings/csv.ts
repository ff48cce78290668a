/** Returns lists as text/csv, for spreadsheets. */
import { stringify } from "csv-stringify/sync";

import type { AuditEntry } from "#shared/database/audit-log.ts";

import type { IngressContext } from "../../context.ts";
import { streamOf } from "../../core/response-body.ts";
import type { RequestFacts, SettingsCall } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import { queryOf } from "../../core/page.ts";

/** Maximum number of rows in a CSV response, which spreadsheets can still open. */
export const CSV_ROWS_MAX = 100_000;

/** True if the client requests CSV rather than JSON. */
export function wantsCsv({ request }: RequestFacts): boolean {
  return /\btext\/csv\b/i.test(request.headers.get("accept") ?? "");
}

/** Number of rows written without a pause. After that many rows, the thread serves other calls. */
const PIECE = 500;

/** Rows that are presented while they are written, so that a long table does not delay other calls. */
export interface Table<Row> {
  readonly rows: readonly Row[];
  /** Returns the cells of a row by column. */
  readonly present: (row: Row) => Readonly<Record<string, unknown>>;
  readonly columns: readonly string[];
  /** Name of the file, without its extension. */
  readonly name: string;
}

/** Streams a table as CSV, at the speed of the client. */
export function csv<Row>({ log }: Pick<IngressContext, "log">, table: Table<Row>): Response {
  const { name } = table;
  const onFault = (error: unknown): void => log.error({ err: error, name }, "a CSV download failed before its end");
  return new Response(streamOf(new Uint8Array(), piecesOf(table), onFault), {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${name}.csv"`,
    },
  });
}

async function* piecesOf<Row>({ rows, present, columns }: Table<Row>): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at === 0 || at < rows.length; at += PIECE) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    const piece = rows.slice(at, at + PIECE).map((row) => {
      const cells = present(row);
      return columns.map((column) => cell(cells[column]));
    });
    yield Buffer.from(stringify(piece, { header: at === 0, columns: [...columns] }));
  }
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return typeof value === "bigint" ? value.toString() : JSON.stringify(value);
  return FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value;
}

/** Matches text that a spreadsheet would interpret as a formula. Such text gets a leading apostrophe, except negative amounts. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/;
const NUMBER = /^-\d+(\.\d+)?$/;

/** Returns the audit-log entry of an exported table. @param rows number of exported rows @param subject object whose rows were exported */
export function exportOf(call: SettingsCall, action: `${string}.export`, rows: number, subject: string): AuditEntry {
  const filters = Object.fromEntries([...queryOf(call)].filter(([name, value]) => FILTERS.has(name) && value !== ""));
  return { actor: actorOf(call), action, subject, after: { rows, filters } };
}

/**
 * Query filters that an export writes into the audit log. Only known names are logged, so that callers cannot write other text into the
 * log.
 */
const FILTERS: ReadonlySet<string> = new Set([
  "workspace_id",
  "actor",
  "action",
  "subject",
  "kind",
  "start_time",
  "end_time",
  "after",
]);
