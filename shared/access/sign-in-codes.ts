/**
 * Sign-in codes. A code signs a browser in once for a key, so that people need not paste the key. Only the hash of a code is stored. One
 * statement creates a code and writes its audit row.
 */
import { type Actor, actorJson, logged } from "#shared/database/audit-log.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { AccessLists } from "#shared/database/members.ts";
import { hashKey, isSessionToken, mintSessionToken } from "#shared/secrets/api-keys.ts";

import { ACTIVE_KEYS_FROM } from "./active-keys.ts";

/** Time for which a code is valid, in minutes. */
export const SIGN_IN_CODE_MINUTES = 15;
/** Maximum number of unused codes of a key. A further one deletes the oldest code. */
export const SIGN_IN_CODES_PER_KEY_MAX = 10;

/** SQL condition that a code `c` has not expired. */
const IS_VALID = `c.created_at > now() - interval '${SIGN_IN_CODE_MINUTES} minutes'`;

/**
 * Creates a sign-in code for a key and returns the code. Deletes the key's expired codes.
 * @returns undefined if the key is not active
 */
export async function createSignInCode(target: Queryable, keyId: string, actor: Actor): Promise<string | undefined> {
  const code = mintSessionToken();
  const rows = await target.query(
    `with surplus as (
       delete from sign_in_code where key_id = $2 and (sha256 in (
         select sha256 from sign_in_code where key_id = $2 order by created_at desc offset ${SIGN_IN_CODES_PER_KEY_MAX - 1}
       ) or created_at < now() - interval '${SIGN_IN_CODE_MINUTES} minutes')
     ), changed as (
       select k.workspace_id, k.id ${ACTIVE_KEYS_FROM} and k.id = $2
     ), created as (
       insert into sign_in_code (sha256, key_id) select $1, id from changed
     ), ${logged("sign_in_code.create", "$3", {})}
     select from changed`,
    [Buffer.from(hashKey(code)), keyId, actorJson(actor)],
  );
  return rows.length > 0 ? code : undefined;
}

/** Active key for which a code signs in, and the lists that limit the key and its member. */
export interface CodeKey {
  readonly key_id: string;
  readonly member_id: string;
  readonly key_lists: AccessLists | null;
  readonly member_lists: AccessLists | null;
}

/**
 * Deletes a code and returns its key, so that the code can be used only once.
 * @returns undefined if the code does not exist or has expired, or if its key is not active
 */
export async function takeSignInCode(target: Queryable, code: string): Promise<CodeKey | undefined> {
  if (!isSessionToken(code)) return undefined;
  const rows = await target.query<CodeKey>(
    `with taken as (
       delete from sign_in_code where sha256 = $1 returning key_id, created_at
     )
     select k.id as key_id, k.member_id, k.access_lists as key_lists, m.access_lists as member_lists
     ${ACTIVE_KEYS_FROM} and k.id = (select c.key_id from taken c where ${IS_VALID})`,
    [Buffer.from(hashKey(code))],
  );
  return rows[0];
}

/**
 * Returns the active key for which a code without a named key signs in: the oldest key of an owner of the workspace.
 * @param workspaceId null: the bootstrap key, or else the oldest key of its member
 * @returns undefined if there is none
 */
export async function findSignInKey(target: Queryable, workspaceId: string | null): Promise<string | undefined> {
  const rows = await target.query<{ id: string }>(
    `select k.id ${ACTIVE_KEYS_FROM}
       and case when $1::uuid is null then m.id = (select member_id from bootstrap) else w.id = $1 and m.role = 'owner' end
     order by $1::uuid is null and k.hint like 'slk\\_%', k.created_at, k.id
     limit 1`,
    [workspaceId],
  );
  return rows[0]?.id;
}
