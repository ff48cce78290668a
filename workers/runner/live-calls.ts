/**
 * Live calls of one pool: runs the handler, then settles what came of it and tells the caller, each once. An answer goes out
 * first and is settled behind it where that changes no figure; the ingress that took it then vouches for the money until it
 * hears that it is settled (deploy/decisions/0002).
 */
import type { JobMessage } from "#schemas/generated/types.ts";
import { failpoint, sentFailpoint } from "#shared/failpoint.ts";
import { exactIntegersOf } from "#shared/exact-integers.ts";
import { countCharge, countDelivered, settlementOf } from "#shared/ledger/charge.ts";
import type { Settled } from "#shared/ledger/settle.ts";
import { settleLostCall } from "#shared/ledger/lost.ts";
import { LIMITS } from "#shared/limits.ts";
import { CALLER_LIVES, encodeFrame } from "#shared/queue/frames.ts";
import { settledSubject } from "#shared/queue/subjects.ts";
import { createWordBatch, type SettledWord } from "#shared/queue/words.ts";
import { deleteClaim, readClaim } from "#shared/storage/claim-check.ts";

import { explainFailure } from "../calls/failure.ts";
import { watchCall } from "../calls/serve-call.ts";
import type { WorkerContext } from "../context.ts";
import { jobAbort, type JobControl, type JobHandler } from "../job.ts";
import { freeFailure, type Outcome, type Success } from "../outcome.ts";

import { Answer } from "../calls/answer.ts";
import { Caller } from "./caller.ts";
import { type CallerAnswer, openCallerWatch, openTakenWords } from "./caller-watch.ts";
import type { Cancels } from "./cancels.ts";

/** A call as its message brought it. */
export interface LiveCall {
  readonly job: JobMessage;
  /** The message. */
  readonly text: string;
  /** Address to which the answer is sent; undefined when the message named no address of ours. */
  readonly reply: string | undefined;
  /** Run when the answer has gone out and only its settle is left: the next call may begin. */
  readonly onAnswered?: () => void;
}

export interface LiveCalls {
  /** Asks if an ingress still waits for a call that may be run elsewhere, or has waited long. */
  ask(reply: string): Promise<CallerAnswer>;
  /**
   * First delivery: does the work, closes the hold, answers.
   * @throws Error of our own trouble: the hold is then left to a later delivery
   */
  run(call: LiveCall, controller: AbortController, stopping: AbortSignal): Promise<void>;
  /** A later delivery of a call that may have reached a provider: reports the loss, never runs it again. */
  lost(job: JobMessage, reply: string | undefined): Promise<void>;
  /** The caller does not wait any more and nothing was done: gives the hold back. */
  drop(job: JobMessage, reply: string | undefined): Promise<void>;
  close(): void;
}

export function openLiveCalls(options: {
  context: WorkerContext;
  handler: JobHandler;
  cancels: Pick<Cancels, "onCancel">;
}): LiveCalls {
  const { context, handler, cancels } = options;
  const { ledger, log, metrics } = context;
  const callers = openCallerWatch(context.replies);
  const takenWords = openTakenWords(context.replies);
  const settled = createWordBatch<SettledWord>(context.answers);

  const close = async (
    job: JobMessage,
    outcome: Outcome,
    how: { readonly isPatient?: boolean; readonly isDelivered?: boolean } = {},
  ): Promise<Settled> => {
    const { status, source, charge } = outcome;
    const finished = await ledger.settle({
      workspaceId: job.workspace_id,
      jobId: job.job_id,
      attempt: job.attempt,
      ...settlementOf(status, source, charge),
      ...how,
    });
    failpoint("call.settled");
    if (!finished.wasClosed && charge)
      countCharge(context, charge, finished.takenNano, { requestId: job.request_id, source });
    return finished;
  };

  /** Settled first, told then: the answer says what was taken. */
  const settleAndTell = async (job: JobMessage, outcome: Outcome, answer: Answer): Promise<void> => {
    const { takenNano } = await close(job, outcome);
    if ("result" in outcome) answer.end(outcome.result, takenNano);
    else answer.fail({ ...outcome.failure, retry: outcome.failure.retry && takenNano === 0n });
  };

  /** Told first, settled then. What the ingress never took counts as not delivered. */
  const tellAndSettle = async (
    job: JobMessage,
    outcome: Payable,
    answer: Answer,
    caller: Caller,
    onAnswered?: () => void,
  ): Promise<boolean> => {
    const { source, charge, result } = outcome;
    const { units, tokens, estimated } = charge;
    // The words of a stream have reached the caller before its end does.
    const taken = answer.hasBegun ? undefined : caller.taken(() => answer.sendEndAgain());
    answer.end(result, charge.nano, {
      attempt: job.attempt,
      source,
      units,
      tokens,
      ...(estimated === undefined ? {} : { estimated }),
      ...(taken === undefined ? {} : { tell: takenWords.subject }),
    });
    onAnswered?.();
    await sentFailpoint("call.answered");
    const isTaken = taken === undefined || (await taken);
    // Of a stream only the ingress knows how much of it has reached the caller.
    const isDelivered = taken !== undefined && isTaken;
    const finished = await close(job, isTaken ? outcome : untaken(outcome), { isPatient: true, isDelivered });
    if (!isTaken) return false;
    // It settles what it has delivered of a stream when it hears nothing.
    if (!isDelivered && finished.takenNano < charge.nano) return true;
    countDelivered(context, charge, finished, job.request_id);
    settled.tell(settledSubject(caller.reply), "settled", job.job_id);
    return true;
  };

  /** An answer that must be settled first is not paid for before its ingress has shown that it takes answers. */
  const confirmed = async (job: JobMessage, outcome: Success, reply: string, signal: AbortSignal): Promise<Outcome> => {
    const watchdog = watchCall(job, signal);
    try {
      await callers.confirm(reply, watchdog.signal);
      return outcome;
    } catch (error) {
      const failure = explainFailure(error, watchdog.signal.reason);
      return { status: failure.status, source: outcome.source, charge: undefined, failure };
    } finally {
      watchdog.stop();
    }
  };

  const write = async (
    job: JobMessage,
    outcome: Outcome,
    answer: Answer,
    caller: Caller | undefined,
    signal: AbortSignal,
    onAnswered?: () => void,
  ): Promise<void> => {
    failpoint("call.served");
    if (caller && isPayable(outcome, job)) {
      // It would be delivered unpaid if the ingress were there after all.
      if (caller.isGone && !answer.hasBegun) return void (await close(job, untaken(outcome), { isPatient: true }));
      if (await tellAndSettle(job, outcome, answer, caller, onAnswered)) outcome.onSettled?.();
      return;
    }
    // A stream's words have reached the caller, and a drained call is paid without one.
    const mustBeTaken = "result" in outcome && outcome.status === "succeeded" && !answer.hasBegun;
    const last = caller && mustBeTaken ? await confirmed(job, outcome, caller.reply, signal) : outcome;
    await settleAndTell(job, last, answer);
    if ("result" in last) last.onSettled?.();
  };

  /** The message's request, or the stored one. @param text of the message */
  const readRequest = async (
    job: JobMessage,
    text: string,
  ): Promise<Pick<JobControl, "exactIntegers"> & { whole: JobMessage }> => {
    const integersOf = (source: string) => (job.kind === "chat" ? exactIntegersOf(source) : undefined);
    if (job.request_ref === undefined) return { whole: job, exactIntegers: integersOf(text) };
    const stored = await readClaim(context.storage, job.request_ref);
    const request = JSON.parse(stored) as JobMessage["request"];
    return { whole: { ...job, ...(request ? { request } : {}) }, exactIntegers: integersOf(stored) };
  };

  const discardRequest = (job: JobMessage): void => {
    if (job.request_ref === undefined) return;
    deleteClaim(context.storage, job.request_ref).catch((error: unknown) =>
      log.warn({ err: error }, "a claim was not deleted"),
    );
  };

  const serve = async (job: JobMessage, text: string, control: JobControl): Promise<Outcome> => {
    let read: Awaited<ReturnType<typeof readRequest>>;
    try {
      read = await readRequest(job, text);
    } catch (error) {
      log.error({ err: error, request_id: job.request_id }, "the request of a call could not be read from storage");
      const message = "The request could not be read back; try again.";
      return freeFailure({ code: "service_unavailable", message, param: null, retry: true });
    }
    return handler.run(read.whole, { ...control, exactIntegers: read.exactIntegers });
  };

  /** The ingress knows best what it has relayed and taken; if it still lives, it settles and tells its client. */
  const callerTakesOver = async (reply: string | undefined): Promise<boolean> => {
    if (reply === undefined) return false;
    // An ingress that is slow, or connects anew, may have delivered an answer that it is still to settle.
    for (let tries = 1; ; tries++) {
      try {
        const timeout = LIMITS.ingressProbeMs;
        const answer = await context.replies.request(reply, encodeFrame({ t: "lost" }), { timeout });
        return answer.string() === CALLER_LIVES;
      } catch {
        if (tries === LOST_ASKED_MAX) return false;
        await Bun.sleep(LIMITS.ingressReturnMs);
      }
    }
  };

  return {
    ask: (reply) => callers.ask(reply),

    async run({ job, text, reply, onAnswered }, controller, stopping) {
      const forget = cancels.onCancel(job.job_id, () => controller.abort(jobAbort("caller_left")));
      const caller = reply === undefined ? undefined : new Caller(job, reply, controller, callers, takenWords);
      const answer = new Answer(context.answers, reply, job.model);
      const { signal } = controller;
      try {
        const outcome = await serve(job, text, { signal, stopping, answer });
        await write(job, outcome, answer, caller, signal, onAnswered);
      } finally {
        forget();
        caller?.end();
        discardRequest(job);
      }
    },

    async lost(job, reply) {
      if (await callerTakesOver(reply)) return;
      const finished = await settleLostCall(context.database, ledger, {
        workspaceId: job.workspace_id,
        jobId: job.job_id,
        attempt: job.attempt,
      });
      // A call that ended well is delivered again when its ack was lost.
      if (finished.wasClosed) return;
      metrics.callsLost.inc();
      log.error({ request_id: job.request_id }, "a call was lost with its worker");
    },

    async drop(job, reply) {
      // Usually the ingress has ended the call; where clocks disagree about the deadline, it still waits.
      const message = "No worker was free in time; try again shortly.";
      const failure = freeFailure({ code: "overloaded", message, param: null, retry: true });
      await settleAndTell(job, { ...failure, status: "cancelled" }, new Answer(context.answers, reply, job.model));
      discardRequest(job);
    },

    close() {
      callers.close();
      takenWords.close();
    },
  };
}

/** Most times that the ingress of a lost call is asked before it counts as dead. */
const LOST_ASKED_MAX = 3;

/** Returns the outcome of a call whose answer its ingress never took. */
function untaken(outcome: Success): Success {
  return { ...outcome, status: "cancelled", charge: undefined };
}

type Payable = Success & { readonly charge: NonNullable<Success["charge"]> };

/** True if the charge does not exceed the hold: it is settled at that figure, whenever that happens before the hold expires. */
function isPayable(outcome: Outcome, job: JobMessage): outcome is Payable {
  if (!("result" in outcome) || outcome.status !== "succeeded" || outcome.charge === undefined) return false;
  return outcome.charge.nano <= outcome.holdNano && Date.now() < job.deadline_ms;
}
