/** SQL for rows of durable jobs: read, claim, renew, dispatch. shared/jobs creates and ends the rows. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { ErrorEnvelope } from "#shared/base/errors.ts";
import type { Fallback } from "#shared/queue/frames.ts";
import type { Lane, Pool } from "#shared/queue/subjects.ts";

import manifest from "../../package.json" with { type: "json" };

import { plainArray } from "./arrays.ts";
import type { Queryable } from "./client.ts";
import { ranByTools, toolValues } from "./runs.ts";

export type JobState = "queued" | "running" | "completed" | "failed" | "cancelled" | "refused";
export type JobError = ErrorEnvelope["error"];

export interface JobRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly kind: string;
  readonly modality: string;
  readonly model: string | null;
  readonly state: JobState;
  /** Progress of the job, from 0 to 1. */
  readonly progress: number;
  /** True if the provider may have been paid for the job and the outcome is not known yet. */
  readonly is_unknown: boolean;
  readonly publisher_key: string | null;
  /** Fingerprint of the publisher's batch message; null for jobs of HTTP callers. */
  readonly fingerprint: string | null;
  readonly reply: string | null;
  readonly result: string | null;
  readonly result_ref: string | null;
  readonly error: JobError | null;
  /** Fallback models that a failed job tried; null if it tried none. */
  readonly fallback: Fallback | null;
  readonly credits: bigint | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
}

/** Columns that a caller who waited for a job reads. The job has ended, or its outcome is unknown. */
export type EndedJob = Pick<
  JobRow,
  "id" | "workspace_id" | "state" | "is_unknown" | "result" | "result_ref" | "error" | "fallback" | "credits"
>;

/** Columns of a JobRow. */
export const JOB_COLUMNS = `id, workspace_id, kind, modality, model, state, progress, unknown_since is not null as is_unknown,
  publisher_key, work ->> 'fingerprint' as fingerprint, reply, result, result_ref, error, fallback, credits, created_at, started_at, ended_at`;

/** Returns a job; undefined if it does not exist or belongs to another workspace. */
export async function findJob(target: Queryable, workspaceId: string, id: string): Promise<JobRow | undefined> {
  const rows = await target.query<JobRow>(
    `select ${JOB_COLUMNS} from job where id = $1 and workspace_id = $2`,
    [id, workspaceId],
    "find_job",
  );
  return rows[0];
}

/**
 * SQL condition for private jobs, which belong to the member of their key: jobs of run steps, batch messages, batch lines and background
 * responses.
 */
const IS_PRIVATE = "(run_id is not null or lane = 'batch' or kind = 'chat')";

/** Restrictions on the jobs that a caller can find. Null means no restriction within the workspace. */
export interface JobReader {
  /** Member id that limits the search to jobs of this member's keys. */
  readonly jobsOf: string | null;
  /**
   * Member id that limits the search for private jobs (see `IS_PRIVATE`) to this member's keys. Other jobs are found without this limit.
   */
  readonly privateOf: string | null;
  /** Tools whose jobs and runs can be found. Applies only to jobs of capabilities and runs. Absent: all tools. */
  readonly tools?: ReadonlySet<string> | undefined;
}

/** SQL condition for the jobs of a workspace that a caller may see. Parameters: $1 workspace, then the values of `readerValues`. */
const IS_VISIBLE = `workspace_id = $1 and not is_hidden
       and ($2::uuid is null or key_id in (select k.id from api_key k where k.member_id = $2))
       and ($3::uuid is null or not ${IS_PRIVATE}
         or key_id in (select k.id from api_key k where k.member_id = $3))
       and ($4::text[] is null or coalesce((select ${ranByTools("$4")} from run where run.id = job.run_id),
         kind <> 'capability' or model = any($4) or split_part(model, '.', 1) || '.*' = any($4)))`;

function readerValues({
  jobsOf,
  privateOf,
  tools,
}: JobReader): readonly [string | null, string | null, readonly string[] | null] {
  return [jobsOf, privateOf, toolValues(tools)];
}

/**
 * Finds a job that a caller requests by its id. Returns undefined for hidden jobs, which no caller can find, and for jobs that this caller
 * may not see.
 */
export async function findVisibleJob(
  target: Queryable,
  workspaceId: string,
  id: string,
  reader: JobReader = { jobsOf: null, privateOf: null },
): Promise<JobRow | undefined> {
  const rows = await target.query<JobRow>(
    `select ${JOB_COLUMNS} from job where ${IS_VISIBLE} and id = $5`,
    [workspaceId, ...readerValues(reader), id],
    "find_shown_job",
  );
  return rows[0];
}

/** States as the API names them, and the states of the row that each one contains. */
const STATES_SQL = {
  // A job that has begun and was handed to another worker is not queued from its caller's view.
  queued: "state = 'queued' and started_at is null",
  processing: "(state = 'running' or state = 'queued' and started_at is not null)",
  completed: "state = 'completed'",
  failed: "state in ('failed', 'refused')",
  cancelled: "state = 'cancelled'",
} as const;

export type JobStatus = keyof typeof STATES_SQL;
export const JOB_STATUSES = Object.keys(STATES_SQL) as readonly JobStatus[];

export interface JobPage {
  /** Id of the job after which the page starts; null for the newest jobs. */
  readonly after: string | null;
  readonly limit: number;
  readonly status: JobStatus | null;
}

/** Returns the jobs of calls over HTTP that a caller may see, newest first. Jobs of runs, batches and messages are not listed. */
export function listJobs(
  target: Queryable,
  workspaceId: string,
  reader: JobReader,
  { after, limit, status }: JobPage,
): Promise<JobRow[]> {
  return target.query<JobRow>(
    `select ${JOB_COLUMNS} from job
     where ${IS_VISIBLE} and lane = 'live' and run_id is null and ($5::uuid is null or id < $5)
       and ${status === null ? "true" : STATES_SQL[status]}
     order by id desc
     limit $6`,
    [workspaceId, ...readerValues(reader), after, limit],
  );
}

/**
 * Requests the cancellation of a job and returns the job. An ended job is returned unchanged. Returns undefined if the job does not exist
 * or belongs to another workspace.
 * @param hidden true to find hidden jobs as well
 */
export async function requestCancel(
  target: Queryable,
  workspaceId: string,
  id: string,
  { hidden = false }: { readonly hidden?: boolean } = {},
): Promise<(OrphanedJob & { readonly lease_ms: number }) | undefined> {
  const rows = await target.query<OrphanedJob & { lease_ms: number }>(
    `update job set cancel_requested = state in ('queued', 'running')
     where id = $1 and workspace_id = $2 and (not is_hidden or $3)
     returning ${ORPHANED_COLUMNS}, coalesce(extract(epoch from lease_end(lease_until, worker) - clock_timestamp()) * 1000, 0)::float8 as lease_ms`,
    [id, workspaceId, hidden],
  );
  return rows[0];
}

/** Latest queue message of a job. */
export interface Dispatched {
  readonly id: string;
  readonly workspace_id: string;
  readonly attempt: number;
  readonly dispatch: number;
  readonly deadline: Date;
}

export interface ClaimedJob {
  readonly id: string;
  readonly workspace_id: string;
  readonly epoch: number;
  readonly attempt: number;
  readonly dispatch: number;
  readonly deadline: Date;
  /**
   * Number of times that workers have claimed the job, including this claim. A claim does not count if its worker returned the job for a
   * reason outside of the job.
   */
  readonly claims: number;
  /** Queue message of the job, without its request. */
  readonly work: Record<string, unknown>;
  readonly request: string | null;
  readonly request_ref: string | null;
  readonly provider_job: unknown;
  /** True if the job exceeded its time limit at the provider. The worker then queries the outcome at the provider once more. */
  readonly is_unknown: boolean;
  /** True if the job is hidden: no caller can find it. */
  readonly is_hidden: boolean;
  /** True if the caller requested cancellation. */
  readonly cancel_requested: boolean;
  readonly publisher_key: string | null;
  readonly reply: string | null;
  /** Id of the workflow run to which the job belongs as a step; null for other jobs. */
  readonly run_id: string | null;
  readonly traceparent: string | null;
}

export interface ClaimRequest {
  readonly id: string;
  readonly workspaceId: string;
  readonly attempt: number;
  readonly dispatch: number;
  readonly worker: string;
  readonly leaseMs: number;
  /** Maximum number of claims of a job. A job with more claims is not tried again, because it may crash its workers. */
  readonly claimsMax: number;
}

/**
 * Makes this worker the owner of a job and returns the job. Returns undefined if the claim fails; `whyUnclaimed` then returns the reason.
 * All times are compared with the database's clock.
 */
export async function claimJob(target: Queryable, claim: ClaimRequest): Promise<ClaimedJob | undefined> {
  const rows = await target.query<ClaimedJob>(
    `update job set state = 'running', epoch = epoch + 1, worker = $5, claims = claims + 1,
       lease_until = clock_timestamp() + $6 * interval '1 millisecond', started_at = coalesce(started_at, clock_timestamp())
     where id = $1 and workspace_id = $2 and attempt = $3 and dispatch = $4
       -- Of a job at its provider the outcome is wanted, also late and after a cancel.
       and (provider_job is not null or (intent_at is null and not cancel_requested and deadline > clock_timestamp()
            and (run_id is null or not work_is_over(id, run_id))))
       and claims < $7 and (state = 'queued' or (state = 'running' and lease_end(lease_until, worker) < clock_timestamp()))
     returning id, workspace_id, epoch, attempt, dispatch, deadline, claims, work, request, request_ref, provider_job,
       unknown_since is not null as is_unknown, is_hidden, cancel_requested, publisher_key, reply, run_id, traceparent`,
    [claim.id, claim.workspaceId, claim.attempt, claim.dispatch, claim.worker, claim.leaseMs, claim.claimsMax],
    "claim_job",
  );
  return rows[0];
}

/** Columns of a job without a live owner, for the process that ends the job. */
export interface OrphanedJob extends Pick<JobRow, "id" | "workspace_id" | "publisher_key" | "reply"> {
  readonly pool: Pool;
  readonly lane: Lane;
  readonly state: JobState;
  readonly epoch: number;
  readonly attempt: number;
  readonly dispatch: number;
  readonly stream_seq: bigint | null;
  readonly claims: number;
  readonly request_ref: string | null;
  readonly cancel_requested: boolean;
  readonly kind: string;
  /**
   * True if a provider may have received the job, but no job id of the provider is known. The job can then not be queried at the provider.
   */
  readonly has_intent: boolean;
  /** True if the provider stores no jobs, so that the job can never be queried. */
  readonly is_direct: boolean;
  /** True if the job continues at its provider, where it can be queried. */
  readonly is_at_provider: boolean;
  readonly is_unknown: boolean;
  readonly is_hidden: boolean;
  readonly is_late: boolean;
  readonly run_id: string | null;
  /** References of the job's input media in the object store. */
  readonly stored_inputs: JobMessage["stored_inputs"] | null;
  /** Maximum cost at full price, in nano-credits. For a job of a batch, `batch_line` contains the share of this price that is held. */
  readonly hold_nano: bigint;
  readonly batch_line: JobMessage["batch_line"] | null;
  /** Queue message of a job whose bodies are kept, and its request if it is in the row; otherwise null. */
  readonly kept_work: Readonly<Record<string, unknown>> | null;
  readonly kept_request: string | null;
}

export type Unclaimed =
  | { readonly why: "void" }
  | { readonly why: "owned"; readonly leaseMs: number }
  | { readonly why: "free"; readonly job: OrphanedJob };

/**
 * Returns why a job could not be claimed. `void`: it has ended or another message has replaced this one. `owned`: another worker owns it.
 * `free`: no worker owns it; it may have to be ended.
 */
export async function whyUnclaimed(target: Queryable, claim: ClaimRequest): Promise<Unclaimed> {
  const rows = await target.query<OrphanedJob & { is_void: boolean; lease_ms: number }>(
    `select ${ORPHANED_COLUMNS},
            state not in ('queued', 'running') or attempt <> $3 or dispatch > $4 as is_void,
            coalesce(extract(epoch from lease_end(lease_until, worker) - clock_timestamp()) * 1000, 0)::float8 as lease_ms
     from job where id = $1 and workspace_id = $2`,
    [claim.id, claim.workspaceId, claim.attempt, claim.dispatch],
  );
  const [job] = rows;
  if (!job || job.is_void) return { why: "void" };
  if (job.lease_ms > 0) return { why: "owned", leaseMs: job.lease_ms };
  return { why: "free", job };
}

/** Columns of an OrphanedJob. */
export const ORPHANED_COLUMNS = `id, workspace_id, publisher_key, reply, pool, lane, state, epoch, attempt, dispatch, stream_seq,
  claims, request_ref, run_id,
  cancel_requested or (run_id is not null and work_is_over(id, run_id)) as cancel_requested, kind, intent_at is not null and provider_job is null as has_intent, intent_is_direct as is_direct,
  provider_job is not null as is_at_provider, unknown_since is not null as is_unknown, is_hidden,
  deadline <= clock_timestamp() as is_late, work->'stored_inputs' as stored_inputs,
  coalesce(provider_job->>'hold_nano', work->>'hold_nano')::bigint as hold_nano, work->'batch_line' as batch_line,
  case when work ? 'bodies' then work end as kept_work, case when work ? 'bodies' then request end as kept_request`;

/**
 * Records that a call of a provider without a queue is about to begin. Afterwards, the job is never run a second time. For providers with a
 * queue, see `noteStart`. Returns false if this worker does not own the job or the job was cancelled.
 */
export async function noteIntent(target: Queryable, id: string, epoch: number): Promise<boolean> {
  const rows = await target.query(
    `update job set intent_at = clock_timestamp(), intent_is_direct = true
     where id = $1 and epoch = $2 and state = 'running' and not cancel_requested returning 1`,
    [id, epoch],
    "note_intent",
  );
  return rows.length > 0;
}

/** Records the progress that the provider has reported. The stored progress never decreases. */
export async function noteProgress(target: Queryable, id: string, epoch: number, progress: number): Promise<void> {
  await target.query(
    `update job set progress = $3 where id = $1 and epoch = $2 and state = 'running' and progress < $3`,
    [id, epoch, progress],
    "note_progress",
  );
}

/** Records that the outcome of the job is unknown (SQL function note_unknown). Returns false if the job has changed since it was read. */
export async function noteUnknown(
  target: Queryable,
  job: { readonly id: string; readonly epoch: number; readonly isOwned: boolean },
  keepMs: number,
): Promise<boolean> {
  const rows = await target.query<{ noted: boolean }>("select note_unknown($1, $2, $3, $4) as noted", [
    job.id,
    job.epoch,
    job.isOwned,
    keepMs,
  ]);
  return rows[0]?.noted === true;
}

/** Makes the next query of a job of unknown outcome at its provider due immediately. */
export async function askSoon(target: Queryable, id: string): Promise<void> {
  await target.query(
    `update job set ask_at = clock_timestamp() where id = $1 and state = 'running' and unknown_since is not null`,
    [id],
  );
}

/**
 * Returns a job to the queue so that another worker takes it over immediately. The job was not begun, or it continues at its provider. A
 * job at its provider may be taken over any number of times: the provider's result or the time limit ends it.
 * @param isOwnFault true if the job may have caused its worker to fail; the claim then counts toward the maximum number of claims
 */
export async function handBackJob(target: Queryable, id: string, epoch: number, isOwnFault: boolean): Promise<void> {
  await target.query(
    `update job set state = 'queued', lease_until = null,
       claims = case when provider_job is not null then 0 when $3 then claims else claims - 1 end
     where id = $1 and epoch = $2 and state = 'running' and (intent_at is null or provider_job is not null)`,
    [id, epoch, isOwnFault],
  );
}

/**
 * Returns a job to the queue for later because no source has accepted it. The job uses no slot meanwhile (SQL function defer_job).
 * @param delayMs shortest wait in milliseconds
 * @returns false if the job cannot wait or this worker does not own it
 */
export async function deferJob(target: Queryable, id: string, epoch: number, delayMs: number): Promise<boolean> {
  const rows = await target.query<{ is_deferred: boolean }>(
    "select defer_job($1, $2, $3) as is_deferred",
    [id, epoch, delayMs],
    "defer_job",
  );
  return rows[0]?.is_deferred === true;
}

export interface Beat {
  readonly worker: string;
  readonly pool: Pool;
  readonly lane: Lane;
  /** Number of jobs that this worker runs concurrently; 0 while it stops. */
  readonly slots: number;
  readonly jobs: readonly { readonly id: string; readonly epoch: number }[];
  readonly leaseMs: number;
}

/**
 * Renews the worker's lease on all its jobs and reports its slots to the dispatcher. Returns the jobs that still belong to this worker.
 * Releases a job that is assigned to the worker but missing in its list, because the response to its claim was lost. A job claimed during
 * this statement is not in the list either. Therefore only a job whose claim's lease ended before the previous renewal is released.
 */
export async function beatJobs(
  target: Queryable,
  beat: Beat,
): Promise<{ readonly id: string; readonly cancel_requested: boolean }[]> {
  return target.query(
    `with told as (
       insert into worker_slots (worker, pool, lane, slots, lease_until, version)
       values ($1, $2, $3, $4, clock_timestamp() + $7 * interval '1 millisecond', $8)
       on conflict (worker, pool, lane) do update
       set slots = excluded.slots, seen_at = clock_timestamp(), lease_until = excluded.lease_until
     ), astray as (
       select id from job
       where lane = $3 and worker = $1 and state = 'running' and not id = any ($5::uuid[])
         and lease_until < (select seen_at from worker_slots where worker = $1 and pool = $2 and lane = $3)
       order by id for update skip locked
     ), let_go as (
       update job set worker = null, lease_until = clock_timestamp() + $7 * interval '1 millisecond'
       from astray where job.id = astray.id
     )
     select j.id, j.cancel_requested from unnest($5::uuid[], $6::int[]) m(id, epoch)
     join job j on j.id = m.id and j.epoch = m.epoch and j.state = 'running'`,
    [
      beat.worker,
      beat.pool,
      beat.lane,
      beat.slots,
      plainArray(beat.jobs.map((job) => job.id)),
      plainArray(beat.jobs.map((job) => job.epoch)),
      beat.leaseMs,
      manifest.version,
    ],
    "beat_jobs",
  );
}

/** Returns, by pool, how many live calls its workers can process concurrently. Counts workers that have reported within the last 45 s. */
export async function liveSlots(target: Queryable): Promise<ReadonlyMap<Pool, number>> {
  const rows = await target.query<{ pool: Pool; slots: number }>(
    `select pool, sum(slots)::int as slots from worker_slots
     where lane = 'live' and seen_at > clock_timestamp() - interval '45 seconds' group by pool`,
    [],
    "live_slots",
  );
  return new Map(rows.filter(({ slots }) => slots > 0).map(({ pool, slots }) => [pool, slots]));
}

/**
 * Stores the stream sequence number of each dispatched message in the row of its job. Skips ended jobs, and jobs that were dispatched again
 * meanwhile.
 */
export async function noteSequences(
  target: Queryable,
  sent: readonly { readonly id: string; readonly dispatch: number; readonly seq: number }[],
): Promise<void> {
  await target.query(
    `with found as (
       select j.id, s.seq from unnest($1::uuid[], $2::int[], $3::bigint[]) s(id, dispatch, seq)
       join job j on j.id = s.id and j.dispatch = s.dispatch and j.ended_at is null
       order by j.id for update of j skip locked
     )
     update job set stream_seq = found.seq from found where job.id = found.id`,
    [
      plainArray(sent.map((message) => message.id)),
      plainArray(sent.map((message) => message.dispatch)),
      plainArray(sent.map((message) => message.seq)),
    ],
    "note_sequences",
  );
}

/** Moves waiting jobs to the queue, round robin over workspaces, and returns their messages. Returns none while another process does so. */
export function releaseJobs(target: Queryable, pool: Pool, lane: Lane, max: number): Promise<Dispatched[]> {
  return target.query<Dispatched>("select * from release_jobs($1, $2, $3)", [pool, lane, max], "release_jobs");
}
