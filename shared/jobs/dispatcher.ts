/**
 * Publishes admitted jobs to the stream of their pool. The database row is authoritative: the janitor detects a lost message and sends it
 * again with the next number. The database distributes the queue fairly (see release_jobs). Jobs above a workspace's share wait in their
 * rows. This module moves them to the queue when other jobs end.
 */
import type { DurableMessage } from "#schemas/generated/types.ts";
import type { Database } from "#shared/database/client.ts";
import { type Dispatched, noteSequences, releaseJobs } from "#shared/database/jobs.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import type { Publisher } from "#shared/queue/publish.ts";
import type { Lane, Pool } from "#shared/queue/subjects.ts";

export type DispatchReason = "admitted" | "released" | "repeated";

export interface JobDispatcher {
  /**
   * Publishes jobs. Resolves when the server has accepted or rejected all. Never throws, because the janitor sends undelivered jobs again.
   */
  send(pool: Pool, lane: Lane, jobs: readonly Dispatched[], reason: DispatchReason): Promise<void>;
  /** Moves waiting jobs to the queue while the pool has capacity. If a release is already running, another one follows it. */
  release(pool: Pool, lane: Lane): Promise<void>;
  /** Resolves when the stream sequences of all sent messages are recorded. */
  idle(): Promise<void>;
}

const RELEASE_MAX = 256;
/**
 * Pause between two releases, in milliseconds. Many jobs end during the pause. The queue does not run empty, because it has jobs for twice
 * the fleet's slots.
 */
const RELEASE_PAUSE_MS = 25;
/**
 * Pause before the stream sequences of sent messages are recorded, in milliseconds. Most small jobs end within it, and their rows then need
 * no further write.
 */
const NOTE_PAUSE_MS = 50;
/** Time after which the janitor becomes responsible for an undelivered message, in milliseconds. */
const SEND_MS = 15_000;

interface Sent {
  readonly id: string;
  readonly dispatch: number;
  readonly seq: number;
}

export function createJobDispatcher(options: {
  database: Database;
  publisher: Pick<Publisher, "dispatch">;
  metrics: Metrics;
  log: Logger;
}): JobDispatcher {
  const { database, publisher, metrics, log } = options;
  let unnoted: Sent[] = [];
  let noting: Promise<void> | undefined;
  const releasing = new Map<string, { isAskedAgain: boolean; work: Promise<void> }>();

  const noteAll = async (): Promise<void> => {
    try {
      while (unnoted.length > 0) {
        await Bun.sleep(NOTE_PAUSE_MS);
        const batch = unnoted;
        unnoted = [];
        await noteSequences(database, batch);
      }
    } catch (error) {
      log.warn({ err: error }, "the queue positions of messages were not saved; the messages are sent again");
    } finally {
      noting = undefined;
    }
  };

  const sendOne = async (pool: Pool, lane: Lane, job: Dispatched, reason: DispatchReason): Promise<void> => {
    const message: DurableMessage = {
      durable: true,
      job_id: job.id,
      attempt: job.attempt,
      dispatch: job.dispatch,
      workspace_id: job.workspace_id,
    };
    const until = performance.now() + SEND_MS;
    const seq = await publisher.dispatch(
      {
        pool,
        lane,
        workspaceId: job.workspace_id,
        jobId: job.id,
        attempt: job.attempt,
        dispatch: job.dispatch,
        body: JSON.stringify(message),
      },
      () => performance.now() < until,
    );
    failpoint("job.dispatched");
    metrics.jobsDispatched.inc(pool, lane, reason);
    unnoted.push({ id: job.id, dispatch: job.dispatch, seq });
  };

  const send: JobDispatcher["send"] = async (pool, lane, jobs, reason) => {
    if (jobs.length === 0) return;
    const results = await Promise.allSettled(jobs.map((job) => sendOne(pool, lane, job, reason)));
    const failed = results.find((result) => result.status === "rejected");
    if (failed)
      log.warn({ err: failed.reason as Error, pool, lane }, "a job could not be put on the queue; it is retried");
    if (unnoted.length > 0) noting ??= noteAll();
  };

  const releaseAll = async (pool: Pool, lane: Lane, asked: { isAskedAgain: boolean }): Promise<void> => {
    for (;;) {
      asked.isAskedAgain = false;
      const jobs = await releaseJobs(database, pool, lane, RELEASE_MAX);
      await send(pool, lane, jobs, "released");
      if (jobs.length === RELEASE_MAX) continue;
      if (!asked.isAskedAgain) return;
      await Bun.sleep(RELEASE_PAUSE_MS);
    }
  };

  return {
    send,
    release(pool, lane) {
      const name = `${pool}.${lane}`;
      const running = releasing.get(name);
      if (running) {
        running.isAskedAgain = true;
        return running.work;
      }
      const asked = { isAskedAgain: false, work: Promise.resolve() };
      releasing.set(name, asked);
      asked.work = releaseAll(pool, lane, asked).finally(() => releasing.delete(name));
      return asked.work;
    },
    async idle() {
      await Promise.allSettled(Array.from(releasing.values(), ({ work }) => work));
      await noting;
    },
  };
}
