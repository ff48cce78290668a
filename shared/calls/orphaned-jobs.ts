/**
 * Ends a job that has no live owner and cannot continue. The job was cancelled, has passed its deadline, was lost with its worker, or was
 * tried too often.
 */
import { keepJob, type KeepContext } from "./keep-job.ts";
import { discardRequest } from "./stored-request.ts";
import type { Database } from "#shared/database/client.ts";
import { recordJobLetter } from "#shared/database/dead-letters.ts";
import { type JobError, noteUnknown, type OrphanedJob } from "#shared/database/jobs.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import { notifyRun } from "#shared/queue/run-notice.ts";
import { isResumed } from "#shared/calls/kinds/kinds.ts";

import { notifyCaller, notifyPublisher } from "#shared/jobs/answer.ts";
import { jobError } from "#shared/jobs/error.ts";
import { endJob, type JobEnd, nothingUsed } from "#shared/jobs/end.ts";
import { priceAt } from "#shared/ledger/charge.ts";

export interface EndContext extends KeepContext {
  readonly database: Database;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Connection on which the outcome of a job is published to its publisher. */
  readonly connection: { publish(subject: string, data: string): void; isClosed(): boolean };
  /** Maximum lifetime of the hold of a job with unknown outcome, in milliseconds. */
  readonly unknownKeepMs: number;
}

export interface Ending {
  readonly state: JobEnd["state"];
  readonly usage: "failed" | "cancelled" | "lost";
  readonly error: JobError;
  /** True if the job becomes a dead letter, which an operator must check. */
  readonly isDeadLetter?: true;
}

/**
 * Decides how to continue with a job without a live owner. Returns how the job ends; `unknown` if the provider may have been paid and the
 * result is not known; undefined if the job can continue.
 */
export function endingOf(job: OrphanedJob, claimsMax: number): Ending | "unknown" | undefined {
  if (job.has_intent) {
    if (isResumed(job.kind) && !job.is_direct) return "unknown";
    return {
      state: "failed",
      usage: "lost",
      error: jobError({
        code: "worker_lost",
        message: "The worker that ran the job was lost; the job is not retried.",
      }),
    };
  }
  // The worker that queries the provider ends this job, also after a cancel.
  if (job.is_at_provider) return job.claims >= claimsMax ? "unknown" : undefined;
  if (job.cancel_requested) return CANCELLED;
  if (job.claims >= claimsMax) {
    return {
      state: "failed",
      usage: "failed",
      error: jobError({ code: "worker_lost", message: "Every worker that took the job was lost." }),
      isDeadLetter: true,
    };
  }
  if (job.is_late) {
    return {
      state: "failed",
      usage: "failed",
      error: jobError({ code: "overloaded", message: "No worker was free before the job's deadline." }),
    };
  }
  return undefined;
}

/** Ending of a job that was cancelled before it began. */
export const CANCELLED: Ending = {
  state: "cancelled",
  usage: "cancelled",
  error: jobError({ code: "service_unavailable", message: "The job was cancelled before it began." }),
};

/** Ending of a job whose provider returned no result in time. */
export const EXPIRED: Ending = {
  state: "failed",
  usage: "lost",
  error: jobError({
    code: "upstream_timeout",
    message: "The model's provider never reported the result of the job.",
  }),
};

/**
 * Ends a job without a live owner in the way that `endingOf` has returned. For `unknown`, records that the outcome is unknown and keeps the
 * hold.
 * @returns the outcome of the job; `superseded` if another process has ended the job or owns it again
 * @throws Error if the database stays unavailable
 */
export async function endOrphan(
  context: EndContext,
  job: OrphanedJob,
  ending: Ending | "unknown",
): Promise<Ending["usage"] | "unknown" | "superseded"> {
  // A hidden job cannot be queried later, so it ends now.
  const final = ending === "unknown" && job.is_hidden ? EXPIRED : ending;
  if (final !== "unknown") return (await endOrphaned(context, job, final)) ? final.usage : "superseded";
  const isNoted = await noteUnknown(context.database, { ...job, isOwned: false }, context.unknownKeepMs);
  if (!isNoted) return "superseded";
  context.log.error({ job_id: job.id, kind: job.kind }, "a job's outcome is unknown; its hold stays open");
  notifyCaller(context.connection, job);
  return "unknown";
}

const RETRY_MS = 10_000;

/**
 * Releases the hold of a job, writes its outcome and notifies its publisher. Returns false if another process has ended the job or owns it
 * again.
 */
async function endOrphaned(context: EndContext, job: OrphanedJob, ending: Ending): Promise<boolean> {
  const { database, storage, metrics, log } = context;
  if (ending.isDeadLetter) await recordJobLetter(database, job, "claims used up");
  const end: JobEnd = {
    id: job.id,
    epoch: job.epoch,
    isOwned: false,
    state: ending.state,
    usage: nothingUsed(ending.usage),
    result: null,
    error: ending.error,
    keepsRequest: ending.isDeadLetter ?? false,
  };
  const taken = await endJob(context, end, RETRY_MS);
  if (taken === undefined) return false;
  failpoint("job.concluded");
  if (ending.usage === "lost") metrics.callsLost.inc();
  if (ending === EXPIRED) metrics.creditsWrittenOff.addNano(priceAt(job.hold_nano, job.batch_line ?? undefined));
  log.error(
    { job_id: job.id, workspace_id: job.workspace_id, code: ending.error.code },
    "ended a job that has no owner",
  );
  notifyPublisher(context.connection, job, { status: ending.state, error: ending.error, creditsNano: taken });
  if (job.run_id !== null) notifyRun(context.connection, { ...job, id: job.run_id });
  const discard = async (): Promise<void> => {
    if (!ending.isDeadLetter) await discardRequest({ storage, log }, job);
  };
  const { kept_work: work, kept_request: request, ...facts } = job;
  if (work === null) await discard();
  else keepJob(context, { ...facts, work, request }, { error: ending.error }, () => void discard());
  return true;
}
