/** Audit log of the workspace. */
import type { JSX } from "preact";

import { keyName, keyNames } from "../api/names.ts";
import { useMemberNames } from "../api/names-of.ts";
import { session } from "../api/session.ts";
import { AuditLogPage } from "../parts/audit-log.tsx";

export default function AuditLog(): JSX.Element {
  const members = useMemberNames();
  const workspace = session.value?.workspace;
  return (
    <AuditLogPage
      path="/audit"
      log="GET /workspaces/{workspaceId}/audit-log"
      actions={["key.create", "key.limits", "key.rotate", "key.revoke", "member.limits", "member.role"]}
      values={({ key_id }) => [["Key", key_id === null ? null : keyName(key_id)]]}
      nameOf={(id) => keyNames.value.get(id) ?? members.get(id) ?? (id === workspace?.id ? workspace.name : undefined)}
    />
  );
}
