/**
 * Jobs of unknown outcome: paid work may exist, and its outcome is not known. Providers that can be asked are asked again, ever
 * more seldom; jobs that stay unknown for long enough expire.
 */
import { jetstreamManager } from "@nats-io/jetstream";

import { countUnknown, findExpired, redispatchUnknown } from "#shared/database/job-sweeps.ts";
import { endOrphan, EXPIRED } from "#shared/calls/orphaned-jobs.ts";

import { type JobSweepContext, sendAgain } from "./dispatch.ts";
import { sweepEach } from "./each-row.ts";

const BATCH = 200;
/** Each may wait a while for a lock. */
const AT_ONCE = 8;

export async function sweepUnknownJobs(context: JobSweepContext): Promise<void> {
  const { database, connection, metrics, log } = context;
  const due = await redispatchUnknown(database, BATCH);
  if (due.length > 0) await sendAgain(context, await jetstreamManager(connection, { checkAPI: false }), due);
  const rows = await findExpired(database, context.unknownKeepMs, BATCH);
  await sweepEach(context, { sweep: "unknown jobs", rows, itemOf: ({ id }) => id, atOnce: AT_ONCE }, async (job) => {
    const outcome = await endOrphan(context, job, EXPIRED);
    if (outcome === "superseded") return;
    metrics.jobs.inc(job.pool, "written_off");
    log.error({ job_id: job.id, kind: job.kind }, "a job whose outcome was never told is written off");
  });
  const { count, oldestSeconds } = await countUnknown(database);
  metrics.jobsUnknown.set(count);
  metrics.jobsUnknownOldestSeconds.set(oldestSeconds);
}
