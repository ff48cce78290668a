/** Rows of kept requests and responses. The bodies are encrypted objects; a row contains the key of its object, itself encrypted. */
import { plainArray } from "./arrays.ts";
import { type Actor, actorJson } from "./audit-log.ts";
import type { Queryable } from "./client.ts";

export interface NewBody {
  readonly workspaceId: string;
  readonly requestId: string;
  readonly keyId: string;
  /** Size of the object, in bytes. */
  readonly bytes: number;
  readonly sealedKey: string;
  readonly hours: number;
}

export interface BodyRow {
  readonly workspace_id: string;
  readonly request_id: string;
  readonly key_id: string;
  readonly sealed_key: string;
  readonly reference: string;
  readonly created_at: Date;
  readonly expires_at: Date;
}

/**
 * Adds rows for bodies whose objects are stored next. They are invisible until `markStored`.
 * @param bytesMax maximum size of all kept bodies of a workspace
 * @returns request ids of the added rows; the other bodies would exceed the maximum
 */
export async function beginBodies(
  target: Queryable,
  bodies: readonly NewBody[],
  bytesMax: number,
): Promise<ReadonlySet<string>> {
  const rows = bodies.map(({ workspaceId, requestId, keyId, bytes, sealedKey, hours }) => ({
    workspace_id: workspaceId,
    request_id: requestId,
    key_id: keyId,
    bytes,
    sealed_key: sealedKey,
    hours,
  }));
  const added = await target.query<{ id: string }>(
    "select id from begin_bodies($1::jsonb, $2) id",
    [JSON.stringify(rows), bytesMax],
    "begin_bodies",
  );
  return new Set(added.map(({ id }) => id));
}

export interface BodyId {
  readonly workspaceId: string;
  readonly requestId: string;
}

/** Makes bodies visible whose objects are stored. */
export async function markStored(
  target: Queryable,
  stored: readonly (BodyId & { readonly reference: string })[],
): Promise<void> {
  await target.query(
    `update kept_body b set reference = r.reference
     from jsonb_to_recordset($1::jsonb) as r("workspaceId" uuid, "requestId" uuid, reference text)
     where b.workspace_id = r."workspaceId" and b.request_id = r."requestId"`,
    [JSON.stringify(stored)],
    "mark_bodies",
  );
}

/** Marks bodies as expired whose objects could not be stored, so that the janitor deletes them. */
export async function expireBodies(target: Queryable, bodies: readonly BodyId[]): Promise<void> {
  await target.query(
    `update kept_body b set expires_at = now()
     from jsonb_to_recordset($1::jsonb) as r("workspaceId" uuid, "requestId" uuid)
     where b.workspace_id = r."workspaceId" and b.request_id = r."requestId"`,
    [JSON.stringify(bodies.map(({ workspaceId, requestId }) => ({ workspaceId, requestId })))],
  );
}

/** SQL that deletes the rows of `picked`, with workspace and request ids, and frees their storage. */
const DELETED = `deleted as (
    delete from kept_body b using picked p
    where b.workspace_id = p.workspace_id and b.request_id = p.request_id
    returning b.workspace_id, b.request_id, b.key_id, b.bytes
  ), freed as (
    update kept_body_storage s set bytes = s.bytes - d.bytes
    from (select workspace_id, sum(bytes)::bigint as bytes from deleted group by 1) d
    where s.workspace_id = d.workspace_id
  )`;

/**
 * Deletes rows of one workspace whose objects are deleted. Statements for several workspaces could lock their counts in another order than
 * `begin_bodies`.
 */
export async function dropBodies(target: Queryable, workspaceId: string, requestIds: readonly string[]): Promise<void> {
  await target.query(
    `with picked as (
       select $1::uuid as workspace_id, request_id from unnest($2::uuid[]) request_id
     ), ${DELETED}
     select 1`,
    [workspaceId, plainArray(requestIds)],
  );
}

/** Deletes one row with its audit row. Returns false if the row was deleted in the meantime. */
export async function dropBody(target: Queryable, { workspaceId, requestId }: BodyId, actor: Actor): Promise<boolean> {
  const rows = await target.query(
    `with picked as (
       select $1::uuid as workspace_id, $2::uuid as request_id
     ), ${DELETED}, logged as (
       insert into audit_log (workspace_id, actor, action, subject, before)
       select workspace_id, $3, 'bodies.delete', request_id::text, jsonb_build_object('key_id', key_id) from deleted
     )
     select 1 from deleted`,
    [workspaceId, requestId, actorJson(actor)],
  );
  return rows.length > 0;
}

/** Rows that `memberId` may see; null: all rows of the workspace. */
const VISIBLE = `b.workspace_id = $1 and b.request_id = $2 and b.reference is not null and b.expires_at > now()
  and ($3::uuid is null or b.key_id in (select k.id from api_key k where k.workspace_id = $1 and k.member_id = $3))`;
const COLUMNS = "b.workspace_id, b.request_id, b.key_id, b.sealed_key, b.reference, b.created_at, b.expires_at";

interface Visible extends BodyId {
  /** Limits the search to calls of this member's keys; null: of all members. */
  readonly memberId: string | null;
}

/** Finds the row of a kept body; undefined if there is none, or it belongs to another member. */
export async function findBody(
  target: Queryable,
  { workspaceId, requestId, memberId }: Visible,
): Promise<BodyRow | undefined> {
  const rows = await target.query<BodyRow>(`select ${COLUMNS} from kept_body b where ${VISIBLE}`, [
    workspaceId,
    requestId,
    memberId,
  ]);
  return rows[0];
}

/** The same as `findBody`, and writes an audit row: bodies are read only with a trace. */
export async function findBodyToRead(
  target: Queryable,
  { workspaceId, requestId, memberId }: Visible,
  actor: Actor,
): Promise<BodyRow | undefined> {
  const rows = await target.query<BodyRow>(
    `with found as (
       select ${COLUMNS} from kept_body b where ${VISIBLE}
     ), logged as (
       insert into audit_log (workspace_id, actor, action, subject, after)
       select workspace_id, $4, 'bodies.read', request_id::text, jsonb_build_object('key_id', key_id) from found
     )
     select * from found`,
    [workspaceId, requestId, memberId, actorJson(actor)],
  );
  return rows[0];
}

/** Returns the size of all kept bodies of a workspace, in bytes. */
export async function bodyBytes(target: Queryable, workspaceId: string): Promise<bigint> {
  const rows = await target.query<{ bytes: bigint }>("select bytes from kept_body_storage where workspace_id = $1", [
    workspaceId,
  ]);
  return rows[0]?.bytes ?? 0n;
}

/** Returns the SQL expression that is true if bodies of a call are kept. @param call SQL expression of the id of the call */
export function hasBodies(workspaceId: string, call: string): string {
  return `exists (
    select from kept_body b
    where b.workspace_id = ${workspaceId} and b.request_id = ${call} and b.reference is not null and b.expires_at > now()) as has_bodies`;
}

/**
 * Returns bodies to delete, oldest first.
 * @param hoursMax maximum age that the operator allows, in hours
 */
export function findExpiredBodies(target: Queryable, hoursMax: number, limit: number): Promise<BodyId[]> {
  return target.query<BodyId>(
    `select workspace_id as "workspaceId", request_id as "requestId" from (
       (select * from kept_body where expires_at <= now() order by expires_at limit $2)
       union
       (select * from kept_body where created_at <= now() - $1 * interval '1 hour' order by created_at limit $2)
     ) expired
     limit $2`,
    [hoursMax, limit],
  );
}

export interface SealedBodyKey extends BodyId {
  readonly sealed: string;
}

/** Returns keys of bodies that were encrypted with another master key than `keyId`. The page starts after the row `after`. */
export function listBodyKeysOfOthers(
  target: Queryable,
  keyId: string,
  after: BodyId,
  limit: number,
): Promise<SealedBodyKey[]> {
  return target.query<SealedBodyKey>(
    `select workspace_id as "workspaceId", request_id as "requestId", sealed_key as sealed
     from kept_body
     where (workspace_id, request_id) > ($2, $3) and split_part(sealed_key, '.', 2) <> $1
     order by workspace_id, request_id
     limit $4`,
    [keyId, after.workspaceId, after.requestId, limit],
  );
}

/** Replaces encrypted keys of bodies. */
export async function replaceBodyKeys(target: Queryable, keys: readonly SealedBodyKey[]): Promise<void> {
  await target.query(
    `update kept_body b set sealed_key = r.sealed
     from jsonb_to_recordset($1::jsonb) as r("workspaceId" uuid, "requestId" uuid, sealed text)
     where b.workspace_id = r."workspaceId" and b.request_id = r."requestId"`,
    [JSON.stringify(keys)],
  );
}
