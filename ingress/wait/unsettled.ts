/**
 * Answers that their workers sent before they were settled. Their figures are kept until the worker says that they are
 * settled; when it is lost, or says nothing, they are settled from here. Settling twice changes nothing.
 */
import { isDataFault } from "#shared/database/client.ts";
import { failpoint } from "#shared/failpoint.ts";
import { countCharge, countDelivered, settlementOf } from "#shared/ledger/charge.ts";
import type { CallSettlement, Ledger, PlacedCall } from "#shared/ledger/settle.ts";
import { InFlightMap } from "#shared/in-flight.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { paced } from "#shared/pace.ts";
import { CALLER_GONE, CALLER_LIVES, CALLER_TAKEN, type EndFrame, type SettleNote } from "#shared/queue/frames.ts";
import type { EndedCalls } from "#shared/queue/reply.ts";
import { isTakenSubject } from "#shared/queue/subjects.ts";
import { LANE_SETTINGS } from "#shared/queue/topology.ts";
import { createAckBatch, type TakenAck, type AckPublisher } from "#shared/queue/acks.ts";

export interface UnsettledAnswers extends EndedCalls {
  /** The answer is on its way to its client. */
  keep(call: PlacedCall & Pick<CallSettlement, "lined">, frame: EndFrame, settle: SettleNote): void;
  /** True of an answer that is not known to be settled. */
  has(jobId: string): boolean;
  /** Answers not known to be settled. */
  size(): number;
  /** Settles all unsettled answers: callers have them, and workers that do not hear of that would release their holds. */
  settleAll(): Promise<void>;
  /**
   * Does `settleAll` before the process ends. Workers have a moment before to report answers as settled, unless less is left of the grace.
   * @param hurry ends that moment
   * @param allowedMs time until the process ends, in milliseconds
   */
  drain(hurry: AbortSignal, allowedMs: number): Promise<void>;
  close(): void;
}

/** Each holds credits, so there are no more of them than balances allow. */
interface Unsettled extends PlacedCall, Pick<CallSettlement, "lined"> {
  readonly nano: bigint;
  readonly note: SettleNote;
  /** performance.now() from which on its worker's word is not waited for. */
  dueAt: number;
  isSettling: boolean;
  /** Settles that failed. */
  failures: number;
}

/** By then a lost worker's message has come to another one, which asks for it. */
const WORD_MS = LANE_SETTINGS.live.ackWaitMs;
const TICK_MS = paced(1_000);
/** Each settle has repeated itself for a while before it fails. */
const AGAIN_MAX_MS = paced(30_000);
/** Time that workers have to settle their calls when we end, in milliseconds. */
const DRAIN_MS = paced(2_000);
/** Time in which all answers are settled, in milliseconds. */
const SETTLE_MS = paced(1_000);

export function openUnsettledAnswers(options: {
  ledger: Ledger;
  metrics: Metrics;
  log: Logger;
  /** Words to workers go out on it. */
  connection: AckPublisher;
  /** Told of an answer that is settled. */
  onSettled?: (jobId: string) => void;
  /** Time that the word of a taken answer waits for others, in milliseconds: each message wakes a worker. */
  lingerMs: number;
}): UnsettledAnswers {
  const { ledger, metrics, log } = options;
  const answers = new InFlightMap<Unsettled>();
  const words = createAckBatch<TakenAck>(options.connection, options.lingerMs);

  const take = (jobId: string): void => {
    answers.take(jobId);
    options.onSettled?.(jobId);
  };

  const say = (word: TakenAck, jobId: string, { tell }: SettleNote): void => {
    if (tell !== undefined && isTakenSubject(tell)) words.tell(tell, word, jobId);
  };

  const settle = async (answer: Unsettled): Promise<void> => {
    if (answer.isSettling) return;
    answer.isSettling = true;
    const { jobId, workspaceId, lined, note } = answer;
    const { source, units, tokens, estimated, attempt } = note;
    const charge = { nano: answer.nano, units, tokens, estimated };
    try {
      const of = { jobId, workspaceId, attempt };
      const settlement = settlementOf("succeeded", source, charge);
      const finished = await ledger.settle({ ...of, ...settlement, lined, isDelivered: true });
      take(jobId);
      countDelivered({ metrics, log }, charge, finished, jobId);
      if (finished.wasClosed) return;
      countCharge({ metrics, log }, charge, finished.takenNano, { requestId: jobId, source });
      metrics.answersSettledByIngress.inc();
      log.warn({ job_id: jobId }, "an answer was settled without its worker");
    } catch (error) {
      if (isDataFault(error)) {
        answers.take(jobId);
        countDelivered({ metrics, log }, charge, { takenNano: 0n, wasClosed: false }, jobId);
        log.error({ err: error, job_id: jobId }, "an answer cannot be settled; its hold is left to the janitor");
        return;
      }
      log.error({ err: error, job_id: jobId }, "an answer could not be settled; it is tried again");
      answer.dueAt = performance.now() + Math.min(AGAIN_MAX_MS, TICK_MS * 2 ** answer.failures);
      answer.failures += 1;
      answer.isSettling = false;
    }
  };

  const clock = setInterval(() => {
    const now = performance.now();
    // Oldest first: those behind one that is not due are not due either, but for those tried again.
    for (const answer of answers.values()) if (answer.dueAt <= now) void settle(answer);
  }, TICK_MS);

  const settleAll = async (): Promise<void> => {
    await Promise.all(Array.from(answers.values(), settle));
  };

  return {
    settleAll,
    keep({ jobId, workspaceId, lined }, { nano }, note) {
      const dueAt = performance.now() + WORD_MS;
      answers.set(jobId, {
        jobId,
        workspaceId,
        lined,
        nano: BigInt(nano),
        note,
        dueAt,
        isSettling: false,
        failures: 0,
      });
      say("taken", jobId, note);
      failpoint("call.taken");
    },
    onFrame(jobId, frame) {
      const answer = answers.get(jobId);
      if (frame.t === "end" && frame.settle) say(answer ? "taken" : "gone", jobId, frame.settle);
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
