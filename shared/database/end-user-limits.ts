/** Spend limits of end users: finds and lists them for the settings. `shared/ledger/spend-limits.ts` changes and counts them. */
import type { Queryable } from "./client.ts";

/** Maximum number of end users with a limit in a workspace. */
export const END_USER_LIMITS_MAX = 10_000;

export interface EndUserLimit {
  readonly id: string;
  /** Value of `user` in the calls. */
  readonly name: string;
  /** Percentages of each limit at which the workspace is notified. */
  readonly warn_at: readonly number[];
}

/** Returns end users with a limit, sorted by name, starting behind the name `after`. */
export function pageEndUserLimits(
  target: Queryable,
  workspaceId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<EndUserLimit[]> {
  return target.query<EndUserLimit>(
    `select id, name, warn_at
     from spend_limit
     where workspace_id = $1 and kind = 'end_user' and ($2::text is null or name > $2)
     order by name
     limit $3`,
    [workspaceId, after, limit],
  );
}

/** Returns the limit of an end user; undefined if there is none. */
export async function findEndUserLimit(
  target: Queryable,
  workspaceId: string,
  user: string,
): Promise<EndUserLimit | undefined> {
  const rows = await target.query<EndUserLimit>(
    "select id, name, warn_at from spend_limit where workspace_id = $1 and kind = 'end_user' and name = $2",
    [workspaceId, user],
  );
  return rows[0];
}

/** Returns the number of end users with a limit in a workspace. */
export async function countEndUserLimits(target: Queryable, workspaceId: string): Promise<number> {
  const [row] = await target.query<{ count: number }>(
    "select count(*)::int as count from spend_limit where workspace_id = $1 and kind = 'end_user'",
    [workspaceId],
  );
  return row?.count ?? 0;
}
