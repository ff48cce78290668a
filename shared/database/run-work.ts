/** The jobs and runs that do the work of steps, as their run looks for them. */
import type { Queryable } from "./client.ts";
import type { Lane } from "#shared/queue/subjects.ts";

import type { ClaimedJob, JobError } from "./jobs.ts";

/** Work that has ended and whose run does not know it. */
export interface EndedWork {
  readonly step_id: string;
  readonly attempt: number;
  readonly item: number;
  readonly work_id: string;
  /** Undefined for runs. */
  readonly kind: string | null;
  /** Of a job or a run. */
  readonly state: "completed" | "succeeded" | "failed" | "cancelled" | "refused";
  readonly credits: bigint;
  readonly result: string | null;
  readonly result_ref: string | null;
  readonly error: (Pick<JobError, "message"> & { readonly code: string }) | null;
}

export function findEndedWork(target: Queryable, runId: string, max: number): Promise<EndedWork[]> {
  return target.query<EndedWork>(
    `select i.step_id, i.attempt, i.item, i.work_id, j.kind, j.state, coalesce(j.credits, 0) as credits, j.result, j.result_ref, j.error::json
     from step_item i join job j on j.id = i.work_id
     where i.run_id = $1 and i.work_id is not null and i.credits is null and not i.is_run
       and j.state in ('completed', 'failed', 'cancelled', 'refused')
     union all
     select i.step_id, i.attempt, i.item, i.work_id, null, r.status, r.credits, r.output, null, r.error
     from step_item i join run r on r.id = i.work_id
     where i.run_id = $1 and i.work_id is not null and i.credits is null and i.is_run
       and r.status in ('succeeded', 'failed', 'cancelled')
     limit $2`,
    [runId, max],
    "find_ended_work",
  );
}

export interface OpenWork {
  readonly step_id: string;
  readonly attempt: number;
  readonly item: number;
  readonly work_id: string;
  readonly is_run: boolean;
  /** Its time is over. */
  readonly is_late: boolean;
  /** Neither a job nor a run is there for it. */
  readonly is_absent: boolean;
  /** Since when it ought to be there, in milliseconds. */
  readonly age_ms: number;
}

/** Work that has not come to an end, as far as something may have to be done about it: late, or never begun. */
export function findOpenWork(target: Queryable, runId: string): Promise<OpenWork[]> {
  return target.query<OpenWork>(
    `select * from (
       select step_id, attempt, item, work_id, is_run, status = 'running' and late_at <= clock_timestamp() as is_late,
              case when is_run then not exists (select from run where id = work_id) else not exists (select from job where id = work_id) end as is_absent,
              extract(epoch from clock_timestamp() - started_at)::float8 * 1000 as age_ms
       from step_item where run_id = $1 and work_id is not null and credits is null) x
     where is_late or is_absent`,
    [runId],
    "find_open_work",
  );
}

/** Attempts of steps whose delay is over. */
export function findDueSteps(
  target: Queryable,
  runId: string,
): Promise<{ readonly step_id: string; readonly attempt: number }[]> {
  return target.query(
    `select step_id, attempt from step_run where run_id = $1 and status = 'queued' and due_at <= clock_timestamp()`,
    [runId],
    "find_due_steps",
  );
}

/** From now on these jobs are to end. */
export async function cancelJobs(target: Queryable, ids: readonly string[]): Promise<void> {
  await target.query(
    "update job set cancel_requested = true where id = any ($1::uuid[]) and state in ('queued', 'running')",
    [[...ids]],
    "cancel_jobs",
  );
}

/** Whether there is a job or a run of that id. */
export async function isBegun(target: Queryable, workId: string): Promise<boolean> {
  const [row] = await target.query<{ is_begun: boolean }>(
    "select exists (select from job where id = $1) or exists (select from run where id = $1) as is_begun",
    [workId],
  );
  return row?.is_begun === true;
}

/** The jobs of steps of these runs. */
export function jobsOfRuns(
  target: Queryable,
  runIds: readonly string[],
): Promise<{ readonly id: string; readonly run_id: string }[]> {
  return target.query("select id, run_id from job where run_id = any ($1::uuid[]) and id <> run_id", [[...runIds]]);
}

/** The job that a publisher asked a run with: it has the run's id, and ends with it. */
export type Ticket = Pick<ClaimedJob, "workspace_id" | "epoch" | "publisher_key" | "reply"> & { readonly lane: Lane };

/** Undefined where there is none, or it has ended. */
export async function findTicket(target: Queryable, runId: string): Promise<Ticket | undefined> {
  const rows = await target.query<Ticket>(
    "select workspace_id, epoch, publisher_key, reply, lane from job where id = $1 and kind = 'workflow' and state = 'running'",
    [runId],
    "find_ticket",
  );
  return rows[0];
}

/** Tickets whose run has ended: the worker that ended it died before it told. */
export function findLateTickets(target: Queryable, max: number): Promise<WaitingRun[]> {
  return target.query<WaitingRun>(
    `select r.id, r.workspace_id, r.lane from job j join run r on r.id = j.id
     where j.kind = 'workflow' and j.state = 'running' and r.ended_at < clock_timestamp() - interval '2 seconds' limit $1`,
    [max],
    "find_late_tickets",
  );
}

/** Runs that a worker has to look at. */
export interface WaitingRun {
  readonly id: string;
  readonly workspace_id: string;
  readonly lane: "live" | "batch";
}

/** Those whose time has come: an attempt of the run or of a step, a call that is late, and a cancel that was asked a while ago. */
export function findDueRuns(target: Queryable, max: number): Promise<WaitingRun[]> {
  return target.query<WaitingRun>(
    `select id, workspace_id, lane from run where id in (
       (select id from run where due_at <= clock_timestamp() limit $1)
       union (select run_id from step_run where due_at <= clock_timestamp() and status = 'queued' limit $1)
       union (select run_id from step_item where status = 'running' and late_at <= clock_timestamp() limit $1)
     ) limit $1`,
    [max],
    "find_due_runs",
  );
}

/** Those whose work has ended a while ago, or that were asked to be cancelled then: the word of it was lost. */
export function findForgottenRuns(target: Queryable, olderMs: number, max: number): Promise<WaitingRun[]> {
  return target.query<WaitingRun>(
    `select id, workspace_id, lane from run where id in (
       (select i.run_id from step_item i join job j on j.id = i.work_id
        where i.work_id is not null and i.credits is null and j.ended_at < clock_timestamp() - $1 * interval '1 millisecond' limit $2)
       union (select i.run_id from step_item i join run r on r.id = i.work_id
        where i.work_id is not null and i.credits is null and r.ended_at < clock_timestamp() - $1 * interval '1 millisecond' limit $2)
       union (select id from run where status in ('queued', 'running')
        and (cancel_requested or (status = 'queued' and due_at is null))
        and created_at < clock_timestamp() - $1 * interval '1 millisecond' limit $2)
     ) limit $2`,
    [olderMs, max],
    "find_forgotten_runs",
  );
}

/**
 * Those that have neither gone on for long nor wait for anything: no job, run or time. Each time is counted, and one that stands still
 * again and again fails: what kills its workers, or what they cannot read, must not be tried forever.
 */
export function takeStalledRuns(
  target: Queryable,
  { olderMs, recoveriesMax, max }: { readonly olderMs: number; readonly recoveriesMax: number; readonly max: number },
): Promise<(WaitingRun & { readonly recoveries: number })[]> {
  return target.query<WaitingRun & { recoveries: number }>(
    `with stalled as (
       select r.id from run r
       where r.status in ('queued', 'running') and r.progressed_at < clock_timestamp() - $1 * interval '1 millisecond'
         and (r.due_at is null or r.due_at < clock_timestamp())
         and not exists (select from step_run s where s.run_id = r.id and s.status = 'queued' and s.due_at > clock_timestamp())
         and not exists (
           select from step_item i where i.run_id = r.id and i.work_id is not null and i.credits is null
             and (exists (select from job j where j.id = i.work_id and j.state in ('queued', 'running'))
               or exists (select from run c where c.id = i.work_id and c.status in ('queued', 'running'))))
       order by r.progressed_at limit $3 for update of r skip locked
     ), counted as (
       update run set recoveries = recoveries + 1, progressed_at = clock_timestamp(), rev = rev + 1,
         status = case when recoveries < $2 then status else 'failed' end,
         error = case when recoveries < $2 then null
           else json_build_object('code', 'internal_error', 'message', 'The service could not carry the run on.', 'stepId', '') end,
         ended_at = case when recoveries >= $2 then clock_timestamp() end,
         frames = frames + case when recoveries < $2 then 0 else 1 end
       from stalled where run.id = stalled.id
       returning run.id, run.workspace_id, run.workflow_id, run.lane, run.recoveries, run.status, run.frames, run.credits, run.error
     ), steps as (
       update step_run set status = 'cancelled', ended_at = clock_timestamp() from counted
       where step_run.run_id = counted.id and counted.status = 'failed' and step_run.status in ('queued', 'running')
     ), told as (
       insert into run_frame (run_id, seq, type) select id, frames, 'run.finished' from counted where status = 'failed'
     ), noted as (
       insert into event (workspace_id, workflow_id, type, metadata)
       select workspace_id, workflow_id, 'run.failed', jsonb_strip_nulls(jsonb_build_object('runId', id, 'workflowId', workflow_id,
         'creditsUsed', trim_scale(credits / 1000000000.0), 'error', error::jsonb))
       from counted where status = 'failed'
     )
     select id, workspace_id, lane, recoveries from counted`,
    [olderMs, recoveriesMax, max],
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
       select id from run where ended_at < clock_timestamp() - $1 * interval '1 millisecond'
         and not exists (select from run p where p.id = run.parent_id and (p.ended_at is null or p.ended_at >= clock_timestamp() - $1 * interval '1 millisecond'))
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
