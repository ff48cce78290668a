/** Filters of an audit log. */
import type { AuditQuery } from "#shared/database/audit-log.ts";

import type { RequestFacts } from "../core/call.ts";
import type { Route } from "../route.ts";
import { SPAN_QUERY, textIn, timeIn } from "./page.ts";

const TEXT = { type: "string" } as const;

export const AUDIT_QUERY: NonNullable<Route["query"]> = [
  { name: "actor", description: "Id of the member, or name of the operator. Default: all.", schema: TEXT },
  { name: "action", description: "Action, such as `key.create`. Default: all.", schema: TEXT },
  { name: "subject", description: "Id of the changed object. Default: all.", schema: TEXT },
  ...SPAN_QUERY,
];

/** Returns the filters of the query. @throws ApiError `unsupported_value` */
export function auditFilterIn(call: RequestFacts): Omit<AuditQuery, "after" | "limit"> {
  return {
    actor: textIn(call, "actor"),
    action: textIn(call, "action"),
    subject: textIn(call, "subject"),
    startTime: timeIn(call, "start_time"),
    endTime: timeIn(call, "end_time"),
  };
}
