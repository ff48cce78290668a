/** Top-ups and corrections of a balance. */
import type { Queryable } from "#shared/database/client.ts";

/**
 * Adds `amountNano` to a balance, once per `sourceId`; negative for a correction downwards. Returns true if booked now, false for a repeat.
 * @throws Error of the driver with constraint `funds` if the balance would fall below its holds
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
