/** Reclaims credit lines of a workspace whose credits are needed for another call. */
import type { Queryable } from "#shared/database/client.ts";
import { paced } from "#shared/config/pace.ts";

/**
 * Pause between checks for returned credit lines (RECLAIM_POLL_INTERVAL_MS), and maximum total wait for them (RECLAIM_WAIT_MAX_MS), in
 * milliseconds. The maximum is longer than the database waits for any line.
 */
export const RECLAIM_POLL_INTERVAL_MS = paced(200);
export const RECLAIM_WAIT_MAX_MS = 4_000;

/** Credits that reclaimed credit lines can provide for a call that the balance does not cover. */
export interface ReclaimableCredits {
  /**
   * Nano-credits that are available after the reclaimed lines were returned. If they cover the call, the caller should retry its admission,
   * for at most three seconds. Undefined if the workspace has no credit lines.
   */
  readonly covered: bigint | undefined;
  /** Milliseconds until credit lines of crashed processes expire and provide the amount; undefined if they cannot. */
  readonly dueMs: number | undefined;
  /** Nano-credits that are available for holds now; undefined for a workspace without a balance. */
  readonly freeNano: bigint | undefined;
}

/**
 * Requests the return of a workspace's credit lines, if they can provide the amount, and then waits briefly. Returns the credits that the
 * call can expect.
 */
export async function reclaimLines(
  database: Queryable,
  workspaceId: string,
  nano: bigint,
): Promise<ReclaimableCredits> {
  const sql = `select recall_credit_lines($1, $2) as covered, funds_due($1, $2) as due,
    (select amount - held + lines_to_recall($1) from balance where workspace_id = $1) as free`;
  const values = [workspaceId, nano];
  const [row] = await database.query<{ covered: bigint | null; due: bigint | null; free: bigint | null }>(
    sql,
    values,
    "recall_credit_lines",
  );
  const covered = row?.covered ?? undefined;
  if (covered !== undefined) await Bun.sleep(RECLAIM_POLL_INTERVAL_MS);
  return { covered, dueMs: row?.due == null ? undefined : Number(row.due), freeNano: row?.free ?? undefined };
}
