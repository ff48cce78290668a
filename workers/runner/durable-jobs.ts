/**
 * Executes durable jobs of one pool and lane: claims a job, runs the handler of the pool, and ends the job in one statement. A queue
 * message contains only the id of the row. The worker that holds the row's lease under its epoch owns the job, whatever the queue reports.
 */
import type { NatsConnection } from "nats";

import type { DurableMessage, JobMessage } from "#schemas/generated/types.ts";
import { commonNow } from "#shared/base/clock.ts";
import { exactIntegersOf } from "#shared/json/serialize.ts";
import { retryStatement } from "#shared/database/retry.ts";
import { claimJob, type ClaimedJob, type ClaimRequest, handBackJob, whyUnclaimed } from "#shared/database/jobs.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { newId } from "#shared/base/ids.ts";
import { endingOf } from "#shared/calls/orphaned-jobs.ts";
import { isOutage, OUTAGE_RETRY_MS } from "#shared/storage/outage.ts";
import { paced } from "#shared/config/pace.ts";
import { isIngressReply, type Lane, type Pool } from "#shared/queue/subjects.ts";
import { jobFacts, messagingFacts } from "#shared/tracing/attributes.ts";
import { asPart, beginSpan, isTracing, jobSpan, keepJobSpan, NO_SPAN } from "#shared/tracing/tracing.ts";
import { LANE_SETTINGS } from "#shared/queue/topology.ts";
import { readClaim } from "#shared/storage/claim-check.ts";
import { encodeJobFrame, type JobFrame } from "#shared/queue/job-frames.ts";
import { FRAME_BYTES_MAX } from "#shared/queue/frames.ts";

import { type CallerLiveness, openCallerLiveness } from "./caller-liveness.ts";
import type { Cancels } from "./cancels.ts";
import type { WorkerContext } from "../context.ts";
import { DurableEnds, deferForSource } from "./durable-ends.ts";
import { JobNotes } from "./job-notes.ts";
import { type Leases, openLeases } from "./leases.ts";
import {
  abortReasonOf,
  jobAbort,
  type JobHandler,
  type LiveCaller,
  type RunContinuation,
  type StepContinuation,
} from "../job.ts";
import type { Outcome } from "../outcome.ts";
import { ProviderError } from "../providers/provider.ts";
import { Answer } from "../calls/answer.ts";
import { runWithAttempts } from "../calls/failed-attempts.ts";
import { StepAnswer, streamed } from "../calls/step-answer.ts";
import { nakDelayMs } from "./runner.ts";

/**
 * Maximum number of executions of a job that fails by a bug of ours and not by an outage. Another worker, if there is one, takes the second
 * execution.
 */
const FAULTY_TRIES = 2;

/** Decision about the queue message of a job. It is acknowledged, or redelivered after `againMs` milliseconds. */
export type DurableVerdict = { readonly outcome: string; readonly againMs?: number };

/** Delivery of a job's queue message. */
export interface DurableDelivery {
  readonly deliveries: number;
  /** Returns true while this worker has free slots. Continuing a run in this worker then delays no other job. */
  readonly hasFreeSlots: () => boolean;
  /** Called for each job that ended in this delivery, except for the last one. */
  readonly onContinued: (outcome: string) => void;
}

export interface DurableJobs {
  /**
   * Resolves when the job has ended or another worker owns it. For a step, also waits for the following steps that this worker runs.
   * @throws Error when the end of the job could not be written
   */
  run(message: DurableMessage, delivery: DurableDelivery, controller: AbortController): Promise<DurableVerdict>;
  close(): Promise<void>;
}

interface DurableOptions {
  context: WorkerContext;
  pool: Pool;
  lane: Lane;
  slots: number;
  createHandler: (context: WorkerContext) => JobHandler;
  /** Maximum duration of one execution of a job, in milliseconds. */
  runMs: number;
  cancels: Cancels;
  /** Continues the runs whose steps end in this worker. If absent, another worker continues them. */
  continuation?: RunContinuation | undefined;
}

/** Maximum number of steps of a run that one delivery executes. After them, the queue decides which job is next. */
const CONTINUED_MAX = 32;

export function openDurableJobs(options: DurableOptions): DurableJobs {
  return new LaneJobs(options);
}

class LaneJobs implements DurableJobs {
  private readonly options: DurableOptions;
  private readonly leases: Leases;
  private readonly callers: CallerLiveness;
  private readonly ends: DurableEnds;

  constructor(options: DurableOptions) {
    const { context, pool, lane } = options;
    this.options = options;
    this.leases = openLeases({ ...options, worker: newId() });
    this.callers = openCallerLiveness(context.replies);
    this.ends = new DurableEnds(context, pool, lane);
  }

  async run(message: DurableMessage, delivery: DurableDelivery, controller: AbortController): Promise<DurableVerdict> {
    const settings = LANE_SETTINGS[this.options.lane];
    const job = await this.claim(
      {
        id: message.job_id,
        workspaceId: message.workspace_id,
        attempt: message.attempt,
        dispatch: message.dispatch,
        worker: this.leases.worker,
        leaseMs: settings.leaseMs,
        claimsMax: settings.maxDeliver,
      },
      controller.signal,
    );
    if ("outcome" in job) return job;
    failpoint("job.claimed");
    // Opening loads the run, so it is skipped if this worker will not continue it.
    const step = delivery.hasFreeSlots() ? this.options.continuation?.open(job) : undefined;
    let current: Current = { job, step };
    for (let continued = 0; ; continued += 1) {
      const canContinue = continued < CONTINUED_MAX;
      const isContinued = continued > 0;
      const { verdict, next } = await this.runClaimed(
        { ...current, ...(canContinue ? {} : { step: undefined }), isContinued },
        delivery,
        controller.signal,
      );
      if (!next) return verdict;
      delivery.onContinued(verdict.outcome);
      current = next;
    }
  }

  /**
   * Executes a claimed job until it ends.
   * @param stopping aborts all jobs of this delivery; a cancel of this job does not affect the jobs that follow it
   */
  private async runClaimed(
    current: Current & { readonly isContinued: boolean },
    delivery: DurableDelivery,
    stopping: AbortSignal,
  ): Promise<Ended> {
    const { job, isContinued } = current;
    const { cancels } = this.options;
    const controller = new AbortController();
    const onStop = (): void => controller.abort(stopping.reason);
    if (stopping.aborted) onStop();
    stopping.addEventListener("abort", onStop, { once: true });
    // A late job ignores cancels: its caller has given it up already.
    const isLate = job.is_unknown;
    const letGo = this.leases.hold({ id: job.id, epoch: job.epoch, controller, isLate });
    const onLeave = (): void => controller.abort(jobAbort("caller_left"));
    const forget = isLate ? undefined : cancels.onCancel(job.id, onLeave);
    // A continued job is not claimed again, so its row is not checked for a cancel.
    if (isContinued && cancels.wasCancelled(job.id)) onLeave();
    // A stream is produced for its reader, so it ends with its ingress.
    const isWatched = !isLate && job.work["stream"] === true && job.reply !== null && isIngressReply(job.reply);
    const onGone = (): void => controller.abort(jobAbort("caller_gone"));
    const watch = isWatched && job.reply !== null ? this.callers.watch(job.reply, { gone: onGone }) : undefined;
    const endSpan = this.openSpan(job);
    let result = "failed";
    try {
      const ended = await this.own(current, delivery, controller);
      result = ended.verdict.outcome;
      return ended;
    } finally {
      endSpan(result === "failed" ? result : undefined);
      watch?.end();
      forget?.();
      letGo();
      stopping.removeEventListener("abort", onStop);
    }
  }

  /** Begins a new trace that links to the request of the job. The trace is separate, because the request may have ended long ago. */
  private openSpan(job: ClaimedJob): (error?: string) => void {
    if (!isTracing()) return keepJobSpan(job.id, NO_SPAN);
    const { pool, lane } = this.options;
    const facts = jobFacts({ jobId: job.id, workspaceId: job.workspace_id });
    const origin = { link: job.traceparent ?? undefined };
    const span = beginSpan(`process work.${pool}`, "consumer", origin, { ...messagingFacts(pool, lane), ...facts });
    return keepJobSpan(job.id, span);
  }

  async close(): Promise<void> {
    this.callers.close();
    await this.leases.close();
  }

  private async claim(request: ClaimRequest, signal: AbortSignal): Promise<ClaimedJob | DurableVerdict> {
    const { database, log } = this.options.context;
    const tryClaim = async (): Promise<ClaimedJob | DurableVerdict> => {
      const job = await claimJob(database, request);
      if (job) return job;
      const found = await whyUnclaimed(database, request);
      if (found.why === "void") return { outcome: "repeat" };
      if (found.why === "owned") return { outcome: "owned", againMs: Math.ceil(found.leaseMs) + paced(1_000) };
      const ending = endingOf(found.job, request.claimsMax);
      if (!ending) return { outcome: "owned", againMs: paced(1_000) };
      return { outcome: await this.ends.endOrphan(found.job, ending) };
    };
    // The runner extends the ack deadline meanwhile: a nak would use up a delivery.
    return retryStatement(tryClaim, {
      forMs: OUTAGE_RETRY_MS,
      signal,
      onRetry: (error, attempts) => log.warn({ err: error, job_id: request.id, attempts }, "retrying to claim a job"),
    });
  }

  private async own(
    { job, step, isContinued }: Current & { readonly isContinued: boolean },
    { deliveries, hasFreeSlots }: DurableDelivery,
    controller: AbortController,
  ): Promise<Ended> {
    const { context, lane, createHandler, runMs } = this.options;
    const { database, log } = context;
    const { ends } = this;
    const notes = new JobNotes(context, job, isContinued);
    let fault: unknown;
    let outcome: Outcome | undefined;
    const caller = openLiveCaller(context.replies, job.reply, job.epoch);
    try {
      const text = await readRequest(context, job);
      const message = workMessage(job, JSON.parse(text) as Record<string, unknown>, runMs);
      const handler = createHandler({ ...context, providers: notes.intended.providers });
      const stepAnswer = message.step && new StepAnswer(context.answers, message.step, message.model);
      outcome = await runWithAttempts(handler, stepAnswer ? streamed(message) : message, {
        signal: controller.signal,
        exactIntegers: message.kind === "chat" ? exactIntegersOf(text) : undefined,
        answer: stepAnswer ?? new Answer(context.answers, undefined, message.model),
        providerJob: notes,
        ...(caller ? { caller } : {}),
      });
      stepAnswer?.publishPending();
    } catch (error) {
      fault = error;
    }
    if (!notes.isOurs) return { verdict: await ends.endCancelled(job) };
    if (fault instanceof ProviderError && fault.kind === "unknown") {
      return { verdict: await ends.markUnknown(job, fault) };
    }
    const isStopping = abortReasonOf(controller.signal.reason) === "shutdown";
    // The next owner collects the result of a job that runs at its provider.
    const canResume = notes.isAtProvider ? fault !== undefined : !notes.hasIntent;
    const isOwnFault = fault !== undefined && !notes.isAtProvider && !isStopping && !isOutage(fault);
    const mayTryAgain = !isOwnFault || job.claims < FAULTY_TRIES;
    // A finished result is not produced again.
    const hasResult = outcome !== undefined && "result" in outcome;
    if (canResume && mayTryAgain && (fault !== undefined || (isStopping && !hasResult))) {
      if (fault !== undefined)
        log.warn({ err: fault, job_id: job.id }, "a job could not be run; it returns to the queue");
      await handBackJob(database, job.id, job.epoch, isOwnFault);
      return { verdict: { outcome: "handed_back", againMs: paced(isStopping ? 1_000 : nakDelayMs(deliveries)) } };
    }
    if (fault !== undefined) log.error({ err: fault, job_id: job.id }, "a job failed by an internal error");
    if (fault !== undefined && !notes.hasIntent) return { verdict: await ends.endFaulty(job) };
    const mayDefer = lane === "batch" && !notes.isAtProvider && !controller.signal.aborted;
    if (outcome && mayDefer && (await deferForSource(context, job, outcome, notes.intended.mayHaveBeenServed()))) {
      log.info({ job_id: job.id }, "a job waits because no source of its model is available");
      ends.notifySlotFreed();
      return { verdict: { outcome: "deferred" } };
    }
    // A worker that stops, or has no free slot, does not continue the run.
    if (outcome && step && !controller.signal.aborted && hasFreeSlots()) {
      const owner = { worker: this.leases.worker, leaseMs: LANE_SETTINGS[lane].leaseMs };
      return asPart(jobSpan(job.id), "settle", () => ends.endStep(job, outcome, step, owner));
    }
    return { verdict: await asPart(jobSpan(job.id), "settle", () => ends.end(job, outcome)) };
  }
}

/** A claimed job, and the continuation of its run. */
interface Current {
  readonly job: ClaimedJob;
  readonly step: StepContinuation | undefined;
}

interface Ended {
  readonly verdict: DurableVerdict;
  /** Next job that this worker executes; absent if there is none. */
  readonly next?: Current | undefined;
}

/** Returns the request as JSON text. @throws Error when the request cannot be read; the job is then handed back */
async function readRequest(context: WorkerContext, job: ClaimedJob): Promise<string> {
  return job.request_ref === null ? (job.request ?? "") : readClaim(context.storage, job.request_ref);
}

function workMessage(job: ClaimedJob, request: Record<string, unknown>, runMs: number): JobMessage {
  return {
    ...(job.work as unknown as JobMessage),
    attempt: job.attempt,
    dispatch: job.dispatch,
    deadline_ms: Math.min(job.deadline.getTime(), commonNow() + runMs),
    request,
  };
}

/**
 * Opens the reply channel to the ingress whose caller waits for the job, and notifies the ingress that a worker has begun the job. A lost
 * message does no harm, because the job's row is authoritative. Undefined if no ingress waits.
 * @param run epoch of the job, by which the ingress distinguishes the bytes of this worker from the bytes of an earlier owner
 */
function openLiveCaller(
  connection: Pick<NatsConnection, "publish" | "isClosed">,
  reply: string | null,
  run: number,
): LiveCaller | undefined {
  if (reply === null || !isIngressReply(reply)) return undefined;
  const send = (frame: JobFrame, bytes?: Uint8Array): void => {
    if (!connection.isClosed()) connection.publish(reply, encodeJobFrame(frame, bytes));
  };
  let at = 0;
  send({ t: "begun" });
  return {
    begin: (head) => send({ t: "made", run, ...head }),
    write(bytes) {
      for (let from = 0; from < bytes.length; from += FRAME_BYTES_MAX) {
        const piece = bytes.subarray(from, from + FRAME_BYTES_MAX);
        send({ t: "bytes", run, at }, piece);
        at += piece.length;
      }
    },
  };
}
