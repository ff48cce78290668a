/** GET /operator/audit-log: lists changes and their actors, in all workspaces and outside of them. */
import type { OperatorAuditLogEntry } from "#schemas/generated/types.ts";
import type { AuditRow } from "#shared/database/audit-log.ts";

import type { IngressContext } from "../../context.ts";
import type { OperatorRoute } from "../../core/route.ts";
import { idIn, LIST_QUERY } from "../../core/page.ts";
import {
  AUDIT_COLUMNS,
  AUDIT_PAGE,
  AUDIT_QUERY,
  AUDIT_TEXT,
  listAuditLog,
  presentAudit,
} from "../settings/audit-log.ts";
import { READ } from "./common.ts";

const COLUMNS = [...AUDIT_COLUMNS, "workspace_id"];

export function auditLog(context: IngressContext): OperatorRoute {
  return {
    ...READ,
    method: "GET",
    path: "/operator/audit-log",
    operationId: "listOperatorAuditLog",
    summary: "List audit log of installation",
    description: AUDIT_TEXT,
    query: [
      ...LIST_QUERY,
      {
        name: "workspace_id",
        description: "Id of the workspace. Default: all.",
        schema: { type: "string", format: "uuid" },
      },
      ...AUDIT_QUERY,
    ],
    responses: { 200: { ...AUDIT_PAGE, schema: "OperatorAuditLogList" } },
    errors: ["unsupported_value"],
    handle: (call) =>
      listAuditLog(context, call, { workspaceId: idIn(call, "workspace_id"), columns: COLUMNS, present }),
  };
}

function present(row: AuditRow): OperatorAuditLogEntry {
  return { ...presentAudit(row), workspace_id: row.workspace_id, ip: row.actor.ip ?? null };
}
