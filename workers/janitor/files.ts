/**
 * Cleans up the file store after crashes. The sweeps find uploads without an owner, results of failed jobs, bytes of deleted files, bytes
 * without a row, and rows without bytes. Ages of rows use the clock of the database; ages of objects use the clock of the object store.
 */
import { commonNow } from "#shared/base/clock.ts";
import type { Database } from "#shared/database/client.ts";
import {
  dropExpiredKeys,
  dropKeptResult,
  forgetFinalResults,
  expiredUploads,
  filesBetween,
  type KeptResult,
  keptOfEndedJobs,
  knownFiles,
  outlivedFiles,
  undeletedBytes,
} from "#shared/database/file-sweeps.ts";
import { endFile, endUpload, type EndedUpload } from "#shared/database/files.ts";
import { eraseBytes } from "#shared/files/erase.ts";
import { fileIdOf, FILES_PREFIX, objectKey } from "#shared/files/id.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Storage } from "#shared/storage/client.ts";
import { CLAIMS_PREFIX } from "#shared/storage/claim-check.ts";
import { deleteObject, dropParts, listObjects, listUploads, objectSize } from "#shared/storage/objects.ts";
import { paced } from "#shared/config/pace.ts";

import { sweepEach } from "./sweeps.ts";

/** Age at which an object without a row, or a row without its object, counts as orphaned, in milliseconds. */
export const ORPHAN_AGE_MS = 3_600_000;

/** Time in which the process that deleted a file must delete its bytes, in milliseconds. Afterwards, the janitor deletes them. */
const FILE_DELETE_GRACE_MS = paced(60_000);

export interface FileSweepContext {
  readonly storage: Storage;
  readonly database: Database;
  readonly log: Logger;
  readonly now?: () => number;
}

const BATCH = 500;
/** Number of consecutive failed deletions after which the object store counts as unavailable. */
const FAILURES_MAX = 4;

/**
 * Ends uploads whose process crashed, which frees their reserved storage. Also deletes expired files, and the bytes of deleted files and of
 * results without a job.
 */
export async function sweepUploads(context: FileSweepContext): Promise<void> {
  const { database, storage, log } = context;
  const erase = async (ended: EndedUpload): Promise<void> => {
    await eraseBytes(storage, database, ended).catch((error: unknown) =>
      log.warn({ err: error, file_id: ended.id }, "a deleted file's content could not be deleted; it is retried"),
    );
  };
  const idOf = ({ id }: { readonly id: string }): string => id;
  const expired = (await expiredUploads(database, BATCH)).map((id) => ({ id }));
  await sweepEach(context, { sweep: "expired uploads", rows: expired, itemOf: idOf }, async ({ id }) => {
    const ended = await endUpload(database, id, true);
    if (!ended) return;
    log.warn({ file_id: id }, "discarded an upload whose process has died");
    await erase(ended);
  });
  const outlived = await outlivedFiles(database, BATCH);
  await sweepEach(context, { sweep: "outlived files", rows: outlived, itemOf: idOf }, async ({ id, workspace_id }) => {
    if (await endFile(database, workspace_id, id, "deleted")) await erase({ id, upload_id: null });
  });
  while ((await forgetFinalResults(database, BATCH)) >= BATCH);
  const kept = await keptOfEndedJobs(database, BATCH);
  const keyOf = ({ workspace_id, key }: KeptResult): string => `${workspace_id} ${key}`;
  await sweepEach(context, { sweep: "kept results", rows: kept, itemOf: keyOf }, async (result) => {
    if (await dropKeptResult(database, result)) await erase({ id: result.subject, upload_id: null });
  });
  const deleted = await undeletedBytes(database, FILE_DELETE_GRACE_MS, BATCH);
  const deletions = { sweep: "deleted files", rows: deleted, itemOf: idOf, failuresMax: FAILURES_MAX } as const;
  await sweepEach(context, deletions, (ended) => eraseBytes(storage, database, ended));
  while ((await dropExpiredKeys(database, BATCH)) >= BATCH);
}

export interface Orphans {
  /** Number of deleted objects that had no database row. */
  readonly objects: number;
  /** Number of aborted multipart uploads that had no database row. */
  readonly uploads: number;
  /** Number of files whose bytes are missing. */
  readonly lost: number;
}

/** Compares all file rows with all stored objects, both in the order of their ids, page by page. */
export async function sweepOrphans(context: FileSweepContext, page = 1_000): Promise<Orphans> {
  const uploads = (await sweepMultipartUploads(context)) + (await sweepClaimParts(context));
  const found = { objects: 0, uploads, lost: 0 };
  const missing: { id: string; workspace_id: string }[] = [];
  let files = 0;
  let from = "";
  for (let hasMore = true; hasMore;) {
    const list = await listObjects(context.storage, FILES_PREFIX, from === "" ? undefined : objectKey(from), page);
    hasMore = list.hasMore && list.objects.length > 0;
    const ids = list.objects.map(({ key, at }) => ({ id: fileIdOf(key), key, at }));
    const to = hasMore ? (ids.at(-1)?.key.slice(FILES_PREFIX.length) ?? null) : null;
    const there = new Set(ids.map(({ id }) => id));
    const rows = await rowsBetween(context.database, from, to);
    const known = new Set(rows.map(({ id }) => id));
    for (const { id, key, at } of ids) {
      // An object with a foreign name is not ours to delete.
      if (id === undefined || known.has(id) || !isOld(context, at)) continue;
      if (await deleteOrphan(context, id, key).catch(notYet(context, id))) found.objects += 1;
    }
    for (const row of rows) {
      if (row.state === "ready") files += 1;
      if (row.is_settled && !there.has(row.id)) missing.push(row);
    }
    from = to ?? from;
  }
  found.lost = await sweepLost(context, missing, files);
  if (found.objects + found.uploads + found.lost > 0)
    context.log.warn({ ...found }, "deleted orphans of the file store");
  return found;
}

async function rowsBetween(database: Database, from: string, to: string | null) {
  const rows: Awaited<ReturnType<typeof filesBetween>> = [];
  for (let last = from; ;) {
    const batch = await filesBetween(database, { from: last, to, settledMs: ORPHAN_AGE_MS, batch: BATCH });
    rows.push(...batch);
    last = batch.at(-1)?.id ?? last;
    if (batch.length < BATCH) return rows;
  }
}

/**
 * Deletes an object without a database row. The row is looked up again first, because it may have been written since the page was listed.
 */
async function deleteOrphan({ storage, database }: FileSweepContext, id: string, key: string): Promise<boolean> {
  if ((await knownFiles(database, [id])).length > 0) return false;
  await deleteObject(storage, key);
  return true;
}

/**
 * Maximum number of lost files that are marked at once. A higher number indicates a wrong bucket or an unavailable store, so no file is
 * marked as lost.
 */
const LOST_AT_ONCE = 10;

async function sweepLost(
  context: FileSweepContext,
  missing: readonly { id: string; workspace_id: string }[],
  files: number,
): Promise<number> {
  const { database, storage, log } = context;
  if (missing.length > LOST_AT_ONCE && missing.length * 2 > files) {
    log.error(
      { missing: missing.length, files },
      "most files have no content, so nothing is changed; check that SLUICE_S3_BUCKET is the right bucket",
    );
    return 0;
  }
  let lost = 0;
  for (const { id, workspace_id } of missing) {
    const end = async (): Promise<boolean> => {
      if ((await objectSize(storage, objectKey(id))) !== undefined) return false;
      return endFile(database, workspace_id, id, "lost");
    };
    if (!(await end().catch(notYet(context, id)))) continue;
    lost += 1;
    log.error({ file_id: id, workspace_id }, "a file lost its content and is no longer listed");
  }
  return lost;
}

/** Returns an error handler that logs a failed deletion. The sweep then continues with the following objects. */
function notYet({ log }: FileSweepContext, fileId: string): (error: unknown) => false {
  return (error) => {
    log.warn({ err: error, file_id: fileId }, "an orphan of the file store could not be deleted; it is retried");
    return false;
  };
}

async function sweepMultipartUploads(context: FileSweepContext): Promise<number> {
  const { storage, database, log } = context;
  let dropped = 0;
  try {
    const uploads = (await listUploads(storage, FILES_PREFIX)).filter(({ at }) => isOld(context, at));
    const ids = uploads.flatMap(({ key }) => fileIdOf(key) ?? []);
    const running = new Map((await knownFiles(database, ids)).map((row) => [row.id, row]));
    for (const { key, uploadId } of uploads) {
      const row = running.get(fileIdOf(key) ?? "");
      if (row?.state === "uploading" && (row.upload_id ?? uploadId) === uploadId) continue;
      await dropParts(storage, key, uploadId);
      dropped += 1;
    }
  } catch (error) {
    // Some stores cannot list multipart uploads; a lifecycle rule of the bucket has the same effect.
    log.warn({ err: error }, "orphaned multipart uploads could not be deleted");
  }
  return dropped;
}

/** Aborts multipart uploads of media that crashed processes left. Returns the number of aborted uploads. */
async function sweepClaimParts(context: FileSweepContext): Promise<number> {
  const { storage, log } = context;
  try {
    const uploads = (await listUploads(storage, CLAIMS_PREFIX)).filter(({ at }) => isOld(context, at));
    for (const { key, uploadId } of uploads) await dropParts(storage, key, uploadId);
    return uploads.length;
  } catch (error) {
    log.warn({ err: error }, "orphaned multipart uploads of calls could not be deleted");
    return 0;
  }
}

function isOld({ now = commonNow }: FileSweepContext, at: Date): boolean {
  return at.getTime() < now() - ORPHAN_AGE_MS;
}
