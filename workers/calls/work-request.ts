/** The client's body of a job: in the message, or behind a claim check. */
import type { JobMessage } from "#schemas/generated/types.ts";
import { deleteClaim, readClaim } from "#shared/storage/claim-check.ts";

import type { Answer } from "../runner/answer.ts";
import type { WorkerContext } from "../context.ts";

import type { CloseCall } from "./close-call.ts";

/** undefined when it could not be read back: the hold is released then and the caller told. */
export async function readRequest(
  context: WorkerContext,
  job: JobMessage,
  answer: Answer,
  closeCall: CloseCall,
): Promise<Record<string, unknown> | undefined> {
  if (job.request_ref === undefined) return job.request;
  try {
    return JSON.parse(await readClaim(context.storage, job.request_ref)) as Record<string, unknown>;
  } catch (error) {
    const { request_id } = job;
    context.log.error({ err: error, request_id }, "the request of a call could not be read from storage");
    await closeCall(job, null, "failed", undefined);
    answer.fail({
      code: "service_unavailable",
      message: "The request could not be read back; try again.",
      param: null,
      retry: true,
    });
    return undefined;
  }
}

/** The stored body of a call that is over. */
export function discardRequest(context: Pick<WorkerContext, "storage" | "log">, job: JobMessage): void {
  if (job.request_ref === undefined) return;
  deleteClaim(context.storage, job.request_ref).catch((error: unknown) =>
    context.log.warn({ err: error }, "a claim was not deleted"),
  );
}
