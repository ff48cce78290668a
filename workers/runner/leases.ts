/** Renews the leases of the durable jobs of one runner. One statement per beat renews all of them and reads their cancels. */
import { beatJobs } from "#shared/database/jobs.ts";
import type { Lane, Pool } from "#shared/queue/subjects.ts";
import { LANE_SETTINGS } from "#shared/queue/topology.ts";

import type { WorkerContext } from "../context.ts";
import { jobAbort } from "../job.ts";

export interface Held {
  readonly id: string;
  readonly epoch: number;
  readonly controller: AbortController;
  /** True for a late job, which ignores cancels: its result is collected at the provider, which was asked to stop before. */
  readonly isLate: boolean;
}

export interface Leases {
  /** Id of this worker in the rows that it claims. */
  readonly worker: string;
  /** Adds a job. Returns a function that removes it. */
  hold(job: Held): () => void;
  /** Reports to the dispatcher that this worker takes no more jobs. */
  close(): Promise<void>;
}

export function openLeases(options: {
  context: Pick<WorkerContext, "database" | "log">;
  worker: string;
  pool: Pool;
  lane: Lane;
  slots: number;
}): Leases {
  const { worker, pool, lane, slots } = options;
  const { database, log } = options.context;
  const settings = LANE_SETTINGS[lane];
  const held = new Map<string, Held>();
  let beating: Promise<void> | undefined;

  const beat = async (): Promise<void> => {
    const jobs = [...held.values()];
    try {
      const ours = await beatJobs(database, { worker, pool, lane, slots, jobs, leaseMs: settings.leaseMs });
      const cancelled = new Map(ours.map((row) => [row.id, row.cancel_requested]));
      for (const job of jobs) {
        if (held.get(job.id) !== job) continue;
        const isCancelled = cancelled.get(job.id);
        // Another worker owns the job, which would discard our result.
        if (isCancelled === undefined) job.controller.abort(jobAbort("shutdown"));
        else if (isCancelled && !job.isLate) job.controller.abort(jobAbort("caller_left"));
      }
    } catch (error) {
      // While Postgres is away, no other worker can claim the jobs either.
      log.warn({ err: error, jobs: jobs.length }, "leases could not be renewed");
    }
  };
  /** Runs one beat at a time: a hanging statement must not pile up others. The next beat renews jobs that were added meanwhile. */
  const beatOnce = (): void => {
    beating ??= beat().finally(() => (beating = undefined));
  };

  const timer = setInterval(beatOnce, settings.beatMs);
  beatOnce();
  return {
    worker,
    hold(job) {
      held.set(job.id, job);
      return () => {
        if (held.get(job.id) === job) held.delete(job.id);
      };
    },
    async close() {
      clearInterval(timer);
      // A pending beat reports slots, and must not arrive after the last one.
      await beating;
      const last = { worker, pool, lane, slots: 0, jobs: [], leaseMs: settings.leaseMs };
      await beatJobs(database, last).catch((error: unknown) => log.warn({ err: error }, "the last heartbeat failed"));
    },
  };
}
