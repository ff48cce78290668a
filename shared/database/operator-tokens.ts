/** Tokens for /operator; of a token only its hash is kept. A change and its audit row are one statement. */
import { type Actor, actorJson, logged } from "./audit-log.ts";
import type { Queryable } from "./client.ts";

/** Each includes those before. */
export const SCOPES = ["read", "write", "money"] as const;
export type Scope = (typeof SCOPES)[number];

export interface OperatorTokenRow {
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
}

export interface NewOperatorToken {
  readonly id: string;
  readonly name: string;
  readonly sha256: Uint8Array;
  readonly scope: Scope;
  readonly expiresAt: Date | null;
  readonly actor: Actor;
}

const COLUMNS = "id, name, scope, created_at, expires_at, revoked_at";
const IS_LIVE = "revoked_at is null and (expires_at is null or expires_at > now())";

/** Lets one at a time make tokens until the end of the transaction, so that of several the last place is one's. Readers do not wait. */
export async function lockOperatorTokens(tx: Queryable): Promise<void> {
  await tx.query("lock table operator_token in share row exclusive mode");
}

/** Undefined when the name or the id is taken: names of revoked ones too, since the audit log knows them. */
export async function insertOperatorToken(
  target: Queryable,
  token: NewOperatorToken,
): Promise<OperatorTokenRow | undefined> {
  const rows = await target.query<OperatorTokenRow>(
    `with changed as (
       insert into operator_token (id, name, sha256, scope, expires_at)
       values ($1, $2, $3, $4, $5)
       on conflict do nothing
       returning ${COLUMNS}
     ), ${logged("operator_token.create", "$6", { workspace: "null", after: "name, scope, expires_at" })}
     select ${COLUMNS} from changed`,
    [token.id, token.name, Buffer.from(token.sha256), token.scope, token.expiresAt, actorJson(token.actor)],
  );
  return rows[0];
}

/** Undefined when it was revoked before. It stops working everywhere within a second. */
export async function revokeOperatorToken(
  target: Queryable,
  change: { readonly id: string; readonly actor: Actor },
): Promise<OperatorTokenRow | undefined> {
  const rows = await target.query<OperatorTokenRow>(
    `with changed as (
       update operator_token
       set revoked_at = now()
       where id = $1 and revoked_at is null
       returning ${COLUMNS}
     ), ${logged("operator_token.revoke", "$2", { workspace: "null", before: "name, scope, expires_at" })}
     select ${COLUMNS} from changed`,
    [change.id, actorJson(change.actor)],
  );
  return rows[0];
}

/** Revoked ones too. */
export async function findOperatorToken(target: Queryable, id: string): Promise<OperatorTokenRow | undefined> {
  const rows = await target.query<OperatorTokenRow>(`select ${COLUMNS} from operator_token where id = $1`, [id]);
  return rows[0];
}

/** Revoked ones too. */
export async function findOperatorTokenByName(target: Queryable, name: string): Promise<OperatorTokenRow | undefined> {
  const rows = await target.query<OperatorTokenRow>(`select ${COLUMNS} from operator_token where name = $1`, [name]);
  return rows[0];
}

/** Revoked ones too, the newest first, behind `after`. */
export function pageOperatorTokens(
  target: Queryable,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<OperatorTokenRow[]> {
  return target.query<OperatorTokenRow>(
    `select ${COLUMNS} from operator_token
     where $1::uuid is null or (created_at, id) < (select created_at, id from operator_token where id = $1)
     order by created_at desc, id desc
     limit $2`,
    [after, limit],
  );
}

export interface LiveToken {
  readonly name: string;
  readonly scope: Scope;
  readonly expires_at: Date | null;
  /** SHA-256 in hexadecimal. */
  readonly hash: string;
}

/** Neither revoked nor expired. */
export function liveOperatorTokens(target: Queryable): Promise<LiveToken[]> {
  return target.query<LiveToken>(
    `select name, scope, expires_at, encode(sha256, 'hex') as hash from operator_token where ${IS_LIVE}`,
    [],
    "live_operator_tokens",
  );
}
