/** Audit-log entry of an exported table. */
import type { AuditEntry } from "#shared/database/audit-log.ts";

import type { RouteCall } from "../core/call.ts";
import { actorOf } from "../core/caller.ts";
import { queryOf } from "./page.ts";

/** @param rows number of exported rows */
export function exportOf(call: RouteCall, action: `${string}.export`, rows: number): AuditEntry {
  const filters = Object.fromEntries([...queryOf(call)].filter(([name, value]) => FILTERS.has(name) && value !== ""));
  return { actor: actorOf(call), action, subject: call.caller.workspaceId, after: { rows, filters } };
}

/** Filters that are logged: only known names, so that callers cannot write other text into the log. */
const FILTERS: ReadonlySet<string> = new Set(["actor", "action", "subject", "kind", "start_time", "end_time", "after"]);
