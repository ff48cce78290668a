/** Audit log of the workspace. */
import type { JSX } from "preact";

import { keyName } from "../api/names.ts";
import { AuditLogPage } from "../parts/audit-log.tsx";

export default function AuditLog(): JSX.Element {
  return (
    <AuditLogPage
      path="/audit"
      log="GET /workspaces/{workspaceId}/audit-log"
      actions={["key.create", "key.limits", "key.rotate", "key.revoke", "member.limits", "member.role"]}
      values={({ key_id }) => [["Key", key_id === null ? null : keyName(key_id)]]}
    />
  );
}
