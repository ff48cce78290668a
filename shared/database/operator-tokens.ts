/** Tokens for /operator, of which only the hash is stored. A change and its audit row are one statement. */
import { type Actor, actorJson, logged } from "./audit-log.ts";
import type { Queryable } from "./client.ts";

/** Each scope includes the previous ones. */
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

/** Serializes creation of tokens until the transaction ends, so that the maximum is not exceeded. Readers do not wait. */
export async function lockOperatorTokens(tx: Queryable): Promise<void> {
  await tx.query("lock table operator_token in share row exclusive mode");
}

/** Returns undefined if the name or the id is taken; names of revoked tokens count, because the audit log contains them. */
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

/** Revokes a token for all processes within a second. Returns undefined if it was already revoked. */
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

/** Includes revoked tokens. */
export async function findOperatorToken(target: Queryable, id: string): Promise<OperatorTokenRow | undefined> {
  const rows = await target.query<OperatorTokenRow>(`select ${COLUMNS} from operator_token where id = $1`, [id]);
  return rows[0];
}

/** Includes revoked tokens. */
export async function findOperatorTokenByName(target: Queryable, name: string): Promise<OperatorTokenRow | undefined> {
  const rows = await target.query<OperatorTokenRow>(`select ${COLUMNS} from operator_token where name = $1`, [name]);
  return rows[0];
}

/** Includes revoked tokens, newest first, after `after`. */
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

/** Returns tokens that are neither revoked nor expired. */
export function liveOperatorTokens(target: Queryable): Promise<LiveToken[]> {
  return target.query<LiveToken>(
    `select name, scope, expires_at, encode(sha256, 'hex') as hash from operator_token where ${IS_LIVE}`,
    [],
    "live_operator_tokens",
  );
}
