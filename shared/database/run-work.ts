/** Queries for the jobs and child runs that execute the steps of a run. */
import type { Queryable } from "./client.ts";

import type { JobError } from "./jobs.ts";

/** A job or child run that has ended but whose result is not yet recorded by the parent run. */
export interface EndedWork {
  readonly step_id: string;
  readonly attempt: number;
  readonly item: number;
  readonly work_id: string;
  /** Kind of the job; null for a child run. */
  readonly kind: string | null;
  /** State of the job, or status of the child run. */
  readonly state: "completed" | "succeeded" | "failed" | "cancelled" | "refused";
  readonly credits: bigint;
  readonly result: string | null;
  readonly result_ref: string | null;
  /** Error of the job or child run. `is_final` is true if `max_credits` would refuse the call at each retry. */
  readonly error: (Pick<JobError, "message"> & { readonly code: string; readonly is_final?: boolean }) | null;
}

/**
 * Returns ended jobs and child runs whose result the run has not recorded, sorted by end. Includes those whose cost increased after a late
 * result.
 */
export function findEndedWork(target: Queryable, runId: string, max: number): Promise<EndedWork[]> {
  return target.query<EndedWork>(
    `select step_id, attempt, item, work_id, kind, state, credits, result, result_ref, error from (
     select j.ended_at, i.step_id, i.attempt, i.item, i.work_id, j.kind, j.state, coalesce(j.credits, 0) as credits, j.result, j.result_ref, j.error::json
     from step_item i
     -- Offset 0: each is looked up by its id. Where hardly a job has ended, the planner would begin with all jobs.
     cross join lateral (select * from job where id = i.work_id and state in ('completed', 'failed', 'cancelled', 'refused') offset 0) j
     where i.run_id = $1 and i.work_id is not null and i.credits is null and not i.is_run
     union all
     select r.ended_at, i.step_id, i.attempt, i.item, i.work_id, null, r.status, r.credits, r.output, null, r.error
     from run r
     cross join lateral (
       select * from step_item i where i.run_id = r.parent_id and i.step_id = r.parent_step and i.attempt = r.parent_attempt
         and i.item = r.parent_index and i.work_id = r.id offset 0) i
     where r.parent_id = $1 and r.is_uncounted and i.credits is distinct from r.credits) ended
     order by ended_at
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
  /** True if the job or child run has exceeded its time limit. */
  readonly is_late: boolean;
  /** True if neither a job nor a run with this id exists. */
  readonly is_absent: boolean;
  /** Milliseconds since the parent run began the job or child run. */
  readonly age_ms: number;
}

/** Returns open jobs and child runs that may need an action, because they have exceeded their time limit or do not exist. */
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

/** Returns step attempts whose delay has ended. */
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

/** Requests cancellation of these jobs. */
export async function cancelJobs(target: Queryable, ids: readonly string[]): Promise<void> {
  await target.query(
    "update job set cancel_requested = true where id = any ($1::uuid[]) and state in ('queued', 'running')",
    [[...ids]],
    "cancel_jobs",
  );
}

/** Returns true if a job or a run with this id exists. */
export async function isBegun(target: Queryable, workId: string): Promise<boolean> {
  const [row] = await target.query<{ is_begun: boolean }>(
    "select exists (select from job where id = $1) or exists (select from run where id = $1) as is_begun",
    [workId],
  );
  return row?.is_begun === true;
}

/**
 * Marks the result of a publisher's run as reported.
 * @returns false if the result is already marked, the run is still open, or the run has no publisher
 */
export async function markReported(target: Queryable, id: string): Promise<boolean> {
  const rows = await target.query(
    "update run set told = true where id = $1 and not told and ended_at is not null returning 1",
    [id],
    "note_told",
  );
  return rows.length > 0;
}

/**
 * Adds `weight` to the recovery counter of a stalled run, a weighted count of the checks since the last progress. Call this only for a
 * check that a worker has begun, so that a run without workers only waits.
 * @returns the new counter; undefined for a run that is not stalled
 */
export async function countRecovery(
  target: Queryable,
  id: string,
  { weight, olderMs }: { readonly weight: number; readonly olderMs: number },
): Promise<number | undefined> {
  const rows = await target.query<{ recoveries: number }>(
    `update run set recoveries = least(recoveries + $2, 30000)
     where id = $1 and status in ('queued', 'running') and progressed_at < now() - $3 * interval '1 millisecond'
     returning recoveries`,
    [id, weight, olderMs],
    "count_recovery",
  );
  return rows[0]?.recoveries;
}

const NOT_CARRIED_ON = { code: "internal_error", message: "The service failed to continue the run." } as const;

/**
 * Ends a run that cannot continue, and cancels its open steps. The run ends as cancelled if its cancellation was requested, otherwise as
 * failed.
 * @param why error of the run; with `ifUnbegun`, the run is ended only if no worker has started it
 * @returns false if the run was not ended
 */
export async function giveUpRun(
  target: Queryable,
  id: string,
  why: { readonly code: string; readonly message: string; readonly ifUnbegun?: boolean } = NOT_CARRIED_ON,
): Promise<boolean> {
  const rows = await target.query(
    `with ended as (
       update run set rev = rev + 1, frames = frames + 1, ended_at = clock_timestamp(), progressed_at = clock_timestamp(), woken_at = null,
         status = case when cancel_requested then 'cancelled' else 'failed' end,
         error = case when not cancel_requested then
           json_build_object('code', $2::text, 'message', $3::text, 'stepId', '') end
       where id = $1 and status in ('queued', 'running') and (not $4 or (status = 'queued' and started_at is null))
       returning *
     ), steps as (
       update step_run set status = 'cancelled', rev = ended.rev, ended_at = clock_timestamp() from ended
       where step_run.run_id = ended.id and step_run.status in ('queued', 'running')
     ), items as (
       update step_item set status = 'cancelled', rev = ended.rev, ended_at = clock_timestamp() from ended
       where step_item.run_id = ended.id and step_item.status in ('queued', 'running')
     ), told as (
       insert into run_frame (run_id, seq, type) select id, frames, 'run.finished' from ended
     ), heard as (
       insert into event (workspace_id, workflow_id, type, metadata)
       select workspace_id, workflow_id, 'run.' || status, jsonb_strip_nulls(jsonb_build_object('runId', id, 'workflowId', workflow_id,
         'creditsUsed', trim_scale(credits / 1000000000.0), 'error', error::jsonb))
       from ended where is_subscribed(workspace_id, 'run.' || status)
     )
     select id from ended`,
    [id, why.code, why.message, why.ifUnbegun === true],
    "give_up_run",
  );
  return rows.length > 0;
}
