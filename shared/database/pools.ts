/** Counts waiting and running jobs and runs of each pool, and the pool's slots, for operators and autoscalers. */
import type { Lane, Pool } from "#shared/queue/subjects.ts";

import type { Database, Queryable } from "./client.ts";

export interface PoolCounts {
  readonly pool: Pool;
  readonly lane: Lane;
  readonly queued: number;
  /** Number of queued jobs whose start time is in the future. */
  readonly deferred: number;
  readonly running: number;
  /** Age of the oldest job that waits for a worker, in seconds; 0 if no job waits. */
  readonly oldest_waiting_seconds: number;
}

export interface FleetSlots {
  readonly pool: Pool;
  readonly lane: Lane;
  readonly slots: number;
  readonly processes: number;
}

export interface PoolFigures {
  readonly counts: readonly PoolCounts[];
  readonly fleet: readonly FleetSlots[];
  /** Number of calls whose caller waits for the response, by model. */
  readonly live: readonly { readonly model: string; readonly calls: number }[];
}

/**
 * Counts open jobs and runs. Each subquery reads a partial index of open rows. A job of unknown outcome without owner uses no slot and is
 * not counted. A deferred job waits for a source, not for a worker.
 */
const COUNTS = `
  select pool, lane, count(*) filter (where waits)::int as queued, count(*) filter (where deferred)::int as deferred,
         count(*) filter (where not waits)::int as running,
         coalesce(extract(epoch from now() - min(since) filter (where waits)), 0)::float8 as oldest_waiting_seconds
  from (
    select pool, lane, state = 'queued' as waits, false as deferred, created_at as since
    from job
    where state in ('queued', 'running') and dispatched_at is not null
    union all
    select pool, lane, true, false, created_at
    from job
    where state = 'queued' and dispatched_at is null and not_before is null
    union all
    select pool, lane, true, not_before > now(), null
    from job
    where state = 'queued' and not_before is not null
    union all
    select 'workflow', lane, status = 'queued', false, created_at
    from run
    where status in ('queued', 'running') and (due_at is null or due_at <= now())
  ) open
  group by pool, lane`;

/** Sums the slots that workers reported within the last 45 s. */
const FLEET = `
  select pool, lane, sum(slots)::int as slots, count(*)::int as processes
  from worker_slots
  where slots > 0 and seen_at > clock_timestamp() - interval '45 seconds'
  group by pool, lane`;

export interface WorkerVersion {
  readonly pool: string;
  /** Null if the workers do not report their version. */
  readonly version: string | null;
  /** Number of processes that run the pool in this version. */
  readonly count: number;
  readonly first_started_at: Date;
  readonly last_started_at: Date;
}

/** Maximum number of rows of `listWorkerVersions`. A pool has one row, or two during an upgrade. */
const VERSIONS_MAX = 200;

/**
 * Returns the versions of the workers of each pool that have reported within the last 45 s. Every process serves both lanes of its pools, so
 * one lane has a row for each process.
 */
export function listWorkerVersions(target: Queryable): Promise<WorkerVersion[]> {
  return target.query<WorkerVersion>(
    `select pool, version, count(*)::int as count, min(started_at) as first_started_at, max(started_at) as last_started_at
     from worker_slots
     where lane = 'live' and slots > 0 and seen_at > clock_timestamp() - interval '45 seconds'
     group by pool, version
     order by pool, version
     limit ${VERSIONS_MAX}`,
  );
}

/** Maximum number of calls that are counted; enough to scale a fleet of any size. */
const CALLS_COUNTED_MAX = 100_000;

/**
 * Counts calls without a job row: holds without a job, and calls on credit lines that are open for a second or more. The scalar subquery
 * avoids a join that reads all jobs.
 */
const LIVE = `
  select model, count(*)::int as calls
  from (select job_id, model from hold limit ${CALLS_COUNTED_MAX}) h
  where (select id from job where job.id = h.job_id) is null
  group by model`;

/** Returns the counts of waiting and running jobs and runs of all pools, and the slots of the fleet, in one statement. */
export async function readPools(target: Queryable): Promise<PoolFigures> {
  const list = (query: string): string => `(select coalesce(json_agg(one), '[]') from (${query}) one)`;
  const rows = await target.query<PoolFigures>(
    `select ${list(COUNTS)} as counts, ${list(FLEET)} as fleet, ${list(LIVE)} as live`,
  );
  return rows[0] ?? { counts: [], fleet: [], live: [] };
}

/** Reads the same counts as `readPools`, with a statement timeout of `limitMs` milliseconds, for callers that poll. */
export function readPoolsWithin(database: Database, limitMs: number): Promise<PoolFigures> {
  return database.transaction(async (tx) => {
    await tx.query("select set_config('statement_timeout', $1, true)", [String(limitMs)]);
    return readPools(tx);
  });
}

/** Calls `work` with the slots of the fleet. Does nothing if another process is running such a call. */
export function withFleetSlots(
  database: Database,
  work: (slots: readonly FleetSlots[]) => Promise<void>,
): Promise<void> {
  return database.transaction(async (tx) => {
    const [lock] = await tx.query<{ ours: boolean }>(
      "select pg_try_advisory_xact_lock(hashtext('fleet_slots')) as ours",
    );
    if (lock?.ours === true) await work(await tx.query<FleetSlots>(FLEET));
  });
}
