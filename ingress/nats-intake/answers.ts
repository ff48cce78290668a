/** Answers to publishers about their messages, and the search for an existing job before a message is parsed. */
import type { Queryable } from "#shared/database/client.ts";
import { findJob, type JobError } from "#shared/database/jobs.ts";
import { type Addressed, type JobReply, jobReplyOf } from "#shared/jobs/answer.ts";
import { jobError } from "#shared/jobs/error.ts";
import { loadResult } from "#shared/jobs/result.ts";
import { isSameRequest, reused } from "#shared/json/same-request.ts";
import { findPublishedRun, jobOfRun, resultOfRun } from "#shared/workflows/published-run.ts";

import type { IngressContext } from "../context.ts";

import { fingerprintOf } from "./read-call.ts";

export interface Answered {
  readonly kind: "answered";
  readonly outcome: "queued" | "refused" | "repeated";
  readonly job: Addressed;
  readonly jobReply: JobReply;
  /** Attempt and dispatch number of the message's job. Undefined: the job must not be put on the queue now. */
  readonly dispatch?: { readonly attempt: number; readonly dispatch: number };
  /** True when a run has started and workers must be notified of it. */
  readonly isRun?: true;
  /** True when the message found capacity in its rate window. */
  readonly foundOpen?: boolean;
}

/** Deferral of a message, because its rate window is full or too many large messages are being handled. */
export interface Full {
  readonly kind: "full";
  readonly waitMs: number;
  readonly isWindow: boolean;
}

/**
 * Returns the answer for a message whose job or run already exists; undefined if neither exists.
 * @param data the message; it is refused if its request differs from that of the existing job or run
 */
export async function findKnown(
  context: Pick<IngressContext, "storage" | "log"> & { readonly database: Queryable },
  job: Addressed,
  data: Uint8Array,
): Promise<Answered | undefined> {
  const known = await findJob(context.database, job.workspace_id, job.id);
  const run = known ? undefined : await findPublishedRun(context.database, job.workspace_id, job.id);
  const row = known ?? (run && jobOfRun(run));
  if (!row) return undefined;
  if (row.fingerprint !== null && !isSameRequest(row, { fingerprint: await fingerprintOf(data) }))
    return refused(job, jobError(REUSED));
  const result = await (run ? resultOfRun(context, run) : loadResult(context.storage, row)).catch((error: unknown) => {
    context.log.warn({ err: error, job_id: job.id }, "a job's result could not be read for its batch publisher");
    return null;
  });
  return { kind: "answered", outcome: "repeated", job, jobReply: jobReplyOf(row, result) };
}

const REUSED = reused("This Idempotency-Key was used for a message with another body; use a new key.");

/** Returns the answer to a refused message. No job or run is stored for it. */
export function refused(job: Addressed, error: JobError): Answered {
  return { kind: "answered", outcome: "refused", job, jobReply: { status: "refused", error } };
}
