/** API keys; of a key only its hash is kept. A change and its audit row are one statement. */
import type { Queryable } from "./client.ts";
import type { MemberRole } from "./members.ts";

export interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  readonly preset: string;
  readonly created_at: Date;
  readonly revoked_at: Date | null;
}

export interface KeySummary extends KeyRow {
  readonly member: string;
  readonly role: MemberRole;
}

export interface NewKey {
  readonly id: string;
  readonly memberId: string;
  readonly name: string;
  readonly sha256: Uint8Array;
  readonly hint: string;
  readonly preset: string;
  readonly actor: string;
}

/** @throws Error when the member is not one of this workspace */
export async function insertKey(target: Queryable, workspaceId: string, key: NewKey): Promise<KeyRow> {
  const rows = await target.query<KeyRow>(
    `with changed as (
       insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset)
       select $2, m.workspace_id, m.id, $4, $5, $6, $7
       from member m
       where m.workspace_id = $1 and m.id = $3
       returning id, workspace_id, name, hint, preset, created_at, revoked_at
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject, detail)
       select workspace_id, $8, 'key.create', id::text, jsonb_build_object('name', name, 'preset', preset, 'member', $3)
       from changed
     )
     select id, name, hint, preset, created_at, revoked_at from changed`,
    [workspaceId, key.id, key.memberId, key.name, Buffer.from(key.sha256), key.hint, key.preset, key.actor],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`the workspace ${workspaceId} has no member ${key.memberId}`);
  return row;
}

/** Undefined when it was revoked before. It stops working everywhere within a second. */
export async function revokeKey(
  target: Queryable,
  workspaceId: string,
  change: { readonly id: string; readonly actor: string },
): Promise<KeyRow | undefined> {
  const rows = await target.query<KeyRow>(
    `with changed as (
       update api_key
       set revoked_at = now()
       where workspace_id = $1 and id = $2 and revoked_at is null
       returning id, workspace_id, name, hint, preset, created_at, revoked_at
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject)
       select workspace_id, $3, 'key.revoke', id::text
       from changed
     )
     select id, name, hint, preset, created_at, revoked_at from changed`,
    [workspaceId, change.id, change.actor],
  );
  return rows[0];
}

/** Undefined when it had that preset already, or was revoked. */
export async function setKeyPreset(
  target: Queryable,
  workspaceId: string,
  change: { readonly id: string; readonly preset: string; readonly actor: string },
): Promise<KeyRow | undefined> {
  const rows = await target.query<KeyRow>(
    `with before as (
       select id, preset
       from api_key
       where workspace_id = $1 and id = $2 and revoked_at is null
       for no key update
     ), changed as (
       update api_key k
       set preset = $3
       from before b
       where k.id = b.id and b.preset <> $3
       returning k.id, k.workspace_id, k.name, k.hint, k.preset, k.created_at, k.revoked_at, b.preset as old_preset
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject, detail)
       select workspace_id, $4, 'key.preset', id::text, jsonb_build_object('from', old_preset, 'to', preset)
       from changed
     )
     select id, name, hint, preset, created_at, revoked_at from changed`,
    [workspaceId, change.id, change.preset, change.actor],
  );
  return rows[0];
}

/** Revoked ones too. */
export async function findKeyByHash(
  target: Queryable,
  workspaceId: string,
  sha256: Uint8Array,
): Promise<KeyRow | undefined> {
  const rows = await target.query<KeyRow>(
    `select id, name, hint, preset, created_at, revoked_at
     from api_key
     where workspace_id = $1 and sha256 = $2`,
    [workspaceId, Buffer.from(sha256)],
  );
  return rows[0];
}

/** Revoked ones too, oldest first. */
export function listKeys(target: Queryable, workspaceId: string): Promise<KeySummary[]> {
  return target.query<KeySummary>(
    `select k.id, k.name, k.hint, k.preset, k.created_at, k.revoked_at, m.name as member, m.role
     from api_key k
     join member m on m.id = k.member_id
     where k.workspace_id = $1
     order by k.created_at, k.id`,
    [workspaceId],
  );
}

/** Revoked ones too, oldest first. */
export function listMemberKeys(target: Queryable, workspaceId: string, memberId: string): Promise<KeyRow[]> {
  return target.query<KeyRow>(
    `select id, name, hint, preset, created_at, revoked_at
     from api_key
     where workspace_id = $1 and member_id = $2
     order by created_at, id`,
    [workspaceId, memberId],
  );
}

/** Whose key this is. For operators, who name a key by its id alone; whatever follows names the workspace too. */
export async function findKeyOwner(
  target: Queryable,
  keyId: string,
): Promise<(KeyRow & { readonly workspace_id: string }) | undefined> {
  const rows = await target.query<KeyRow & { workspace_id: string }>(
    `select id, workspace_id, name, hint, preset, created_at, revoked_at
     from api_key
     where id = $1`,
    [keyId],
  );
  return rows[0];
}
