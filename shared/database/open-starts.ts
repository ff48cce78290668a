/** Starts of jobs at providers' queues: noted before they are sent, and found again when their answers were lost. */
import type { Queryable } from "./client.ts";

/** A start that was about to be sent and has no answer yet, as the row keeps it. */
export interface OpenStart {
  /** Names this one among all starts of a job: a ring for another is none for it. */
  readonly id: string;
  /** The means to find the job at its provider; null: there are none. */
  readonly mark: Readonly<Record<string, unknown>> | null;
  /** Unix milliseconds. */
  readonly sent_ms: number;
  /** Unix milliseconds at which it was clear that its answer is lost. */
  readonly lost_ms?: number;
  /** The name that its provider rang with. */
  readonly told?: string;
}

/**
 * A job is about to be begun at a provider's queue: from here on it is asked for there, and begun nowhere else. False: it is not
 * ours, or was cancelled.
 * @param record with its open start
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
 * Notes the provider's name of the job, so that the next worker asks there. Null forgets it before another provider is asked; its past
 * names stay its own. Returns false where another worker has the job.
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

/** The answer to a job's open start is lost. Keeps when that was noted first; returns the start, undefined where there is none. */
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

/** A provider rang and named its job. Changes nothing for a start that is not open any more. */
export async function noteRung(target: Queryable, id: string, startId: string, name: string): Promise<void> {
  await target.query(
    `update job set provider_job = jsonb_set(provider_job, '{start,told}', to_jsonb($3::text))
     where id = $1 and ended_at is null and provider_job->'start'->>'id' = $2`,
    [id, startId, name],
    "note_rung",
  );
}

/** @returns see adopt_provider_job */
export async function adoptProviderJob(
  target: Queryable,
  job: { readonly id: string; readonly epoch: number },
  listed: { readonly name: string; readonly madeMs: number; readonly clocksMs: number },
  record: object,
): Promise<"adopted" | "taken" | "open" | "void"> {
  const [row] = await target.query<{ result: "adopted" | "taken" | "open" | "void" }>(
    "select adopt_provider_job($1, $2, $3, $4, $5, $6::jsonb) as result",
    [job.id, job.epoch, listed.name, listed.madeMs, listed.clocksMs, JSON.stringify(record)],
    "adopt_provider_job",
  );
  return row?.result ?? "void";
}

/** The ones among these names of a provider that belong to no job. */
export async function unknownNames(target: Queryable, provider: string, names: readonly string[]): Promise<string[]> {
  // Counts, so that each name is looked up by its index: `not exists` would be joined, with all jobs read for it.
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
