/**
 * Ends durable jobs of one pool and lane. Settlement, usage record and outcome are written in one statement. The publisher, the run and the
 * dispatcher are then notified. If another worker owns the job, nothing is written and no notice is sent.
 */
import type { JobMessage } from "#schemas/generated/types.ts";
import { keepJob } from "#shared/calls/keep-job.ts";
import { discardRequest } from "#shared/calls/stored-request.ts";
import { CANCELLED, type EndContext, type Ending, endOrphan, EXPIRED } from "#shared/calls/orphaned-jobs.ts";
import { recordJobLetter } from "#shared/database/dead-letters.ts";
import { type ClaimedJob, noteUnknown, type OrphanedJob, deferJob } from "#shared/database/jobs.ts";
import { failpoint, sentFailpoint } from "#shared/base/failpoint.ts";
import { notifyCaller, notifyPublisher, type JobReply } from "#shared/jobs/answer.ts";
import { endJob, type JobEnd, nothingUsed } from "#shared/jobs/end.ts";
import { jobError } from "#shared/jobs/error.ts";
import { keepResult } from "#shared/jobs/result.ts";
import { type Charge, chargeAt, countCharge, priceAt, settlementOf, takenOf } from "#shared/ledger/charge.ts";
import { insistOn, OUTAGE_RETRY_MS } from "#shared/storage/outage.ts";
import { notifyRun } from "#shared/queue/run-notice.ts";
import { type Lane, type Pool, freedSubject, runSubject } from "#shared/queue/subjects.ts";
import { retryStatement } from "#shared/database/retry.ts";
import { ApiError, type Code } from "#shared/base/errors.ts";

import { withCredits } from "../calls/credits-place.ts";
import type { WorkerContext } from "../context.ts";
import type { JobOwner, StepContinuation, StepContinued } from "../job.ts";
import { attemptsOf, freeFailure, type Outcome } from "../outcome.ts";
import type { ProviderError } from "../providers/provider.ts";

import type { DurableVerdict } from "./durable-jobs.ts";

export class DurableEnds {
  private readonly context: WorkerContext;
  private readonly pool: Pool;
  private readonly lane: Lane;
  private readonly unknownKeepMs: number;
  private readonly orphans: EndContext;

  constructor(context: WorkerContext, pool: Pool, lane: Lane) {
    const { database, storage, metrics, log, replies, bodyKeeper, responses } = context;
    this.context = context;
    this.pool = pool;
    this.lane = lane;
    this.unknownKeepMs = context.config.unknownOutcomeHours * 3_600_000;
    const { unknownKeepMs } = this;
    this.orphans = { database, storage, metrics, log, connection: replies, unknownKeepMs, bodyKeeper, responses };
  }

  /** Ends a job. @param outcome undefined if a bug of ours ended the execution after a provider may have been called */
  async end(job: ClaimedJob, outcome: Outcome | undefined): Promise<DurableVerdict> {
    return this.writeOutcome(job, outcome, await endOf(this.context, job, outcome));
  }

  /** Ends the job of a step and continues its run in this worker if possible. Otherwise ends the job like any other. */
  async endStep(
    job: ClaimedJob,
    outcome: Outcome,
    step: StepContinuation,
    owner: JobOwner,
  ): Promise<{ readonly verdict: DurableVerdict; readonly next?: StepContinued["next"] }> {
    const ending = await endOf(this.context, job, outcome);
    const { end, charge, jobReply } = ending;
    failpoint("job.served");
    const continued = await step.end(end, owner, OUTAGE_RETRY_MS);
    if (!continued) return { verdict: await this.writeOutcome(job, outcome, ending) };
    const { takenNano, next } = continued;
    this.countEnd(job, end, charge, takenNano);
    if (next) this.context.metrics.jobsDispatched.inc(this.pool, this.lane, "continued");
    else this.notifySlotFreed();
    this.release(job, end, jobReply);
    return { verdict: { outcome: end.state }, next };
  }

  /**
   * Keeps a job whose outcome is unknown. Its credits stay held, and the ingress that waits for the job is notified that the job continues.
   * A hidden job ends as failed instead, because its caller cannot look it up later.
   */
  async markUnknown(job: ClaimedJob, fault: ProviderError): Promise<DurableVerdict> {
    // The caller of a hidden job cannot look it up later, so the job ends as failed now.
    if (job.is_hidden) return this.writeOff(job);
    const { database, log, replies } = this.context;
    const insist = insistOn({ log, about: { job_id: job.id } });
    const owned = { id: job.id, epoch: job.epoch, isOwned: true };
    const isNoted = await insist(() => noteUnknown(database, owned, this.unknownKeepMs));
    if (!isNoted) return { outcome: "superseded" };
    log.error({ err: fault, job_id: job.id }, "a job's outcome is unknown; its hold stays open");
    notifyCaller(replies, job);
    return { outcome: "unknown" };
  }

  /**
   * Ends a job as cancelled. Used for a job that was cancelled before the intent to call a provider could be stored. No effect if another
   * worker owns the job.
   */
  endCancelled(job: ClaimedJob): Promise<DurableVerdict> {
    const { state, error, usage } = CANCELLED;
    const { id, epoch } = job;
    const ending = { id, epoch, isOwned: true, state, usage: nothingUsed(usage), result: null, error };
    return this.writeEnd(job, { end: ending, jobReply: { status: "cancelled", error } });
  }

  /**
   * Ends a job that failed twice by a bug of ours. It becomes a dead letter, because an operator may send it again after a fix. The job of
   * a step does not: by then its run has continued, and the run can be started again as a whole.
   */
  async endFaulty(job: ClaimedJob): Promise<DurableVerdict> {
    const { context, pool, lane } = this;
    const isStep = job.run_id !== null && job.run_id !== job.id;
    if (!isStep) await recordJobLetter(context.database, { ...job, pool, lane }, "failed in our own hands");
    const ending = await endOf(context, job, freeFailure(OURS));
    return this.writeEnd(job, { ...ending, end: { ...ending.end, keepsRequest: !isStep } });
  }

  /** Ends a job without a live owner, in the way that `endingOf` decided. */
  endOrphan(job: OrphanedJob, ending: Ending | "unknown"): Promise<string> {
    return endOrphan(this.orphans, job, ending);
  }

  /** Notifies the dispatcher that a slot is free. */
  notifySlotFreed(): void {
    const { work } = this.context;
    if (!work.isClosed()) work.publish(freedSubject(this.pool, this.lane));
  }

  private async writeOff(job: ClaimedJob): Promise<DurableVerdict> {
    const { state, error, usage } = EXPIRED;
    const ending = {
      id: job.id,
      epoch: job.epoch,
      isOwned: true,
      state,
      usage: nothingUsed(usage),
      result: null,
      error,
    };
    const verdict = await this.writeEnd(job, { end: ending, jobReply: { status: "failed", error } });
    if (verdict.outcome === state) this.context.metrics.creditsWrittenOff.addNano(heldNanoOf(job));
    return verdict;
  }

  /** Writes the outcome of a job. The job fails if its result exceeds the storage limit of the workspace. */
  private async writeOutcome(
    job: ClaimedJob,
    outcome: Outcome | undefined,
    ending: OutcomeEnd,
  ): Promise<DurableVerdict> {
    try {
      return await this.writeEnd(job, ending, outcome);
    } catch (error) {
      if (!(error instanceof ApiError) || !outcome || !("result" in outcome)) throw error;
      await outcome.onRefused?.();
      const { code, message } = error;
      const refused = await endOf(this.context, job, freeFailure({ code, message, param: null, retry: false }));
      return this.writeEnd(job, refused);
    }
  }

  private async writeEnd(
    job: ClaimedJob,
    { end: ending, jobReply, charge }: OutcomeEnd,
    outcome?: Outcome,
  ): Promise<DurableVerdict> {
    const { context, lane } = this;
    const { log } = context;
    failpoint("job.served");
    const recorded = this.recordFailure(job, ending, outcome);
    const taken = await endJob(context, ending, OUTAGE_RETRY_MS);
    await recorded;
    failpoint("job.ended");
    if (taken === undefined) {
      log.warn(
        { job_id: job.id, epoch: job.epoch },
        "a job's end was discarded: another worker owns the job, or it has ended",
      );
      return { outcome: "superseded" };
    }
    this.countEnd(job, ending, charge, taken);
    notifyPublisher(context.replies, job, { ...jobReply, creditsNano: taken });
    if (job.work["background"] === true) notifyReaders(context.replies, job.id);
    if (job.run_id !== null) notifyRun(context.replies, { id: job.run_id, workspace_id: job.workspace_id, lane });
    this.notifySlotFreed();
    await sentFailpoint("job.told");
    this.release(job, ending, jobReply);
    return { outcome: ending.state };
  }

  /**
   * Records why a job failed. The reason is kept separately, because the usage record does not show it if another worker owns the job by
   * now and succeeds.
   */
  private async recordFailure(job: ClaimedJob, { error, usage }: JobEnd, outcome?: Outcome): Promise<void> {
    if (error === null) return;
    const of = outcome && "failure" in outcome ? outcome : {};
    const call = { workspaceId: job.workspace_id, jobId: job.id, attempt: job.attempt };
    await this.context.failures.record(call, { ...of, failure: error, status: usage.status });
  }

  private countEnd(job: ClaimedJob, ending: JobEnd, charge: Charge | undefined, taken: bigint): void {
    const { source } = ending.usage;
    if (charge) countCharge(this.context, charge, taken, { requestId: job.id, source });
    this.context.log.info({ job_id: job.id, state: ending.state, source }, "job ended");
  }

  /** Keeps request and response of an ended job if its caller asked for it, then deletes the stored request. */
  private release(job: ClaimedJob, { error, keepsRequest }: JobEnd, { result }: JobReply): void {
    const { stored_inputs } = job.work as Pick<JobMessage, "stored_inputs">;
    const end = error === null ? { error, result: result ?? "" } : { error };
    keepJob(this.context, job, end, () => {
      if (keepsRequest !== true) void discardRequest(this.context, { ...job, stored_inputs });
    });
  }
}

/** Notifies readers of a background response that the response has ended. */
function notifyReaders(connection: WorkerContext["replies"], id: string): void {
  if (!connection.isClosed()) connection.publish(runSubject(id), "{}");
}

const OURS = {
  code: "internal_error",
  message: "The service failed to run the job.",
  param: null,
  retry: false,
} as const;

interface OutcomeEnd {
  readonly end: JobEnd;
  readonly jobReply: JobReply;
  readonly charge?: Charge | undefined;
}

/**
 * Returns how a job ends, according to its outcome.
 * @param outcome see `end`
 */
async function endOf(context: WorkerContext, job: ClaimedJob, outcome: Outcome | undefined): Promise<OutcomeEnd> {
  const owned = { id: job.id, epoch: job.epoch, isOwned: true } as const;
  const { batch_line: line, may_exceed: mayExceed } = job.work as Pick<JobMessage, "batch_line" | "may_exceed">;
  const charge = chargeAt(outcome?.charge, line);
  const usage = outcome
    ? { ...settlementOf(outcome.status, outcome.source, charge), course: attemptsOf(outcome) }
    : nothingUsed("lost");
  if (outcome && "result" in outcome) {
    const takenNano = takenOf(outcome.charge?.nano ?? 0n, { holdNano: outcome.holdNano, mayExceed, line });
    const text = withCredits(outcome.result.text, takenNano);
    const result = await keepResult(context, job, text);
    const { storageBytesMax } = context.config;
    const files = outcome.files?.length ? { files: { stored: outcome.files, storageBytesMax } } : {};
    return {
      end: { ...owned, state: "completed", usage, result, error: null, ...files },
      jobReply: { status: "completed", result: text },
      charge,
    };
  }
  const error = jobError(outcome?.failure ?? OURS);
  const state = usage.status === "cancelled" ? "cancelled" : "failed";
  const fallback = outcome?.failure.fallback;
  return { end: { ...owned, state, usage, result: null, error, fallback }, jobReply: { status: state, error }, charge };
}

function heldNanoOf({ provider_job: kept, work }: ClaimedJob): bigint {
  const { hold_nano: moved } = (kept ?? {}) as Partial<Pick<JobMessage, "hold_nano">>;
  const { hold_nano: admitted = "0", batch_line: line } = work as Partial<Pick<JobMessage, "hold_nano" | "batch_line">>;
  return priceAt(BigInt(moved ?? admitted), line);
}

/** Error codes of a call for which no source was available: all circuits were open, or the last source was too busy. */
const NONE_FREE: ReadonlySet<Code> = new Set(["service_unavailable", "overloaded", "model_unavailable"]);
const RETRY_MS = 10_000;

/**
 * Defers a job if no source of its model was available. Nothing was done for the job, so it may wait for hours.
 * @param mayHaveBeenServed true if a provider may have served the job; a second execution could then be charged again
 * @returns true if the job was deferred and this worker no longer owns it; false if the job must end with its outcome
 */
export async function deferForSource(
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
    onRetry: (error, attempts) =>
      log.warn({ err: error, job_id: job.id, attempts }, "retrying to save that a job waits"),
  });
}
