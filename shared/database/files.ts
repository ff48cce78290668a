/** SQL for files and stored bytes of workspaces. shared/files keeps bytes and rows consistent. */

import type { Queryable } from "./client.ts";
import { type Viewer, viewerValues } from "./viewer.ts";

/** Maximum number of files of one workspace. Their rows take some 500 MB. */
export const FILES_PER_WORKSPACE_MAX = 1_000_000;

/** A file that is completely stored and not deleted. */
export interface FileRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly bytes: bigint;
  readonly filename: string;
  readonly purpose: string;
  readonly media_type: string;
  readonly sha256: Uint8Array;
  readonly created_at: Date;
  readonly expires_at: Date | null;
}

/** SQL condition that decides which files a caller may see: files without owner, and files of members whose files the caller may see. */
const VISIBLE = "workspace_id = $1 and (member_id is null or member_id = $2 or $3)";

const COLUMNS = "id, workspace_id, bytes, filename, purpose, media_type, sha256, created_at, expires_at";
/** SQL condition that a file exists. An expired file no longer exists, even before its row is deleted. */
const IS_THERE = "state = 'ready' and (expires_at is null or expires_at > clock_timestamp())";

/** Returns a file; undefined if it does not exist or the caller may not see it. */
export async function findFile(target: Queryable, viewer: Viewer, id: string): Promise<FileRow | undefined> {
  const rows = await target.query<FileRow>(
    `select ${COLUMNS} from file where ${VISIBLE} and id = $4 and ${IS_THERE}`,
    [...viewerValues(viewer), id],
    "find_file",
  );
  return rows[0];
}

/** Data with which a file is read and its content verified. */
export interface FileBlocks {
  readonly id: string;
  readonly bytes: number;
  readonly blockBytes: number;
  /** SHA-256 of each block, 32 bytes per block, in order. */
  readonly blockSha256: Uint8Array;
}

interface BlocksRow {
  readonly bytes: bigint;
  readonly block_bytes: number;
  readonly block_sha256: Uint8Array;
}

export async function findBlocks(target: Queryable, id: string): Promise<FileBlocks | undefined> {
  const [row] = await target.query<BlocksRow>(
    `select bytes, block_bytes, block_sha256 from file where id = $1 and state = 'ready'`,
    [id],
    "find_blocks",
  );
  return row && blocksOf(id, row);
}

/** Finds a file whose whole content is to be read. Returns undefined if it does not exist or the caller may not see it. */
export async function findReadable(
  target: Queryable,
  viewer: Viewer,
  id: string,
): Promise<{ readonly filename: string; readonly mediaType: string; readonly blocks: FileBlocks } | undefined> {
  const [row] = await target.query<BlocksRow & Pick<FileRow, "filename" | "media_type">>(
    `select filename, media_type, bytes, block_bytes, block_sha256 from file
     where ${VISIBLE} and id = $4 and ${IS_THERE}`,
    [...viewerValues(viewer), id],
    "find_readable",
  );
  return row && { filename: row.filename, mediaType: row.media_type, blocks: blocksOf(id, row) };
}

function blocksOf(id: string, { bytes, block_bytes, block_sha256 }: BlocksRow): FileBlocks {
  return { id, bytes: Number(bytes), blockBytes: block_bytes, blockSha256: block_sha256 };
}

/** Returns those files with these ids that the caller may see. */
export function findFiles(
  target: Queryable,
  viewer: Viewer,
  ids: readonly string[],
): Promise<Pick<FileRow, "id" | "bytes" | "filename" | "media_type">[]> {
  return target.query(
    `select id, bytes, filename, media_type from file where ${VISIBLE} and id = any($4) and ${IS_THERE}`,
    [...viewerValues(viewer), ids],
    "find_files",
  );
}

export interface FilePage {
  /** Id after which the page starts; any file id is accepted. Undefined for the first page. */
  readonly after: string | undefined;
  readonly limit: number;
  readonly isDescending: boolean;
  readonly purpose: string | undefined;
}

/** Returns one page of the files that the caller may see. Contains one file more than the limit if more files follow. */
export function listFiles(target: Queryable, viewer: Viewer, page: FilePage): Promise<FileRow[]> {
  const [behind, order] = page.isDescending ? ["<", "desc"] : [">", "asc"];
  return target.query<FileRow>(
    `select ${COLUMNS} from file
     where ${VISIBLE} and ${IS_THERE}
       and ($4::text is null or id ${behind} $4)
       and ($5::text is null or purpose = $5)
     order by id ${order}
     limit $6`,
    [...viewerValues(viewer), page.after ?? null, page.purpose ?? null, page.limit + 1],
  );
}

/** Returns the storage that a workspace uses, in bytes: files, runs, workflows, batch lines, responses and conversations. */
export async function storedBytes(target: Queryable, workspaceId: string): Promise<bigint> {
  const rows = await target.query<{ used: bigint }>(
    "select used from file_storage where workspace_id = $1",
    [workspaceId],
    "stored_bytes",
  );
  return rows[0]?.used ?? 0n;
}

/**
 * Returns how many bytes and files the workspace may still store, with open uploads already deducted. Negative after a limit was lowered.
 */
export async function findFreeStorage(
  target: Queryable,
  workspaceId: string,
  storageBytesMax: number,
): Promise<{ readonly bytes: number; readonly files: number }> {
  const rows = await target.query<{ taken: bigint; files: number }>(
    "select used + reserved as taken, files from file_storage where workspace_id = $1",
    [workspaceId],
    "storage_left",
  );
  const { taken = 0n, files = 0 } = rows[0] ?? {};
  return { bytes: storageBytesMax - Number(taken), files: FILES_PER_WORKSPACE_MAX - files };
}

/** Bytes to reserve from the workspace's storage limit for an upload. */
export interface TakenBytes {
  readonly bytes: number;
  readonly limitBytes: number;
}

/**
 * Result of a reservation. `full`: the workspace has no storage left; `crowded`: it has the maximum number of files; `gone`: the lease of
 * the upload expired.
 */
export type Taking = "taken" | "full" | "crowded" | "gone";
const TAKINGS = ["taken", "full", "gone", "crowded"] as const;

export type BegunUpload =
  | { readonly verdict: "begun"; readonly at: Date; readonly taking: Taking }
  | { readonly verdict: "busy" }
  | { readonly verdict: "done"; readonly fingerprint: string; readonly answer: string };

/**
 * Starts an upload.
 * @param key the client's idempotency key; null if absent
 * @param take bytes to reserve immediately, if the size is known
 */
export async function beginUpload(
  target: Queryable,
  upload: { readonly id: string; readonly workspaceId: string; readonly leaseMs: number; readonly key: string | null },
  take?: TakenBytes,
): Promise<BegunUpload> {
  const { id, workspaceId, leaseMs, key } = upload;
  const [row] = await target.query<{
    verdict: "begun" | "busy" | "done";
    begun_at: Date;
    done_fingerprint: Uint8Array;
    done_answer: string;
    code: number | null;
  }>(
    `select b.*, case when b.verdict = 'begun' and $5::bigint is not null then extend_upload($1, $5, $6, $3, null, $7) end as code
     from begin_upload($1, $2, $3, $4) b`,
    [id, workspaceId, leaseMs, key, take?.bytes ?? null, take?.limitBytes ?? null, FILES_PER_WORKSPACE_MAX],
    "begin_upload",
  );
  if (!row) throw new Error("begin_upload told nothing");
  if (row.verdict === "begun") return { verdict: "begun", at: row.begun_at, taking: TAKINGS[row.code ?? 0] ?? "gone" };
  if (row.verdict === "busy") return { verdict: "busy" };
  return { verdict: "done", fingerprint: Buffer.from(row.done_fingerprint).toString("hex"), answer: row.done_answer };
}

export async function extendUpload(
  target: Queryable,
  id: string,
  take: TakenBytes & { readonly leaseMs: number; readonly uploadId: string | null },
): Promise<Taking> {
  const [row] = await target.query<{ code: number }>(
    "select extend_upload($1, $2, $3, $4, $5, $6) as code",
    [id, take.bytes, take.limitBytes, take.leaseMs, take.uploadId, FILES_PER_WORKSPACE_MAX],
    "extend_upload",
  );
  return TAKINGS[row?.code ?? 2] ?? "gone";
}

/** Renews the leases of the uploads that this process receives. */
export async function keepUploads(target: Queryable, ids: readonly string[], leaseMs: number): Promise<void> {
  await target.query(
    `update file set lease_until = clock_timestamp() + $2 * interval '1 millisecond'
     where id = any($1) and state = 'uploading'`,
    [ids, leaseMs],
  );
}

/**
 * Turns an upload into a file. Returns false if the row of the upload was deleted meanwhile. After an error, the file may or may not exist.
 */
export async function finishUpload(
  target: Queryable,
  id: string,
  file: {
    readonly filename: string;
    readonly purpose: string;
    readonly mediaType: string;
    readonly sha256: Uint8Array;
    readonly blockSha256: Uint8Array;
    readonly blockBytes: number;
    readonly expiresS: number | null;
    /** Id of the API key whose member owns the file; null if all members of the workspace may see the file. */
    readonly ownerKeyId: string | null;
    /**
     * Response that is stored for a repeated request with the same idempotency key. `fingerprint` (hex) must match the repeated request.
     * Null if the upload has no such key.
     */
    readonly repeat: { readonly fingerprint: string; readonly answer: string; readonly keepMs: number } | null;
  },
): Promise<boolean> {
  const rows = await target.query<{ done: boolean }>(
    "select finish_upload($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) as done",
    [
      id,
      file.filename,
      file.purpose,
      file.mediaType,
      file.sha256,
      file.blockSha256,
      file.blockBytes,
      file.expiresS,
      file.repeat && Buffer.from(file.repeat.fingerprint, "hex"),
      file.repeat?.answer ?? null,
      file.repeat?.keepMs ?? null,
      file.ownerKeyId,
    ],
    "finish_upload",
  );
  return rows[0]?.done === true;
}

/** An upload that ended without a file, or a deleted file. Its bytes must still be deleted from the object store. */
export interface EndedUpload {
  readonly id: string;
  readonly upload_id: string | null;
}

/** Ends an upload without a file. Returns undefined if the upload has already ended. */
export async function endUpload(target: Queryable, id: string, isExpired: boolean): Promise<EndedUpload | undefined> {
  const rows = await target.query<{ upload_id: string | null }>("select upload_id from end_upload($1, $2)", [
    id,
    isExpired,
  ]);
  return rows[0] && { id, upload_id: rows[0].upload_id };
}

/** Marks a file as deleted, or as `lost` if its bytes are already gone. Returns false if the workspace has no such file. */
export async function endFile(
  target: Queryable,
  workspaceId: string,
  id: string,
  state: "deleted" | "lost",
): Promise<boolean> {
  const rows = await target.query<{ ended: boolean }>("select end_file($1, $2, $3) as ended", [workspaceId, id, state]);
  return rows[0]?.ended === true;
}

/** Deletes a file and the idempotency key of its upload, so that the next request with the key creates another file. */
export async function endKeyedFile(target: Queryable, workspaceId: string, id: string, key: string): Promise<void> {
  await endFile(target, workspaceId, id, "deleted");
  await target.query(
    "delete from idempotency_key where workspace_id = $1 and route = 'files' and key = $3 and subject = $2",
    [workspaceId, id, key],
  );
}

/** Returns the files of finished uploads whose idempotency key has this prefix. */
export function findKeyedFiles(
  target: Queryable,
  workspaceId: string,
  prefix: string,
): Promise<{ readonly id: string; readonly key: string }[]> {
  return target.query(
    `select subject as id, key from idempotency_key
     where workspace_id = $1 and route = 'files' and starts_with(key, $2) and fingerprint is not null`,
    [workspaceId, prefix],
  );
}

/** Deletes the row of a deleted file after its bytes were removed. */
export async function dropFile(target: Queryable, id: string): Promise<void> {
  await target.query("delete from file where id = $1 and state = 'deleted'", [id]);
}
