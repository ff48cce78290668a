/**
 * Handles synchronous calls of one pool. Runs the handler and ends each call according to its outcome. A call that may have reached a
 * provider is never executed again.
 */
import type { JobMessage } from "#schemas/generated/types.ts";
import { usageKindOf } from "#shared/calls/usage-kind.ts";
import { exactIntegersOf } from "#shared/json/serialize.ts";
import { creditLineHoldOf } from "#shared/ledger/credit-line-calls.ts";
import { settleLostCall } from "#shared/ledger/lost.ts";
import { CALLER_LIVES, encodeFrame } from "#shared/queue/frames.ts";
import { deleteClaim, readClaim } from "#shared/storage/claim-check.ts";

import type { WorkerContext } from "../context.ts";
import { jobAbort, type JobControl, type JobHandler } from "../job.ts";
import { freeFailure, type Outcome } from "../outcome.ts";

import { Answer } from "../calls/answer.ts";
import { runWithAttempts } from "../calls/failed-attempts.ts";
import { Caller } from "./caller.ts";
import {
  type CallerAnswer,
  openCallerLiveness,
  openTakenAcks,
  INGRESS_PROBE_MS,
  INGRESS_RETURN_MS,
} from "./caller-liveness.ts";
import type { Cancels } from "./cancels.ts";
import { LiveEnds } from "./live-ends.ts";

/** A synchronous call and the queue message in which it arrived. */
export interface LiveCall {
  readonly job: JobMessage;
  /** Text of the message, JSON. */
  readonly text: string;
  /** Reply subject of the ingress. Undefined if the queue message contains no reply subject of our own. */
  readonly reply: string | undefined;
  /** Called after the answer was sent while its settlement is pending. The next call may then begin. */
  readonly onAnswered?: () => void;
}

export interface LiveCalls {
  /** Asks an ingress whether it still waits for a call that may run elsewhere or has waited long. */
  ask(reply: string, waitMs: number): Promise<CallerAnswer>;
  /**
   * Handles the first delivery: runs the call, settles its held credits and answers.
   * @throws Error on an infrastructure failure; a later delivery then closes the hold
   */
  run(call: LiveCall, controller: AbortController, stopping: AbortSignal): Promise<void>;
  /**
   * Handles a later delivery of a call that may have reached a provider. The ingress takes over the call if it is alive. Otherwise the call
   * is settled as lost. The call is not executed again.
   */
  lost(job: JobMessage, reply: string | undefined): Promise<void>;
  /** Releases the held credits of a call that was not executed and whose caller no longer waits. */
  drop(job: JobMessage, reply: string | undefined): Promise<void>;
  close(): void;
}

export function openLiveCalls(options: {
  context: WorkerContext;
  handler: JobHandler;
  cancels: Pick<Cancels, "onCancel" | "subject">;
}): LiveCalls {
  const { context, handler, cancels } = options;
  const { ledger, log, metrics } = context;
  const callers = openCallerLiveness(context.replies, cancels.subject);
  const takenAcks = openTakenAcks(context.replies);
  const ends = new LiveEnds(context, callers, takenAcks);
  const answerOf = (job: JobMessage, reply: string | undefined, cancel?: string): Answer =>
    new Answer(job.frame_bundles === true ? context.bundler : context.answers, reply, job.model, cancel);

  const serve = async (job: JobMessage, text: string, control: JobControl): Promise<Outcome> => {
    let read: Awaited<ReturnType<typeof readRequest>>;
    try {
      read = await readRequest(context, job, text);
    } catch (error) {
      // After its caller disconnected, the ingress deletes the stored request.
      const level = control.signal.aborted ? "info" : "error";
      log[level]({ err: error, request_id: job.request_id }, "the request of a call could not be read from storage");
      const message = "The request could not be read back; try again.";
      return freeFailure({ code: "service_unavailable", message, param: null, retry: true });
    }
    return runWithAttempts(handler, read.whole, { ...control, exactIntegers: read.exactIntegers });
  };

  return {
    ask: (reply, waitMs) => callers.ask(reply, waitMs),

    async run({ job, text, reply, onAnswered }, controller, stopping) {
      const forget = cancels.onCancel(job.job_id, () => controller.abort(jobAbort("caller_left")));
      const caller = reply === undefined ? undefined : new Caller(job, reply, controller, callers, takenAcks);
      const answer = answerOf(job, reply, cancels.subject);
      const { signal } = controller;
      try {
        const outcome = await serve(job, text, { signal, stopping, answer });
        await ends.end(job, outcome, answer, caller, signal, onAnswered);
      } finally {
        forget();
        caller?.end();
        discardRequest(context, job);
      }
    },

    async lost(job, reply) {
      if (await letCallerTakeOver(context, reply)) return;
      const finished = await settleLostCall(context.database, ledger, {
        workspaceId: job.workspace_id,
        jobId: job.job_id,
        attempt: job.attempt,
        creditLineHold: creditLineHoldOf(job),
        course: { kind: usageKindOf(job.kind, job.api) },
      });
      // A completed call is delivered again if its ack was lost.
      if (finished.wasClosed) return;
      metrics.callsLost.inc();
      log.error({ request_id: job.request_id }, "a call was lost with its worker");
    },

    async drop(job, reply) {
      // Usually the ingress has ended the call. If clocks disagree about the deadline, it still waits.
      const message = "No worker was free in time; try again shortly.";
      const failure = freeFailure({ code: "overloaded", message, param: null, retry: true });
      await ends.settleAndAnswer(job, { ...failure, status: "cancelled" }, answerOf(job, reply));
      discardRequest(context, job);
    },

    close() {
      callers.close();
      takenAcks.close();
    },
  };
}

/** Returns the request from the queue message, or the stored request. @param text text of the message */
async function readRequest(
  context: Pick<WorkerContext, "storage">,
  job: JobMessage,
  text: string,
): Promise<Pick<JobControl, "exactIntegers"> & { whole: JobMessage }> {
  const integersOf = (source: string) => (job.kind === "chat" ? exactIntegersOf(source) : undefined);
  if (job.request_ref === undefined) return { whole: job, exactIntegers: integersOf(text) };
  const stored = await readClaim(context.storage, job.request_ref);
  const request = JSON.parse(stored) as JobMessage["request"];
  return { whole: { ...job, ...(request ? { request } : {}) }, exactIntegers: integersOf(stored) };
}

function discardRequest({ storage, log }: Pick<WorkerContext, "storage" | "log">, job: JobMessage): void {
  if (job.request_ref === undefined) return;
  deleteClaim(storage, job.request_ref).catch((error: unknown) =>
    log.warn({ err: error }, "a claim could not be deleted"),
  );
}

/**
 * Maximum number of requests to the ingress of a lost call to take over the call. Without a reply to any of them, the ingress counts as
 * dead.
 */
const LOST_ASKED_MAX = 3;

/**
 * Asks the ingress of a lost call to take it over. Returns true if the ingress is alive. Only the ingress knows what it relayed, so it
 * settles the call and answers its client.
 */
async function letCallerTakeOver(
  { replies }: Pick<WorkerContext, "replies">,
  reply: string | undefined,
): Promise<boolean> {
  if (reply === undefined) return false;
  // An ingress that is slow or reconnecting may have delivered an answer that it has yet to settle.
  for (let tries = 1; ; tries++) {
    try {
      const timeout = INGRESS_PROBE_MS;
      const answer = await replies.request(reply, encodeFrame({ t: "lost" }), { timeout });
      return answer.string() === CALLER_LIVES;
    } catch {
      if (tries === LOST_ASKED_MAX) return false;
      await Bun.sleep(INGRESS_RETURN_MS);
    }
  }
}
