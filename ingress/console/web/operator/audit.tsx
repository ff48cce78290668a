/** Audit log of all workspaces and of the installation. */
import type { JSX } from "preact";

import type { AuditLogEntry } from "#schemas/generated/types.ts";
import { useCall } from "../api/query.ts";
import { AuditLogPage } from "../parts/audit-log.tsx";
import { Id } from "../parts/values.tsx";
import { WorkspaceLink } from "./workspace-link.tsx";

export default function AuditLog(): JSX.Element {
  const { data } = useCall("GET /operator/workspaces", { query: { limit: 100 } });
  // An id is typed if the installation has more workspaces than a choice can list.
  const choices = data?.has_more === false ? data.data.map(({ id, name }) => ({ value: id, text: name })) : undefined;
  return (
    <AuditLogPage
      path="/operator/audit"
      log="GET /operator/audit-log"
      actions={["credits.top_up", "hold.close", "settle_fault.resolve", "source.reset", "workspace.create"]}
      filters={[{ name: "workspace_id", label: "Workspace", ...(choices && { choices }) }]}
      columns={[{ head: "Workspace", label: "workspace", cell: workspaceOf }]}
      values={(entry) => [
        ["Workspace", workspaceOf(entry)],
        ["Key", entry.key_id === null ? null : <Id value={entry.key_id} label="key id" />],
      ]}
    />
  );
}

/** Returns the workspace of an entry. Entries of the installation have none. */
function workspaceOf({ workspace_id: id }: AuditLogEntry): JSX.Element {
  return typeof id === "string" ? <WorkspaceLink id={id} /> : <span class="none">—</span>;
}
