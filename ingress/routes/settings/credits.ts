/** /workspaces/{workspaceId}/credits: returns the balance and lists every ledger entry behind it. */
import type { Credits, LedgerEntry } from "#schemas/generated/types.ts";
import { recordAudit } from "#shared/database/audit-log.ts";
import { LEDGER_KINDS, type LedgerRow, pageLedger, readOutlook } from "#shared/database/credits.ts";
import { creditsNumber, formatCredits } from "#shared/base/money.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { allow, ANY_ROLE } from "../../core/roles.ts";
import type { RouteCall } from "../../core/call.ts";
import type { KeyRoute } from "../../core/route.ts";
import { csv, CSV_ROWS_MAX, exportOf, wantsCsv } from "./csv.ts";
import { LIST_QUERY, numberedPageOf, oneOf, pageAnswer, SPAN_QUERY, timeIn } from "../../core/page.ts";

const CREDITS = "/workspaces/{workspaceId}/credits";

export function credits(context: IngressContext): readonly KeyRoute[] {
  const common = { tags: ["Usage and billing"], auth: "key" } as const;
  return [
    {
      ...common,
      method: "GET",
      path: CREDITS,
      operationId: "getCredits",
      summary: "Retrieve balance",
      responses: { 200: { description: "The balance", schema: "Credits" } },
      errors: ["not_found"],
      authorize: allow(...ANY_ROLE),
      handle: async (call) => json(await balance(context, call)),
    },
    {
      ...common,
      method: "GET",
      path: `${CREDITS}/ledger`,
      operationId: "listLedger",
      summary: "List ledger entries",
      description:
        `Lists movements of credits, newest first. As CSV, the list is one table of the newest ${CSV_ROWS_MAX} rows, and the ` +
        "export is recorded in the audit log.",
      query: [
        ...LIST_QUERY,
        {
          name: "kind",
          description: "Type of the entries. Default: all.",
          schema: { type: "string", enum: LEDGER_KINDS },
        },
        ...SPAN_QUERY,
      ],
      responses: { 200: { description: "A page of entries", schema: "LedgerList", texts: ["text/csv"] } },
      errors: ["not_found", "unsupported_value"],
      authorize: allow("owner", "admin", "billing"),
      handle: (call) => list(context, call),
    },
  ];
}

async function balance({ database }: IngressContext, call: RouteCall): Promise<Credits> {
  const { amount, held, per_day, days_left } = await readOutlook(database, call.caller.workspaceId);
  return {
    object: "credits",
    credits: creditsNumber(amount),
    held: creditsNumber(held),
    available: creditsNumber(amount - held),
    credits_per_day: creditsNumber(per_day),
    days_left,
  };
}

async function list(context: IngressContext, call: RouteCall): Promise<Response> {
  const { database } = context;
  const { workspaceId } = call.caller;
  const page = numberedPageOf(call);
  const query = {
    after: page.after,
    kind: oneOf(call, "kind", LEDGER_KINDS),
    startTime: timeIn(call, "start_time"),
    endTime: timeIn(call, "end_time"),
  };
  if (wantsCsv(call)) {
    const rows = await database.transaction(async (tx) => {
      const found = await pageLedger(tx, workspaceId, { ...query, limit: CSV_ROWS_MAX });
      await recordAudit(tx, workspaceId, exportOf(call, "ledger.export", found.length, workspaceId));
      return found;
    });
    return csv(context, {
      rows,
      present: (row) => ({ ...presentLedgerEntry(row), credits: formatCredits(row.amount) }),
      columns: COLUMNS,
      name: "ledger",
    });
  }
  return pageAnswer(page, ({ limit }) => pageLedger(database, workspaceId, { ...query, limit }), presentLedgerEntry);
}

const COLUMNS = [
  "id",
  "at",
  "kind",
  "credits",
  "source_id",
  "attempt",
  "note",
] as const satisfies readonly (keyof LedgerEntry)[];

export function presentLedgerEntry(row: LedgerRow): LedgerEntry {
  return {
    object: "ledger_entry",
    id: String(row.id),
    kind: row.kind,
    credits: creditsNumber(row.amount),
    source_id: row.source_id,
    attempt: row.attempt,
    note: row.note,
    at: row.at.toISOString(),
  };
}
