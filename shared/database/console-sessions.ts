/** SQL for browser sessions, each of which acts for a key. One statement opens or ends a session and writes its audit row. */
import { type Actor, actorJson, logged } from "./audit-log.ts";
import type { Queryable } from "./client.ts";

/** Maximum number of sessions of a key. A further one ends the oldest session. */
export const SESSIONS_PER_KEY_MAX = 20;
/** Maximum age of a session, in hours. `SESSION_IDLE_MINUTES` is the maximum time without use. */
export const SESSION_HOURS = 12;
const SESSION_IDLE_MINUTES = 60;

/** SQL condition that a session `s` has not ended. The session's key must be checked separately. */
const IS_OPEN = `s.created_at > now() - interval '${SESSION_HOURS} hours' and s.used_at > now() - interval '${SESSION_IDLE_MINUTES} minutes'`;

/** SQL part `used as (…)`, which records the use of the session with the hash $1, at most once a minute. */
export const NOTE_SESSION_USED = `used as (
    update console_session s set used_at = now()
    where s.sha256 = $1 and s.used_at < now() - interval '1 minute' and ${IS_OPEN}
  )`;
/** SQL expression for the id of the key of the open session with the hash $1. */
export const KEY_OF_SESSION = `(select s.key_id from console_session s where s.sha256 = $1 and ${IS_OPEN})`;

/** Opens a session for a key. @param session `by`: method by which the person signed in */
export async function openSession(
  target: Queryable,
  session: {
    readonly sha256: Uint8Array;
    readonly keyId: string;
    readonly by: "key" | "code" | "issuer";
    readonly actor: Actor;
  },
): Promise<void> {
  await target.query(
    `with surplus as (
       delete from console_session where sha256 in (
         select sha256 from console_session where key_id = $2 order by created_at desc offset ${SESSIONS_PER_KEY_MAX - 1}
       )
     ), opened as (
       insert into console_session (sha256, key_id) values ($1, $2) returning key_id
     ), changed as (
       select k.workspace_id, k.id, $4::text as signed_in_by from opened join api_key k on k.id = opened.key_id
     ), proven as (
       update member set signed_in_at = now()
       where $4 = 'issuer' and signed_in_at is null and id = (select member_id from api_key where id = $2)
     ), ${logged("session.open", "$3", { after: "signed_in_by" })}
     select 1`,
    [Buffer.from(session.sha256), session.keyId, actorJson(session.actor), session.by],
  );
}

/** Ends the session with this hash, if it exists. */
export async function endSession(target: Queryable, sha256: Uint8Array, actor: Actor): Promise<void> {
  await target.query(
    `with ended as (
       delete from console_session where sha256 = $1 returning key_id
     ), changed as (
       select k.workspace_id, k.id from ended join api_key k on k.id = ended.key_id
     ), ${logged("session.end", "$2", {})}
     select 1`,
    [Buffer.from(sha256), actorJson(actor)],
  );
}

export interface SessionFacts {
  readonly member_name: string;
  readonly email: string | null;
  readonly key_name: string;
  readonly ends_at: Date;
}

/**
 * Reads the names of a session's member and key, the mail address of the member, and the time at which the session ends.
 * @returns undefined if the session has ended
 */
export async function readSession(target: Queryable, sha256: Uint8Array): Promise<SessionFacts | undefined> {
  const rows = await target.query<SessionFacts>(
    `select m.name as member_name, m.email, k.name as key_name, s.created_at + interval '${SESSION_HOURS} hours' as ends_at
     from console_session s
     join api_key k on k.id = s.key_id
     join member m on m.id = k.member_id
     where s.sha256 = $1`,
    [Buffer.from(sha256)],
  );
  return rows[0];
}

export interface KnownMember {
  readonly workspace_id: string;
  readonly workspace_name: string;
  readonly member_id: string;
  /** True if the person has signed in as this member before. */
  readonly is_proven: boolean;
  /** Id of the member's oldest active key. */
  readonly key_id: string;
}

/** Maximum number of workspaces among which a person can choose. */
export const SIGN_IN_CHOICES_MAX = 100;

/**
 * Returns active members that have this mail address (case-insensitive) and an active key: one per workspace, and at most one more than
 * SIGN_IN_CHOICES_MAX. Members as whom this person has signed in before come first; the others are sorted by workspace name.
 * @param workspace id or name of the only workspace to consider; null for all
 */
export function findMembersByEmail(target: Queryable, email: string, workspace: string | null): Promise<KnownMember[]> {
  return target.query<KnownMember>(
    `select w.id as workspace_id, w.name as workspace_name, m.id as member_id, m.signed_in_at is not null as is_proven,
       k.id as key_id
     from member m
     join workspace w on w.id = m.workspace_id
     cross join lateral (
       select id from api_key
       where workspace_id = m.workspace_id and member_id = m.id and revoked_at is null
         and (expires_at is null or expires_at > now())
       order by created_at, id limit 1
     ) k
     where lower(m.email) = lower($1) and m.is_active and w.is_active and ($2::text is null or w.id::text = $2 or w.name = $2)
     order by m.signed_in_at is null, w.name
     limit ${SIGN_IN_CHOICES_MAX + 1}`,
    [email, workspace],
  );
}

/** Time that a person has for choosing a workspace, in minutes. */
export const SIGN_IN_CHOICE_MINUTES = 10;

/** A person whom the issuer has verified and who has not yet chosen a workspace. */
interface SignInChoice {
  readonly email: string;
  /** URL path on this service to which the browser returns after sign-in. */
  readonly return_to: string;
}

export async function keepSignInChoice(
  target: Queryable,
  sha256: Uint8Array,
  { email, return_to }: SignInChoice,
): Promise<void> {
  await target.query("insert into sign_in_choice (sha256, email, return_to) values ($1, $2, $3)", [
    Buffer.from(sha256),
    email,
    return_to,
  ]);
}

/**
 * Deletes a pending choice of a workspace and returns it, so that it can be used only once.
 * @returns undefined if the choice does not exist or has expired
 */
export async function takeSignInChoice(target: Queryable, sha256: Uint8Array): Promise<SignInChoice | undefined> {
  const rows = await target.query<SignInChoice>(
    `delete from sign_in_choice
     where sha256 = $1 and created_at > now() - interval '${SIGN_IN_CHOICE_MINUTES} minutes'
     returning email, return_to`,
    [Buffer.from(sha256)],
  );
  return rows[0];
}

/**
 * Counts a sign-in attempt.
 * @returns false, without counting, if the network of the client already made `max` attempts within a minute
 */
export async function takeSignInTry(target: Queryable, network: string, max: number): Promise<boolean> {
  const rows = await target.query(
    `insert into sign_in_try as t (network, tried_at, last_at)
     values ($1, array[clock_timestamp()], clock_timestamp())
     on conflict (network) do update
     set tried_at = recent_tries(t.tried_at) || clock_timestamp(), last_at = clock_timestamp()
     where cardinality(recent_tries(t.tried_at)) < $2
     returning 1`,
    [network, max],
    "take_sign_in_try",
  );
  return rows.length > 0;
}
