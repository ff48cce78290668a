/** Checks whether keys are still active. Used for connections and runs that last longer than a key's cache entry. */
import { plainArray } from "#shared/database/arrays.ts";
import type { Queryable } from "#shared/database/client.ts";

/** Returns the active keys among the given ones. @throws the error of the database */
export type ActiveKeys = (keyIds: readonly string[]) => Promise<ReadonlySet<string>>;

/** SQL tables and condition that select active keys of active members of active workspaces. */
export const ACTIVE_KEYS_FROM = `from api_key k
  join member m on m.id = k.member_id
  join workspace w on w.id = k.workspace_id
  where k.revoked_at is null and (k.expires_at is null or k.expires_at > now()) and m.is_active and w.is_active`;

export async function findActiveKeys(database: Queryable, keyIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ id: string }>(
    `select k.id ${ACTIVE_KEYS_FROM} and k.id = any($1::uuid[])`,
    [plainArray(keyIds)],
    "find_active_keys",
  );
  return new Set(rows.map(({ id }) => id));
}
