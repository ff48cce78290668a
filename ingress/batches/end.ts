/** End of a batch. */
import { endBatch, Superseded } from "#shared/database/batch-work.ts";
import type { BatchRow } from "#shared/database/batches.ts";

import type { IngressContext } from "../context.ts";

/** Ends it, and counts it with the lines that it leaves. @throws Superseded */
export async function endLed(
  { database, metrics }: Pick<IngressContext, "database" | "metrics">,
  batch: BatchRow,
  end: Parameters<typeof endBatch>[2],
): Promise<void> {
  if (!(await endBatch(database, batch, end))) throw new Superseded();
  metrics.batches.inc(end.state);
  metrics.batchLines.add(batch.total - batch.completed - batch.failed, "failed");
}
