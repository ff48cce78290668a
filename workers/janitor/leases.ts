/**
 * Jobs whose owner fell silent, or that nobody took in time. Redelivery is the quick way to another worker; this is the sure
 * one. A job that a provider may have seen is ended, not run again.
 */
import { jetstreamManager } from "@nats-io/jetstream";

import { findOverdue, redispatchExpired } from "#shared/database/job-sweeps.ts";
import type { OrphanedJob } from "#shared/database/jobs.ts";
import { endingOf, endOrphan } from "#shared/calls/orphaned-jobs.ts";
import { LANES } from "#shared/queue/subjects.ts";
import { LANE_SETTINGS } from "#shared/queue/topology.ts";

import { type JobSweepContext, removeMessage, sendAgain } from "./dispatch.ts";
import { sweepEach } from "./each-row.ts";

const BATCH = 200;

/** Until then a redelivery finds the job by itself, and an owner that Postgres was away from renews its lease. */
const GRACES = LANES.map((lane) => ({ lane, graceMs: LANE_SETTINGS[lane].ackWaitMs }));

export async function sweepLeases(context: JobSweepContext): Promise<number> {
  const jobs = await findOverdue(context.database, GRACES, BATCH);
  await sweepEach(context, { sweep: "job leases", rows: jobs, itemOf: ({ id }) => id, atOnce: BATCH }, (job) =>
    conclude(context, job, LANE_SETTINGS[job.lane].maxDeliver),
  );
  return jobs.length;
}

async function conclude(context: JobSweepContext, job: OrphanedJob, claimsMax: number): Promise<void> {
  const manager = await jetstreamManager(context.connection, { checkAPI: false });
  const ending = endingOf(job, claimsMax);
  if (!ending) {
    await sendAgain(context, manager, await redispatchExpired(context.database, job.id, job.epoch));
    return;
  }
  const outcome = await endOrphan(context, job, ending);
  if (outcome === "superseded") return;
  context.metrics.jobs.inc(job.pool, outcome);
  if (job.stream_seq !== null) await removeMessage(manager, job.pool, job.id, job.stream_seq);
  await context.dispatcher.release(job.pool, job.lane);
}
