/** Answers to a publisher about its message, and the look-up of a known job before the message is read. */
import type { Queryable } from "#shared/database/client.ts";
import { findJob, type JobError } from "#shared/database/jobs.ts";
import { type Addressed, type JobReply, jobReplyOf } from "#shared/jobs/answer.ts";
import { jobError } from "#shared/jobs/error.ts";
import { loadResult } from "#shared/jobs/result.ts";
import { isSameRequest, reused } from "#shared/same-request.ts";
import { findPublishedRun, jobOfRun, resultOfRun } from "#shared/workflows/published-run.ts";

import type { IngressContext } from "../context.ts";

import { fingerprintOf } from "./read-call.ts";

export interface Answered {
  readonly kind: "answered";
  readonly outcome: "queued" | "refused" | "repeated";
  readonly job: Addressed;
  readonly told: JobReply;
  /** The message to put on the queue now. */
  readonly dispatch?: { readonly attempt: number; readonly dispatch: number };
  /** A run has begun, of which workers are to hear now. */
  readonly isRun?: true;
  /** The window had room for it. */
  readonly foundOpen?: boolean;
}

/** It comes again: its window is full, or it is one of too many large ones. */
export interface Full {
  readonly kind: "full";
  readonly waitMs: number;
  readonly isWindow: boolean;
}

/**
 * Returns the answer for a job or run that is known by its id; undefined: there is none.
 * @param data the message: one that asks for something else than the first is refused
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
    context.log.warn({ err: error, job_id: job.id }, "a job's result could not be read for its publisher");
    return null;
  });
  return { kind: "answered", outcome: "repeated", job, told: jobReplyOf(row, result) };
}

const REUSED = reused("This Idempotency-Key was used for a message with another body; use a new key.");

/** Returns the answer to a message that is not accepted, and of which nothing is stored. */
export function refused(job: Addressed, error: JobError): Answered {
  return { kind: "answered", outcome: "refused", job, told: { status: "refused", error } };
}
