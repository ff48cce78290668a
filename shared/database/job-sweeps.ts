/**
 * SQL of the janitor on the job table. Every statement uses `skip locked`, so that any number of janitors may run. Times are compared with
 * now(), which is constant within a statement, because an index cannot be searched by clock_timestamp().
 */
import type { Lane, Pool } from "#shared/queue/subjects.ts";

import { plainArray } from "./arrays.ts";
import type { Queryable } from "./client.ts";
import {
  type Dispatched,
  JOB_COLUMNS,
  type JobRow,
  type JobState,
  ORPHANED_COLUMNS,
  type OrphanedJob,
} from "./jobs.ts";
import { freshAndDue } from "./sweep-retries.ts";

export interface Redispatched extends Dispatched {
  readonly pool: Pool;
  readonly lane: Lane;
  /** Sequence number of the job's previous message in the stream. The message may no longer exist. */
  readonly old_seq: bigint | null;
}

const AGAIN = `update job j set dispatch = j.dispatch + 1, dispatched_at = clock_timestamp(), stream_seq = null,
    checked_at = null, state = 'queued', lease_until = null
  from found where j.id = found.id
  returning j.id, j.workspace_id, j.attempt, j.dispatch, j.deadline, j.pool, j.lane, found.stream_seq as old_seq`;

/** Returns the dispatch time of the job that has been queued longest; undefined if no job is queued. */
export async function oldestDispatch(target: Queryable): Promise<Date | undefined> {
  const [row] = await target.query<{ dispatched_at: Date }>(
    `select dispatched_at from job where state = 'queued' and dispatched_at is not null order by dispatched_at limit 1`,
  );
  return row?.dispatched_at;
}

/** Queues jobs again whose message the stream has not confirmed within `olderMs` milliseconds. */
export function redispatchUnsent(target: Queryable, olderMs: number, max: number): Promise<Redispatched[]> {
  return target.query<Redispatched>(
    `with found as (
       select id, stream_seq from job
       where state = 'queued' and dispatched_at < now() - $1 * interval '1 millisecond' and stream_seq is null
       order by dispatched_at limit $2 for update skip locked
     ) ${AGAIN}`,
    [olderMs, max],
  );
}

/** Queues jobs again that were queued before `before`. Their messages were lost with the previous stream of the pool. */
export function redispatchOlder(target: Queryable, pool: Pool, before: Date, max: number): Promise<Redispatched[]> {
  return target.query<Redispatched>(
    `with found as (
       select id, stream_seq from job
       where pool = $1 and state = 'queued' and dispatched_at < $2
       order by dispatched_at limit $3 for update skip locked
     ) ${AGAIN}`,
    [pool, before, max],
  );
}

/** Queues these jobs again if they are still waiting and were not dispatched again meanwhile. */
export function redispatchThese(
  target: Queryable,
  jobs: readonly { readonly id: string; readonly dispatch: number }[],
): Promise<Redispatched[]> {
  return target.query<Redispatched>(
    `with found as (
       select j.id, j.stream_seq from unnest($1::uuid[], $2::int[]) s(id, dispatch)
       join job j on j.id = s.id and j.dispatch = s.dispatch and j.state = 'queued'
       order by j.id for update of j skip locked
     ) ${AGAIN}`,
    [plainArray(jobs.map((job) => job.id)), plainArray(jobs.map((job) => job.dispatch))],
  );
}

export interface WaitingJob {
  readonly id: string;
  readonly dispatch: number;
  readonly pool: Pool;
  readonly stream_seq: bigint;
}

/** Marks jobs as checked that have been queued and not checked for `olderMs` milliseconds, and returns them. */
export function takeUnclaimed(target: Queryable, olderMs: number, max: number): Promise<WaitingJob[]> {
  return target.query<WaitingJob>(
    `with found as (
       select id from job
       where state = 'queued' and stream_seq is not null
         and dispatched_at < now() - $1 * interval '1 millisecond'
         and coalesce(checked_at, dispatched_at) < now() - $1 * interval '1 millisecond'
       order by dispatched_at limit $2 for update skip locked
     )
     update job j set checked_at = clock_timestamp() from found where j.id = found.id
     returning j.id, j.dispatch, j.pool, j.stream_seq`,
    [olderMs, max],
  );
}

/**
 * Returns jobs that must be ended or queued again: those whose lease ended more than the lane's `graceMs` ago, those not claimed before
 * their deadline, and cancelled ones. Returns at most `max` of each kind and lane, plus as many for which an earlier sweep failed.
 */
export function findOverdue(
  target: Queryable,
  lanes: readonly { readonly lane: Lane; readonly graceMs: number }[],
  max: number,
): Promise<OrphanedJob[]> {
  const overdue = (condition: string): string =>
    `(select job.* from silent_workers(of_lane, now() - grace_ms * interval '1 millisecond') s(silent)
        join job on state = 'running' and lane = of_lane and worker = silent
        where lease_until < now() - grace_ms * interval '1 millisecond' and ${condition} order by lease_until limit $3)
     union all
     (select * from job where state = 'running' and lane = of_lane and worker is null
        and lease_until < now() - grace_ms * interval '1 millisecond' and ${condition} order by lease_until limit $3)
     union all
     (select * from job where state = 'queued' and lane = of_lane and deadline < now() and provider_job is null
        and ${condition} order by deadline limit $3)
     union all
     (select * from job where state = 'queued' and lane = of_lane and cancel_requested and provider_job is null
        and ${condition} limit $3)`;
  return target.query<OrphanedJob>(
    `select ${ORPHANED_COLUMNS}
     from unnest($1::text[], $2::int[]) l(of_lane, grace_ms)
     cross join lateral (${freshAndDue("job leases", "job.id::text", overdue)}) j`,
    [lanes.map(({ lane }) => lane), lanes.map(({ graceMs }) => graceMs), max],
  );
}

/** Queues a job again whose worker has crashed and which was not sent to a provider. */
export function redispatchExpired(target: Queryable, id: string, epoch: number): Promise<Redispatched[]> {
  return target.query<Redispatched>(
    `with found as (
       select id, stream_seq from job
       where id = $1 and epoch = $2 and state = 'running' and lease_end(lease_until, worker) < now()
       for update skip locked
     ) ${AGAIN}`,
    [id, epoch],
  );
}

/** Returns jobs whose outcome has been unknown for longer than their providers keep results, or for longer than `keepMs`. */
export function findExpired(target: Queryable, keepMs: number, max: number): Promise<OrphanedJob[]> {
  return target.query<OrphanedJob>(
    freshAndDue(
      "unknown jobs",
      "job.id::text",
      (condition) => `select ${ORPHANED_COLUMNS} from job
       where state in ('queued', 'running') and unknown_since < now() and lease_until is null
         and unknown_since < now() - least($1, (provider_job->>'unknown_for_ms')::bigint) * interval '1 millisecond'
         and ${condition}
       order by unknown_since
       limit $2`,
    ),
    [keepMs, max],
  );
}

/** Queues jobs with unknown outcome again if their next query at the provider is due. */
export function redispatchUnknown(target: Queryable, max: number): Promise<Redispatched[]> {
  return target.query<Redispatched>(
    `with found as (
       select id, stream_seq from job
       where state = 'running' and unknown_since is not null and ask_at < now() and provider_job is not null
         and lease_until is null
       order by ask_at limit $1 for update skip locked
     ) ${AGAIN}`,
    [max],
  );
}

/** Returns the number of jobs with unknown outcome, and the age of the oldest in seconds. */
export async function countUnknown(
  target: Queryable,
): Promise<{ readonly count: number; readonly oldestSeconds: number }> {
  const [row] = await target.query<{ count: bigint; oldest: number }>(
    `select count(*) as count, coalesce(extract(epoch from clock_timestamp() - min(unknown_since)), 0)::float8 as oldest
     from job where unknown_since is not null and state in ('queued', 'running')`,
  );
  return { count: Number(row?.count ?? 0n), oldestSeconds: row?.oldest ?? 0 };
}

/**
 * Returns the lanes in which jobs wait for queue capacity or for a provider's source. The query is cheap for any number of waiting jobs.
 */
export function lanesWaiting(
  target: Queryable,
  lanes: readonly { readonly pool: Pool; readonly lane: Lane }[],
): Promise<{ readonly pool: Pool; readonly lane: Lane }[]> {
  return target.query(
    `select l.pool, l.lane from unnest($1::text[], $2::text[]) l(pool, lane)
     where exists (select from job j where j.pool = l.pool and j.lane = l.lane and j.state = 'queued'
                   and j.dispatched_at is null and j.not_before is null)
       or exists (select from job j where j.pool = l.pool and j.lane = l.lane and j.state = 'queued'
                  and j.not_before is not null)`,
    [lanes.map(({ pool }) => pool), lanes.map(({ lane }) => lane)],
  );
}

/** Counts the jobs that wait for queue capacity or for a provider's source, per pool and lane. */
export function countWaiting(
  target: Queryable,
): Promise<{ readonly pool: string; readonly lane: string; readonly count: bigint }[]> {
  return target.query(
    `select pool, lane, count(*) as count
     from (
       select pool, lane from job where state = 'queued' and dispatched_at is null and not_before is null
       union all
       select pool, lane from job where state = 'queued' and not_before is not null
     ) j group by pool, lane`,
  );
}

const UNRECORDED = `recorded is distinct from state and state <> 'refused' and not is_hidden
  and keeps_record`;

/** Returns jobs whose record in the object store does not contain their current state. */
export function findUnrecorded(target: Queryable, max: number): Promise<JobRow[]> {
  return target.query<JobRow>(
    freshAndDue(
      "job records",
      "job.id::text",
      (condition) =>
        `select ${JOB_COLUMNS} from job where ${UNRECORDED} and ${condition} order by job.created_at limit $1`,
    ),
    [max],
  );
}

/**
 * Records that a job's record in the object store contains this state. If the job's state has changed meanwhile, marks the record as
 * outdated, so that it is written again.
 */
export async function noteRecorded(target: Queryable, id: string, state: JobState): Promise<void> {
  await target.query("update job set recorded = case when state = $2 then state end where id = $1", [id, state]);
}

/**
 * Deletes a batch of jobs that ended more than `olderMs` milliseconds ago. Returns the references of their results in the object store.
 * Keeps jobs whose workflow run or batch has not read the result yet. Without the row, the run or batch would start the job again.
 */
export async function dropEndedJobs(
  target: Queryable,
  olderMs: number,
  max: number,
): Promise<(Pick<JobRow, "id" | "workspace_id" | "result_ref"> & { readonly is_recorded: boolean })[]> {
  return target.query(
    `delete from job where id in (
       select id from job where ended_at < now() - $1 * interval '1 millisecond'
         and (run_id is null or (select i.work_id from step_item i where i.work_id = job.id and i.credits is null limit 1) is null)
         and not exists (select from batch_line l where l.job_id = job.id and l.state = 'running')
       order by ended_at limit $2 for update skip locked)
     returning id, workspace_id, result_ref, recorded is not null as is_recorded`,
    [olderMs, max],
  );
}

/** Deletes the reports of workers that have not reported for an hour. */
export async function dropSilentWorkers(target: Queryable): Promise<void> {
  await target.query("delete from worker_slots where seen_at < now() - interval '1 hour'");
  await target.query("delete from capability_offer where seen_at < now() - interval '1 hour'");
}
