/** Holds past their deadline have no owner any more: settle what was relayed, release the rest (design part 4). */
import type { Database } from "#shared/database/client.ts";
import { expiredHolds, openHolds } from "#shared/database/holds.ts";
import type { Ledger } from "#shared/ledger/settle.ts";
import { settleLostCall } from "#shared/ledger/lost.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { paced } from "#shared/pace.ts";

import { sweepEach } from "./each-row.ts";

const BATCH = 500;
/** Time that settles have which could not be written while the server was away, before this sweep closes their holds. */
const STARTED_MS = paced(60_000);

/** The database's clock alone decides; a hold's deadline lies behind the call's own by LIMITS.holdSlackMs. */
export async function sweepExpiredHolds(context: {
  database: Database;
  ledger: Ledger;
  log: Logger;
  metrics: Metrics;
  /** Nothing is closed while the server of the database has been up for less. */
  startedMs?: number;
}): Promise<number> {
  const { database, ledger, log, metrics, startedMs = STARTED_MS } = context;
  const rows = await expiredHolds(database, BATCH, startedMs);
  const itemOf = (row: (typeof rows)[number]): string => `${row.job_id}.${row.attempt}`;
  // One workspace whose balance is locked must not keep the others' holds open, nor the figures below from being told.
  await sweepEach(context, { sweep: "expired holds", rows, itemOf, atOnce: BATCH }, async (row) => {
    const finished = await settleLostCall(database, ledger, {
      workspaceId: row.workspace_id,
      jobId: row.job_id,
      attempt: row.attempt,
    });
    if (finished.wasClosed) return;
    metrics.callsLost.inc();
    metrics.creditsSettled.addNano(finished.takenNano);
    log.error({ job_id: row.job_id, workspace_id: row.workspace_id }, "an expired hold was closed as lost");
  });
  const open = await openHolds(database);
  metrics.holdsOpen.set(open.count);
  metrics.holdsOldestSeconds.set(open.oldestSeconds);
  return rows.length;
}
