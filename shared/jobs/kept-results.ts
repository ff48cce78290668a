/** Files that a running media job has stored, each once. Their keys share the namespace of the Idempotency-Keys of uploads. */
import { endKeyedFile, findKeyedFiles } from "#shared/database/files.ts";
import { eraseBytes } from "#shared/files/erase.ts";
import type { Database } from "#shared/database/client.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Storage } from "#shared/storage/client.ts";

export interface ResultTools {
  readonly database: Database;
  readonly storage: Storage;
  readonly log: Pick<Logger, "warn">;
}

interface Job {
  readonly id: string;
  readonly workspaceId: string;
}

/**
 * Returns the prefix of a job's result keys. It begins with a blank, which no client's key does, because headers are trimmed. The janitor
 * searches for this prefix (see kept_result).
 */
const prefixOf = (id: string): string => ` job ${id} result `;

/**
 * Returns the key of one result of a job. The key includes the source and the provider's job, so that results of different providers are
 * different files.
 * @param work source, and the provider's name of the job if there is one
 */
export function resultKey({ id }: Pick<Job, "id">, work: string, at: number): string {
  return `${prefixOf(id)}${at} of ${Bun.hash(work).toString(36)}`;
}

/**
 * Deletes the stored files of a job that another provider repeats, or that does not continue. If this fails, the janitor deletes the
 * remaining files.
 */
export async function discardResults({ database, storage, log }: ResultTools, job: Job): Promise<void> {
  try {
    for (const { id, key } of await findKeyedFiles(database, job.workspaceId, prefixOf(job.id))) {
      await endKeyedFile(database, job.workspaceId, id, key);
      await eraseBytes(storage, database, { id, upload_id: null });
    }
  } catch (error) {
    log.warn({ err: error, job_id: job.id }, "the partial results of a failed job could not be deleted");
  }
}
