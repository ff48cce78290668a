/**
 * Keeps the charges of responses that arrived before their worker settled them. If the worker then is lost or does not report the
 * settlement, this ingress settles them. A second settlement changes nothing.
 */
import { isDataFault } from "#shared/database/client.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { countCharge, countDelivered, settlementOf } from "#shared/ledger/charge.ts";
import type { CallSettlement, Ledger, PlacedCall } from "#shared/ledger/settle.ts";
import { InFlightMap } from "#shared/limits/in-flight.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import { paced } from "#shared/config/pace.ts";
import { CALLER_GONE, CALLER_LIVES, CALLER_TAKEN, type EndFrame, type SettleNote } from "#shared/queue/frames.ts";
import type { EndedCalls } from "#shared/queue/reply.ts";
import { isTakenSubject } from "#shared/queue/subjects.ts";
import { LANE_SETTINGS } from "#shared/queue/topology.ts";
import { createAckBatch, type TakenAck, type AckPublisher } from "#shared/queue/acks.ts";

export interface PendingSettlements extends EndedCalls {
  /** Stores the charge of a response that is being sent to its client. */
  keep(call: PlacedCall & Pick<CallSettlement, "creditLineHold" | "course">, frame: EndFrame, settle: SettleNote): void;
  /** True if the settlement of the job's response has not been confirmed yet. */
  has(jobId: string): boolean;
  /** Returns the number of responses without a confirmed settlement. */
  size(): number;
  /**
   * Settles all responses at shutdown. The clients already have these responses. A worker whose response is not acknowledged would release
   * its hold without a charge.
   */
  settleAll(): Promise<void>;
  /**
   * Runs `settleAll` before the process ends. Workers first get a short time to report settlements, if the grace period allows.
   * @param hurry signal that ends this wait early
   * @param allowedMs time until the process ends, in milliseconds
   */
  drain(hurry: AbortSignal, allowedMs: number): Promise<void>;
  close(): void;
}

/** Response whose settlement has not been confirmed. Each has a hold of credits, so balances limit their number. */
interface PendingSettlement extends PlacedCall, Pick<CallSettlement, "creditLineHold" | "course"> {
  readonly nano: bigint;
  readonly note: SettleNote;
  /** performance.now() time from which the ingress settles without waiting for the worker. */
  dueAt: number;
  isSettling: boolean;
  /** Number of failed attempts of the ingress to settle the response. */
  failures: number;
}

/**
 * Time that the ingress waits for a worker to settle a response, in milliseconds. In this time the queue redelivers a lost worker's message
 * to another worker, which asks for the response.
 */
const WORKER_WAIT_MS = LANE_SETTINGS.live.ackWaitMs;
const TICK_MS = paced(1_000);
/** Maximum delay between attempts to settle, in milliseconds. Each attempt already retries for a while before it fails. */
const AGAIN_MAX_MS = paced(30_000);
/** Time at shutdown during which workers may settle their calls, in milliseconds. */
const DRAIN_MS = paced(2_000);
/** Time reserved at shutdown for settling all responses, in milliseconds. */
const SETTLE_MS = paced(1_000);

export function openPendingSettlements(options: {
  ledger: Ledger;
  metrics: Metrics;
  log: Logger;
  /** Connection on which the ingress sends workers the notices that responses have arrived. */
  connection: AckPublisher;
  /** Called when the settlement of a response is confirmed. */
  onSettled?: (jobId: string) => void;
  /**
   * Time for which notices of received responses are collected, in milliseconds. Notices are sent together because each message wakes a
   * worker.
   */
  lingerMs: number;
}): PendingSettlements {
  const { ledger, metrics, log } = options;
  const answers = new InFlightMap<PendingSettlement>();
  const acks = createAckBatch<TakenAck>(options.connection, options.lingerMs);

  const take = (jobId: string): void => {
    answers.take(jobId);
    options.onSettled?.(jobId);
  };

  const sendAck = (ack: TakenAck, jobId: string, { tell }: SettleNote): void => {
    if (tell !== undefined && isTakenSubject(tell)) acks.add(tell, ack, jobId);
  };

  const settle = async (answer: PendingSettlement): Promise<void> => {
    if (answer.isSettling) return;
    answer.isSettling = true;
    const { jobId, workspaceId, creditLineHold, course, note } = answer;
    const { source, units, tokens, estimated, attempt } = note;
    const charge = { nano: answer.nano, units, tokens, estimated };
    try {
      const of = { jobId, workspaceId, attempt };
      const settlement = settlementOf("succeeded", source, charge);
      const finished = await ledger.settle({ ...of, ...settlement, creditLineHold, course, isDelivered: true });
      take(jobId);
      countDelivered({ metrics, log }, charge, finished, jobId);
      if (finished.wasClosed) return;
      countCharge({ metrics, log }, charge, finished.takenNano, { requestId: jobId, source });
      metrics.answersSettledByIngress.inc();
      log.warn({ job_id: jobId }, "the ingress settled a response whose worker did not report");
    } catch (error) {
      if (isDataFault(error)) {
        answers.take(jobId);
        countDelivered({ metrics, log }, charge, { takenNano: 0n, wasClosed: false }, jobId);
        log.error({ err: error, job_id: jobId }, "a response could not be settled; the janitor closes its hold");
        return;
      }
      log.error({ err: error, job_id: jobId }, "a response could not be settled; it is retried");
      answer.dueAt = performance.now() + Math.min(AGAIN_MAX_MS, TICK_MS * 2 ** answer.failures);
      answer.failures += 1;
      answer.isSettling = false;
    }
  };

  const clock = setInterval(() => {
    const now = performance.now();
    // Oldest first. Retried ones aside, responses after one that is not due are not due either.
    for (const answer of answers.values()) if (answer.dueAt <= now) void settle(answer);
  }, TICK_MS);

  const settleAll = async (): Promise<void> => {
    await Promise.all(Array.from(answers.values(), settle));
  };

  return {
    settleAll,
    keep({ jobId, workspaceId, creditLineHold, course }, { nano }, note) {
      const dueAt = performance.now() + WORKER_WAIT_MS;
      answers.set(jobId, {
        jobId,
        workspaceId,
        creditLineHold,
        course,
        nano: BigInt(nano),
        note,
        dueAt,
        isSettling: false,
        failures: 0,
      });
      sendAck("taken", jobId, note);
      failpoint("call.taken");
    },
    onFrame(jobId, frame) {
      const answer = answers.get(jobId);
      if (frame.t === "end" && frame.settle) sendAck(answer ? "taken" : "gone", jobId, frame.settle);
      if (!answer) return CALLER_GONE;
      if (frame.t !== "lost") return CALLER_TAKEN;
      void settle(answer);
      return CALLER_LIVES;
    },
    onSettled: take,
    has: (jobId) => answers.get(jobId) !== undefined,
    size: () => answers.size,
    async drain(hurry, allowedMs) {
      const waitMs = allowedMs < DRAIN_MS + SETTLE_MS ? 0 : DRAIN_MS;
      const until = performance.now() + waitMs;
      while (answers.size > 0 && performance.now() < until && !hurry.aborted) {
        await Bun.sleep(20);
      }
      await settleAll();
    },
    close: () => clearInterval(clock),
  };
}
