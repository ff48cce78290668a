/** Runs as the janitor looks for them: those that a worker has to look at, and those that ended long ago. */
import type { Queryable } from "./client.ts";

/** Runs that a worker has to look at. */
export interface WaitingRun {
  readonly id: string;
  readonly workspace_id: string;
  readonly lane: "live" | "batch";
}

// These queries compare with now(), which an index serves: each is one statement, so that is the present time.

/** Tickets whose run has ended: the worker that ended it died before it told. */
export function findLateTickets(target: Queryable, max: number): Promise<WaitingRun[]> {
  return target.query<WaitingRun>(
    `select r.id, r.workspace_id, r.lane from job j join run r on r.id = j.id
     where j.kind = 'workflow' and j.state = 'running' and r.ended_at < now() - interval '2 seconds'
     order by r.ended_at
     limit $1`,
    [max],
    "find_late_tickets",
  );
}

/** Those whose time has come: an attempt of the run or of a step, a call that is late, and a cancel that was asked a while ago. */
export function findDueRuns(target: Queryable, max: number): Promise<WaitingRun[]> {
  return target.query<WaitingRun>(
    `select id, workspace_id, lane from run where id in (
       (select id from run where due_at <= now() order by due_at limit $1)
       union (select run_id from step_run where due_at <= now() and status = 'queued' order by due_at limit $1)
       union (select i.run_id from step_item i join run r on r.id = i.run_id
              where i.status = 'running' and i.late_at <= now() and r.status in ('queued', 'running') order by i.late_at limit $1))`,
    [max],
    "find_due_runs",
  );
}

/** Those whose job has ended a while ago: the word of it was lost. It begins with open work, so what has ended long ago costs nothing. */
export function findRunsOfEndedJobs(target: Queryable, olderMs: number, max: number): Promise<WaitingRun[]> {
  return target.query<WaitingRun>(
    `select id, workspace_id, lane from run where id in (
       select i.run_id from step_item i
       cross join lateral (
         select j.ended_at from job j where j.id = i.work_id and j.ended_at < now() - $1 * interval '1 millisecond' offset 0) ended
       where i.work_id is not null and i.credits is null and not i.is_run
       order by ended.ended_at limit $2)`,
    [olderMs, max],
    "find_runs_of_ended_jobs",
  );
}

/** Those whose child has ended a while ago. */
export function findRunsOfEndedRuns(target: Queryable, olderMs: number, max: number): Promise<WaitingRun[]> {
  return target.query<WaitingRun>(
    `select id, workspace_id, lane from run where id in (
       select i.run_id from step_item i
       cross join lateral (
         select c.ended_at from run c where c.id = i.work_id and c.ended_at < now() - $1 * interval '1 millisecond' offset 0) ended
       where i.work_id is not null and i.credits is null and i.is_run
       order by ended.ended_at limit $2)`,
    [olderMs, max],
    "find_runs_of_ended_runs",
  );
}

/**
 * Those that wait to begin, or to be told of a cancel, for a while. Each is told of once in $2: most of them wait behind others on the
 * queue, which has their word.
 */
export function takeUnbegunRuns(
  target: Queryable,
  { olderMs, againMs, max }: { readonly olderMs: number; readonly againMs: number; readonly max: number },
): Promise<WaitingRun[]> {
  return target.query<WaitingRun>(
    `with waiting as (
       select id from run
       where status in ('queued', 'running') and (cancel_requested or (status = 'queued' and due_at is null))
         and progressed_at < now() - $1 * interval '1 millisecond'
         and (woken_at is null or woken_at < now() - $2 * interval '1 millisecond')
       order by woken_at nulls first, progressed_at limit $3 for update skip locked
     )
     update run set woken_at = now() from waiting where run.id = waiting.id
     returning run.id, run.workspace_id, run.lane`,
    [olderMs, againMs, max],
    "take_unbegun_runs",
  );
}

/** Those that have not gone on for long and wait for nothing: no job, run or time. Each is told of once in that time. */
export function takeStalledRuns(
  target: Queryable,
  { olderMs, max }: { readonly olderMs: number; readonly max: number },
): Promise<(WaitingRun & { readonly seconds: number })[]> {
  return target.query<WaitingRun & { seconds: number }>(
    `with stalled as (
       select r.id from run r
       where r.status in ('queued', 'running') and r.progressed_at < now() - $1 * interval '1 millisecond'
         and (r.woken_at is null or r.woken_at < now() - $1 * interval '1 millisecond')
         and (r.due_at is null or r.due_at < now())
         and not exists (select from step_run s where s.run_id = r.id and s.status = 'queued' and s.due_at > now())
         and not exists (
           select from step_item i where i.run_id = r.id and i.work_id is not null and i.credits is null
             and (exists (select from job j where j.id = i.work_id and j.state in ('queued', 'running'))
               or exists (select from run c where c.id = i.work_id and c.status in ('queued', 'running'))))
       order by r.progressed_at limit $2 for update of r skip locked
     )
     update run set woken_at = now() from stalled where run.id = stalled.id
     returning run.id, run.workspace_id, run.lane, extract(epoch from now() - run.progressed_at)::float8 as seconds`,
    [olderMs, max],
    "take_stalled_runs",
  );
}

/** Drops runs that ended long ago. @returns references of outputs that lie in the object store */
export async function dropEndedRuns(
  target: Queryable,
  olderMs: number,
  max: number,
): Promise<{ readonly count: number; readonly references: readonly string[] }> {
  const [row] = await target.query<{ count: number; refs: string[] | null }>(
    `with gone as (
       select id from run where ended_at < now() - $1 * interval '1 millisecond'
         and not exists (select from run p where p.id = run.parent_id and (p.ended_at is null or p.ended_at >= now() - $1 * interval '1 millisecond'))
       order by ended_at limit $2 for update skip locked
     ), refs as (
       select i.output_ref from step_item i join gone on gone.id = i.run_id where i.output_ref is not null
     ), dropped as (
       delete from run using gone where run.id = gone.id returning 1
     )
     select (select count(*) from dropped)::int as count, (select array_agg(output_ref) from refs) as refs`,
    [olderMs, max],
  );
  return { count: row?.count ?? 0, references: row?.refs ?? [] };
}
