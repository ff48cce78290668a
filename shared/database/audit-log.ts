/** Who changed what. Changes of one statement write their row in that statement; this is for those of several. */
import type { Queryable } from "./client.ts";

export interface AuditEntry {
  /** `operator` for the admin command. */
  readonly actor: string;
  /** Noun and verb: `key.create`. */
  readonly action: string;
  /** Id of what was changed. */
  readonly subject: string;
  readonly detail: Readonly<Record<string, string>>;
}

/** Call it in the transaction of the change it tells of. */
export async function recordAudit(tx: Queryable, workspaceId: string, entry: AuditEntry): Promise<void> {
  await tx.query(
    `insert into audit_log (workspace_id, actor, action, subject, detail)
     values ($1, $2, $3, $4, $5::jsonb)`,
    [workspaceId, entry.actor, entry.action, entry.subject, JSON.stringify(entry.detail)],
  );
}
