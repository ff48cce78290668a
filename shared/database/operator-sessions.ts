/** SQL for browser sessions of operators, each of which acts for a token. One statement opens or ends a session and writes its audit row. */
import { type Actor, actorJson, logged } from "./audit-log.ts";
import type { Queryable } from "./client.ts";

/** Maximum number of sessions of a token. A further one ends the oldest session. */
export const SESSIONS_PER_TOKEN_MAX = 20;
/** Maximum age of a session, in hours. `OPERATOR_SESSION_IDLE_MINUTES` is the maximum time without use. */
export const OPERATOR_SESSION_HOURS = 12;
const OPERATOR_SESSION_IDLE_MINUTES = 15;

/** SQL condition that a session has not ended. The session's token must be checked separately. */
const IS_OPEN =
  `created_at > now() - interval '${OPERATOR_SESSION_HOURS} hours'` +
  ` and used_at > now() - interval '${OPERATOR_SESSION_IDLE_MINUTES} minutes'`;
/** SQL expression for the id of the token with the hash `token_sha256`, or `settings` for the token of the settings. */
const TOKEN_ID = "coalesce((select t.id::text from operator_token t where t.sha256 = token_sha256), 'settings')";

/** Opens a session for the operator token with the hash `tokenSha256`. */
export async function openOperatorSession(
  target: Queryable,
  session: { readonly sha256: Uint8Array; readonly tokenSha256: Uint8Array; readonly actor: Actor },
): Promise<void> {
  await target.query(
    `with surplus as (
       delete from operator_session where sha256 in (
         select sha256 from operator_session where token_sha256 = $2 order by created_at desc offset ${SESSIONS_PER_TOKEN_MAX - 1}
       )
     ), changed as (
       insert into operator_session (sha256, token_sha256) values ($1, $2) returning token_sha256
     ), ${logged("operator_session.open", "$3", { workspace: "null", subject: TOKEN_ID })}
     select 1`,
    [Buffer.from(session.sha256), Buffer.from(session.tokenSha256), actorJson(session.actor)],
  );
}

/** Ends the session with this hash, if it exists. */
export async function endOperatorSession(target: Queryable, sha256: Uint8Array, actor: Actor): Promise<void> {
  await target.query(
    `with changed as (
       delete from operator_session where sha256 = $1 returning token_sha256
     ), ${logged("operator_session.end", "$2", { workspace: "null", subject: TOKEN_ID })}
     select 1`,
    [Buffer.from(sha256), actorJson(actor)],
  );
}

/** Open session of an operator. */
export interface OperatorSessionRow {
  /** SHA-256 of the token, in hexadecimal. */
  readonly token_hash: string;
  /** Latest end of the session. It may end earlier, with its token or after a time without use. */
  readonly ends_at: Date;
}

/**
 * Reads the session with this hash and records its use, at most once a minute.
 * @returns undefined if the session does not exist or has ended
 */
export async function useOperatorSession(
  target: Queryable,
  sha256: Uint8Array,
): Promise<OperatorSessionRow | undefined> {
  const rows = await target.query<OperatorSessionRow>(
    `with used as (
       update operator_session set used_at = now()
       where sha256 = $1 and used_at < now() - interval '1 minute' and ${IS_OPEN}
     )
     select encode(token_sha256, 'hex') as token_hash, created_at + interval '${OPERATOR_SESSION_HOURS} hours' as ends_at
     from operator_session where sha256 = $1 and ${IS_OPEN}`,
    [Buffer.from(sha256)],
    "use_operator_session",
  );
  return rows[0];
}
