import type { KeyRow } from "#shared/database/api-keys.ts";

/** A key as JSON shows it; only `key create` adds the key itself. */
export function keyJson(workspaceId: string, row: KeyRow): Record<string, unknown> {
  return {
    id: row.id,
    workspace_id: workspaceId,
    name: row.name,
    hint: row.hint,
    preset: row.preset,
    created_at: row.created_at,
    expires_at: row.expires_at,
    last_used_at: row.last_used_at,
    revoked_at: row.revoked_at,
  };
}
