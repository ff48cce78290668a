/**
 * Janitor queries that find runs which a worker must check, and delete runs that ended long ago. A notice is the queue message that makes a
 * worker check a run.
 */
import { plainArray } from "./arrays.ts";
import type { Queryable, SqlValue } from "./client.ts";
import { freshAndDue } from "./sweep-retries.ts";

/** A run that a worker must check. */
export interface WaitingRun {
  readonly id: string;
  readonly workspace_id: string;
  readonly lane: "live" | "batch";
}

// All queries compare with now(), which an index supports; each is one statement, so now() is the current time.

/** Lanes for which a running worker accepts notices of runs. */
const LANES_TAKEN = `select lane from worker_slots
  where pool = 'workflow' and slots > 0 and seen_at > now() - interval '45 seconds'`;

interface NoticeLimits {
  /**
   * Time after which the notice to check a run is sent again if the run has not progressed, in milliseconds. The first notice may be lost.
   */
  readonly againMs: number;
  readonly max: number;
}

/**
 * Records that a notice is sent for runs of `found`, and returns these runs. Selects only runs for whose lane a worker accepts notices;
 * otherwise the notices would fill the queue. Skips a run whose last notice is younger than `againMs`, unless the run has progressed since.
 * Runs with the earliest `since` are selected first, but the first runs of each workspace come before further runs of any workspace.
 * @param found query for `id` and `since`; its parameters are $1 `againMs`, $2 `max`, and then `values`
 */
function takeRunsToNotify(
  target: Queryable,
  name: string,
  found: string,
  { againMs, max }: NoticeLimits,
  values: readonly SqlValue[] = [],
): Promise<WaitingRun[]> {
  return target.query<WaitingRun>(
    `with found as (
       ${found}
     ), ranked as (
       select r.id, row_number() over (partition by r.workspace_id order by f.since) as rank, f.since
       from (select id, min(since) as since from found group by id) f join run r on r.id = f.id
       where r.lane in (${LANES_TAKEN})
         and (r.woken_at is null or r.woken_at < now() - $1 * interval '1 millisecond')
       order by rank, f.since limit $2
     ), taken as (
       select run.id from run join ranked on ranked.id = run.id for no key update of run skip locked
     )
     update run set woken_at = now() from taken where run.id = taken.id
     returning run.id, run.workspace_id, run.lane`,
    [againMs, max, ...values],
    name,
  );
}

/**
 * Records that a notice is sent for due runs, and returns these runs. An attempt of the run or of a step is due, or the time limit of a job
 * or child run is exceeded.
 */
export function takeDueRuns(target: Queryable, limits: NoticeLimits): Promise<WaitingRun[]> {
  return takeRunsToNotify(
    target,
    "take_due_runs",
    `select id, due_at as since from run where due_at <= now()
     union all select run_id, due_at from step_run where due_at <= now() and status = 'queued'
     union all select i.run_id, i.late_at from step_item i join run r on r.id = i.run_id
       where i.status = 'running' and i.late_at <= now() and r.status in ('queued', 'running')`,
    limits,
  );
}

/** Range of ids of open jobs and runs: after `after`, up to and including `upto`. */
export interface WorkSpan {
  readonly after: string;
  readonly upto: string;
}

const FIRST_ID = "00000000-0000-0000-0000-000000000000";
const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";
export const ALL_WORK: WorkSpan = { after: FIRST_ID, upto: LAST_ID };

/** Returns the id range of the next `max` open jobs and runs that follows `before`. After the last range, starts again with the first. */
export async function nextOpenWork(target: Queryable, before: WorkSpan, max: number): Promise<WorkSpan> {
  const after = before.upto === LAST_ID ? FIRST_ID : before.upto;
  const [row] = await target.query<{ id: string }>(
    `select work_id as id from step_item where work_id is not null and credits is null and work_id > $1
     order by work_id offset $2 limit 1`,
    [after, max - 1],
    "next_open_work",
  );
  return { after, upto: row?.id ?? LAST_ID };
}

/**
 * Records that a notice is sent for runs whose job ended a while ago, and returns these runs. The notice that the job ended was lost. The
 * query searches from open work, so that jobs that ended long ago cost nothing.
 */
export function takeRunsOfEndedJobs(
  target: Queryable,
  olderMs: number,
  limits: NoticeLimits,
  { after, upto }: WorkSpan = ALL_WORK,
): Promise<WaitingRun[]> {
  return takeRunsToNotify(
    target,
    "take_runs_of_ended_jobs",
    `select i.run_id as id, ended.ended_at as since from step_item i
     cross join lateral (
       select j.ended_at from job j where j.id = i.work_id and j.ended_at < now() - $3 * interval '1 millisecond' offset 0) ended
     where i.work_id is not null and i.credits is null and not i.is_run and i.work_id > $4 and i.work_id <= $5`,
    limits,
    [olderMs, after, upto],
  );
}

/**
 * Records that a notice is sent for runs that have not recorded an ended child run, and returns these runs. The result of the child, or
 * part of its credits, is missing in the parent run. Recorded children cost nothing, regardless of their number.
 */
export function takeRunsOfEndedRuns(target: Queryable, olderMs: number, limits: NoticeLimits): Promise<WaitingRun[]> {
  return takeRunsToNotify(
    target,
    "take_runs_of_ended_runs",
    `select c.parent_id as id, c.ended_at as since from run c
     cross join lateral (
       select from step_item i where i.run_id = c.parent_id and i.step_id = c.parent_step and i.attempt = c.parent_attempt
         and i.item = c.parent_index and i.work_id = c.id and i.credits is distinct from c.credits offset 0) awaited
     where c.is_uncounted and c.ended_at < now() - $3 * interval '1 millisecond'`,
    limits,
    [olderMs],
  );
}

/**
 * Records that a notice is sent for runs that have waited for a while to start or to be cancelled, and returns these runs. Most of them
 * already have a notice in the queue.
 */
export function takeUnbegunRuns(target: Queryable, olderMs: number, limits: NoticeLimits): Promise<WaitingRun[]> {
  return takeRunsToNotify(
    target,
    "take_unbegun_runs",
    `select id, progressed_at as since from run
     where status in ('queued', 'running') and (cancel_requested or (status = 'queued' and due_at is null))
       and progressed_at < now() - $3 * interval '1 millisecond'`,
    limits,
    [olderMs],
  );
}

export interface StalledRun extends WaitingRun {
  readonly seconds: number;
  /** True if a worker accepts notices of the run's lane. */
  readonly is_taken: boolean;
}

/**
 * Range of unfinished runs by the time of their last progress: after `after`, up to and including `upto`. Times are in the format of
 * Postgres.
 */
export interface RunSpan {
  readonly after: string;
  readonly upto: string;
}

export const ALL_RUNS: RunSpan = { after: "-infinity", upto: "infinity" };

/**
 * Returns the range of the next `max` unfinished runs that have not progressed for `olderMs` milliseconds. The range starts behind
 * `before`. After the last run, it starts again with the first one.
 */
export async function nextOldRuns(target: Queryable, before: RunSpan, olderMs: number, max: number): Promise<RunSpan> {
  const after = before.upto === ALL_RUNS.upto ? ALL_RUNS.after : before.upto;
  const [row] = await target.query<{ upto: string }>(
    `select progressed_at::text as upto from run
     where status in ('queued', 'running') and progressed_at > $1 and progressed_at < now() - $2 * interval '1 millisecond'
     order by progressed_at offset $3 limit 1`,
    [after, olderMs, max - 1],
    "next_old_runs",
  );
  return { after, upto: row?.upto ?? ALL_RUNS.upto };
}

/**
 * Returns runs that have not progressed for `olderMs` milliseconds and wait for no job, run or time. Records that a notice is sent for
 * those whose lane a worker accepts. Such a run is not returned again within `olderMs`.
 */
export function takeStalledRuns(
  target: Queryable,
  { olderMs, max }: { readonly olderMs: number; readonly max: number },
  { after, upto }: RunSpan = ALL_RUNS,
): Promise<StalledRun[]> {
  return target.query<StalledRun>(
    `with stalled as (
       select r.id, r.workspace_id, r.lane, r.lane in (${LANES_TAKEN}) as is_taken,
         extract(epoch from now() - r.progressed_at)::float8 as seconds
       from run r
       where r.status in ('queued', 'running') and r.progressed_at < now() - $1 * interval '1 millisecond'
         and r.progressed_at > $3 and r.progressed_at <= $4
         and (r.woken_at is null or r.woken_at < now() - $1 * interval '1 millisecond')
         and (r.due_at is null or r.due_at < now())
         and not exists (select from step_run s where s.run_id = r.id and s.status = 'queued' and s.due_at > now())
         and not exists (
           select from step_item i where i.run_id = r.id and i.work_id is not null and i.credits is null
             and (exists (select from job j where j.id = i.work_id and j.state in ('queued', 'running'))
               or exists (select from run c where c.id = i.work_id and c.status in ('queued', 'running'))))
       order by r.progressed_at limit $2 for update of r skip locked
     ), taken as (
       update run set woken_at = now() from stalled where run.id = stalled.id and stalled.is_taken
     )
     select * from stalled`,
    [olderMs, max, after, upto],
    "take_stalled_runs",
  );
}

/** Returns publishers' runs that no worker has started and that were queued more than `olderMs` milliseconds ago. */
export function findLateRuns(target: Queryable, olderMs: number, max: number): Promise<{ readonly id: string }[]> {
  return target.query(
    `select id from run
     where status = 'queued' and progressed_at < now() - $1 * interval '1 millisecond' and not told and started_at is null
     order by progressed_at limit $2`,
    [olderMs, max],
  );
}

/** Returns ended runs of publishers whose result was not reported to the publisher, because the process that ended the run crashed. */
export function findUnreportedRuns(target: Queryable, max: number): Promise<{ readonly id: string }[]> {
  return target.query(
    freshAndDue(
      "untold runs",
      "run.id::text",
      (condition) =>
        `select id from run where not told and ended_at < now() - interval '2 seconds' and ${condition} order by ended_at limit $1`,
    ),
    [max],
  );
}

/** Number of deleted rows, and the references of their texts that the caller must delete from the object store. */
interface Dropped {
  readonly count: number;
  readonly references: readonly string[];
}

/** Deletes runs that ended before the retention period, and frees their storage. */
export function dropEndedRuns(target: Queryable, olderMs: number, max: number): Promise<Dropped> {
  return drop(target, "drop_ended_runs", olderMs, max);
}

/** Returns workspaces that have ended runs and use more than `usedMin` bytes of storage, including reserved storage. */
export async function findFullWorkspaces(target: Queryable, usedMin: number): Promise<readonly string[]> {
  const rows = await target.query<{ workspace_id: string }>(
    `select workspace_id from file_storage s where used + reserved > $1
       and exists (select from run r where r.workspace_id = s.workspace_id and r.parent_id is null and r.ended_at is not null)`,
    [usedMin],
  );
  return rows.map(({ workspace_id }) => workspace_id);
}

/** Deletes the oldest ended runs that callers of one workspace started, together with the runs of their steps. */
export async function dropOldestRuns(
  target: Queryable,
  workspaceId: string,
  olderMs: number,
  max: number,
): Promise<Dropped> {
  const [row] = await target.query<DroppedRow>("select * from drop_oldest_runs($1, $2, $3)", [
    workspaceId,
    olderMs,
    max,
  ]);
  return { count: row?.dropped ?? 0, references: row?.refs ?? [] };
}

/** Deletes the inputs of runs that ended a while ago. */
export function dropRunInputs(target: Queryable, olderMs: number, max: number): Promise<Dropped> {
  return drop(target, "drop_run_inputs", olderMs, max);
}

interface DroppedRow {
  readonly dropped: number;
  readonly refs: string[] | null;
}

async function drop(
  target: Queryable,
  work: "drop_ended_runs" | "drop_run_inputs",
  olderMs: number,
  max: number,
): Promise<Dropped> {
  const [row] = await target.query<DroppedRow>(`select * from ${work}($1, $2)`, [olderMs, max]);
  return { count: row?.dropped ?? 0, references: row?.refs ?? [] };
}

/** Returns the object-store references of large inputs of runs, by run. Missing runs are omitted. */
export async function findRunInputs(
  target: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  const rows = await target.query<{ id: string; input_ref: string | null }>(
    "select id, input_ref from run where id = any ($1::uuid[])",
    [plainArray(ids)],
  );
  return new Map(rows.map(({ id, input_ref }) => [id, input_ref]));
}
