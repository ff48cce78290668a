/**
 * Dispatches jobs whose queue message is missing or was lost with a stream, and waiting jobs once there is capacity. The janitor takes the
 * jobs from Postgres. It first increases a job's dispatch number, so that NATS does not discard the new message and workers ignore old
 * ones.
 */
import { jetstreamManager, type JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "nats";

import { type EndContext, endingOf, endOrphan, EXPIRED } from "#shared/calls/orphaned-jobs.ts";
import type { Database } from "#shared/database/client.ts";
import {
  countUnknown,
  countWaiting,
  dropEndedJobs,
  dropSilentWorkers,
  findExpired,
  findOverdue,
  findUnrecorded,
  lanesWaiting,
  noteRecorded,
  oldestDispatch,
  type Redispatched,
  redispatchExpired,
  redispatchOlder,
  redispatchThese,
  redispatchUnknown,
  redispatchUnsent,
  takeUnclaimed,
  type WaitingJob,
} from "#shared/database/job-sweeps.ts";
import type { JobRow, OrphanedJob } from "#shared/database/jobs.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import type { JobDispatcher } from "#shared/jobs/dispatcher.ts";
import { loadResult } from "#shared/jobs/result.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import { HEADERS, type Lane, LANES, type Pool, POOLS, FREED_FILTER, streamName } from "#shared/queue/subjects.ts";
import { LANE_SETTINGS } from "#shared/queue/topology.ts";
import { deleteClaim } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";
import { deleteJobRecord, putJobRecord } from "#shared/storage/job-record.ts";
import { paced } from "#shared/config/pace.ts";

import { sweepEach } from "./sweeps.ts";

/** Time after which a job is dispatched again if NATS has not confirmed its message, in milliseconds. */
const UNSENT_MS = paced(5_000);

/**
 * Time after which the message of an unclaimed job is looked up in the queue, in milliseconds. The message may have been lost with a
 * stream.
 */
const UNCLAIMED_JOB_MS = paced(60_000);

export interface JobSweepContext {
  readonly connection: NatsConnection;
  readonly database: Database;
  readonly storage: Storage;
  readonly dispatcher: JobDispatcher;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly bodyKeeper?: EndContext["bodyKeeper"];
  /** Time for which the hold of a job with an unknown outcome is kept, in milliseconds. */
  readonly unknownKeepMs: number;
}

const BATCH = 500;
const EVERY_LANE = POOLS.flatMap((pool) => LANES.map((lane) => ({ pool, lane })));
/**
 * Maximum assumed difference between the clocks of the servers, in milliseconds. A redundant dispatch is harmless, because a job runs only
 * once.
 */
const CLOCK_SLACK_MS = 2_000;

/** Dispatches jobs again whose message was lost with an earlier stream, or was not confirmed in time. */
export async function sweepDispatches(context: JobSweepContext): Promise<void> {
  const { connection, database } = context;
  const oldest = await oldestDispatch(database);
  if (oldest === undefined) return;
  const manager = await jetstreamManager(connection, { checkAPI: false });
  for (const pool of POOLS) {
    const { created } = await manager.streams.info(streamName(pool));
    // Messages from before the creation of the stream were lost with the previous stream.
    const before = new Date(Date.parse(created) + CLOCK_SLACK_MS);
    if (oldest >= before) continue;
    await repeat(
      () => redispatchOlder(database, pool, before, BATCH),
      (jobs) => sendAgain(context, manager, jobs),
    );
  }
  await repeat(
    () => redispatchUnsent(database, UNSENT_MS, BATCH),
    (jobs) => sendAgain(context, manager, jobs),
  );
}

/**
 * Finds jobs that no worker has claimed for `olderMs` milliseconds, and checks their messages on the queue. Dispatches jobs again whose
 * message is lost or undeliverable.
 */
export async function sweepUnclaimed(context: JobSweepContext, olderMs: number = UNCLAIMED_JOB_MS): Promise<void> {
  const waiting = await takeUnclaimed(context.database, olderMs, BATCH);
  if (waiting.length === 0) return;
  const manager = await jetstreamManager(context.connection, { checkAPI: false });
  const missing = await missingOf(manager, waiting);
  if (missing.length > 0) await sendAgain(context, manager, await redispatchThese(context.database, missing));
}

/** Processes rows in small batches until a batch is incomplete. */
async function repeat<T>(batch: () => Promise<T[]>, act: (rows: T[]) => Promise<void>): Promise<void> {
  for (;;) {
    const rows = await batch();
    if (rows.length > 0) await act(rows);
    if (rows.length < BATCH) return;
  }
}

/** Publishes new messages for jobs that were dispatched again. Then deletes their older messages, if these still exist. */
async function sendAgain(
  context: Pick<JobSweepContext, "dispatcher" | "log">,
  manager: JetStreamManager,
  jobs: readonly Redispatched[],
): Promise<void> {
  for (const [pool, lane, group] of byLane(jobs)) {
    context.log.warn({ pool, lane, jobs: group.length }, "putting jobs on the queue again");
    await context.dispatcher.send(pool, lane, group, "repeated");
  }
  for (const job of jobs) {
    if (job.old_seq !== null) await removeMessage(manager, job.pool, job.id, job.old_seq);
  }
}

/** Deletes a message from the stream, but only if it belongs to this job. The sequence numbers of a recreated stream start at 1 again. */
async function removeMessage(manager: JetStreamManager, pool: Pool, jobId: string, seq: bigint): Promise<void> {
  const stream = streamName(pool);
  const message = await manager.direct.getMessage(stream, { seq: Number(seq) });
  if (jobOf(message?.header.get(HEADERS.messageId)) !== jobId) return;
  // Another janitor may have deleted the message already.
  await manager.streams.deleteMessage(stream, Number(seq)).catch(() => false);
}

function byLane(jobs: readonly Redispatched[]): [Pool, Lane, Redispatched[]][] {
  return POOLS.flatMap((pool) =>
    LANES.map((lane): [Pool, Lane, Redispatched[]] => [
      pool,
      lane,
      jobs.filter((job) => job.pool === pool && job.lane === lane),
    ]),
  ).filter(([, , group]) => group.length > 0);
}

/**
 * Returns the jobs whose message is lost, or was delivered although no worker has claimed the job. NATS never redelivers a message at its
 * delivery limit. A message that still waits for redelivery is also included, which is harmless because a job runs only once.
 */
async function missingOf(manager: JetStreamManager, waiting: readonly WaitingJob[]): Promise<WaitingJob[]> {
  const handedOut = new Map<string, number>();
  const missing: WaitingJob[] = [];
  for (const job of waiting) {
    const stream = streamName(job.pool);
    const message = await manager.direct.getMessage(stream, { seq: Number(job.stream_seq) });
    if (!message || jobOf(message.header.get(HEADERS.messageId)) !== job.id) {
      missing.push(job);
      continue;
    }
    const durable = `${job.pool}_${message.subject.split(".")[2] ?? ""}`;
    let upTo = handedOut.get(durable);
    if (upTo === undefined) {
      upTo = (await manager.consumers.info(stream, durable)).delivered.stream_seq;
      handedOut.set(durable, upTo);
    }
    if (message.seq <= upTo) missing.push(job);
  }
  return missing;
}

/** Returns the job id with which a message id begins. */
function jobOf(messageId: string | undefined): string {
  return messageId?.split(":")[0] ?? "";
}

/** Dispatches waiting jobs of all pools that have capacity, and sets the metric of jobs that still wait. */
export async function releaseAll(context: JobSweepContext): Promise<void> {
  const waiting = await lanesWaiting(context.database, EVERY_LANE);
  await Promise.all(waiting.map(({ pool, lane }) => context.dispatcher.release(pool, lane)));
  const counts = waiting.length > 0 ? await countWaiting(context.database) : [];
  for (const pool of POOLS) {
    for (const lane of LANES) {
      const row = counts.find((count) => count.pool === pool && count.lane === lane);
      context.metrics.jobsWaiting.set(Number(row?.count ?? 0n), pool, lane);
    }
  }
}

/**
 * Dispatches waiting jobs when a worker reports that a job has ended. Each report reaches only one janitor. Returns a function that stops
 * the subscription.
 */
export function watchFreedSlots(context: JobSweepContext): () => Promise<void> {
  const { connection, dispatcher, log } = context;
  const letOut = async (pool: Pool, lane: Lane): Promise<void> => {
    try {
      await dispatcher.release(pool, lane);
    } catch (error) {
      log.warn({ err: error }, "waiting jobs could not be dispatched");
    }
  };
  const subscription = connection.subscribe(FREED_FILTER, {
    queue: "dispatch",
    callback: (error, message) => {
      if (error) {
        log.error({ err: error }, "the subscription to ended jobs failed");
        return;
      }
      const [, name, way] = message.subject.split(".");
      const pool = POOLS.find((known) => known === name);
      const lane = LANES.find((known) => known === way);
      if (pool && lane) void letOut(pool, lane);
    },
  });
  return () => subscription.drain();
}

// Jobs without a live owner, and jobs that no worker claimed in time. Redelivery moves most of them to another worker earlier. A job that a
// provider may have received is ended and not run again.

const LEASES_MAX = 200;

/**
 * Time after the end of a lease before the janitor dispatches the job again or ends it, by lane, in milliseconds. Until then, redelivery
 * can find the job. An owner without access to Postgres can also renew its lease.
 */
const GRACES = LANES.map((lane) => ({ lane, graceMs: LANE_SETTINGS[lane].ackWaitMs }));

export async function sweepLeases(context: JobSweepContext): Promise<number> {
  const jobs = await findOverdue(context.database, GRACES, LEASES_MAX);
  await sweepEach(context, { sweep: "job leases", rows: jobs, itemOf: ({ id }) => id, atOnce: LEASES_MAX }, (job) =>
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

// Jobs with an unknown outcome: paid work may exist at a provider. Providers with a status API are polled at growing intervals. Jobs that
// stay unknown for too long expire.

const UNKNOWN_MAX = 200;
/** Number of jobs that are processed concurrently. Each may wait for a database lock. */
const UNKNOWN_AT_ONCE = 8;

export async function sweepUnknownJobs(context: JobSweepContext): Promise<void> {
  const { database, connection, metrics, log } = context;
  const due = await redispatchUnknown(database, UNKNOWN_MAX);
  if (due.length > 0) await sendAgain(context, await jetstreamManager(connection, { checkAPI: false }), due);
  const rows = await findExpired(database, context.unknownKeepMs, UNKNOWN_MAX);
  await sweepEach(
    context,
    { sweep: "unknown jobs", rows, itemOf: ({ id }) => id, atOnce: UNKNOWN_AT_ONCE },
    async (job) => {
      const outcome = await endOrphan(context, job, EXPIRED);
      if (outcome === "superseded") return;
      metrics.jobs.inc(job.pool, "written_off");
      log.error({ job_id: job.id, kind: job.kind }, "wrote off a job whose outcome was never reported");
    },
  );
  const { count, oldestSeconds } = await countUnknown(database);
  metrics.jobsUnknown.set(count);
  metrics.jobsUnknownOldestSeconds.set(oldestSeconds);
}

// Updates the records of media jobs in the object store (shared/storage/job-record.ts).

const RECORDS_MAX = 100;
const RECORDS_AT_ONCE = 4;
/**
 * Number of consecutive failures that end a sweep. Each of them takes long, because the store client retries while the store is
 * unavailable.
 */
const RECORD_FAILURES_MAX = 2 * RECORDS_AT_ONCE;

/** Writes all outdated job records to the store. Ends early if the store is unavailable; the next sweep continues. */
export async function sweepJobRecords(context: Pick<JobSweepContext, "database" | "storage" | "log">): Promise<void> {
  const { database, storage } = context;
  for (;;) {
    const jobs = await findUnrecorded(database, RECORDS_MAX);
    const rows = { sweep: "job records", rows: jobs, itemOf: ({ id }: JobRow) => id } as const;
    const canContinue = await sweepEach(
      context,
      { ...rows, atOnce: RECORDS_AT_ONCE, failuresMax: RECORD_FAILURES_MAX },
      async (job) => {
        await putJobRecord(storage, job, await loadResult(storage, job));
        failpoint("job.recorded");
        await noteRecorded(database, job.id, job.state);
      },
    );
    if (!canContinue || jobs.length < RECORDS_MAX) return;
  }
}

// Ended jobs remain readable for a while and are then deleted with their results. Ledger and usage records stay.

const ENDED_MAX = 500;
const MS_PER_HOUR = 3_600_000;

export async function sweepEndedJobs(
  context: Pick<JobSweepContext, "database" | "storage" | "log">,
  hours: number,
): Promise<void> {
  for (;;) {
    const rows = await dropEndedJobs(context.database, hours * MS_PER_HOUR, ENDED_MAX);
    for (const row of rows) {
      const { result_ref } = row;
      const drops = [
        ...(result_ref === null ? [] : [deleteClaim(context.storage, result_ref)]),
        ...(row.is_recorded ? [deleteJobRecord(context.storage, row)] : []),
      ];
      await Promise.all(drops).catch((error: unknown) =>
        context.log.warn(
          { err: error, job_id: row.id },
          "the result of a deleted job could not be deleted from the object store",
        ),
      );
    }
    if (rows.length < ENDED_MAX) break;
  }
  await dropSilentWorkers(context.database);
}
