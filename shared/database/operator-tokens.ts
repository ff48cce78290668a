/** Operator tokens for /operator. Only the hash of a token is stored. One statement writes a change and its audit row. */
import { type Actor, actorJson, logged } from "./audit-log.ts";
import type { Queryable } from "./client.ts";

/** Scopes of operator tokens. Each scope includes the previous ones. */
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

/**
 * Locks the table of operator tokens until this transaction ends. Other transactions that create tokens wait, so that the maximum number of
 * tokens is not exceeded. Readers do not wait.
 */
export async function lockOperatorTokens(tx: Queryable): Promise<void> {
  await tx.query("lock table operator_token in share row exclusive mode");
}

/**
 * Stores a new operator token. Returns undefined if the name or the id is taken. Names of revoked tokens stay taken, because the audit log
 * contains them.
 */
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

/** Revokes a token. All processes reject it within a second. Returns undefined if it was already revoked. */
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

/** Finds an operator token by its id, including revoked tokens. */
export async function findOperatorToken(target: Queryable, id: string): Promise<OperatorTokenRow | undefined> {
  const rows = await target.query<OperatorTokenRow>(`select ${COLUMNS} from operator_token where id = $1`, [id]);
  return rows[0];
}

/** Finds an operator token by its name, including revoked tokens. */
export async function findOperatorTokenByName(target: Queryable, name: string): Promise<OperatorTokenRow | undefined> {
  const rows = await target.query<OperatorTokenRow>(`select ${COLUMNS} from operator_token where name = $1`, [name]);
  return rows[0];
}

/** Returns a page of operator tokens, newest first, that starts behind the token `after`. Includes revoked tokens. */
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
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string;
}

/** Returns the tokens that are neither revoked nor expired. */
export function liveOperatorTokens(target: Queryable): Promise<LiveToken[]> {
  return target.query<LiveToken>(
    `select name, scope, expires_at, encode(sha256, 'hex') as hash from operator_token where ${IS_LIVE}`,
    [],
    "live_operator_tokens",
  );
}
