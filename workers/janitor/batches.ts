/**
 * Sweeps for batches of calls. Deletes parts (stored result records) that crashed leaders left in the object store, drops old batches, and
 * reports open batches as a metric.
 */
import {
  countOpenBatches,
  dropEndedBatches,
  findSpentParts,
  forgetParts,
  knownParts,
} from "#shared/database/batch-work.ts";
import type { Database } from "#shared/database/client.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import { BATCHES_PREFIX } from "#shared/storage/claim-check.ts";
import { deleteObject, listObjects } from "#shared/storage/objects.ts";
import type { Storage } from "#shared/storage/client.ts";

interface Context {
  readonly storage: Storage;
  readonly database: Database;
  readonly log: Logger;
}

const AT_ONCE = 500;
/** Number of batches per deletion statement. Each batch may have 50,000 lines. */
const DROPPED_AT_ONCE = 4;

/**
 * Deletes stored result parts whose content is already in the output files of their batch. Also deletes batches that ended more than
 * `retentionHours` ago.
 */
export async function sweepBatches({ storage, database, log }: Context, retentionHours: number): Promise<void> {
  for (const { batch_id: id, key } of await findSpentParts(database, AT_ONCE)) {
    await deleteObject(storage, key);
    await forgetParts(database, id, [key]);
  }
  for (let dropped = DROPPED_AT_ONCE; dropped === DROPPED_AT_ONCE;) {
    dropped = await dropEndedBatches(database, retentionHours, DROPPED_AT_ONCE);
    if (dropped > 0) log.info({ batches: dropped }, "deleted expired batches");
  }
}

/** Age at which a part without a database row counts as orphaned, in milliseconds. A leader writes the row within seconds. */
const PART_ORPHAN_AGE_MS = 3_600_000;

/**
 * Deletes stored parts without a database row. Their process crashed before it wrote the row, or their batch was deleted.
 * @param page objects per page
 */
export async function sweepBatchParts(
  { storage, database, log }: Context,
  { page = 1_000, now = Date.now() } = {},
): Promise<number> {
  let deleted = 0;
  let after: string | undefined;
  for (let hasMore = true; hasMore;) {
    const list = await listObjects(storage, BATCHES_PREFIX, after, page);
    hasMore = list.hasMore && list.objects.length > 0;
    after = list.objects.at(-1)?.key;
    const old = list.objects.filter(({ at }) => at.getTime() < now - PART_ORPHAN_AGE_MS).map(({ key }) => key);
    const known = old.length === 0 ? new Set() : await knownParts(database, old);
    for (const key of old) {
      if (known.has(key)) continue;
      await deleteObject(storage, key);
      deleted += 1;
    }
  }
  if (deleted > 0) log.info({ parts: deleted }, "deleted orphaned parts of batches");
  return deleted;
}

/** Reports the number and age of open batches as metrics. */
export async function watchBatches(database: Database, metrics: Metrics): Promise<void> {
  const { waiting, running, oldest_seconds, stalled_seconds } = await countOpenBatches(database);
  metrics.batchLinesOpen.set(Number(waiting), "waiting");
  metrics.batchLinesOpen.set(Number(running), "running");
  metrics.batchesOldestSeconds.set(oldest_seconds);
  metrics.batchesStalledOldestSeconds.set(stalled_seconds);
}
