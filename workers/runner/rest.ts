/**
 * A durable job that finds no source of its model free, all of them at rest or busy, is no failure yet: nothing was done for
 * it, and it may live for hours. It goes back to its row and comes again later.
 */
import { retryStatement } from "#shared/database/retry.ts";
import { type ClaimedJob, deferJob } from "#shared/database/jobs.ts";
import type { Code } from "#shared/errors.ts";

import type { WorkerContext } from "../context.ts";
import type { Outcome } from "../outcome.ts";

/** Error codes for a call whose sources all rest, or whose last one was too busy. */
const NONE_FREE: ReadonlySet<Code> = new Set(["service_unavailable", "overloaded"]);
const RETRY_MS = 10_000;

/**
 * @param mayHaveBeenServed a provider may have done the work: asked again from the first source on, it would be paid twice
 * @returns true: the job waits, is not ours any more and must not be ended. False: it ends as its outcome says
 */
export async function rests(
  { database, log }: Pick<WorkerContext, "database" | "log">,
  job: Pick<ClaimedJob, "id" | "epoch">,
  outcome: Outcome,
  mayHaveBeenServed: boolean,
): Promise<boolean> {
  if (!("failure" in outcome) || mayHaveBeenServed) return false;
  const { code, retry, retryAfterS = 0 } = outcome.failure;
  if (!retry || !NONE_FREE.has(code)) return false;
  return retryStatement(() => deferJob(database, job.id, job.epoch, retryAfterS * 1_000), {
    forMs: RETRY_MS,
    onRetry: (error, tries) => log.warn({ err: error, job_id: job.id, tries }, "that a job waits is noted again"),
  });
}
