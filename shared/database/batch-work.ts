/**
 * SQL with which the leader of a batch processes its lines, and with which the janitor cleans up. The process that leads batches is in
 * ingress/routes/batches.
 */
import { plainArray } from "./arrays.ts";
import { type BatchEnd, type BatchRow, LINE_ROW_BYTES } from "./batches.ts";
import type { Queryable } from "./client.ts";

/** Makes this process the leader of the batch that has waited longest. Returns undefined if no batch waits. */
export async function leadBatch(
  target: Queryable,
  leaseMs: number,
  perWorkspaceMax: number,
): Promise<BatchRow | undefined> {
  const [row] = await target.query<BatchRow>("select * from lead_batch($1, $2)", [leaseMs, perWorkspaceMax]);
  return row;
}

/** A batch and the epoch of its leader. Writes with an older epoch are rejected. */
export type Led = Pick<BatchRow, "id" | "epoch">;

/** Thrown when another process leads the batch, so that the data of this process is outdated. */
export class Superseded extends Error {}

/** Renews the lease on a batch. Returns false if another process leads the batch. */
export async function keepLeading(target: Queryable, { id, epoch }: Led, leaseMs: number): Promise<boolean> {
  const rows = await target.query(
    `update batch set lease_until = clock_timestamp() + $3 * interval '1 millisecond'
     where id = $1 and epoch = $2 and ended_at is null returning 1`,
    [id, epoch, leaseMs],
  );
  return rows.length > 0;
}

/** Reads the batch again and ends it if its time has expired. Returns undefined if another process leads the batch. */
export async function reloadBatch(target: Queryable, { id, epoch }: Led): Promise<BatchRow | undefined> {
  const [over] = await target.query<BatchRow>(
    `update batch set ends_as = 'expired', ends_at = clock_timestamp(), state = 'finalizing', finalizing_at = clock_timestamp()
     where id = $1 and epoch = $2 and state in ('validating', 'in_progress') and expires_at <= clock_timestamp() returning *`,
    [id, epoch],
  );
  if (over) return over;
  const [row] = await target.query<BatchRow>(
    "select * from batch where id = $1 and epoch = $2 and ended_at is null",
    [id, epoch],
    "look_at_batch",
  );
  return row;
}

/** Gives up leading a batch. Another process can take over after `waitMs` milliseconds. */
export async function releaseBatch(target: Queryable, { id, epoch }: Led, waitMs: number): Promise<void> {
  await target.query(
    `update batch set lease_until = null, turns_lost = 0, next_at = clock_timestamp() + $3 * interval '1 millisecond'
     where id = $1 and epoch = $2 and ended_at is null`,
    [id, epoch, waitMs],
  );
}

export interface BatchLine {
  readonly number: number;
  readonly custom_id: string;
  readonly start: bigint;
  readonly bytes: number;
  readonly job_id: string;
}

/** Deletes the lines that an earlier, unfinished validation of the batch has inserted. */
export async function dropLines(target: Queryable, { id, epoch }: Led): Promise<void> {
  await target.query(
    "delete from batch_line where batch_id = $1 and exists (select from batch where id = $1 and epoch = $2)",
    [id, epoch],
  );
}

/** Inserts lines of a batch and returns their line numbers. A line whose custom_id already exists in the batch is skipped. */
export async function insertLines(
  target: Queryable,
  { id, epoch }: Led,
  lines: readonly BatchLine[],
): Promise<ReadonlySet<number>> {
  const rows = await target.query<{ number: number }>(
    `insert into batch_line (batch_id, number, custom_id, start, bytes, job_id)
     select $1, l.* from unnest($3::int[], $4::text[], $5::bigint[], $6::int[], $7::uuid[]) l
     where exists (select from batch where id = $1 and epoch = $2)
     on conflict do nothing returning number`,
    [
      id,
      epoch,
      plainArray(lines.map((line) => line.number)),
      lines.map((line) => line.custom_id),
      plainArray(lines.map((line) => line.start)),
      plainArray(lines.map((line) => line.bytes)),
      plainArray(lines.map((line) => line.job_id)),
    ],
    "insert_batch_lines",
  );
  return new Set(rows.map(({ number }) => number));
}

/**
 * Starts to process the lines of a batch. Returns `gone` if another process leads the batch or the batch is ending. Returns `crowded` if
 * the stored batches of the workspace have too many lines, and `full` if the workspace's storage limit has no capacity for these lines.
 */
export async function beginBatch(
  target: Queryable,
  { id, epoch }: Led,
  begun: {
    readonly total: number;
    readonly model: string | null;
    readonly linesMax: number;
    readonly storageBytesMax: number;
  },
): Promise<"begun" | "gone" | "crowded" | "full"> {
  const { total, model, linesMax, storageBytesMax } = begun;
  const [row] = await target.query<{ verdict: "begun" | "gone" | "crowded" | "full" }>(
    "select begin_batch($1, $2, $3, $4, $5, $6, $7) as verdict",
    [id, epoch, total, model, LINE_ROW_BYTES, linesMax, storageBytesMax],
  );
  return row?.verdict ?? "gone";
}

const LINE = "l.number, l.custom_id, l.start, l.bytes, l.job_id";

/**
 * Marks the next lines as running and returns them. Returns undefined if another process leads the batch, or if the batch was cancelled or
 * has expired meanwhile.
 */
export async function takeLines(
  target: Queryable,
  { id, epoch, ends_as }: Led & Pick<BatchRow, "ends_as">,
  max: number,
): Promise<BatchLine[] | undefined> {
  const rows = await target.query<BatchLine | { readonly number: null }>(
    `with led as (
       select from batch where id = $1 and epoch = $2 and ends_as is not distinct from $4
     ), taken as (
       update batch_line l set state = 'running'
       where l.batch_id = $1 and l.number = any (array(
           select number from batch_line where batch_id = $1 and state = 'waiting' order by number limit $3))
         and exists (select from led)
       returning ${LINE})
     select taken.* from led left join taken on true order by number`,
    [id, epoch, max, ends_as],
    "take_batch_lines",
  );
  return rows.length === 0 ? undefined : rows.filter((row) => row.number !== null);
}

/** Returns the running lines of a batch. For each line, states if its job or workflow run exists. */
export function runningLines(
  target: Queryable,
  id: string,
): Promise<(BatchLine & { readonly is_admitted: boolean })[]> {
  return target.query(
    `select ${LINE}, exists (select from job where id = l.job_id) or exists (select from run where id = l.job_id) as is_admitted
     from batch_line l where l.batch_id = $1 and l.state = 'running' order by l.number`,
    [id],
  );
}

/** Returns the ids of those jobs and workflow runs in the list that have ended. */
export async function findEnded(target: Queryable, ids: readonly string[], max: number): Promise<string[]> {
  const rows = await target.query<{ id: string }>(
    `select id from job where id = any ($1::uuid[]) and ended_at is not null
     union all select id from run where id = any ($1::uuid[]) and ended_at is not null limit $2`,
    [plainArray(ids), max],
    "find_ended_batch_lines",
  );
  return rows.map(({ id }) => id);
}

/** Deletes the job of a rejected line, so that the line can be admitted again. Returns false if the line has no such job. */
export async function forgetRefused(target: Queryable, jobId: string): Promise<boolean> {
  const rows = await target.query("delete from job where id = $1 and state = 'refused' returning 1", [jobId]);
  return rows.length > 0;
}

/** Deletes the jobs of all running lines that were rejected with one of these codes. */
export async function forgetAllRefused(target: Queryable, { id, epoch }: Led, codes: readonly string[]): Promise<void> {
  await target.query(
    `delete from job j using batch_line l
     where l.batch_id = $1 and l.state = 'running' and j.id = l.job_id and j.state = 'refused' and j.error->>'code' = any ($3)
       and exists (select from batch where id = $1 and epoch = $2)`,
    [id, epoch, codes],
    "forget_refused_lines",
  );
}

export interface Part {
  readonly isOutput: boolean;
  readonly key: string;
  readonly sha256: Uint8Array;
  readonly lines: readonly { readonly number: number; readonly bytes: number }[];
}

/**
 * Marks lines as ended and stores the reference of the object that contains their records. Call this after the object was written. Returns
 * false if another process leads the batch.
 */
export async function endLines(target: Queryable, { id, epoch }: Led, part: Part): Promise<boolean> {
  const [row] = await target.query<{ done: boolean }>(
    "select end_batch_lines($1, $2, $3, $4, $5, $6::int[], $7::int[]) as done",
    [
      id,
      epoch,
      part.isOutput,
      part.key,
      part.sha256,
      plainArray(part.lines.map(({ number }) => number)),
      plainArray(part.lines.map(({ bytes }) => bytes)),
    ],
    "end_batch_lines",
  );
  return row?.done === true;
}

/** Records that no line is running and that the output files are written next. */
export async function finalizeBatch(target: Queryable, { id, epoch }: Led): Promise<void> {
  await target.query(
    `update batch set ends_as = 'completed', ends_at = clock_timestamp(), state = 'finalizing', finalizing_at = clock_timestamp()
     where id = $1 and epoch = $2 and state = 'in_progress'`,
    [id, epoch],
  );
}

/**
 * Ends the batch and writes the event that notifies the workspace. A cancelled batch has no event. Returns false if another process leads
 * the batch.
 */
export async function endBatch(
  target: Queryable,
  { id, epoch }: Led,
  end: {
    readonly state: BatchEnd | "failed";
    /** Errors of the input file, as JSON text. */
    readonly errors: string | null;
    /** Error in the event that reports the end of the batch; null for a completed or cancelled batch. */
    readonly error: { readonly code: string; readonly message: string } | null;
    readonly outputFileId?: string | null;
    readonly errorFileId?: string | null;
  },
): Promise<boolean> {
  const { state, errors, error, outputFileId = null, errorFileId = null } = end;
  const [row] = await target.query<{ done: boolean }>("select end_batch($1, $2, $3, $4, $5::jsonb, $6, $7) as done", [
    id,
    epoch,
    state,
    errors,
    error && JSON.stringify(error),
    outputFileId,
    errorFileId,
  ]);
  return row?.done === true;
}

export interface PartRow {
  readonly is_output: boolean;
  readonly start: bigint;
  readonly bytes: number;
  readonly sha256: Uint8Array;
  readonly key: string;
}

/** Returns the stored chunks of one output file, starting with the chunk that contains byte `from`. */
export function findParts(
  target: Queryable,
  id: string,
  isOutput: boolean,
  { from = 0n, max = 1_000 }: { readonly from?: bigint; readonly max?: number } = {},
): Promise<PartRow[]> {
  return target.query<PartRow>(
    `select is_output, start, bytes, sha256, key from batch_part
     where batch_id = $1 and is_output = $2 and start + bytes > $3 order by start limit $4`,
    [id, isOutput, from, max],
  );
}

/** Returns chunks of batches whose output files are complete. These chunks are no longer needed. */
export function findSpentParts(
  target: Queryable,
  max: number,
): Promise<(Pick<PartRow, "key" | "is_output" | "start"> & { readonly batch_id: string })[]> {
  return target.query(
    `select p.batch_id, p.is_output, p.start, p.key from batch b join batch_part p on p.batch_id = b.id
     where b.ended_at is not null and b.state <> 'failed' limit $1`,
    [max],
  );
}

/** Deletes the rows of chunks that were removed from the object store. */
export async function forgetParts(target: Queryable, batchId: string, keys: readonly string[]): Promise<void> {
  await target.query("delete from batch_part where batch_id = $1 and key = any ($2)", [batchId, keys]);
}

export interface OpenBatches {
  readonly waiting: bigint;
  readonly running: bigint;
  /** Age of the oldest open batch, in seconds. */
  readonly oldest_seconds: number;
  /**
   * Longest time for which a batch has ended no line, in seconds. Batches without open lines, which wait for storage capacity for their
   * files, do not count.
   */
  readonly stalled_seconds: number;
}

/** Returns line counts and times of open batches. */
export async function countOpenBatches(target: Queryable): Promise<OpenBatches> {
  const [row] = await target.query<OpenBatches>(
    `select coalesce(sum(b.total - b.completed - b.failed - under_way.lines), 0)::bigint as waiting,
       coalesce(sum(under_way.lines), 0)::bigint as running,
       coalesce(greatest(0, extract(epoch from now() - min(b.created_at))), 0)::float8 as oldest_seconds,
       coalesce(greatest(0, extract(epoch from now() - min(b.moved_at) filter (where b.state <> 'finalizing'))), 0)::float8 as stalled_seconds
     from batch b cross join lateral (
       select count(*) as lines from batch_line l where l.batch_id = b.id and l.state = 'running') under_way
     where b.ended_at is null`,
  );
  if (!row) throw new Error("open batches were counted without an answer");
  return row;
}

/** Deletes batches, with their lines, that ended more than `olderHours` hours ago. */
export async function dropEndedBatches(target: Queryable, olderHours: number, max: number): Promise<number> {
  const rows = await target.query(
    `delete from batch where id in (
       select id from batch where ended_at < now() - $1 * interval '1 hour' order by ended_at limit $2 for update skip locked)
     returning 1`,
    [olderHours, max],
  );
  return rows.length;
}

/** Returns those of the given object keys that belong to a chunk of a batch. */
export async function knownParts(target: Queryable, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await target.query<{ key: string }>("select key from batch_part where key = any ($1)", [keys]);
  return new Set(rows.map(({ key }) => key));
}
