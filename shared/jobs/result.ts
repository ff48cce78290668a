/** A job's result: in its row up to JOB_TEXT_BYTES_MAX, beyond that in the object store. */
import type { JobRow } from "#shared/database/jobs.ts";
import type { Logger } from "#shared/logger.ts";
import { readClaim, storeResult } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";

import type { JobEnd } from "./end.ts";

/** Requests and results up to this size stand in the job's row, larger ones in the object store. */
export const JOB_TEXT_BYTES_MAX = 64 * 1024;

/** True for a text that stands in a job's row. */
export function fitsRow(text: string): boolean {
  return text.length <= JOB_TEXT_BYTES_MAX && Buffer.byteLength(text) <= JOB_TEXT_BYTES_MAX;
}

/** A store that is away must not cost a result that was paid for: it then stands in the row, whatever its size. */
export async function keepResult(
  context: { readonly storage: Storage; readonly log: Logger },
  job: { readonly id: string; readonly epoch: number },
  text: string,
): Promise<NonNullable<JobEnd["result"]>> {
  if (fitsRow(text)) return { text };
  try {
    return { reference: await storeResult(context.storage, job.id, job.epoch, text) };
  } catch (error) {
    context.log.warn({ err: error, job_id: job.id }, "a large result was kept in its row");
    return { text };
  }
}

/** JSON text; null when the job has none. @throws Error when the object store does not give it back whole */
export async function loadResult(storage: Storage, row: Pick<JobRow, "result" | "result_ref">): Promise<string | null> {
  if (row.result !== null) return row.result;
  return row.result_ref === null ? null : readClaim(storage, row.result_ref);
}
