/** Closes a hold for an operator, with its audit row, if no sweep can close it. Used by /operator. */
import { type Actor, recordAudit } from "#shared/database/audit-log.ts";
import type { Database } from "#shared/database/client.ts";
import { formatCredits } from "#shared/money.ts";

export interface HandClose {
  readonly jobId: string;
  readonly attempt: number;
  /** Nano-credits to charge, at most the held amount; null releases the hold. */
  readonly amountNano: bigint | null;
  /** True closes the hold even before its deadline. A call that still runs is then charged from the available credits, or not at all. */
  readonly isEarly: boolean;
  readonly note: string | null;
}

/** unknown: no such hold; early: deadline not reached; above: the hold is smaller; busy: a settlement is running, retry. */
export type CloseResult =
  | { readonly result: "closed"; readonly workspaceId: string; readonly heldNano: bigint; readonly takenNano: bigint }
  | { readonly result: "unknown" }
  | { readonly result: "busy" }
  | { readonly result: "early"; readonly deadline: Date }
  | { readonly result: "above"; readonly heldNano: bigint };

interface OpenHold {
  readonly workspace_id: string;
  readonly amount: bigint;
  readonly deadline: Date;
  readonly is_early: boolean;
}

export function closeByHand(database: Database, close: HandClose, actor: Actor): Promise<CloseResult> {
  const { jobId, attempt, amountNano, isEarly, note } = close;
  return database.transaction(async (tx) => {
    const [hold] = await tx.query<OpenHold>(
      `select workspace_id, amount, deadline, deadline > now() as is_early from hold where job_id = $1 and attempt = $2`,
      [jobId, attempt],
    );
    if (!hold) return { result: "unknown" };
    if (hold.is_early && !isEarly) return { result: "early", deadline: hold.deadline };
    if ((amountNano ?? 0n) > hold.amount) return { result: "above", heldNano: hold.amount };
    const [row] = await tx.query<{ taken: bigint | null }>(
      "select settle_call($1, $2, $3::smallint, $4, 'lost', null, '{}', $5, 0) as taken",
      [hold.workspace_id, jobId, attempt, amountNano, amountNano !== null],
    );
    const takenNano = row?.taken ?? null;
    if (takenNano === null) return { result: "unknown" };
    if (takenNano < 0n) return { result: "busy" };
    await recordAudit(tx, hold.workspace_id, {
      actor,
      action: "hold.close",
      subject: `${jobId}.${attempt}`,
      before: { credits: formatCredits(hold.amount) },
      after: { credits: formatCredits(takenNano), ...(note !== null && { note }) },
    });
    return { result: "closed", workspaceId: hold.workspace_id, heldNano: hold.amount, takenNano };
  });
}
