/** Keeps the records of media jobs in the object store at what the jobs are (shared/storage/job-record.ts). */
import { findUnrecorded, noteRecorded } from "#shared/database/job-sweeps.ts";
import type { JobRow } from "#shared/database/jobs.ts";
import { failpoint } from "#shared/failpoint.ts";
import { loadResult } from "#shared/jobs/result.ts";
import { putJobRecord } from "#shared/storage/job-record.ts";

import type { JobSweepContext } from "./dispatch.ts";
import { sweepEach } from "./each-row.ts";

const BATCH = 100;
const AT_ONCE = 4;
/** Each has been tried again by the client of the store, and takes long to fail while that is away. */
const FAILURES_MAX = 2 * AT_ONCE;

/** Writes until none is behind. A store that is away ends it: the next sweep goes on. */
export async function sweepJobRecords(context: Pick<JobSweepContext, "database" | "storage" | "log">): Promise<void> {
  const { database, storage } = context;
  for (;;) {
    const jobs = await findUnrecorded(database, BATCH);
    const rows = { sweep: "job records", rows: jobs, itemOf: ({ id }: JobRow) => id } as const;
    const goesOn = await sweepEach(context, { ...rows, atOnce: AT_ONCE, failuresMax: FAILURES_MAX }, async (job) => {
      await putJobRecord(storage, job, await loadResult(storage, job));
      failpoint("job.recorded");
      await noteRecorded(database, job.id, job.state);
    });
    if (!goesOn || jobs.length < BATCH) return;
  }
}
