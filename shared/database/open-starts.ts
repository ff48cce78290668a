/**
 * Records the requests that start a job at a provider's queue. Each start request is recorded before it is sent. The job is then found
 * again if the provider's response is lost.
 */
import type { Queryable } from "./client.ts";

/** A start request that was recorded before it was sent and has no response yet. Stored in the job's row. */
export interface OpenStart {
  /** Id of this start request, unique within the job. Callbacks with another start id are ignored. */
  readonly id: string;
  /** Data for finding the job at its provider; null if the provider cannot find jobs this way. */
  readonly mark: Readonly<Record<string, unknown>> | null;
  /** Time at which the start request was recorded, just before it was sent, in Unix milliseconds. */
  readonly sent_ms: number;
  /** Time at which the provider's response was found to be lost, in Unix milliseconds. Undefined while the response may still arrive. */
  readonly lost_ms?: number;
  /** Name of the job at the provider, as the provider's callback reported it. */
  readonly told?: string;
}

/**
 * Records that a job is about to be started at a provider's queue. From then on, the job is queried at that provider and never started
 * elsewhere. Returns false if this worker does not own the job, or if the job was cancelled.
 * @param record data of the provider job, including its start request without response
 */
export async function noteStart(target: Queryable, id: string, epoch: number, record: object): Promise<boolean> {
  const rows = await target.query(
    `update job set intent_at = coalesce(intent_at, clock_timestamp()), intent_is_direct = false, provider_job = $3::jsonb
     where id = $1 and epoch = $2 and state = 'running' and not cancel_requested returning 1`,
    [id, epoch, JSON.stringify(record)],
    "note_start",
  );
  return rows.length > 0;
}

/**
 * Records the provider's name of the job, so that the next worker queries the job at that provider. Null clears the name before another
 * provider is called; cleared names are kept in `past_names`. Returns false if another worker owns the job.
 */
export async function noteProviderJob(
  target: Queryable,
  id: string,
  epoch: number,
  job: object | null,
): Promise<boolean> {
  const rows = await target.query(
    `update job set provider_job = $3::jsonb, intent_is_direct = intent_is_direct or $3::jsonb is null,
       past_names = case when $3::jsonb is null and provider_job ? 'names' then coalesce(past_names, '[]') || (
         select jsonb_agg(split_part(provider_job->>'source', '/', 1) || '/' || n.name)
         from jsonb_array_elements_text(provider_job->'names') n(name)) else past_names end
     where id = $1 and epoch = $2 and state = 'running' returning 1`,
    [id, epoch, job === null ? null : JSON.stringify(job)],
    "note_provider_job",
  );
  return rows.length > 0;
}

/**
 * Records that the provider's response to the pending start request is lost. A time that is already recorded is kept. Returns the start
 * request; undefined if none is pending.
 */
export async function noteLostStart(
  target: Queryable,
  id: string,
  epoch: number,
  lostMs: number,
): Promise<OpenStart | undefined> {
  const rows = await target.query<{ start: OpenStart }>(
    `update job set provider_job = jsonb_set(provider_job, '{start,lost_ms}', coalesce(provider_job->'start'->'lost_ms', to_jsonb($3::bigint)))
     where id = $1 and epoch = $2 and state = 'running' and provider_job ? 'start' returning provider_job->'start' as start`,
    [id, epoch, lostMs],
    "note_lost_start",
  );
  return rows[0]?.start;
}

/** Records the job name that a provider's callback reported. Does nothing if the start request with this id already has a response. */
export async function noteRung(target: Queryable, id: string, startId: string, name: string): Promise<void> {
  await target.query(
    `update job set provider_job = jsonb_set(provider_job, '{start,told}', to_jsonb($3::text))
     where id = $1 and ended_at is null and provider_job->'start'->>'id' = $2`,
    [id, startId, name],
    "note_rung",
  );
}

/**
 * Assigns a job of the provider's list to one of our jobs whose start request had no response.
 * @returns `adopted`: assigned. `taken`: the provider's job belongs to another of our jobs. `open`: it may belong to another start request
 * that still waits for its response. `void`: the caller no longer owns the job.
 */
export async function adoptProviderJob(
  target: Queryable,
  job: { readonly id: string; readonly epoch: number },
  listed: { readonly name: string; readonly createdMs: number; readonly clocksMs: number },
  record: object,
): Promise<"adopted" | "taken" | "open" | "void"> {
  const [row] = await target.query<{ result: "adopted" | "taken" | "open" | "void" }>(
    "select adopt_provider_job($1, $2, $3, $4, $5, $6::jsonb) as result",
    [job.id, job.epoch, listed.name, listed.createdMs, listed.clocksMs, JSON.stringify(record)],
    "adopt_provider_job",
  );
  return row?.result ?? "void";
}

/** Returns those of the given provider job names that belong to no stored job. */
export async function unknownNames(target: Queryable, provider: string, names: readonly string[]): Promise<string[]> {
  // Counting looks up each name by the index: `not exists` would become a join that reads all jobs.
  const rows = await target.query<{ name: string }>(
    `select n.name from jsonb_array_elements_text($2::jsonb) n(name)
     where (select count(*) from job where provider_job ? 'names' and provider_job->'names' ? n.name
            and split_part(provider_job->>'source', '/', 1) = $1) = 0
       and (select count(*) from job where past_names ? ($1 || '/' || n.name)) = 0`,
    [provider, JSON.stringify(names)],
    "unknown_names",
  );
  return rows.map(({ name }) => name);
}
