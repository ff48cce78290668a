import type { JobMessage } from "#schemas/generated/types.ts";
import type { Logger } from "#shared/logger.ts";
import { deleteCallMedia } from "#shared/storage/call-media.ts";
import { deleteClaim } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";

/** Deletes what a job that has ended came with. Never throws: what does not go now is the janitor's. */
export async function discardRequest(
  { storage, log }: { readonly storage: Storage; readonly log: Pick<Logger, "warn"> },
  job: {
    readonly id: string;
    readonly request_ref: string | null;
    readonly stored_inputs?: JobMessage["stored_inputs"] | null;
  },
): Promise<void> {
  const { request_ref: reference, stored_inputs: inputs } = job;
  const deletions = [
    ...(reference === null ? [] : [deleteClaim(storage, reference)]),
    ...Object.values(inputs ?? {}).map((one) => deleteCallMedia(storage, one.reference)),
  ];
  await Promise.all(deletions).catch((error: unknown) =>
    log.warn({ err: error, job_id: job.id }, "what came with a call was not deleted"),
  );
}
