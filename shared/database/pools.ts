/** Work that waits and runs in each pool, and the slots for it: for operators and for whatever scales the fleet. */
import type { Lane, Pool } from "#shared/queue/subjects.ts";

import type { Database, Queryable } from "./client.ts";

export interface PoolCounts {
  readonly pool: Pool;
  readonly lane: Lane;
  readonly queued: number;
  readonly running: number;
  /** 0 where none waits for a worker. */
  readonly oldest_waiting_seconds: number;
}

/**
 * Jobs and runs that have not ended. Each part reads a partial index of live rows. A job of unknown outcome that nobody owns holds no
 * slot and is not counted. A deferred one waits for a source, not for a worker.
 */
export function countPools(target: Queryable): Promise<PoolCounts[]> {
  return target.query<PoolCounts>(
    `select pool, lane, count(*) filter (where waits)::int as queued, count(*) filter (where not waits)::int as running,
            coalesce(extract(epoch from now() - min(since) filter (where waits)), 0)::float8 as oldest_waiting_seconds
     from (
       select pool, lane, state = 'queued' as waits, created_at as since
       from job
       where state in ('queued', 'running') and dispatched_at is not null
       union all
       select pool, lane, true, created_at
       from job
       where state = 'queued' and dispatched_at is null and not_before is null
       union all
       select pool, lane, true, null
       from job
       where state = 'queued' and not_before is not null
       union all
       select 'workflow', lane, status = 'queued', created_at
       from run
       where status in ('queued', 'running') and (due_at is null or due_at <= now())
     ) open
     group by pool, lane`,
  );
}

/** Enough to tell a fleet of any size what it lacks. */
const CALLS_COUNTED_MAX = 100_000;

/** Calls whose callers wait, by model: holds without a job. */
export function countLiveCalls(target: Queryable): Promise<{ readonly model: string; readonly calls: number }[]> {
  // A scalar subquery looks each job up; `not exists` would be joined, with all jobs read for it.
  return target.query(
    `select model, count(*)::int as calls
     from (select job_id, model from hold limit $1) h
     where (select id from job where job.id = h.job_id) is null
     group by model`,
    [CALLS_COUNTED_MAX],
  );
}

export interface FleetSlots {
  readonly pool: Pool;
  readonly lane: Lane;
  readonly slots: number;
  readonly processes: number;
}

/** Returns the slots that workers reported within the last 45 s. */
export function fleetSlots(target: Queryable): Promise<FleetSlots[]> {
  return target.query<FleetSlots>(
    `select pool, lane, sum(slots)::int as slots, count(*)::int as processes
     from worker_slots
     where slots > 0 and seen_at > clock_timestamp() - interval '45 seconds'
     group by pool, lane`,
  );
}

/** Runs `work` with the slots of the fleet, unless another process is at it. */
export function withFleetSlots(
  database: Database,
  work: (slots: readonly FleetSlots[]) => Promise<void>,
): Promise<void> {
  return database.transaction(async (tx) => {
    const [lock] = await tx.query<{ ours: boolean }>(
      "select pg_try_advisory_xact_lock(hashtext('fleet_slots')) as ours",
    );
    if (lock?.ours === true) await work(await fleetSlots(tx));
  });
}
