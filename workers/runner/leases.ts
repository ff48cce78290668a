/** Renews the leases of the durable jobs of one runner. One statement per heartbeat renews all leases and reads the cancels of the jobs. */
import { beatJobs } from "#shared/database/jobs.ts";
import type { Lane, Pool } from "#shared/queue/subjects.ts";
import { LANE_SETTINGS } from "#shared/queue/topology.ts";

import type { WorkerContext } from "../context.ts";
import { jobAbort } from "../job.ts";

export interface Held {
  readonly id: string;
  readonly epoch: number;
  readonly controller: AbortController;
  /**
   * True for a job that is past its deadline. Cancels do not abort it, because the provider was already asked to stop it and only its
   * result is read.
   */
  readonly isLate: boolean;
}

export interface Leases {
  /** Id of this worker, written to the rows of jobs that it claims. */
  readonly worker: string;
  /** Adds a job whose lease is renewed. Returns a function that removes it. */
  hold(job: Held): () => void;
  /** Stops renewing leases and reports zero slots, so that the dispatcher sends this worker no more jobs. */
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
  /**
   * Runs at most one heartbeat at a time, so that a hanging statement does not accumulate others. The next heartbeat renews jobs that were
   * added meanwhile.
   */
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
