/** Credit lines in the way of something else of their workspace: they are asked for, and come back. */
import type { Queryable } from "#shared/database/client.ts";
import { paced } from "#shared/pace.ts";

/** Pause before lines that were asked for are looked for again, and the longest that they are: longer than the database waits for any. */
export const RECALL_MS = paced(200);
export const RECALL_MAX_MS = 4_000;

/** Credits of a workspace's lines for a call that its balance does not cover. */
export interface Recalled {
  /**
   * Nano-credits that can be had with lines that are on their way back: as long as they are enough, it is worth trying again, which is three
   * seconds at most. Undefined: there are no lines.
   */
  readonly covered: bigint | undefined;
  /** Milliseconds until the amount can be had with what lines of dead processes have; undefined where it cannot. */
  readonly dueMs: number | undefined;
  /** Nano-credits that calls of the workspace can hold now; undefined for a workspace without a balance. */
  readonly freeNano: bigint | undefined;
}

/** Asks for the lines of a workspace where the amount can be had with them, and waits a little for them. */
export async function recallLines(database: Queryable, workspaceId: string, nano: bigint): Promise<Recalled> {
  const sql = `select recall_credit_lines($1, $2) as covered, funds_due($1, $2) as due,
    (select amount - held + lines_to_recall($1) from balance where workspace_id = $1) as free`;
  const values = [workspaceId, nano];
  const [row] = await database.query<{ covered: bigint | null; due: bigint | null; free: bigint | null }>(
    sql,
    values,
    "recall_credit_lines",
  );
  const covered = row?.covered ?? undefined;
  if (covered !== undefined) await Bun.sleep(RECALL_MS);
  return { covered, dueMs: row?.due == null ? undefined : Number(row.due), freeNano: row?.free ?? undefined };
}
