/** Reads and writes API keys, of which only the hash is stored. One SQL statement makes a change and writes its audit row. */

import type { BodySetting } from "#shared/base/body-setting.ts";

import { type Actor, actorJson, logged, loggedUpdate } from "./audit-log.ts";
import type { Queryable } from "./client.ts";
import type { AccessLists, MemberRole } from "./members.ts";

/** Maximum number of keys in a workspace that are neither revoked nor expired. */
export const KEYS_PER_WORKSPACE_MAX = 1_000;

export interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  readonly preset: string;
  /** Ids of the tools that the key may run; null if it may run all tools. */
  readonly tools: readonly string[] | null;
  /** Lists of models, endpoints and IP addresses; null if there are none. */
  readonly access_lists: AccessLists | null;
  /** Id of the spend limit that the key shares with the keys it replaced; null if it is the key's own id. */
  readonly limit_id: string | null;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
  /** Requests and responses that are kept; null if the workspace's setting applies. */
  readonly bodies: BodySetting | null;
}

export interface KeySummary extends KeyRow {
  readonly member_id: string;
  readonly member: string;
  readonly role: MemberRole;
  readonly is_member_active: boolean;
  /** True if the key has expired by the database's clock. */
  readonly is_expired: boolean;
}

export interface NewKey {
  readonly id: string;
  readonly memberId: string;
  readonly name: string;
  readonly sha256: Uint8Array;
  readonly hint: string;
  readonly preset: string;
  readonly expiresAt?: Date | null;
  /** Ids of the tools that the key may run; null or absent if it may run all tools. */
  readonly tools?: readonly string[] | null;
  readonly bodies?: BodySetting | null;
  readonly actor: Actor;
}

const COLUMNS =
  "id, name, hint, preset, tools, access_lists, limit_id, created_at, expires_at, last_used_at, revoked_at, bodies";
const SUMMARY = `select k.id, k.name, k.hint, k.preset, k.tools, k.access_lists, k.limit_id, k.created_at, k.expires_at, k.last_used_at, k.revoked_at,
       k.bodies,
       k.member_id, m.name as member, m.role, m.is_active as is_member_active,
       coalesce(k.expires_at <= now(), false) as is_expired
     from api_key k
     join member m on m.id = k.member_id`;

/**
 * Creates a key. Returns `known` if a key or a member with this id exists in any workspace, because the spend limits of both have these ids.
 * Returns `too_many` if the workspace has the maximum number of live keys.
 * @throws Error if the member does not belong to this workspace
 */
export async function insertKey(
  target: Queryable,
  workspaceId: string,
  key: NewKey,
): Promise<"made" | "known" | "too_many"> {
  const rows = await target.query<{ is_member: boolean; live: number; made: number; known: number }>(
    `with owner as (
       select workspace_id, id from member where workspace_id = $1 and id = $3
     ), live as (
       select count(*)::int as count from api_key
       where workspace_id = $1 and revoked_at is null and (expires_at is null or expires_at > now())
     ), changed as (
       insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset, expires_at, tools, bodies)
       select $2, o.workspace_id, o.id, $4, $5, $6, $7, $9, $11, $12::jsonb
       from owner o, live
       where live.count < $10 and not exists (select from member where id = $2)
       on conflict (id) do nothing
       returning workspace_id, id, name, preset, expires_at, tools, bodies
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject, after)
       select workspace_id, $8, 'key.create', id::text,
              jsonb_build_object('name', name, 'preset', preset, 'member', $3, 'expires_at', expires_at, 'tools', tools, 'bodies', bodies,
                'made_with', $8::jsonb->>'key_id')
       from changed
     )
     select exists (select from owner) as is_member, (select count from live) as live, (select count(*)::int from changed) as made,
            (select count(*)::int from api_key where id = $2) as known`,
    [
      workspaceId,
      key.id,
      key.memberId,
      key.name,
      Buffer.from(key.sha256),
      key.hint,
      key.preset,
      actorJson(key.actor),
      key.expiresAt ?? null,
      KEYS_PER_WORKSPACE_MAX,
      key.tools ?? null,
      key.bodies ? JSON.stringify(key.bodies) : null,
    ],
  );
  const [row] = rows;
  if (row?.is_member !== true) throw new Error(`the workspace ${workspaceId} has no member ${key.memberId}`);
  if (row.made > 0) return "made";
  return row.known === 0 && row.live >= KEYS_PER_WORKSPACE_MAX ? "too_many" : "known";
}

/**
 * Creates a successor of a key with the same name, member, preset, tools, lists and expiry. Both keys share one spend limit. The old key
 * expires after the overlap.
 * @returns over: the key is revoked or expired; too_many: both keys would exceed the maximum number of live keys
 */
export async function replaceKey(
  target: Queryable,
  workspaceId: string,
  key: Pick<NewKey, "id" | "sha256" | "hint" | "actor"> & { readonly oldId: string; readonly overlapSeconds: number },
): Promise<"made" | "over" | "too_many"> {
  const [row] = await target.query<{ live: number; made: number }>(
    `with live as (
       select count(*)::int as count from api_key
       where workspace_id = $1 and revoked_at is null and (expires_at is null or expires_at > now())
     ), old as (
       select workspace_id, id, member_id, name, preset, expires_at, tools, bodies, access_lists, coalesce(limit_id, id) as limit_id
       from api_key
       where workspace_id = $1 and id = $2 and revoked_at is null and (expires_at is null or expires_at > now())
         and ($7 = 0 or (select count from live) < $8)
       for no key update
     ), ended as (
       update api_key k
       set revoked_at = case when $7 = 0 then now() end,
           expires_at = case when $7 = 0 then k.expires_at else least(k.expires_at, now() + $7 * interval '1 second') end
       from old
       where k.id = old.id
       returning k.expires_at
     ), made as (
       insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset, expires_at, tools, bodies, access_lists, limit_id)
       select $3, workspace_id, member_id, name, $4, $5, preset, expires_at, tools, bodies, access_lists, limit_id from old
       returning id
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject, before, after)
       select o.workspace_id, $6, 'key.rotate', o.id::text, jsonb_build_object('name', o.name, 'expires_at', o.expires_at),
              jsonb_build_object('new_key', $3, 'expires_at', e.expires_at, 'is_revoked', $7 = 0)
       from old o, ended e
     )
     select (select count from live) as live, (select count(*)::int from made) as made`,
    [
      workspaceId,
      key.oldId,
      key.id,
      Buffer.from(key.sha256),
      key.hint,
      actorJson(key.actor),
      key.overlapSeconds,
      KEYS_PER_WORKSPACE_MAX,
    ],
  );
  if (row?.made === 1) return "made";
  return key.overlapSeconds > 0 && (row?.live ?? 0) >= KEYS_PER_WORKSPACE_MAX ? "too_many" : "over";
}

/** Revokes a key. The change reaches all processes within a second. Returns undefined if the key was already revoked. */
export async function revokeKey(
  target: Queryable,
  workspaceId: string,
  change: { readonly id: string; readonly actor: Actor },
): Promise<KeyRow | undefined> {
  const rows = await target.query<KeyRow>(
    `with changed as (
       update api_key
       set revoked_at = now()
       where workspace_id = $1 and id = $2 and revoked_at is null
       returning workspace_id, ${COLUMNS}
     ), ${logged("key.revoke", "$3", { before: "name, preset, tools" })}
     select ${COLUMNS} from changed`,
    [workspaceId, change.id, actorJson(change.actor)],
  );
  return rows[0];
}

export interface KeyChange {
  readonly id: string;
  readonly actor: Actor;
  /** Changes of a key. Absent members stay unchanged. */
  readonly name?: string;
  readonly preset?: string;
  /** Time at which the key expires; null if it does not expire. */
  readonly expiresAt?: Date | null;
  /** Ids of the tools that the key may run; null if it may run all tools. */
  readonly tools?: readonly string[] | null;
  readonly bodies?: BodySetting | null;
}

/** Changes a key. Returns undefined if nothing changed or the key is revoked. */
export async function updateKey(
  target: Queryable,
  workspaceId: string,
  change: KeyChange,
): Promise<KeyRow | undefined> {
  const rows = await target.query<KeyRow>(
    `with old as (
       select id, name, preset, expires_at, tools, bodies
       from api_key
       where workspace_id = $1 and id = $2 and revoked_at is null
       for no key update
     ), changed as (
       update api_key k
       set name = coalesce($4, k.name), preset = coalesce($5, k.preset), expires_at = case when $6 then $7 else k.expires_at end,
           tools = case when $8 then $9 else k.tools end, bodies = case when $10 then $11::jsonb else k.bodies end
       from old
       where k.id = old.id
         and (k.name, k.preset, k.expires_at, k.tools, k.bodies) is distinct from
             (coalesce($4, k.name), coalesce($5, k.preset), case when $6 then $7 else k.expires_at end,
              case when $8 then $9 else k.tools end, case when $10 then $11::jsonb else k.bodies end)
       returning k.workspace_id, ${COLUMNS.replaceAll(/\b([a-z_]+)\b/g, "k.$1")}
     ), ${loggedUpdate("case when c.preset <> o.preset then 'key.preset' else 'key.update' end", "$3", "name, preset, expires_at, tools, bodies")}
     select ${COLUMNS} from changed`,
    [
      workspaceId,
      change.id,
      actorJson(change.actor),
      change.name ?? null,
      change.preset ?? null,
      change.expiresAt !== undefined,
      change.expiresAt ?? null,
      change.tools !== undefined,
      change.tools ?? null,
      change.bodies !== undefined,
      change.bodies ? JSON.stringify(change.bodies) : null,
    ],
  );
  return rows[0];
}

/** Finds the key with this hash, even if it is revoked. */
export async function findKeyByHash(
  target: Queryable,
  workspaceId: string,
  sha256: Uint8Array,
): Promise<KeyRow | undefined> {
  const rows = await target.query<KeyRow>(`select ${COLUMNS} from api_key where workspace_id = $1 and sha256 = $2`, [
    workspaceId,
    Buffer.from(sha256),
  ]);
  return rows[0];
}

/** Finds the key with this id, even if it is revoked. */
export async function findKey(target: Queryable, workspaceId: string, id: string): Promise<KeySummary | undefined> {
  const rows = await target.query<KeySummary>(`${SUMMARY} where k.workspace_id = $1 and k.id = $2`, [workspaceId, id]);
  return rows[0];
}

/**
 * Returns one page of the workspace's keys, newest first, including revoked keys. The page starts after the key `after`. Callers may choose
 * the ids of keys.
 * @param memberId limits the list to the keys of one member
 * @param search limits the list to keys whose name contains this text, in upper or lower case, or whose hint begins with it
 */
export function pageKeys(
  target: Queryable,
  workspaceId: string,
  {
    memberId,
    after,
    limit,
    search = null,
  }: {
    readonly memberId: string | null;
    readonly after: string | null;
    readonly limit: number;
    readonly search?: string | null;
  },
): Promise<KeySummary[]> {
  return target.query<KeySummary>(
    `${SUMMARY}
     where k.workspace_id = $1 and ($2::uuid is null or k.member_id = $2)
       and ($3::uuid is null or (k.created_at, k.id) < (select created_at, id from api_key where workspace_id = $1 and id = $3))
       and ($5::text is null or strpos(lower(k.name), lower($5)) > 0 or starts_with(k.hint, $5))
     order by k.created_at desc, k.id desc
     limit $4`,
    [workspaceId, memberId, after, limit, search],
  );
}

/** Returns the keys of a member, oldest first, including revoked keys. */
export function listMemberKeys(target: Queryable, workspaceId: string, memberId: string): Promise<KeyRow[]> {
  return target.query<KeyRow>(
    `select ${COLUMNS} from api_key where workspace_id = $1 and member_id = $2 order by created_at, id`,
    [workspaceId, memberId],
  );
}

/** Finds a key and its workspace. Used by operators, who know only the id of the key. All later SQL statements also name the workspace. */
export async function findKeyOwner(
  target: Queryable,
  keyId: string,
): Promise<(KeyRow & { readonly workspace_id: string }) | undefined> {
  const rows = await target.query<KeyRow & { workspace_id: string }>(
    `select workspace_id, ${COLUMNS} from api_key where id = $1`,
    [keyId],
  );
  return rows[0];
}

/** Records the last use of keys of any workspace. */
export async function noteKeysUsed(target: Queryable, keyIds: readonly string[]): Promise<void> {
  await target.query(
    `update api_key set last_used_at = now()
     where id in (select id from api_key where id = any ($1) order by id for no key update skip locked)`,
    [keyIds],
  );
}

/** Finds a key and locks it against changes until the end of the transaction. */
export async function lockKey(tx: Queryable, workspaceId: string, id: string): Promise<KeySummary | undefined> {
  await tx.query("select id from api_key where workspace_id = $1 and id = $2 for no key update", [workspaceId, id]);
  return findKey(tx, workspaceId, id);
}
