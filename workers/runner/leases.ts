/** Keeps the durable jobs of one runner ours: one row per beat renews the lease of all, and the same statement hears of cancels. */
import { beatJobs } from "#shared/database/jobs.ts";
import type { Lane, Pool } from "#shared/queue/subjects.ts";
import { LANE_SETTINGS } from "#shared/queue/topology.ts";

import type { WorkerContext } from "../context.ts";
import { jobAbort } from "../job.ts";

export interface Held {
  readonly id: string;
  readonly epoch: number;
  readonly controller: AbortController;
  /** No cancel ends it: it is collected at its provider, which has been asked to stop long ago. */
  readonly isLate: boolean;
}

export interface Leases {
  /** Id of this worker in the rows that it claims. */
  readonly worker: string;
  /** Returns the function that lets go. */
  hold(job: Held): () => void;
  /** Tells the dispatcher that this worker takes no more. */
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
        // Another worker has it by now: what we still do would be thrown away.
        if (isCancelled === undefined) job.controller.abort(jobAbort("shutdown"));
        else if (isCancelled && !job.isLate) job.controller.abort(jobAbort("caller_left"));
      }
    } catch (error) {
      // No worker can take them over either while Postgres is away.
      log.warn({ err: error, jobs: jobs.length }, "leases could not be renewed");
    }
  };
  /** A statement that hangs must not be joined by others; those that are held then are renewed by the next one. */
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
      // It tells of slots, and would tell of them last if it were overtaken.
      await beating;
      const last = { worker, pool, lane, slots: 0, jobs: [], leaseMs: settings.leaseMs };
      await beatJobs(database, last).catch((error: unknown) => log.warn({ err: error }, "the last beat failed"));
    },
  };
}
