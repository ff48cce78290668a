/**
 * Asks the ingress of each running call whether it still waits, which also shows it that we live. One clock for all
 * calls of a runner; nothing is asked about calls that end at once.
 */
import { type NatsConnection, RequestError } from "nats";

import { beforeAbort, sleep } from "#shared/abortable.ts";
import { LIMITS } from "#shared/limits.ts";
import { onLink } from "#shared/queue/connection.ts";
import { CALLER_GONE, CALLER_SERVED, CALLER_TAKEN, encodeFrame } from "#shared/queue/frames.ts";
import { presenceSubject } from "#shared/queue/subjects.ts";

/** `served` by another worker, `gone`, still `waiting`; `silent`: the question or its answer was lost. */
export type CallerAnswer = "waiting" | "served" | "gone" | "silent";

export interface CallerWatch {
  /** Runs `on.gone` once when the caller is known to be gone. */
  watch(reply: string, on: WatchEvents): CallWatch;
  /** For a call that has waited long or may be run elsewhere. */
  ask(reply: string): Promise<CallerAnswer>;
  /**
   * Resolves when the ingress has shown, after this was called, that it takes answers. The call of a dead one ends by its watch.
   * @throws the signal's reason when it aborts first
   */
  confirm(reply: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface WatchEvents {
  gone(): void;
  /** The ingress has the whole answer. Runs whenever it says so. */
  taken?(): void;
}

export interface CallWatch {
  /** The answer is on its way: asks soon whether it came, should no word of that come first. */
  expectTaken(): void;
  end(): void;
}

interface Watched {
  readonly reply: string;
  readonly on: WatchEvents;
  askAt: number;
  evidence: number;
}

/** Whether an ingress is there: the question on its way, and the one behind it. */
interface Presence {
  readonly asking: Promise<boolean>;
  next: Promise<boolean> | undefined;
}

const TICK_MS = 250;
/** Evidence that a caller is gone: a refusal by the broker weighs more than an answer that did not come in time. */
const WEIGHT = { refused: 4, late: 1, gone: 8 } as const;

const BEAT = encodeFrame({ t: "beat" });
const ASK = encodeFrame({ t: "ask" });
const EMPTY = new Uint8Array();

export function openCallerWatch(connection: NatsConnection): CallerWatch {
  const calls = new Set<Watched>();

  const request = async (
    reply: string,
    frame: Uint8Array,
  ): Promise<"here" | "served" | "taken" | "gone" | "refused" | "late"> => {
    try {
      const answer = (await connection.request(reply, frame, { timeout: LIMITS.ingressProbeMs })).string();
      if (answer === CALLER_SERVED || answer === CALLER_TAKEN || answer === CALLER_GONE) return answer;
      return "here";
    } catch (error) {
      return error instanceof RequestError && error.isNoResponders() ? "refused" : "late";
    }
  };

  const check = async (call: Watched): Promise<void> => {
    const answer = await request(call.reply, BEAT);
    if (answer === "taken") call.on.taken?.();
    if (answer === "here" || answer === "served" || answer === "taken") call.evidence = 0;
    else call.evidence += WEIGHT[answer];
    // No subscriber, for good or for now: an ingress that reconnects is back by the next time.
    if (answer === "refused") call.askAt = performance.now() + LIMITS.ingressReturnMs;
    if (call.evidence >= WEIGHT.gone && calls.delete(call)) call.on.gone();
  };

  // All calls of an ingress share a question: those that come while one is on its way share the next.
  const presences = new Map<string, Presence>();

  /** Whatever it answers, it reads: an ingress of another version may not know the question. */
  const isPresent = async (subject: string): Promise<boolean> => {
    const answer = await request(subject, EMPTY);
    return answer !== "refused" && answer !== "late";
  };

  const askPresence = (subject: string): Promise<boolean> => {
    const known = presences.get(subject);
    if (known) return (known.next ??= known.asking.then(() => startAsking(subject)));
    return startAsking(subject);
  };

  const startAsking = (subject: string): Promise<boolean> => {
    const entry: Presence = { asking: isPresent(subject), next: undefined };
    presences.set(subject, entry);
    return entry.asking.finally(() => {
      if (entry.next === undefined) presences.delete(subject);
    });
  };

  const clock = setInterval(() => {
    const now = performance.now();
    for (const call of calls) {
      if (call.askAt > now) continue;
      call.askAt = now + LIMITS.ingressProbeMs;
      void check(call);
    }
  }, TICK_MS);

  // Another worker may have been given our calls meanwhile: their ingress must know at once that we have them.
  onLink(connection, {
    restored() {
      const now = performance.now();
      for (const call of calls) call.askAt = now;
    },
  });

  return {
    watch(reply, on) {
      const call = { reply, on, askAt: performance.now() + LIMITS.ingressFirstProbeMs, evidence: 0 };
      calls.add(call);
      return {
        expectTaken() {
          call.askAt = performance.now() + LIMITS.takenAskMs;
        },
        end: () => calls.delete(call),
      };
    },
    async ask(reply) {
      let answer = await request(reply, ASK);
      if (answer === "refused") {
        await Bun.sleep(LIMITS.ingressReturnMs);
        answer = await request(reply, ASK);
      }
      if (answer === "here") return "waiting";
      if (answer === "late") return "silent";
      return answer === "served" || answer === "taken" ? "served" : "gone";
    },
    async confirm(reply, signal) {
      const subject = presenceSubject(reply);
      while (!(await beforeAbort(askPresence(subject), signal))) {
        await sleep(LIMITS.presenceRetryMs, signal);
      }
    },
    close: () => clearInterval(clock),
  };
}
