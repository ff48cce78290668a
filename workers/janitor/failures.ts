/** Metrics of what waits for an operator, or for a sweep's next try. */
import type { Queryable } from "#shared/database/client.ts";
import { countSettleFaults } from "#shared/database/settle-faults.ts";
import { countPutOff, ROW_SWEEPS } from "#shared/database/sweep-retries.ts";
import type { Metrics } from "#shared/metrics.ts";

export async function watchFailures(
  database: Queryable,
  metrics: Pick<Metrics, "settleFaults" | "sweepPutOff">,
): Promise<void> {
  metrics.settleFaults.set(await countSettleFaults(database));
  const counts = await countPutOff(database);
  for (const sweep of ROW_SWEEPS) metrics.sweepPutOff.set(counts.get(sweep) ?? 0, sweep);
}
