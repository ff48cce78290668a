/** Rows that are no longer needed, in bounded batches. Ledger and usage are kept. */
import type { Queryable } from "#shared/database/client.ts";
import { dropExpiredAnswers } from "#shared/database/response-cache.ts";
import { dropOldRetries } from "#shared/database/sweep-retries.ts";

const BATCH = 1_000;

/** @param hours how long events are kept, as jobs are */
export async function sweepRetention(database: Queryable, hours: number): Promise<void> {
  await repeat(() =>
    database.query(
      `delete from relay_progress where (workspace_id, job_id) in (
         select p.workspace_id, p.job_id from relay_progress p
         where p.at < now() - interval '1 hour' and not exists (select from hold h where h.workspace_id = p.workspace_id and h.job_id = p.job_id)
         order by p.at
         limit $1)
       returning 1`,
      [BATCH],
    ),
  );
  await repeat(() =>
    database.query(
      `delete from event where id in (
         select id from event where occurred_at < now() - $1 * interval '1 hour' 
           and (fanned_out_at is not null or occurred_at < now() - interval '14 days') order by occurred_at limit $2)
       returning 1`,
      [hours, BATCH],
    ),
  );
  while ((await dropExpiredAnswers(database, BATCH)) >= BATCH);
  while ((await dropOldRetries(database, BATCH)) >= BATCH);
}

/** Small batches, until one is short: a backlog is worked off, and no statement holds many locks. */
async function repeat(batch: () => Promise<object[]>): Promise<void> {
  while ((await batch()).length === BATCH);
}
