/** SQL with which the janitor cleans up stored files. All comparisons use the database's clock. */
import type { Queryable } from "./client.ts";
import type { EndedUpload } from "./files.ts";
import { freshAndDue } from "./sweep-retries.ts";

/** Returns ids of uploads whose lease has expired because their process has not renewed it. */
export async function expiredUploads(target: Queryable, batch: number): Promise<string[]> {
  const rows = await target.query<{ id: string }>(
    freshAndDue(
      "expired uploads",
      "file.id",
      (condition) => `select id from file where state = 'uploading' and lease_until < now() and ${condition}
       order by lease_until limit $1`,
    ),
    [batch],
  );
  return rows.map((row) => row.id);
}

/** Returns files whose retention period has ended. */
export function outlivedFiles(target: Queryable, batch: number): Promise<{ id: string; workspace_id: string }[]> {
  return target.query(
    freshAndDue(
      "outlived files",
      "file.id",
      (condition) => `select id, workspace_id from file where state = 'ready' and expires_at <= now() and ${condition}
       order by expires_at limit $1`,
    ),
    [batch],
  );
}

/**
 * Returns files that were deleted at least `graceMs` milliseconds ago and whose bytes may still exist, because the deleting process did not
 * finish.
 */
export function undeletedBytes(target: Queryable, graceMs: number, batch: number): Promise<EndedUpload[]> {
  return target.query<EndedUpload>(
    freshAndDue(
      "deleted files",
      "file.id",
      (condition) => `select id, upload_id from file
       where state = 'deleted' and ended_at < now() - $1 * interval '1 millisecond' and ${condition}
       order by ended_at limit $2`,
    ),
    [graceMs, batch],
  );
}

export interface KnownFile {
  readonly id: string;
  readonly workspace_id: string;
  readonly state: "uploading" | "ready" | "deleted" | "lost";
  readonly upload_id: string | null;
  /** True if the bytes must be in the object store, because the file has been ready for longer than `settledMs`. */
  readonly is_settled: boolean;
}

/** Returns one page of the files with ids above `from` and up to `to` (null: to the end), sorted by id. */
export function filesBetween(
  target: Queryable,
  range: { readonly from: string; readonly to: string | null; readonly settledMs: number; readonly batch: number },
): Promise<KnownFile[]> {
  return target.query<KnownFile>(
    `select id, workspace_id, state, upload_id,
            state = 'ready' and created_at < now() - $3 * interval '1 millisecond' as is_settled
     from file
     where id > $1 and ($2::text is null or id <= $2)
     order by id
     limit $4`,
    [range.from, range.to, range.settledMs, range.batch],
  );
}

/** Returns the files with these ids. */
export function knownFiles(target: Queryable, ids: readonly string[]): Promise<Omit<KnownFile, "is_settled">[]> {
  return target.query("select id, workspace_id, state, upload_id from file where id = any($1)", [ids]);
}

export interface KeptResult {
  readonly workspace_id: string;
  readonly key: string;
  /** Id of the file. */
  readonly subject: string;
}

/**
 * Deletes up to `batch` idempotency keys with which running jobs stored a file, once the result of the completed job contains the file. The
 * files themselves stay. Returns the number of deleted keys.
 */
export async function forgetFinalResults(target: Queryable, batch: number): Promise<number> {
  const rows = await target.query(
    `delete from idempotency_key where (workspace_id, route, key) in (
       select k.workspace_id, 'files', k.key
       from kept_result k join job on job.id = k.job_id
       where job.state = 'completed' and position(k.subject in job.result) > 0
       limit $1
       for update of k skip locked for share of job skip locked)
     returning 1`,
    [batch],
  );
  return rows.length;
}

/** Returns files that a job stored while it ran and whose job has ended or no longer exists. */
export function keptOfEndedJobs(target: Queryable, batch: number): Promise<KeptResult[]> {
  return target.query<KeptResult>(
    freshAndDue(
      "kept results",
      "k.workspace_id || ' ' || k.key",
      (condition) => `select k.workspace_id, k.key, k.subject
       from kept_result k left join job on job.id = k.job_id
       where (job.id is null or job.state not in ('queued', 'running')) and ${condition}
       limit $1`,
    ),
    [batch],
  );
}

export interface StorageFault {
  readonly workspace_id: string;
  readonly fault: string;
  readonly expected: string;
  readonly found: string;
}

/** Returns the workspaces whose counted storage differs from that of their rows. All values come from one snapshot. */
export function auditStorage(target: Queryable): Promise<StorageFault[]> {
  return target.query<StorageFault>("select * from audit_storage()");
}

/**
 * Deletes the idempotency key with which a job stored a file. If the ended job's result does not contain the file, also marks the file as
 * deleted and returns true. The caller must then delete the bytes of the file.
 */
export async function dropKeptResult(target: Queryable, { workspace_id: ws, key }: KeptResult): Promise<boolean> {
  const rows = await target.query<{ deleted: boolean | null }>("select drop_kept_result($1, $2) as deleted", [ws, key]);
  return rows[0]?.deleted === true;
}

/** Deletes up to `batch` expired idempotency keys of clients and returns their number. Keys of jobs are deleted with their jobs. */
export async function dropExpiredKeys(target: Queryable, batch: number): Promise<number> {
  const rows = await target.query(
    `delete from idempotency_key where (workspace_id, route, key) in (
       select workspace_id, route, key from idempotency_key
       where fingerprint is not null and expires_at <= now() and key not like ' job %'
       order by expires_at
       limit $1)
     returning 1`,
    [batch],
  );
  return rows.length;
}
