/** Holds past their deadline have no owner any more: settle what was relayed, release the rest (design part 4). */
import type { Database } from "#shared/database/client.ts";
import { expiredHolds, openHolds } from "#shared/database/holds.ts";
import type { Ledger } from "#shared/ledger/settle.ts";
import { settleLostCall } from "#shared/ledger/lost.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";

const BATCH = 500;

/** The database's clock alone decides; a hold's deadline lies behind the call's own by LIMITS.holdSlackMs. */
export async function sweepExpiredHolds(context: {
  database: Database;
  ledger: Ledger;
  log: Logger;
  metrics: Metrics;
}): Promise<number> {
  const { database, ledger, log, metrics } = context;
  const rows = await expiredHolds(database, BATCH);
  // One workspace whose balance is locked must not keep the others' holds open, nor the figures below from being told.
  const closed = await Promise.allSettled(
    rows.map(async (row) => {
      const finished = await settleLostCall(database, ledger, {
        workspaceId: row.workspace_id,
        jobId: row.job_id,
        attempt: row.attempt,
      });
      if (finished.wasClosed) return;
      metrics.callsLost.inc();
      metrics.creditsSettled.addNano(finished.takenNano);
      log.error({ job_id: row.job_id, workspace_id: row.workspace_id }, "an expired hold was closed as lost");
    }),
  );
  for (const result of closed) {
    if (result.status === "rejected")
      log.warn({ err: result.reason as Error }, "an expired hold could not be closed yet");
  }
  const open = await openHolds(database);
  metrics.holdsOpen.set(open.count);
  metrics.holdsOldestSeconds.set(open.oldestSeconds);
  return rows.length;
}
