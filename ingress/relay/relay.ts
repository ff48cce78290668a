/** All calls this ingress waits for: one reply subscription, one clock, one record of what was relayed. */
import type { Database } from "#shared/database/client.ts";
import type { Ledger } from "#shared/ledger/finish.ts";
import { LIMITS } from "#shared/limits.ts";
import { paced } from "#shared/pace.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { HandedOut } from "#shared/queue/publish.ts";
import type { ReplyInbox } from "#shared/queue/reply.ts";
import type { Pool } from "#shared/queue/subjects.ts";

import { Call, type CallFacts, type EndReason } from "./call.ts";
import { recordRelayed } from "./progress.ts";

export interface Relay {
  /** Where the worker answers to. */
  address(jobId: string): string;
  /**
   * Listens, dispatches, waits. The hold must be placed; from here on it is closed whatever happens.
   * @param signal the client's: aborts when it leaves
   * @param dispatch resolves with the message's sequence in its stream; is told whether anybody still waits
   * @throws ApiError of the call
   */
  run(facts: CallFacts, signal: AbortSignal, dispatch: (isWanted: () => boolean) => Promise<number>): Promise<Response>;
  /** Calls waited for. */
  active(): number;
  /** Ends every call with an error, for the end of the grace. */
  endAll(): void;
  close(): void;
}

/** Ends after which the worker that has the call aborts it and settles what was produced. */
const LEFT_TO_WORKER: ReadonlySet<EndReason> = new Set(["client", "stuck", "gap", "deadline", "shutdown"]);

export function createRelay(options: {
  /** Tells the workers to end a job whose caller has left. */
  cancel: (jobId: string) => void;
  inbox: ReplyInbox;
  database: Database;
  ledger: Ledger;
  log: Logger;
  metrics: Metrics;
  /** How far the pool's queue has handed out its messages. */
  handedOut: (pool: Pool) => Promise<HandedOut>;
}): Relay {
  const { cancel, inbox, database, ledger, log, metrics, handedOut } = options;
  const calls = new Set<Call>();

  const onEnd = (call: Call, reason: EndReason | undefined): void => {
    if (!call.isStream) calls.delete(call);
    inbox.forget(call.facts.jobId);
    if (call.isStream) metrics.streamsActive.add(-1);
    if (reason === undefined) return;
    if (call.isStream) metrics.streamAborts.inc(reason);
    // The worker, if there is one, stops at once and settles what was produced.
    cancel(call.facts.jobId);
    if (LEFT_TO_WORKER.has(reason) && !call.isUnclaimed) return;
    void closeAbandoned(call, reason);
  };

  /** Nobody else will: no worker is known to have the call, or the one that had it is gone. */
  const closeAbandoned = async (call: Call, reason: EndReason): Promise<void> => {
    const isLost = reason === "silence" || reason === "lost";
    const relayed = isLost ? call.relayed : undefined;
    if (isLost) metrics.callsLost.inc();
    try {
      await ledger.finish({
        workspaceId: call.facts.workspaceId,
        jobId: call.facts.jobId,
        attempt: 1,
        usedNano: relayed && relayed.nano > 0n ? relayed.nano : null,
        status: isLost ? "lost" : reason === "client" ? "cancelled" : "failed",
        source: null,
        units: relayed && relayed.tokens > 0 ? { tokens: relayed.tokens } : {},
        isEstimated: relayed !== undefined,
        tokens: relayed?.tokens ?? 0,
      });
    } catch (error) {
      log.error({ err: error, job_id: call.facts.jobId }, "a hold could not be closed; the janitor will");
    }
  };

  const onFirst = (call: Call, upstreamMs: number, isStream: boolean): void => {
    const totalMs = performance.now() - call.facts.startedAt;
    metrics.gatewayOverheadSeconds.observe(Math.max(0, totalMs - upstreamMs) / 1_000);
    if (!isStream) return;
    metrics.streamsActive.add(1);
    metrics.timeToFirstTokenSeconds.observe(totalMs / 1_000);
  };

  let isLooking = false;
  /** A worker that died at once has sent no sign of life; only the queue knows that it had the call. */
  const lookUp = async (unclaimed: readonly Call[]): Promise<void> => {
    if (isLooking || unclaimed.length === 0) return;
    isLooking = true;
    try {
      for (const [pool, theirs] of Map.groupBy(unclaimed, ({ facts }) => facts.pool)) {
        const { upTo, sinceMs } = await handedOut(pool);
        for (const call of theirs) {
          if (!call.isWaiting) continue;
          // A queue younger than the message has lost it with its store.
          if (sinceMs > call.dispatchedAtMs) call.dispatchAgain?.();
          else if (call.streamSeq !== undefined && call.streamSeq <= upTo) call.onHandedOut();
        }
      }
    } catch (error) {
      log.warn({ err: error, calls: unclaimed.length }, "calls without a worker could not be looked up in the queue");
    } finally {
      isLooking = false;
    }
  };

  const clock = setInterval(() => {
    const now = performance.now();
    const unclaimed: Call[] = [];
    for (const call of calls) {
      // An ended stream stays until its reader has taken the rest, or is cut for not taking it.
      if (call.isFinished) calls.delete(call);
      else call.tick(now);
      if (call.isUnclaimed && call.age(now) > LIMITS.unclaimedMs) unclaimed.push(call);
    }
    void lookUp(unclaimed);
  }, paced(1_000));
  let isRecording = false;
  const recorder = setInterval(() => {
    if (isRecording) return;
    isRecording = true;
    recordRelayed(database, calls)
      .catch((error: unknown) => log.warn({ err: error }, "what was relayed could not be recorded"))
      .finally(() => {
        isRecording = false;
      });
  }, LIMITS.relayRecordMs);

  return {
    address: (jobId) => inbox.address(jobId),
    active: () => calls.size,
    async run(facts, signal, dispatch) {
      const call = new Call(facts, { onEnd, onFirst });
      calls.add(call);
      inbox.listen(facts.jobId, call);
      const onLeft = (): void => call.end("client");
      if (signal.aborted) onLeft();
      else {
        signal.addEventListener("abort", onLeft, { once: true });
        const send = async (): Promise<void> => {
          call.streamSeq = undefined;
          call.dispatchedAtMs = Date.now();
          try {
            call.streamSeq = await dispatch(() => call.isWaiting);
          } catch (error) {
            // Only the queue's answer may have been lost: a call that a worker has shown to have goes on.
            if (call.isWaiting) call.end("dispatch", error);
          }
        };
        call.dispatchAgain = () => void send();
        void send();
      }
      try {
        return await call.response;
      } finally {
        // A stream's own body notices its client leaving; listening on would keep the request alive.
        if (!call.isStream) signal.removeEventListener("abort", onLeft);
      }
    },
    endAll() {
      for (const call of calls) call.end("shutdown");
    },
    close() {
      clearInterval(clock);
      clearInterval(recorder);
    },
  };
}
