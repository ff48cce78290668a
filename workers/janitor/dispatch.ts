/**
 * The queue as Postgres remembers it: what was dispatched and never arrived, or has gone with a store, is dispatched again;
 * what waits for room is let out. Each further dispatch has its number raised first, so that neither deduplication nor an
 * old message can come between.
 */
import { jetstreamManager, type JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "nats";

import type { Database } from "#shared/database/client.ts";
import {
  countWaiting,
  lanesWaiting,
  oldestDispatch,
  type Redispatched,
  redispatchOlder,
  redispatchThese,
  redispatchUnsent,
  takeUnclaimed,
  type WaitingJob,
} from "#shared/database/job-sweeps.ts";
import type { JobDispatcher } from "#shared/jobs/dispatcher.ts";
import { LIMITS } from "#shared/limits.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { HEADERS, LANES, type Lane, POOLS, type Pool, ROOM_FILTER, streamName } from "#shared/queue/subjects.ts";
import type { Storage } from "#shared/storage/client.ts";

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
    () => redispatchUnsent(database, LIMITS.unsentMs, BATCH),
    (jobs) => sendAgain(context, manager, jobs),
  );
}

/** Looks up jobs that no worker has claimed for so long: its message may be gone, or dead where it lies. */
export async function sweepUnclaimed(context: JobSweepContext, olderMs: number = LIMITS.unclaimedJobMs): Promise<void> {
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
export async function sendAgain(
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
export async function removeMessage(manager: JetStreamManager, pool: Pool, jobId: string, seq: bigint): Promise<void> {
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
export function openRoomWatch(context: JobSweepContext): () => Promise<void> {
  const { connection, dispatcher, log } = context;
  const letOut = async (pool: Pool, lane: Lane): Promise<void> => {
    try {
      await dispatcher.release(pool, lane);
    } catch (error) {
      log.warn({ err: error }, "jobs could not be let out");
    }
  };
  const subscription = connection.subscribe(ROOM_FILTER, {
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
