/** Files that a media job keeps while it runs, each once: known by keys in the space of uploads' Idempotency-Keys. */
import { endKeyedFile, findKeyedFiles } from "#shared/database/files.ts";
import { eraseBytes } from "#shared/files/erase.ts";
import type { Database } from "#shared/database/client.ts";
import type { Logger } from "#shared/logger.ts";
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

/** No client's key begins with a blank: headers lose them. The janitor finds ended jobs by it (see kept_result). */
const prefixOf = (id: string): string => ` job ${id} result `;

/**
 * The key of one result of a job. It names the provider's work, so the result of another provider is another file.
 * @param work its source, and the provider's name for it where it has one
 */
export function resultKey({ id }: Pick<Job, "id">, work: string, at: number): string {
  return `${prefixOf(id)}${at} of ${Bun.hash(work).toString(36)}`;
}

/** Deletes the files of a job that another provider makes anew, or that goes on nowhere. The janitor deletes what cannot go now. */
export async function discardResults({ database, storage, log }: ResultTools, job: Job): Promise<void> {
  try {
    for (const { id, key } of await findKeyedFiles(database, job.workspaceId, prefixOf(job.id))) {
      await endKeyedFile(database, job.workspaceId, id, key);
      await eraseBytes(storage, database, { id, upload_id: null });
    }
  } catch (error) {
    log.warn({ err: error, job_id: job.id }, "what a failed job had made could not be taken back");
  }
}
