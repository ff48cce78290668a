/**
 * Stores a summary of each media job in the object store, as one JSON object per job. Operators' own tools can read it without our
 * database. The database is authoritative: a missing or outdated summary is written again from it.
 */
import type { JobRow } from "#shared/database/jobs.ts";
import { formatCredits } from "#shared/base/money.ts";

import type { Storage } from "./client.ts";
import { deleteObject, putObject } from "./objects.ts";

const PREFIX = "jobs/";

function keyOf(job: Pick<JobRow, "id" | "workspace_id">): string {
  return `${PREFIX}${job.workspace_id}/${job.id}.json`;
}

/**
 * Writes the JSON summary of a media job.
 * @param result result text of the job, with files by id (schemas/media-outcome.schema.json)
 */
export async function putJobRecord(storage: Storage, job: JobRow, result: string | null): Promise<void> {
  const record = {
    id: job.id,
    workspace_id: job.workspace_id,
    modality: job.modality,
    kind: job.kind,
    model: job.model,
    state: job.state,
    progress: job.progress,
    is_unknown: job.is_unknown,
    credits: job.credits === null ? null : formatCredits(job.credits),
    error: job.error,
    fallback: job.fallback,
    result: result === null ? null : (JSON.parse(result) as unknown),
    created_at: job.created_at,
    started_at: job.started_at,
    ended_at: job.ended_at,
  };
  await putObject(storage, keyOf(job), Buffer.from(JSON.stringify(record)));
}

/** Deletes the JSON summary of a media job. Idempotent. */
export async function deleteJobRecord(storage: Storage, job: Pick<JobRow, "id" | "workspace_id">): Promise<void> {
  await deleteObject(storage, keyOf(job));
}
