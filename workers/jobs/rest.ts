/**
 * A durable job that finds no source of its model free, all of them at rest or busy, is no failure yet: nothing was done for
 * it, and it may live for hours. It goes back to its row and comes again later.
 */
import { isDataFault } from "#shared/database/client.ts";
import { type ClaimedJob, restJob } from "#shared/database/jobs.ts";
import type { Code } from "#shared/errors.ts";

import type { WorkerContext } from "../context.ts";
import type { Capture } from "./capture.ts";

/** What is said where every source rests, or the last one asked was too busy. */
const NONE_FREE: ReadonlySet<Code> = new Set(["service_unavailable", "overloaded"]);
const RETRY_MS = 10_000;

/** True: the job waits, is not ours any more and must not be ended. False: it ends as it was captured. */
export async function rests(
  { database, log }: Pick<WorkerContext, "database" | "log">,
  job: Pick<ClaimedJob, "id" | "epoch">,
  captured: Pick<Capture, "answer" | "mayHaveBeenServed">,
): Promise<boolean> {
  const answer = captured.answer();
  if (answer === undefined || !("error" in answer)) return false;
  const { code, retry, retry_after_s: afterS = 0 } = answer.error;
  // Asked again from the first source on, the job would be paid for a second time.
  if (!retry || !NONE_FREE.has(code) || captured.mayHaveBeenServed()) return false;
  const giveUpAt = performance.now() + RETRY_MS;
  for (let tries = 0; ; tries++) {
    try {
      return await restJob(database, job.id, job.epoch, afterS * 1_000);
    } catch (error) {
      if (isDataFault(error) || performance.now() > giveUpAt) throw error;
      log.warn({ err: error, job_id: job.id, tries }, "that a job waits is noted again");
      await Bun.sleep(Math.random() * Math.min(2_000, 50 * 2 ** tries));
    }
  }
}
