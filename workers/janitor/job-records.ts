/** Keeps the records of media jobs in the object store at what the jobs are (shared/storage/job-record.ts). */
import { findUnrecorded, noteRecorded } from "#shared/database/job-sweeps.ts";
import { failpoint } from "#shared/failpoint.ts";
import { loadResult } from "#shared/jobs/result.ts";
import { putJobRecord } from "#shared/storage/job-record.ts";

import type { JobSweepContext } from "./dispatch.ts";

const BATCH = 100;
const AT_ONCE = 4;

/** Writes until none is behind. A store that is away ends it: the next sweep goes on. */
export async function sweepJobRecords(context: Pick<JobSweepContext, "database" | "storage">): Promise<void> {
  const { database, storage } = context;
  for (;;) {
    const jobs = await findUnrecorded(database, BATCH);
    const queue = jobs.values();
    const write = async (): Promise<void> => {
      for (const job of queue) {
        await putJobRecord(storage, job, await loadResult(storage, job));
        failpoint("job.recorded");
        await noteRecorded(database, job.id, job.state);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, write));
    if (jobs.length < BATCH) return;
  }
}
