/** Figures of deliveries, and the end of old ones. What is due is found by the workers of the pool webhook themselves. */
import type { Queryable } from "#shared/database/client.ts";
import { countDeliveries, dropEndedDeliveries, dropExcessDeliveries } from "#shared/database/deliveries.ts";
import { dropMailCounts } from "#shared/database/mail-sent.ts";
import { LIMITS } from "#shared/limits.ts";
import type { Metrics } from "#shared/metrics.ts";

const BATCH = 1_000;

export async function watchDeliveries(
  database: Queryable,
  metrics: Pick<Metrics, "deliveriesDue" | "deliveriesFailed" | "deliveriesOldestSeconds">,
): Promise<void> {
  const { due, oldestSeconds, failed } = await countDeliveries(database);
  metrics.deliveriesDue.set(due);
  metrics.deliveriesOldestSeconds.set(oldestSeconds);
  metrics.deliveriesFailed.set(failed);
}

export async function sweepExcessDeliveries(
  database: Queryable,
  keptMax: number = LIMITS.deliveriesKeptMax,
): Promise<void> {
  while ((await dropExcessDeliveries(database, keptMax, BATCH)) > 0);
}

export async function sweepEndedDeliveries(database: Queryable): Promise<void> {
  while ((await dropEndedDeliveries(database, LIMITS.deliveryKeepMs, BATCH)) === BATCH);
  await dropMailCounts(database);
}
