/**
 * The queue as Postgres remembers it: what was dispatched and never arrived, or has gone with a store, is dispatched again;
 * what waits for room is let out. Each further dispatch has its number raised first, so that neither deduplication nor an
 * old message can come between.
 */
import { jetstreamManager, type JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "nats";

import { endingOf, endOrphan, EXPIRED } from "#shared/calls/orphaned-jobs.ts";
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
import { failpoint } from "#shared/failpoint.ts";
import type { JobDispatcher } from "#shared/jobs/dispatcher.ts";
import { loadResult } from "#shared/jobs/result.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { HEADERS, type Lane, LANES, type Pool, POOLS, FREED_FILTER, streamName } from "#shared/queue/subjects.ts";
import { LANE_SETTINGS } from "#shared/queue/topology.ts";
import { deleteClaim } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";
import { deleteJobRecord, putJobRecord } from "#shared/storage/job-record.ts";
import { paced } from "#shared/pace.ts";

import { sweepEach } from "./sweeps.ts";

/** A dispatched job whose message has not been confirmed by then is dispatched again. */
const UNSENT_MS = paced(5_000);

/** A job that waits on the queue this long is looked for there: its message may have gone with a store. */
const UNCLAIMED_JOB_MS = paced(60_000);

export interface JobSweepContext {
  readonly connection: NatsConnection;
  readonly database: Database;
  readonly storage: Storage;
  readonly dispatcher: JobDispatcher;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Time for which the hold of a job of unknown outcome is kept. */
  readonly unknownKeepMs: number;
}

const BATCH = 500;
const EVERY_LANE = POOLS.flatMap((pool) => LANES.map((lane) => ({ pool, lane })));
/** The servers' clocks may differ by this much; a job dispatched once too often for it is run once all the same. */
const CLOCK_SLACK_MS = 2_000;

/** Dispatches again the jobs whose message went with an earlier stream, or was not confirmed in time. */
export async function sweepDispatches(context: JobSweepContext): Promise<void> {
  const { connection, database } = context;
  const oldest = await oldestDispatch(database);
  if (oldest === undefined) return;
  const manager = await jetstreamManager(connection, { checkAPI: false });
  for (const pool of POOLS) {
    const { created } = await manager.streams.info(streamName(pool));
    // What was dispatched before the stream was made went with the one before.
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

/** Looks up jobs that no worker has claimed for so long: its message may be gone, or dead where it lies. */
export async function sweepUnclaimed(context: JobSweepContext, olderMs: number = UNCLAIMED_JOB_MS): Promise<void> {
  const waiting = await takeUnclaimed(context.database, olderMs, BATCH);
  if (waiting.length === 0) return;
  const manager = await jetstreamManager(context.connection, { checkAPI: false });
  const missing = await missingOf(manager, waiting);
  if (missing.length > 0) await sendAgain(context, manager, await redispatchThese(context.database, missing));
}

/** Small batches until one is short. */
async function repeat<T>(batch: () => Promise<T[]>, act: (rows: T[]) => Promise<void>): Promise<void> {
  for (;;) {
    const rows = await batch();
    if (rows.length > 0) await act(rows);
    if (rows.length < BATCH) return;
  }
}

/** Puts redispatched jobs on the queue, and takes their older messages out by sequence where they are still there. */
async function sendAgain(
  context: Pick<JobSweepContext, "dispatcher" | "log">,
  manager: JetStreamManager,
  jobs: readonly Redispatched[],
): Promise<void> {
  for (const [pool, lane, group] of byLane(jobs)) {
    context.log.warn({ pool, lane, jobs: group.length }, "jobs are put on the queue again");
    await context.dispatcher.send(pool, lane, group, "repeated");
  }
  for (const job of jobs) {
    if (job.old_seq !== null) await removeMessage(manager, job.pool, job.id, job.old_seq);
  }
}

/** Only a message that is this job's: a wiped stream counts from 1 again. */
async function removeMessage(manager: JetStreamManager, pool: Pool, jobId: string, seq: bigint): Promise<void> {
  const stream = streamName(pool);
  const message = await manager.direct.getMessage(stream, { seq: Number(seq) });
  if (jobOf(message?.header.get(HEADERS.messageId)) !== jobId) return;
  // Two janitors may have seen it.
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
 * Those whose message is gone, or was handed out and yet left the job waiting: at its delivery limit a message stays in the
 * stream, invisible. One that only waits for its next delivery is dispatched once too often, which is harmless.
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

/** Our message ids begin with the job's. */
function jobOf(messageId: string | undefined): string {
  return messageId?.split(":")[0] ?? "";
}

/** Lets out what waits wherever there may be room, and tells how much goes on waiting. */
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

/** Workers say when a job has ended; one janitor hears it and lets the next ones out. Returns what ends the watch. */
export function watchFreedSlots(context: JobSweepContext): () => Promise<void> {
  const { connection, dispatcher, log } = context;
  const letOut = async (pool: Pool, lane: Lane): Promise<void> => {
    try {
      await dispatcher.release(pool, lane);
    } catch (error) {
      log.warn({ err: error }, "jobs could not be let out");
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

// Jobs whose owner fell silent, or that nobody took in time. Redelivery is the quick way to another worker; this is the sure one. A job
// that a provider may have seen is ended, not run again.

const LEASES_MAX = 200;

/** Until then a redelivery finds the job by itself, and an owner that Postgres was away from renews its lease. */
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

// Jobs of unknown outcome: paid work may exist, and its outcome is not known. Providers that can be asked are asked again, ever more
// seldom; jobs that stay unknown for long enough expire.

const UNKNOWN_MAX = 200;
/** Each may wait a while for a lock. */
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
      log.error({ job_id: job.id, kind: job.kind }, "a job whose outcome was never told is written off");
    },
  );
  const { count, oldestSeconds } = await countUnknown(database);
  metrics.jobsUnknown.set(count);
  metrics.jobsUnknownOldestSeconds.set(oldestSeconds);
}

// Keeps the records of media jobs in the object store at what the jobs are (shared/storage/job-record.ts).

const RECORDS_MAX = 100;
const RECORDS_AT_ONCE = 4;
/** Each has been tried again by the client of the store, and takes long to fail while that is away. */
const RECORD_FAILURES_MAX = 2 * RECORDS_AT_ONCE;

/** Writes until none is behind. A store that is away ends it: the next sweep goes on. */
export async function sweepJobRecords(context: Pick<JobSweepContext, "database" | "storage" | "log">): Promise<void> {
  const { database, storage } = context;
  for (;;) {
    const jobs = await findUnrecorded(database, RECORDS_MAX);
    const rows = { sweep: "job records", rows: jobs, itemOf: ({ id }: JobRow) => id } as const;
    const goesOn = await sweepEach(
      context,
      { ...rows, atOnce: RECORDS_AT_ONCE, failuresMax: RECORD_FAILURES_MAX },
      async (job) => {
        await putJobRecord(storage, job, await loadResult(storage, job));
        failpoint("job.recorded");
        await noteRecorded(database, job.id, job.state);
      },
    );
    if (!goesOn || jobs.length < RECORDS_MAX) return;
  }
}

// Ended jobs are kept for a while for those who ask, then dropped with their results. Ledger and usage stay.

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
        context.log.warn({ err: error, job_id: row.id }, "the result of a dropped job stays in the object store"),
      );
    }
    if (rows.length < ENDED_MAX) break;
  }
  await dropSilentWorkers(context.database);
}
