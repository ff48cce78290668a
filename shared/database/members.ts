/** Members of a workspace and the role their keys act with. A change and its audit row are one statement. */
import type { Queryable } from "./client.ts";

export const MEMBER_ROLES = ["owner", "admin", "developer", "billing"] as const;

export type MemberRole = (typeof MEMBER_ROLES)[number];

export interface MemberRow {
  readonly id: string;
  readonly name: string;
  readonly role: MemberRole;
  readonly is_active: boolean;
  readonly created_at: Date;
}

interface NewMember {
  readonly id: string;
  readonly name: string;
  readonly role: MemberRole;
  readonly actor: string;
}

/** Undefined when the workspace has a member of that name. */
export async function insertMember(
  target: Queryable,
  workspaceId: string,
  member: NewMember,
): Promise<MemberRow | undefined> {
  const rows = await target.query<MemberRow>(
    `with changed as (
       insert into member (id, workspace_id, name, role)
       values ($2, $1, $3, $4)
       on conflict (workspace_id, name) do nothing
       returning id, workspace_id, name, role, is_active, created_at
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject, detail)
       select workspace_id, $5, 'member.add', id::text, jsonb_build_object('name', name, 'role', role)
       from changed
     )
     select id, name, role, is_active, created_at from changed`,
    [workspaceId, member.id, member.name, member.role, member.actor],
  );
  return rows[0];
}

/** The member of that name, added if need be; the role of one who is there stays. */
export async function ensureMember(tx: Queryable, workspaceId: string, member: NewMember): Promise<MemberRow> {
  const row = (await insertMember(tx, workspaceId, member)) ?? (await findMember(tx, workspaceId, member.name));
  if (row === undefined) throw new Error(`the member ${member.name} went away while it was added`);
  return row;
}

export async function findMember(target: Queryable, workspaceId: string, name: string): Promise<MemberRow | undefined> {
  const rows = await target.query<MemberRow>(
    `select id, name, role, is_active, created_at
     from member
     where workspace_id = $1 and name = $2`,
    [workspaceId, name],
  );
  return rows[0];
}

/** Undefined when it was the role already. */
export async function setMemberRole(
  target: Queryable,
  workspaceId: string,
  change: { readonly id: string; readonly role: MemberRole; readonly actor: string },
): Promise<MemberRow | undefined> {
  const rows = await target.query<MemberRow>(
    `with before as (
       select id, role
       from member
       where workspace_id = $1 and id = $2
       for no key update
     ), changed as (
       update member m
       set role = $3
       from before b
       where m.id = b.id and b.role <> $3
       returning m.id, m.workspace_id, m.name, m.role, m.is_active, m.created_at, b.role as old_role
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject, detail)
       select workspace_id, $4, 'member.role', id::text, jsonb_build_object('from', old_role, 'to', role)
       from changed
     )
     select id, name, role, is_active, created_at from changed`,
    [workspaceId, change.id, change.role, change.actor],
  );
  return rows[0];
}

/** Undefined when it was so already. The keys of a disabled member stop working with it. */
export async function setMemberActive(
  target: Queryable,
  workspaceId: string,
  change: { readonly id: string; readonly isActive: boolean; readonly actor: string },
): Promise<MemberRow | undefined> {
  const rows = await target.query<MemberRow>(
    `with changed as (
       update member
       set is_active = $3
       where workspace_id = $1 and id = $2 and is_active <> $3
       returning id, workspace_id, name, role, is_active, created_at
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject)
       select workspace_id, $4, case when is_active then 'member.enable' else 'member.disable' end, id::text
       from changed
     )
     select id, name, role, is_active, created_at from changed`,
    [workspaceId, change.id, change.isActive, change.actor],
  );
  return rows[0];
}

export function listMembers(target: Queryable, workspaceId: string): Promise<MemberRow[]> {
  return target.query<MemberRow>(
    `select id, name, role, is_active, created_at
     from member
     where workspace_id = $1
     order by name`,
    [workspaceId],
  );
}
