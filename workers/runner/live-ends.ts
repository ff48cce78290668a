/**
 * Ends synchronous calls: settles the outcome and answers the caller, each exactly once. The answer is sent before the settlement if the
 * order changes no amount. The ingress that received the answer then guarantees the settlement until the worker confirms it
 * (deploy/decisions/0002).
 */
import type { JobMessage } from "#schemas/generated/types.ts";
import { commonNow } from "#shared/base/clock.ts";
import { usageKindOf } from "#shared/calls/usage-kind.ts";
import { failpoint, sentFailpoint } from "#shared/base/failpoint.ts";
import { countCharge, countDelivered, settlementOf } from "#shared/ledger/charge.ts";
import { creditLineHoldOf } from "#shared/ledger/credit-line-calls.ts";
import type { Settled } from "#shared/ledger/settle.ts";
import { settledSubject } from "#shared/queue/subjects.ts";
import { formatCredits } from "#shared/base/money.ts";
import { usageFacts } from "#shared/tracing/attributes.ts";
import { asPart, jobSpan } from "#shared/tracing/tracing.ts";
import { createAckBatch, type SettledAck, type AckBatch } from "#shared/queue/acks.ts";

import type { Answer } from "../calls/answer.ts";
import { explainFailure } from "../calls/failure.ts";
import { watchCall } from "../calls/serve-call.ts";
import { withCredits } from "../calls/credits-place.ts";
import type { WorkerContext } from "../context.ts";
import { attemptsOf, type Outcome, type Result, type Success } from "../outcome.ts";

import { type Caller, CONFIRMATION_MARGIN_MS } from "./caller.ts";
import type { CallerLiveness, TakenAcks } from "./caller-liveness.ts";

export class LiveEnds {
  private readonly context: WorkerContext;
  private readonly callers: Pick<CallerLiveness, "confirm">;
  private readonly takenAcks: Pick<TakenAcks, "subject">;
  private readonly settled: AckBatch<SettledAck>;

  constructor(context: WorkerContext, callers: Pick<CallerLiveness, "confirm">, takenAcks: Pick<TakenAcks, "subject">) {
    this.context = context;
    this.callers = callers;
    this.takenAcks = takenAcks;
    this.settled = createAckBatch<SettledAck>(context.answers);
  }

  async end(
    job: JobMessage,
    outcome: Outcome,
    answer: Answer,
    caller: Caller | undefined,
    signal: AbortSignal,
    onAnswered?: () => void,
  ): Promise<void> {
    failpoint("call.served");
    if (caller && isPayable(outcome, job)) {
      // If the ingress were alive after all, it would deliver this answer without payment.
      if (caller.isGone && !answer.hasBegun)
        return void (await this.closeHold(job, untaken(outcome), answer, { isPatient: true }));
      if (await this.answerAndSettle(job, outcome, answer, caller, onAnswered)) outcome.onSettled?.();
      return;
    }
    // The caller of a stream has received its text. A call that is drained at shutdown is paid without confirmation.
    const mustBeTaken = "result" in outcome && outcome.status === "succeeded" && !answer.hasBegun;
    const last = caller && mustBeTaken ? await this.confirmCaller(job, outcome, caller.reply, signal) : outcome;
    await this.settleAndAnswer(job, last, answer);
    if ("result" in last) last.onSettled?.();
  }

  /** Settles a call first and then answers, because the answer contains the charged amount. */
  async settleAndAnswer(job: JobMessage, outcome: Outcome, answer: Answer): Promise<void> {
    if ("result" in outcome) {
      const { takenNano } = await this.closeHold(job, outcome, answer);
      return answer.end(charged(outcome.result, takenNano), takenNano);
    }
    const call = { workspaceId: job.workspace_id, jobId: job.job_id, attempt: job.attempt };
    const recorded = this.context.failures.record(call, outcome);
    const { takenNano } = await this.closeHold(job, outcome, answer);
    await recorded;
    answer.fail({ ...outcome.failure, retry: outcome.failure.retry && takenNano === 0n });
  }

  /** Answers a call first and then settles it. An answer that the ingress never received counts as not delivered. */
  private async answerAndSettle(
    job: JobMessage,
    outcome: Payable,
    answer: Answer,
    caller: Caller,
    onAnswered?: () => void,
  ): Promise<boolean> {
    const { source, charge, result } = outcome;
    const { units, tokens, estimated } = charge;
    // The text of a stream reaches the caller before its end.
    const taken = answer.hasBegun ? undefined : caller.taken(() => answer.sendEndAgain());
    answer.end(charged(result, charge.nano), charge.nano, {
      attempt: job.attempt,
      source,
      units,
      tokens,
      ...(estimated === undefined ? {} : { estimated }),
      ...(taken === undefined ? {} : { tell: this.takenAcks.subject }),
    });
    onAnswered?.();
    await sentFailpoint("call.answered");
    const isTaken = taken === undefined || (await taken);
    // Only the ingress knows how much of a stream reached the caller.
    const isDelivered = taken !== undefined && isTaken;
    const finished = await this.closeHold(job, isTaken ? outcome : untaken(outcome), answer, {
      isPatient: true,
      isDelivered,
    });
    if (!isTaken) return false;
    // Without a confirmation, the ingress settles what it delivered of the stream.
    if (!isDelivered && finished.takenNano < charge.nano) return true;
    countDelivered(this.context, charge, finished, job.request_id);
    this.settled.add(settledSubject(caller.reply), "settled", job.job_id);
    return true;
  }

  /** Waits until a request has shown that the ingress is alive. Used for an answer that must be settled before it is sent. */
  private async confirmCaller(job: JobMessage, outcome: Success, reply: string, signal: AbortSignal): Promise<Outcome> {
    // The ingress waits beyond the deadline for an answer that was ready in time.
    const watchdog = watchCall({ deadline_ms: job.deadline_ms + CONFIRMATION_MARGIN_MS }, signal);
    try {
      await this.callers.confirm(reply, watchdog.signal);
      return outcome;
    } catch (error) {
      const failure = explainFailure(error, watchdog.signal.reason);
      return { status: failure.status, source: outcome.source, charge: undefined, failure };
    } finally {
      watchdog.stop();
    }
  }

  private async closeHold(
    job: JobMessage,
    outcome: Outcome,
    { firstMs }: Pick<Answer, "firstMs">,
    how: { readonly isPatient?: boolean; readonly isDelivered?: boolean } = {},
  ): Promise<Settled> {
    const { status, source, charge } = outcome;
    const { callPartSeconds } = this.context.metrics;
    if ("result" in outcome) callPartSeconds.observe(outcome.result.upstreamMs / 1_000, "provider");
    const beganAt = performance.now();
    const span = jobSpan(job.job_id);
    const settlement = {
      workspaceId: job.workspace_id,
      jobId: job.job_id,
      attempt: job.attempt,
      ...settlementOf(status, source, charge),
      creditLineHold: creditLineHoldOf(job),
      course: { kind: usageKindOf(job.kind, job.api), first_ms: firstMs, ...attemptsOf(outcome) },
      ...how,
    };
    const finished = await asPart(span, "settle", () => this.context.ledger.settle(settlement));
    if (charge && span.traceparent !== undefined) {
      span.set(usageFacts(charge.units, Number(formatCredits(finished.takenNano))));
    }
    callPartSeconds.observe((performance.now() - beganAt) / 1_000, "settle");
    failpoint("call.settled");
    if (!finished.wasClosed && charge)
      countCharge(this.context, charge, finished.takenNano, { requestId: job.request_id, source });
    return finished;
  }
}

/** Returns the answer with its charge in nano-credits. */
function charged(result: Result, nano: bigint): Result {
  return { ...result, text: withCredits(result.text, nano) };
}

/** Returns the outcome of a call whose answer the ingress never received: cancelled, without a charge. */
function untaken(outcome: Success): Success {
  return { ...outcome, status: "cancelled", charge: undefined };
}

type Payable = Success & { readonly charge: NonNullable<Success["charge"]> };

/** Returns true if the charge is at most the held credits. It can then be settled in full at any time before the hold expires. */
function isPayable(outcome: Outcome, job: JobMessage): outcome is Payable {
  if (!("result" in outcome) || outcome.status !== "succeeded" || outcome.charge === undefined) return false;
  return outcome.charge.nano <= outcome.holdNano && commonNow() < job.deadline_ms;
}
