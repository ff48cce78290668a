/**
 * Writes and reads the audit log of changes. A change that is one SQL statement also writes its audit row there. `recordAudit` is for
 * changes that need several statements.
 */
import type { Queryable } from "./client.ts";

/** Author of a change in the audit log. */
export interface Actor {
  /** Type of the author. system: one of our processes, without a person. */
  readonly type: "member" | "operator" | "system";
  /** Id of a member. For an operator, the name of the token, or a reserved name such as `command`. */
  readonly id: string;
  readonly key_id?: string;
  readonly ip?: string;
  readonly request_id?: string;
}

/** Returns the author of a change as JSON text, for SQL parameters. */
export const actorJson = (actor: Actor): string => JSON.stringify(actor);

/** Author of all changes by admin commands that use the database directly. */
export const OPERATOR: Actor = { type: "operator", id: "command" };

export type AuditValues = Readonly<Record<string, unknown>>;

export interface AuditEntry {
  readonly actor: Actor;
  /** Name of the change as noun and verb, such as `key.create`. */
  readonly action: string;
  /** Id of the changed object. */
  readonly subject: string;
  /** Values before and after the change; null before a creation or after a deletion. Never a secret. */
  readonly before?: AuditValues | null;
  readonly after?: AuditValues | null;
}

/** Writes an audit row. Call this in the transaction of the change. `workspaceId` is null if the change concerns no workspace. */
export async function recordAudit(tx: Queryable, workspaceId: string | null, entry: AuditEntry): Promise<void> {
  const json = (values: AuditValues | null | undefined): string | null => (values ? JSON.stringify(values) : null);
  await tx.query(
    `insert into audit_log (workspace_id, actor, action, subject, before, after)
     values ($1, $2, $3, $4, $5::jsonb, $6::jsonb)`,
    [workspaceId, actorJson(entry.actor), entry.action, entry.subject, json(entry.before), json(entry.after)],
  );
}

interface LoggedColumns {
  /** Columns of the SQL part `changed` whose values are recorded, as a comma-separated list. Never a column with a secret. */
  readonly before?: string;
  readonly after?: string;
  /** SQL expressions for the workspace and the subject. Needed only if the columns do not have the usual names. */
  readonly workspace?: string;
  readonly subject?: string;
}

/**
 * Returns the SQL part `logged as (…)`, which writes the audit row of a creation or deletion that is made in the part `changed`.
 * @param actor parameter that contains the author as JSON
 */
export function logged(
  action: string,
  actor: `$${number}`,
  { before, after, workspace = "workspace_id", subject = "id::text" }: LoggedColumns,
): string {
  const recorded = Object.entries({ before, after }).filter(([, columns]) => columns !== undefined);
  return `logged as (
       insert into audit_log (${["workspace_id, actor, action, subject", ...recorded.map(([name]) => name)].join(", ")})
       select ${[workspace, actor, `'${action}'`, subject, ...recorded.map(([, columns = ""]) => valuesOf(columns))].join(", ")}
       from changed
     )`;
}

/**
 * Returns the SQL part `logged as (…)` for an update. It reads the old values from the part `old` and the new ones from `changed`.
 * @param action SQL expression, with `o` for the old row and `c` for the changed row
 */
export function loggedUpdate(action: string, actor: `$${number}`, columns: string, workspace = "workspace_id"): string {
  return `logged as (
       insert into audit_log (workspace_id, actor, action, subject, before, after)
       select c.${workspace}, ${actor}, ${action}, c.id::text, ${valuesOf(columns, "o.")}, ${valuesOf(columns, "c.")}
       from changed c
       join old o on o.id = c.id
     )`;
}

function valuesOf(columns: string, of = ""): string {
  const pairs = columns.split(", ").map((name) => `'${name}', ${of}${name}`);
  return `jsonb_build_object(${pairs.join(", ")})`;
}

export interface AuditRow {
  readonly id: bigint;
  readonly workspace_id: string | null;
  readonly actor: Actor;
  /** Current name of the member; null for other authors. */
  readonly actor_name: string | null;
  readonly action: string;
  readonly subject: string;
  /** Current name of the changed workspace, member or key; the workspace of a top-up or correction. Null for other subjects. */
  readonly subject_name: string | null;
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

/** SQL expression for the subject of the audit row `a` as a UUID; null for other texts. The cast lets the names use primary keys. */
const SUBJECT_ID = "case when a.subject ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then a.subject::uuid end";

/**
 * SQL expression for the current name of the subject of the audit row `a`. The subject of a top-up or correction is an id that the operator
 * chose; its rows have the name of the workspace.
 */
const SUBJECT_NAME = `case when a.action like 'credits.%' then (select name from workspace where id = a.workspace_id) else coalesce(
              (select name from api_key where id = ${SUBJECT_ID} and workspace_id = a.workspace_id),
              (select name from member where id = ${SUBJECT_ID} and workspace_id = a.workspace_id),
              (select name from workspace where id = ${SUBJECT_ID} and id = coalesce(a.workspace_id, id))
            ) end`;

/** Returns the audit rows of a workspace, newest first. `workspaceId` null returns those of all workspaces, for operators. */
export function listAudit(target: Queryable, workspaceId: string | null, query: AuditQuery): Promise<AuditRow[]> {
  return target.query<AuditRow>(
    `select a.id, a.workspace_id, a.actor, m.name as actor_name, a.action, a.subject, a.before, a.after, a.at,
            ${SUBJECT_NAME} as subject_name
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
