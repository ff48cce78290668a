/** Stores and loads a job's result: in its row up to JOB_TEXT_BYTES_MAX bytes, otherwise in the object store. */
import type { JobRow } from "#shared/database/jobs.ts";
import type { Logger } from "#shared/base/logger.ts";
import { readClaim, storeResult } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";

import type { JobEnd } from "./end.ts";

/** Maximum size of a request or result in the job's row, in bytes. Larger ones are in the object store. */
export const JOB_TEXT_BYTES_MAX = 64 * 1024;

/** Returns true for a text that fits a job's row. */
export function fitsRow(text: string): boolean {
  return text.length <= JOB_TEXT_BYTES_MAX && Buffer.byteLength(text) <= JOB_TEXT_BYTES_MAX;
}

/**
 * Stores a large result in the object store and returns its reference. Returns the text itself if it fits the row, or if the object store
 * is unavailable. The row then stores a result of any size, so that a paid result is never lost.
 */
export async function keepResult(
  context: { readonly storage: Storage; readonly log: Logger },
  job: { readonly id: string; readonly epoch: number },
  text: string,
): Promise<NonNullable<JobEnd["result"]>> {
  if (fitsRow(text)) return { text };
  try {
    return { reference: await storeResult(context.storage, job.id, job.epoch, text) };
  } catch (error) {
    context.log.warn(
      { err: error, job_id: job.id },
      "a large result was stored in its database row instead of the object store",
    );
    return { text };
  }
}

/** Returns a job's result as JSON text; null if the job has none. @throws Error if the object store does not return it completely */
export async function loadResult(storage: Storage, row: Pick<JobRow, "result" | "result_ref">): Promise<string | null> {
  if (row.result !== null) return row.result;
  return row.result_ref === null ? null : readClaim(storage, row.result_ref);
}
