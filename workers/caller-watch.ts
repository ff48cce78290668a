/**
 * Asks the ingress of each running call whether it still waits, which also shows it that we live. One clock for all
 * calls of a runner; nothing is asked about calls that end at once.
 */
import { type NatsConnection, RequestError } from "nats";

import { LIMITS } from "#shared/limits.ts";
import { CALLER_GONE, encodeFrame } from "#shared/queue/frames.ts";

export interface CallerWatch {
  /** Runs `onGone` once when the caller is known to be gone. Returns what ends the watch. */
  watch(reply: string, onGone: () => void): () => void;
  /** For a call that has waited long: whether its caller is gone by now. Takes up to some seconds to say yes. */
  isGone(reply: string): Promise<boolean>;
  close(): void;
}

interface Watched {
  readonly reply: string;
  readonly onGone: () => void;
  askAt: number;
  evidence: number;
}

const TICK_MS = 250;
/** Evidence that a caller is gone: a refusal by the broker weighs more than an answer that did not come in time. */
const WEIGHT = { refused: 4, late: 1, gone: 8 } as const;

const BEAT = encodeFrame({ t: "beat" });

export function openCallerWatch(connection: NatsConnection): CallerWatch {
  const calls = new Set<Watched>();

  const ask = async (reply: string): Promise<"here" | "gone" | "refused" | "late"> => {
    try {
      const answer = await connection.request(reply, BEAT, { timeout: LIMITS.ingressProbeMs });
      return answer.string() === CALLER_GONE ? "gone" : "here";
    } catch (error) {
      return error instanceof RequestError && error.isNoResponders() ? "refused" : "late";
    }
  };

  const check = async (call: Watched): Promise<void> => {
    const answer = await ask(call.reply);
    if (answer === "here") call.evidence = 0;
    else call.evidence += WEIGHT[answer];
    // Nobody listens there, or nobody listens right now: an ingress that reconnects is back by the next time.
    if (answer === "refused") call.askAt = performance.now() + LIMITS.ingressReturnMs;
    if (call.evidence >= WEIGHT.gone && calls.delete(call)) call.onGone();
  };

  const clock = setInterval(() => {
    const now = performance.now();
    for (const call of calls) {
      if (call.askAt > now) continue;
      call.askAt = now + LIMITS.ingressProbeMs;
      void check(call);
    }
  }, TICK_MS);

  return {
    watch(reply, onGone) {
      const call = { reply, onGone, askAt: performance.now() + LIMITS.ingressFirstProbeMs, evidence: 0 };
      calls.add(call);
      return () => calls.delete(call);
    },
    async isGone(reply) {
      const first = await ask(reply);
      if (first !== "refused") return first === "gone";
      await Bun.sleep(LIMITS.ingressReturnMs);
      const second = await ask(reply);
      return second === "gone" || second === "refused";
    },
    close: () => clearInterval(clock),
  };
}
