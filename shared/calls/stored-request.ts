/** Stores the request of a job: a small one in the job's row, a large one in the object store until the job has ended. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { StoredInputs } from "#shared/calls/kinds/input-media.ts";
import { ApiError } from "#shared/base/errors.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import type { JobRequest } from "#shared/jobs/admission.ts";
import { deleteCallMedia } from "#shared/storage/call-media.ts";
import { deleteClaim, storeClaim } from "#shared/storage/claim-check.ts";

import type { Logger } from "#shared/base/logger.ts";
import type { Storage } from "#shared/storage/client.ts";
import { fitsRow } from "#shared/jobs/result.ts";

import { discardInputs, type Inline, offloadInputs } from "./offload-inputs.ts";

export interface StoredRequest {
  readonly inputs: StoredInputs;
  readonly body: NonNullable<JobRequest["request"]>;
}

interface Context {
  readonly storage: Storage;
  readonly log: Logger;
}

/** Returns true if a request is too large for the row of its job. */
export function isLarge(text: string): boolean {
  return !fitsRow(text);
}

/**
 * Stores the request of a job.
 * @param textOf returns the request with the references of its media
 * @param part distinguishes the objects of this message from those of other messages with the same job id, so that none are overwritten
 * @throws ApiError `service_unavailable`
 */
export async function storeRequest(
  context: Context,
  jobId: string,
  inline: readonly Inline[],
  textOf: (inputs: StoredInputs) => string,
  part = "",
): Promise<StoredRequest> {
  const inputs = await offloadInputs(context, jobId, inline, part === "" ? "" : `${part}-`);
  try {
    return { inputs, body: await keepText(context, jobId, textOf(inputs), part) };
  } catch (error) {
    discardInputs(context, jobId, inputs);
    throw error;
  }
}

async function keepText(
  { storage }: Context,
  jobId: string,
  text: string,
  part: string,
): Promise<StoredRequest["body"]> {
  if (!isLarge(text)) return { text };
  try {
    const reference = await storeClaim(storage, jobId, text, part);
    failpoint("request.stored");
    return { reference };
  } catch (error) {
    throw new ApiError("service_unavailable", "Large requests cannot be stored right now; try again shortly.", {
      cause: error,
    });
  }
}

/** Deletes the stored request of a rejected job, which no worker reads. The janitor deletes objects that remain after an error. */
export function discardStored(context: Context, jobId: string, { inputs, body }: StoredRequest): void {
  discardInputs(context, jobId, inputs);
  if (!("reference" in body)) return;
  deleteClaim(context.storage, body.reference).catch((error: unknown) =>
    context.log.warn({ err: error, job_id: jobId }, "the request of a refused job could not be deleted"),
  );
}

/** Deletes the stored request and media of an ended job. Never throws; after an error, the janitor deletes the remaining objects. */
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
    log.warn({ err: error, job_id: job.id }, "a call's input could not be deleted"),
  );
}
