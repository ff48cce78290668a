/** Sends events when spend limits reach percentages. SQL functions in migrations/0014_spend_limits.sql contain the rules. */
import type { Queryable } from "./client.ts";

/** Returns workspaces with a spend limit that may have reached a percentage since the last check. */
export async function listSpendNoticesToCheck(target: Queryable): Promise<string[]> {
  const rows = await target.query<{ id: string }>("select spend_notices_to_check() as id");
  return rows.map(({ id }) => id);
}

/**
 * Sends the due events of a workspace's spend limits, once per limit, period and percentage, and returns their number. The check locks the
 * balance of the workspace, as every change of a spend limit does.
 */
export async function fireSpendNotices(target: Queryable, workspaceId: string): Promise<number> {
  const [row] = await target.query<{ sent: number }>("select fire_spend_notices($1) as sent", [workspaceId]);
  return row?.sent ?? 0;
}
