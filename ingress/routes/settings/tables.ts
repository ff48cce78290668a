/** Returns lists as tables: CSV for spreadsheets, or JSON lines for programs. The header `Accept` chooses the format. */
import type { IngressContext } from "../../context.ts";
import type { RequestFacts } from "../../core/call.ts";
import { streamOf } from "../../core/response-body.ts";

import { csv, type Table, wantsCsv } from "./csv.ts";

export const TABLE_TYPES: readonly string[] = ["text/csv", "application/jsonl"];

export type TableFormat = "csv" | "jsonl";

/** Returns the format of a table that the client requests; undefined if it requests JSON. */
export function tableFormatOf(call: RequestFacts): TableFormat | undefined {
  if (wantsCsv(call)) return "csv";
  return /\bapplication\/(?:jsonl|x-ndjson)\b/i.test(call.request.headers.get("accept") ?? "") ? "jsonl" : undefined;
}

/** Streams a table in the requested format, at the speed of the client. */
export function tableResponse<Row>(
  context: Pick<IngressContext, "log">,
  format: TableFormat,
  table: Table<Row>,
): Response {
  if (format === "csv") return csv(context, table);
  const { name } = table;
  const onFault = (error: unknown): void => context.log.error({ err: error, name }, "a download failed before its end");
  return new Response(streamOf(new Uint8Array(), linesOf(table), onFault), {
    headers: {
      "content-type": "application/jsonl; charset=utf-8",
      "content-disposition": `attachment; filename="${name}.jsonl"`,
    },
  });
}

/** Number of rows written without a pause. After that many rows, the thread serves other calls. */
const PIECE = 500;

async function* linesOf<Row>({ rows, present }: Table<Row>): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < rows.length; at += PIECE) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    const lines = rows.slice(at, at + PIECE).map((row) => `${JSON.stringify(present(row), plainNumbers)}\n`);
    yield Buffer.from(lines.join(""));
  }
}

/** Counts are integers in the answer; amounts are already text with every digit. */
function plainNumbers(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
