/**
 * Closes holds of calls whose worker crashed. Charges the usage that an ingress recorded as relayed to the caller; releases the hold if
 * nothing was relayed. The janitor uses this module, and so do workers that receive the call's message again.
 */
import type { Database } from "#shared/database/client.ts";

import type { CallSettlement, Settled, Ledger } from "./settle.ts";

export type LostCall = Pick<CallSettlement, "workspaceId" | "jobId" | "attempt" | "creditLineHold" | "course">;

interface Progress {
  amount: bigint;
  tokens: bigint;
  units: Record<string, number>;
}

/** Closes the hold of a lost call. Does nothing if it was already closed. */
export async function settleLostCall(database: Database, ledger: Ledger, call: LostCall): Promise<Settled> {
  const rows = await database.query<Progress>(
    "select amount, tokens, units from relay_progress where workspace_id = $1 and job_id = $2",
    [call.workspaceId, call.jobId],
  );
  const relayed = rows[0];
  return ledger.settle({
    ...call,
    usedNano: relayed?.amount ?? null,
    status: "lost",
    source: null,
    units: relayed?.units ?? {},
    isEstimated: relayed !== undefined,
    tokens: Number(relayed?.tokens ?? 0n),
  });
}
