/** GET /workspaces/{workspaceId}/audit-log: lists changes and their actors. */
import type { AuditLogEntry } from "#schemas/generated/types.ts";
import { type AuditQuery, type AuditRow, listAudit, recordAudit } from "#shared/database/audit-log.ts";

import type { IngressContext } from "../../context.ts";
import { allow } from "../../core/roles.ts";
import type { RequestFacts, SettingsCall } from "../../core/call.ts";
import type { KeyRoute } from "../../core/route.ts";
import { csv, CSV_ROWS_MAX, exportOf, wantsCsv } from "./csv.ts";
import { LIST_QUERY, numberedPageOf, pageAnswer, SPAN_QUERY, textIn, timeIn } from "../../core/page.ts";

export const AUDIT_TEXT =
  `Lists changes and their authors. CSV contains the newest ${CSV_ROWS_MAX} rows in one table. An export is recorded in ` +
  "the audit log.";
export const AUDIT_PAGE = { description: "A page of changes", texts: ["text/csv"] } as const;

export function auditLog(context: IngressContext): KeyRoute {
  return {
    tags: ["Workspace settings"],
    auth: "key",
    method: "GET",
    path: "/workspaces/{workspaceId}/audit-log",
    operationId: "listAuditLog",
    summary: "List audit log",
    description: AUDIT_TEXT,
    query: [...LIST_QUERY, ...AUDIT_QUERY],
    responses: { 200: { ...AUDIT_PAGE, schema: "AuditLogList" } },
    errors: ["not_found", "unsupported_value"],
    authorize: allow("owner", "admin"),
    handle: (call) => {
      const { workspaceId } = call.caller;
      return listAuditLog(context, call, { workspaceId, columns: AUDIT_COLUMNS, present: presentAudit });
    },
  };
}

/** Log that a caller may read. */
interface AuditLog {
  /** Id of the workspace; null for all workspaces and the installation. */
  readonly workspaceId: string | null;
  readonly columns: readonly string[];
  readonly present: (row: AuditRow) => AuditLogEntry;
}

/** Returns a page of an audit log, or the whole log as CSV, which is recorded in the log. */
export async function listAuditLog(context: IngressContext, call: SettingsCall, of: AuditLog): Promise<Response> {
  const { database } = context;
  const { workspaceId, columns, present } = of;
  const page = numberedPageOf(call);
  const query = { after: page.after, ...auditFilterIn(call) };
  if (!wantsCsv(call)) {
    return pageAnswer(page, ({ limit }) => listAudit(database, workspaceId, { ...query, limit }), present);
  }
  const rows = await database.transaction(async (tx) => {
    const found = await listAudit(tx, workspaceId, { ...query, limit: CSV_ROWS_MAX });
    const entry = exportOf(call, "audit_log.export", found.length, workspaceId ?? "installation");
    // An operator may name a workspace that does not exist.
    await recordAudit(tx, "operator" in call ? null : workspaceId, entry);
    return found;
  });
  const line = (row: AuditRow): Readonly<Record<string, unknown>> => {
    const { actor, ...entry } = present(row);
    return { ...entry, actor_type: actor.type, actor_id: actor.id, actor_name: actor.name };
  };
  return csv(context, { rows, present: line, columns, name: "audit-log" });
}

export const AUDIT_COLUMNS = [
  "id",
  "at",
  "actor_type",
  "actor_id",
  "actor_name",
  "key_id",
  "ip",
  "request_id",
  "action",
  "subject",
  "subject_name",
  "before",
  "after",
] as const;

export function presentAudit({ actor, ...row }: AuditRow): AuditLogEntry {
  return {
    object: "audit_log.entry",
    id: String(row.id),
    at: row.at.toISOString(),
    actor: { type: actor.type, id: actor.id, name: row.actor_name },
    key_id: actor.key_id ?? null,
    // A workspace does not see the addresses of operators.
    ip: actor.type === "operator" ? null : (actor.ip ?? null),
    request_id: actor.request_id ?? null,
    action: row.action,
    subject: row.subject,
    subject_name: row.subject_name,
    before: row.before,
    after: row.after,
  };
}

const TEXT = { type: "string" } as const;

/** Query parameters that filter the audit log. */
export const AUDIT_QUERY: NonNullable<KeyRoute["query"]> = [
  { name: "actor", description: "Id of the member, or name of the operator. Default: all.", schema: TEXT },
  { name: "action", description: "Action, such as `key.create`. Default: all.", schema: TEXT },
  { name: "subject", description: "Id of the changed object. Default: all.", schema: TEXT },
  ...SPAN_QUERY,
];

/** Returns the audit-log filters in the query string. @throws ApiError `unsupported_value` */
function auditFilterIn(call: RequestFacts): Omit<AuditQuery, "after" | "limit"> {
  return {
    actor: textIn(call, "actor"),
    action: textIn(call, "action"),
    subject: textIn(call, "subject"),
    startTime: timeIn(call, "start_time"),
    endTime: timeIn(call, "end_time"),
  };
}
