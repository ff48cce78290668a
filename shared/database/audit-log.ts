/** Who changed what. Changes of one statement write their row in that statement; `recordAudit` is for those of several. */
import type { Queryable } from "./client.ts";

/** Who does something that the audit log tells. */
export interface Actor {
  /** system: a process of ours, by itself. */
  readonly type: "member" | "operator" | "system";
  /** Of a member its id; of an operator the name of its token, or `command`. */
  readonly id: string;
  readonly key_id?: string;
  readonly ip?: string;
  readonly request_id?: string;
}

/** As statements take it. */
export const actorJson = (actor: Actor): string => JSON.stringify(actor);

/** Everything done with the admin command. */
export const OPERATOR: Actor = { type: "operator", id: "command" };

export type AuditValues = Readonly<Record<string, unknown>>;

export interface AuditEntry {
  readonly actor: Actor;
  /** Noun and verb: `key.create`. */
  readonly action: string;
  /** Id of what was changed. */
  readonly subject: string;
  /** What it was and what it is; null where there was or is nothing. Never a secret. */
  readonly before?: AuditValues | null;
  readonly after?: AuditValues | null;
}

/** Call it in the transaction of the change it tells of. `workspaceId` is null for what concerns no workspace. */
export async function recordAudit(tx: Queryable, workspaceId: string | null, entry: AuditEntry): Promise<void> {
  const json = (values: AuditValues | null | undefined): string | null => (values ? JSON.stringify(values) : null);
  await tx.query(
    `insert into audit_log (workspace_id, actor, action, subject, before, after)
     values ($1, $2, $3, $4, $5::jsonb, $6::jsonb)`,
    [workspaceId, actorJson(entry.actor), entry.action, entry.subject, json(entry.before), json(entry.after)],
  );
}

export interface AuditRow {
  readonly id: bigint;
  readonly workspace_id: string | null;
  readonly actor: Actor;
  /** Of a member, as it is called now. */
  readonly actor_name: string | null;
  readonly action: string;
  readonly subject: string;
  readonly before: AuditValues | null;
  readonly after: AuditValues | null;
  readonly at: Date;
}

export interface AuditQuery {
  readonly after: bigint | null;
  readonly limit: number;
  readonly actor: string | null;
  readonly action: string | null;
  readonly subject: string | null;
  readonly startTime: Date | null;
  readonly endTime: Date | null;
}

/** The newest first. `workspaceId` null: of all workspaces, for operators. */
export function listAudit(target: Queryable, workspaceId: string | null, query: AuditQuery): Promise<AuditRow[]> {
  return target.query<AuditRow>(
    `select a.id, a.workspace_id, a.actor, m.name as actor_name, a.action, a.subject, a.before, a.after, a.at
     from audit_log a
     left join member m on a.actor->>'type' = 'member' and m.id::text = a.actor->>'id'
     where ($1::uuid is null or a.workspace_id = $1)
       and ($2::bigint is null or a.id < $2)
       and ($4::text is null or a.actor->>'id' = $4)
       and ($5::text is null or a.action = $5)
       and ($6::text is null or a.subject = $6)
       and ($7::timestamptz is null or a.at >= $7)
       and ($8::timestamptz is null or a.at < $8)
     order by a.id desc
     limit $3`,
    [workspaceId, query.after, query.limit, query.actor, query.action, query.subject, query.startTime, query.endTime],
  );
}
