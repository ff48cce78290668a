/** SQL for callers' requests about batches: create, read, list, cancel. batch-work.ts contains the SQL for processing them. */
import type { Queryable } from "./client.ts";
import { type Viewer, viewerValues } from "./viewer.ts";

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

/** Maximum number of lines in all stored batches of one workspace. Their rows take some gigabytes. */
export const KEPT_LINES_MAX = 1_000_000;

/**
 * Number of bytes that a line counts in its workspace's storage, in addition to its `custom_id`. This is about the size of its row and
 * index entries.
 */
export const LINE_ROW_BYTES = 1_024;

/** Maximum number of open batches of one workspace. */
export const OPEN_BATCHES_MAX = 100;

export interface BatchRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly key_id: string;
  readonly fingerprint: string | null;
  readonly endpoint: string;
  readonly input_file_id: string;
  /** Caller's metadata, as JSON text. */
  readonly metadata: string | null;
  readonly output_expires_s: number | null;
  /** Maximum cost of the lines, in nano-credits; null for no maximum. */
  readonly max_nano: bigint | null;
  /** Id of the spend limit of the lines; null for no maximum. */
  readonly limit_id: string | null;
  /** Labels of the lines from the header of the request, by name. */
  readonly labels: Readonly<Record<string, string>> | null;
  readonly state: BatchState;
  /** Final state of the batch; set as soon as no further line starts, otherwise null. */
  readonly ends_as: BatchEnd | null;
  readonly ends_at: Date | null;
  /** Errors of the input file, as JSON text. */
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
  readonly turns_lost: number;
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
  /** Maximum cost of the lines, in nano-credits. */
  readonly maxNano?: bigint | undefined;
  readonly labels?: BatchRow["labels"] | undefined;
  /** Idempotency key of the request that created the batch. */
  readonly repeatId: string | null;
  readonly windowMs: number;
}

/**
 * Creates a batch and returns its id. Returns the id of the earlier batch if the idempotency key was already used. Returns null if the
 * workspace has the maximum number of open batches.
 */
export async function insertBatch(target: Queryable, batch: NewBatch): Promise<string | null> {
  const [row] = await target.query<{ id: string | null }>(
    "select insert_batch($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::jsonb) as id",
    [
      batch.id,
      batch.workspace_id,
      batch.key_id,
      batch.fingerprint,
      batch.repeatId,
      batch.endpoint,
      batch.input_file_id,
      batch.metadata,
      batch.output_expires_s,
      batch.windowMs,
      OPEN_BATCHES_MAX,
      batch.maxNano ?? null,
      batch.labels == null ? null : JSON.stringify(batch.labels),
    ],
  );
  return row?.id ?? null;
}

/** Returns the batch that was created with this idempotency key. Each member has its own keys. */
export async function findRepeated(
  target: Queryable,
  { workspace_id, repeatId }: Pick<NewBatch, "workspace_id" | "repeatId">,
): Promise<BatchRow | undefined> {
  if (repeatId === null) return undefined;
  const [row] = await target.query<BatchRow>("select * from batch where repeat_id = $1 and workspace_id = $2", [
    repeatId,
    workspace_id,
  ]);
  return row;
}

/** SQL condition that decides which batches a caller may see. A batch belongs to the member whose key created it. */
const VISIBLE = "workspace_id = $1 and ($3 or key_id in (select k.id from api_key k where k.member_id = $2))";

/** Returns a batch; undefined if it does not exist or the caller may not see it. */
export async function findBatch(target: Queryable, viewer: Viewer, id: string): Promise<BatchRow | undefined> {
  const [row] = await target.query<BatchRow>(`select * from batch where ${VISIBLE} and id = $4`, [
    ...viewerValues(viewer),
    id,
  ]);
  return row;
}

/** Returns one page of the batches that a caller may see, newest first. @param after id of a batch; the page starts after it */
export function listBatches(
  target: Queryable,
  viewer: Viewer,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<BatchRow[]> {
  return target.query<BatchRow>(
    `select * from batch
     where ${VISIBLE}
       and ($4::uuid is null or (created_at, id) < (select a.created_at, a.id from batch a where a.id = $4 and a.workspace_id = $1))
     order by created_at desc, id desc limit $5`,
    [...viewerValues(viewer), after, limit],
  );
}

/** Cancels a batch. Returns false if the batch has ended or is ending. */
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

/**
 * Returns one page of the ended lines of a batch, sorted by the time at which they ended.
 * @param after job of a line; the page starts after it
 */
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
