/** Top-ups and corrections: credits that enter or leave a workspace by an operator's hand. */
import type { Queryable } from "#shared/database/client.ts";

/**
 * Adds `amountNano` (negative for a correction downwards) under the id `sourceId`; a repeat changes nothing.
 * Returns whether it moved now. @throws Error of the driver: constraint `funds` when the balance would fall below holds
 */
export async function moveCredits(
  target: Queryable,
  move: {
    workspaceId: string;
    kind: "top_up" | "correction";
    amountNano: bigint;
    sourceId: string;
    note: string | null;
  },
): Promise<boolean> {
  const rows = await target.query<{ moved: boolean }>("select move_credits($1, $2, $3, $4, $5) as moved", [
    move.workspaceId,
    move.kind,
    move.amountNano,
    move.sourceId,
    move.note,
  ]);
  return rows[0]?.moved ?? false;
}
