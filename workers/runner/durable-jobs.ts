/**
 * Durable jobs of one pool and lane: claim, run through the pool's own handler, end in one statement. The message only says
 * which row; the worker that holds the row's lease under its epoch owns the job, whatever the queue believes.
 */
import type { DurableMessage, JobMessage } from "#schemas/generated/types.ts";
import { exactIntegersOf } from "#shared/exact-integers.ts";
import { retryStatement } from "#shared/database/retry.ts";
import { recordJobLetter } from "#shared/database/dead-letters.ts";
import {
  claimJob,
  type ClaimedJob,
  type ClaimRequest,
  handBackJob,
  noteIntent,
  noteProgress,
  noteUnknown,
  whyUnclaimed,
} from "#shared/database/jobs.ts";
import {
  adoptProviderJob,
  noteLostStart,
  noteProviderJob,
  noteStart,
  unknownNames,
} from "#shared/database/open-starts.ts";
import { failpoint, sentFailpoint } from "#shared/failpoint.ts";
import { newId } from "#shared/ids.ts";
import { wakeCaller, notifyPublisher, type JobReply } from "#shared/jobs/answer.ts";
import { type EndContext, endOrphan, endingOf, EXPIRED } from "#shared/calls/orphaned-jobs.ts";
import { discardRequest } from "#shared/calls/stored-request.ts";
import { jobError } from "#shared/jobs/error.ts";
import { endJob, type JobEnd, nothingUsed } from "#shared/jobs/end.ts";
import { keepResult } from "#shared/jobs/result.ts";
import { type Charge, countCharge, settlementOf } from "#shared/ledger/charge.ts";
import { LIMITS } from "#shared/limits.ts";
import { paced } from "#shared/pace.ts";
import { wakeRun } from "#shared/queue/run-wake.ts";
import { isIngressReply, type Lane, type Pool, roomSubject } from "#shared/queue/subjects.ts";
import { LANE_SETTINGS } from "#shared/queue/topology.ts";
import { readClaim } from "#shared/storage/claim-check.ts";

import { openCallerWatch } from "./caller-watch.ts";
import type { Cancels } from "./cancels.ts";
import type { WorkerContext } from "../context.ts";
import { withIntent } from "./intent.ts";
import { openLeases } from "./leases.ts";
import { rests } from "./rest.ts";
import { abortReasonOf, jobAbort, type JobHandler, type ProviderJobSlot } from "../job.ts";
import { isOutage } from "../outage.ts";
import { freeFailure, type Outcome } from "../outcome.ts";
import { ProviderError } from "../providers/provider.ts";
import { Answer } from "../calls/answer.ts";
import { StepAnswer, streamed } from "../calls/step-answer.ts";
import { openLiveCaller } from "./live-caller.ts";
import { nakDelayMs } from "./runner.ts";

/** Verdict on the message: it is acknowledged, or given back to come again after `againMs`. */
export type DurableVerdict = { readonly outcome: string; readonly againMs?: number };

export interface DurableJobs {
  /** Ends when the job has ended, or another worker has it. @throws Error when its end could not be written */
  run(message: DurableMessage, deliveries: number, controller: AbortController): Promise<DurableVerdict>;
  close(): Promise<void>;
}

/** Claims and ends are repeated this long while the database is away; then the message is handed back. */
const DATABASE_RETRY_MS = 60_000;

export function openDurableJobs(options: {
  context: WorkerContext;
  pool: Pool;
  lane: Lane;
  slots: number;
  createHandler: (context: WorkerContext) => JobHandler;
  /** Longest run of a job, in milliseconds. */
  runMs: number;
  cancels: Cancels;
}): DurableJobs {
  const { context, pool, lane, cancels } = options;
  const { database, log, metrics } = context;
  const settings = LANE_SETTINGS[lane];
  const leases = openLeases({ ...options, worker: newId() });
  const callers = openCallerWatch(context.replies);
  const unknownKeepMs = context.config.unknownOutcomeHours * 3_600_000;
  const ends: EndContext = {
    database,
    storage: context.storage,
    metrics,
    log,
    connection: context.replies,
    unknownKeepMs,
  };

  const claim = async (request: ClaimRequest, signal: AbortSignal): Promise<ClaimedJob | DurableVerdict> => {
    const tryClaim = async (): Promise<ClaimedJob | DurableVerdict> => {
      const job = await claimJob(database, request);
      if (job) return job;
      const found = await whyUnclaimed(database, request);
      if (found.why === "void") return { outcome: "repeat" };
      if (found.why === "owned") return { outcome: "owned", againMs: Math.ceil(found.leaseMs) + paced(1_000) };
      const ending = endingOf(found.job, request.claimsMax);
      if (!ending) return { outcome: "owned", againMs: paced(1_000) };
      return { outcome: await endOrphan(ends, found.job, ending) };
    };
    // The message is kept alive meanwhile: handing it back would use up its deliveries.
    return retryStatement(tryClaim, {
      forMs: DATABASE_RETRY_MS,
      signal,
      onRetry: (error, tries) => log.warn({ err: error, job_id: request.id, tries }, "a claim is repeated"),
    });
  };

  const run: DurableJobs["run"] = async (message, deliveries, controller) => {
    const job = await claim(
      {
        id: message.job_id,
        workspaceId: message.workspace_id,
        attempt: message.attempt,
        dispatch: message.dispatch,
        worker: leases.worker,
        leaseMs: settings.leaseMs,
        claimsMax: settings.maxDeliver,
      },
      controller.signal,
    );
    if ("outcome" in job) return job;
    failpoint("job.claimed");
    // A late job takes no cancel: a caller that gave it up did so before.
    const isLate = job.is_unknown;
    const letGo = leases.hold({ id: job.id, epoch: job.epoch, controller, isLate });
    const onLeave = (): void => controller.abort(jobAbort("caller_left"));
    const forget = isLate ? undefined : cancels.onCancel(job.id, onLeave);
    // A stream is made for who reads it: it ends with its ingress.
    const isWatched = !isLate && job.work["stream"] === true && job.reply !== null && isIngressReply(job.reply);
    const onGone = (): void => controller.abort(jobAbort("caller_gone"));
    const watch = isWatched && job.reply !== null ? callers.watch(job.reply, { gone: onGone }) : undefined;
    try {
      return await own(job, deliveries, controller);
    } finally {
      watch?.end();
      forget?.();
      letGo();
    }
  };

  const own = async (job: ClaimedJob, deliveries: number, controller: AbortController): Promise<DurableVerdict> => {
    // Of one that was begun before, another provider may be asked now.
    let hasIntent = job.provider_job !== null;
    // The job's lease has gone to another, or it was cancelled before a provider was asked.
    let isOurs = true;
    const claimOurs: (noted: boolean) => asserts noted = (noted) => {
      isOurs &&= noted;
      if (!noted) throw new Error("the job is not ours any more");
    };
    const intended = withIntent(context.providers, async () => {
      claimOurs(await noteIntent(database, job.id, job.epoch));
      hasIntent = true;
      failpoint("job.intended");
    });
    let isAtProvider = job.provider_job !== null;
    let told = 0;
    const providerJob: ProviderJobSlot = {
      found: job.provider_job,
      isLate: job.is_unknown,
      wasCancelled: job.cancel_requested,
      begin: async (record) => {
        claimOurs(await insisting(job, () => noteStart(database, job.id, job.epoch, record)));
        [hasIntent, isAtProvider] = [true, true];
        intended.queued();
        failpoint("job.intended");
      },
      lose: async () => {
        const start = await insisting(job, () => noteLostStart(database, job.id, job.epoch, Date.now()));
        claimOurs(start !== undefined);
        return start;
      },
      adopt: async (listed, record) => {
        const clocksMs = LIMITS.startClocksMs;
        const result = await insisting(job, () => adoptProviderJob(database, job, { ...listed, clocksMs }, record));
        claimOurs(result !== "void");
        return result;
      },
      strangers: (provider, names) => unknownNames(database, provider, names),
      progress: (share) => {
        const next = Math.floor(Math.min(0.99, share) * 100) / 100;
        if (!(next > told)) return;
        told = next;
        noteProgress(database, job.id, job.epoch, next).catch((error: unknown) =>
          log.warn({ err: error, job_id: job.id }, "how far a job is was not noted"),
        );
      },
      keep: async (kept) => {
        claimOurs(await noted(job, kept));
        isAtProvider = kept !== null;
        if (isAtProvider) failpoint("job.noted");
      },
    };
    let fault: unknown;
    let outcome: Outcome | undefined;
    const caller = openLiveCaller(context.replies, job.reply, job.epoch);
    try {
      const text = await readRequest(context, job);
      const message = workMessage(job, JSON.parse(text) as Record<string, unknown>, options.runMs);
      const handler = options.createHandler({ ...context, providers: intended.providers });
      const told = message.step && new StepAnswer(context.answers, message.step, message.model);
      outcome = await handler.run(told ? streamed(message) : message, {
        signal: controller.signal,
        exactIntegers: message.kind === "chat" ? exactIntegersOf(text) : undefined,
        answer: told ?? new Answer(context.answers, undefined, message.model),
        providerJob,
        ...(caller ? { caller } : {}),
      });
      if (told) outcome = told.whole(outcome);
    } catch (error) {
      fault = error;
    }
    if (!isOurs) return endCancelled(job);
    if (fault instanceof ProviderError && fault.kind === "unknown") return leaveUnknown(job, fault);
    const isStopping = abortReasonOf(controller.signal.reason) === "shutdown";
    // What goes on at its provider is collected by the next one who asks there.
    const canResume = isAtProvider ? fault !== undefined : !hasIntent;
    const isOwnFault = fault !== undefined && !isAtProvider && !isStopping && !isOutage(fault);
    const mayTryAgain = !isOwnFault || job.claims < LIMITS.faultyTries;
    if (canResume && mayTryAgain && (fault !== undefined || isStopping)) {
      if (fault !== undefined) log.warn({ err: fault, job_id: job.id }, "a job could not be run, is handed back");
      await handBackJob(database, job.id, job.epoch, isOwnFault);
      return { outcome: "handed_back", againMs: paced(isStopping ? 1_000 : nakDelayMs(deliveries)) };
    }
    if (fault !== undefined) log.error({ err: fault, job_id: job.id }, "a job failed in our own hands");
    if (fault !== undefined && !hasIntent) return endFaulty(job);
    const mayRest = lane === "batch" && !isAtProvider && !controller.signal.aborted;
    if (outcome && mayRest && (await rests(context, job, outcome, intended.mayHaveBeenServed()))) {
      log.info({ job_id: job.id }, "no source of a job's model was free, it waits");
      sayRoom();
      return { outcome: "resting" };
    }
    return end(job, outcome);
  };

  /** False: the job is not ours any more. @throws ProviderError `unknown` if the database stays away: its provider may run the job */
  const noted = async (job: ClaimedJob, kept: object | null): Promise<boolean> => {
    try {
      return await insisting(job, () => noteProviderJob(database, job.id, job.epoch, kept));
    } catch (error) {
      throw new ProviderError("unknown", "what the job is called at its provider could not be noted", { cause: error });
    }
  };

  /** @throws Error when the database stays away */
  const insisting = <T>(job: ClaimedJob, write: () => Promise<T>): Promise<T> =>
    retryStatement(write, {
      forMs: DATABASE_RETRY_MS,
      onRetry: (error, tries) =>
        log.warn({ err: error, job_id: job.id, tries }, "what a job's provider has of it is noted again"),
    });

  /** The hold stays, and a waiting caller is told that the job goes on. */
  const leaveUnknown = async (job: ClaimedJob, fault: ProviderError): Promise<DurableVerdict> => {
    // The caller of a hidden job cannot look it up later, so the job ends as failed now.
    if (job.is_hidden) return writeOff(job);
    const isNoted = await noteUnknown(database, { id: job.id, epoch: job.epoch, isOwned: true }, unknownKeepMs);
    if (!isNoted) return { outcome: "superseded" };
    log.error({ err: fault, job_id: job.id }, "what became of a job is not known; its hold is kept");
    wakeCaller(context.replies, job);
    return { outcome: "unknown" };
  };

  const writeOff = async (job: ClaimedJob): Promise<DurableVerdict> => {
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
    const verdict = await write(job, ending, { status: "failed", error });
    if (verdict.outcome === state) metrics.creditsWrittenOff.addNano(heldNanoOf(job));
    return verdict;
  };

  /** No intent could be noted: the job was cancelled, or another worker has it, and then this changes nothing. */
  const endCancelled = (job: ClaimedJob): Promise<DurableVerdict> => {
    const error = jobError({ code: "service_unavailable", message: "The job was cancelled before it began." });
    const usage = nothingUsed("cancelled");
    const { id, epoch } = job;
    const ending = { id, epoch, isOwned: true, state: "cancelled", usage, result: null, error } as const;
    return write(job, ending, { status: "cancelled", error });
  };

  /**
   * It failed in our own hands, and in another worker's before: a bug of ours, after whose mend an operator may send it again. The run of
   * a step has gone on by then, and can be begun anew as a whole.
   */
  const endFaulty = async (job: ClaimedJob): Promise<DurableVerdict> => {
    const isStep = job.run_id !== null && job.run_id !== job.id;
    if (!isStep) await recordJobLetter(database, { ...job, pool, lane }, "failed in our own hands");
    const ending = await endOf(context, job, freeFailure(OURS));
    return write(job, { ...ending.end, keepsRequest: !isStep }, ending.told);
  };

  const sayRoom = (): void => {
    if (!context.work.isClosed()) context.work.publish(roomSubject(pool, lane));
  };

  const end = async (job: ClaimedJob, outcome: Outcome | undefined): Promise<DurableVerdict> => {
    const ending = await endOf(context, job, outcome);
    return write(job, ending.end, ending.told, outcome?.charge);
  };

  const write = async (job: ClaimedJob, ending: JobEnd, told: JobReply, charge?: Charge): Promise<DurableVerdict> => {
    failpoint("job.served");
    const taken = await endJob(context, ending, DATABASE_RETRY_MS);
    failpoint("job.ended");
    if (taken === undefined) {
      log.warn({ job_id: job.id, epoch: job.epoch }, "a job's end came too late: another worker has it, or it is over");
      return { outcome: "superseded" };
    }
    const used = ending.usage;
    if (charge) countCharge(context, charge, taken, { requestId: job.id, source: used.source });
    log.info({ job_id: job.id, state: ending.state, source: used.source }, "job ended");
    notifyPublisher(context.replies, job, { ...told, creditsNano: taken });
    if (job.run_id !== null) wakeRun(context.replies, { id: job.run_id, workspace_id: job.workspace_id, lane });
    sayRoom();
    await sentFailpoint("job.told");
    const { stored_inputs } = job.work as Pick<JobMessage, "stored_inputs">;
    if (ending.keepsRequest !== true) void discardRequest(context, { ...job, stored_inputs });
    return { outcome: ending.state };
  };

  return {
    run,
    async close() {
      callers.close();
      await leases.close();
    },
  };
}

const OURS = {
  code: "internal_error",
  message: "The service failed to run the job.",
  param: null,
  retry: false,
} as const;

/** @param outcome undefined: the run failed in our own hands, and a provider may have been asked */
async function endOf(
  context: WorkerContext,
  job: ClaimedJob,
  outcome: Outcome | undefined,
): Promise<{ readonly end: JobEnd; readonly told: JobReply }> {
  const owned = { id: job.id, epoch: job.epoch, isOwned: true } as const;
  const usage = outcome ? settlementOf(outcome.status, outcome.source, outcome.charge) : nothingUsed("lost");
  if (outcome && "result" in outcome) {
    const { text } = outcome.result;
    const result = await keepResult(context, job, text);
    return {
      end: { ...owned, state: "completed", usage, result, error: null },
      told: { status: "completed", result: text },
    };
  }
  const error = jobError(outcome?.failure ?? OURS);
  const state = usage.status === "cancelled" ? "cancelled" : "failed";
  return { end: { ...owned, state, usage, result: null, error }, told: { status: state, error } };
}

/** JSON text. @throws Error when it cannot be read back: the job is handed back then */
async function readRequest(context: WorkerContext, job: ClaimedJob): Promise<string> {
  return job.request_ref === null ? (job.request ?? "") : readClaim(context.storage, job.request_ref);
}

function heldNanoOf({ provider_job: kept, work }: ClaimedJob): bigint {
  const { hold_nano: moved } = (kept ?? {}) as Partial<Pick<JobMessage, "hold_nano">>;
  const { hold_nano: admitted = "0" } = work as Partial<Pick<JobMessage, "hold_nano">>;
  return BigInt(moved ?? admitted);
}

function workMessage(job: ClaimedJob, request: Record<string, unknown>, runMs: number): JobMessage {
  return {
    ...(job.work as unknown as JobMessage),
    attempt: job.attempt,
    dispatch: job.dispatch,
    deadline_ms: Math.min(job.deadline.getTime(), Date.now() + runMs),
    request,
  };
}
