/** Batches as their makers see them: made, read, listed, cancelled. How they are worked on: batch-work.ts. */
import type { Queryable } from "./client.ts";

export type BatchState =
  | "validating"
  | "failed"
  | "in_progress"
  | "finalizing"
  | "completed"
  | "expired"
  | "cancelling"
  | "cancelled";
export type BatchEnd = "completed" | "expired" | "cancelled";

/** Batches of one workspace that have not ended. */
export const OPEN_BATCHES_MAX = 100;

export interface BatchRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly key_id: string;
  readonly fingerprint: string | null;
  readonly endpoint: string;
  readonly input_file_id: string;
  /** JSON text. */
  readonly metadata: string | null;
  readonly output_expires_s: number | null;
  readonly state: BatchState;
  /** Set from when on no line is begun. */
  readonly ends_as: BatchEnd | null;
  readonly ends_at: Date | null;
  /** JSON text. */
  readonly errors: string | null;
  readonly model: string | null;
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly output_bytes: bigint;
  readonly error_bytes: bigint;
  readonly input_tokens: bigint;
  readonly cached_tokens: bigint;
  readonly output_tokens: bigint;
  readonly reasoning_tokens: bigint;
  readonly credits: bigint;
  readonly output_file_id: string | null;
  readonly error_file_id: string | null;
  readonly epoch: number;
  readonly created_at: Date;
  readonly in_progress_at: Date | null;
  readonly expires_at: Date;
  readonly finalizing_at: Date | null;
  readonly completed_at: Date | null;
  readonly failed_at: Date | null;
  readonly expired_at: Date | null;
  readonly cancelling_at: Date | null;
  readonly cancelled_at: Date | null;
  readonly ended_at: Date | null;
}

export interface NewBatch extends Pick<
  BatchRow,
  "id" | "workspace_id" | "key_id" | "fingerprint" | "endpoint" | "input_file_id" | "metadata" | "output_expires_s"
> {
  readonly windowMs: number;
}

/** `crowded`: the workspace has as many as it may. Several at once may exceed that by their number. */
export async function insertBatch(target: Queryable, batch: NewBatch): Promise<"made" | "known" | "crowded"> {
  const rows = await target.query<{ is_known: boolean; is_made: boolean }>(
    `with made as (
       insert into batch (id, workspace_id, key_id, fingerprint, endpoint, input_file_id, metadata, output_expires_s, expires_at)
       select $1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp() + $9 * interval '1 millisecond'
       where (select count(*) from (select from batch where workspace_id = $2 and ended_at is null limit $10) x) < $10
       on conflict (id) do nothing returning 1)
     select exists (select from made) as is_made, exists (select from batch where id = $1) as is_known`,
    [
      batch.id,
      batch.workspace_id,
      batch.key_id,
      batch.fingerprint,
      batch.endpoint,
      batch.input_file_id,
      batch.metadata,
      batch.output_expires_s,
      batch.windowMs,
      OPEN_BATCHES_MAX,
    ],
  );
  if (rows[0]?.is_made === true) return "made";
  // One made at the same moment is found by its reader.
  return rows[0]?.is_known === true || (await findBatch(target, batch.workspace_id, batch.id)) ? "known" : "crowded";
}

/** Undefined for another workspace's batch as for none. */
export async function findBatch(target: Queryable, workspaceId: string, id: string): Promise<BatchRow | undefined> {
  const [row] = await target.query<BatchRow>("select * from batch where id = $1 and workspace_id = $2", [
    id,
    workspaceId,
  ]);
  return row;
}

/** The newest first. @param after id of a batch: the page begins behind it */
export function listBatches(
  target: Queryable,
  workspaceId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<BatchRow[]> {
  return target.query<BatchRow>(
    `select * from batch
     where workspace_id = $1
       and ($2::uuid is null or (created_at, id) < (select a.created_at, a.id from batch a where a.id = $2 and a.workspace_id = $1))
     order by created_at desc, id desc limit $3`,
    [workspaceId, after, limit],
  );
}

/** False when it has ended, or is about to. */
export async function cancelBatch(target: Queryable, workspaceId: string, id: string): Promise<boolean> {
  const rows = await target.query(
    `update batch set state = 'cancelling', ends_as = 'cancelled', ends_at = clock_timestamp(), cancelling_at = clock_timestamp(),
       next_at = clock_timestamp()
     where id = $1 and workspace_id = $2 and state in ('validating', 'in_progress') returning 1`,
    [id, workspaceId],
  );
  return rows.length > 0;
}

export interface EndedLine {
  readonly job_id: string;
  readonly place: number;
  readonly is_output: boolean;
  readonly record_start: bigint;
  readonly record_bytes: number;
}

/** In the order of their ends. @param after the job of a line */
export function listEndedLines(
  target: Queryable,
  id: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<EndedLine[]> {
  return target.query<EndedLine>(
    `select job_id, place, is_output, record_start, record_bytes from batch_line
     where batch_id = $1 and place is not null
       and ($2::uuid is null or place > (select a.place from batch_line a where a.batch_id = $1 and a.job_id = $2))
     order by place limit $3`,
    [id, after, limit],
  );
}
