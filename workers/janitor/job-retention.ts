/** Ended jobs are kept for a while for those who ask, then dropped with their results. Ledger and usage stay. */
import { dropEndedJobs, dropSilentWorkers } from "#shared/database/job-sweeps.ts";
import { deleteClaim } from "#shared/storage/claim-check.ts";
import { deleteJobRecord } from "#shared/storage/job-record.ts";

import type { JobSweepContext } from "./dispatch.ts";

const BATCH = 500;
const MS_PER_HOUR = 3_600_000;

/** @param runHours how long runs are kept, and with them at least the jobs that they were asked with */
export async function sweepEndedJobs(
  context: Pick<JobSweepContext, "database" | "storage" | "log">,
  hours: number,
  runHours: number = hours,
): Promise<void> {
  const ticketMs = Math.max(hours, runHours) * MS_PER_HOUR;
  for (;;) {
    const rows = await dropEndedJobs(context.database, hours * MS_PER_HOUR, BATCH, ticketMs);
    for (const row of rows) {
      const { result_ref } = row;
      const drops = [
        ...(result_ref === null ? [] : [deleteClaim(context.storage, result_ref)]),
        ...(row.is_recorded ? [deleteJobRecord(context.storage, row)] : []),
      ];
      await Promise.all(drops).catch((error: unknown) =>
        context.log.warn({ err: error, job_id: row.id }, "the result of a dropped job stays in the object store"),
      );
    }
    if (rows.length < BATCH) break;
  }
  await dropSilentWorkers(context.database);
}
