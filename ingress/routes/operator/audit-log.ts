/** GET /operator/audit-log: lists changes and their actors, in all workspaces and outside of them. */
import type { OperatorAuditLogEntry } from "#schemas/generated/types.ts";
import { type AuditRow, listAudit } from "#shared/database/audit-log.ts";

import type { IngressContext } from "../../context.ts";
import type { OperatorRoute } from "../../core/route.ts";
import { AUDIT_QUERY, auditFilterIn } from "../settings/audit-log.ts";
import { idIn, LIST_QUERY, numberedPageOf, pageAnswer } from "../../core/page.ts";
import { READ } from "./common.ts";

export function auditLog(context: IngressContext): OperatorRoute {
  return {
    ...READ,
    method: "GET",
    path: "/operator/audit-log",
    operationId: "listOperatorAuditLog",
    summary: "List audit log of installation",
    query: [
      ...LIST_QUERY,
      {
        name: "workspace_id",
        description: "Id of the workspace. Default: all.",
        schema: { type: "string", format: "uuid" },
      },
      ...AUDIT_QUERY,
    ],
    responses: { 200: { description: "A page of changes", schema: "OperatorAuditLogList" } },
    errors: ["unsupported_value"],
    handle: (call) =>
      pageAnswer(
        numberedPageOf(call),
        (page) => listAudit(context.database, idIn(call, "workspace_id"), { ...page, ...auditFilterIn(call) }),
        present,
      ),
  };
}

function present({ actor, ...row }: AuditRow): OperatorAuditLogEntry {
  return {
    object: "audit_log.entry",
    id: String(row.id),
    workspace_id: row.workspace_id,
    at: row.at.toISOString(),
    actor: { type: actor.type, id: actor.id, name: row.actor_name },
    key_id: actor.key_id ?? null,
    ip: actor.ip ?? null,
    request_id: actor.request_id ?? null,
    action: row.action,
    subject: row.subject,
    before: row.before,
    after: row.after,
  };
}
