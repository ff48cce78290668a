/**
 * Asks the ingress of each running call whether it still waits, which also shows it that we live, and hears what it says of
 * an answer. One clock for all calls of a runner; nothing is asked about calls that end at once.
 */
import { type NatsConnection, RequestError } from "nats";

import { beforeAbort, sleep } from "#shared/abortable.ts";
import { onLink } from "#shared/queue/connection.ts";
import { CALLER_GONE, CALLER_SERVED, CALLER_TAKEN, encodeFrame } from "#shared/queue/frames.ts";
import { newId } from "#shared/ids.ts";
import { InFlightMap, InFlightSet } from "#shared/in-flight.ts";
import { presenceSubject, takenSubject } from "#shared/queue/subjects.ts";
import { readWords, type TakenAck } from "#shared/queue/acks.ts";
import { paced } from "#shared/pace.ts";

/** The worker asks this often whether the ingress that waits for it still lives, which shows that it lives itself. */
export const INGRESS_PROBE_MS = paced(2_000);

/** The first time it asks this long after it took the call, so that quick calls cost no question. */
const INGRESS_FIRST_PROBE_MS = paced(500);

/** An ingress that lost its connection is back by then; one that is not is gone. With the above under 5 s. */
export const INGRESS_RETURN_MS = 1_500;

/** An answer that costs more than was held is settled before it goes out, when its ingress has said that it is there. */
const PRESENCE_RETRY_MS = paced(250);

/** The word that an answer was taken comes at once; it is asked for this late. */
const TAKEN_ASK_MS = 250;

/** `served` by another worker, `gone`, still `waiting`; `silent`: the question or its answer was lost. */
export type CallerAnswer = "waiting" | "served" | "gone" | "silent";

export interface CallerWatch {
  /** Runs `on.gone` once when the caller is known to be gone. */
  watch(reply: string, on: WatchEvents): CallWatch;
  /** For a call that has waited long or may be run elsewhere. @param waitMs longest time that the answer may take */
  ask(reply: string, waitMs?: number): Promise<CallerAnswer>;
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
  /** The ingress still waits, although the answer was sent: a frame of it was lost. */
  untaken?(): void;
}

export interface CallWatch {
  /** The answer is on its way: asks soon whether it came, should no word of that come first. */
  expectTaken(): void;
  end(): unknown;
}

interface Watched {
  readonly reply: string;
  readonly on: WatchEvents;
  isAnswered: boolean;
  askAt: number;
  evidence: number;
  /** Returns false if it was over before. */
  readonly end: () => boolean;
}

/** Questions if an ingress is there: the one on its way, and the one behind it. */
interface Presence {
  readonly asking: Promise<boolean>;
  next: Promise<boolean> | undefined;
}

const TICK_MS = 250;
/** Evidence that a caller is gone: a refusal by the broker weighs more than an answer that did not come in time. */
const WEIGHT = { refused: 4, late: 1, gone: 8 } as const;

const ASK = encodeFrame({ t: "ask" });
const EMPTY = new Uint8Array();

/** @param cancel subject below which the worker is told of calls that are not wanted any more */
export function openCallerWatch(connection: NatsConnection, cancel?: string): CallerWatch {
  const beat = encodeFrame({ t: "beat", ...(cancel !== undefined && { cancel }) });
  const calls = new InFlightSet<Watched>();
  /** Our own link is lost. */
  let isCut = false;

  const request = async (
    reply: string,
    frame: Uint8Array,
    timeout = INGRESS_PROBE_MS,
  ): Promise<"here" | "served" | "taken" | "gone" | "refused" | "late"> => {
    try {
      const answer = (await connection.request(reply, frame, { timeout })).string();
      if (answer === CALLER_SERVED || answer === CALLER_TAKEN || answer === CALLER_GONE) return answer;
      return "here";
    } catch (error) {
      return error instanceof RequestError && error.isNoResponders() ? "refused" : "late";
    }
  };

  const check = async (call: Watched): Promise<void> => {
    const { isAnswered } = call;
    const answer = await request(call.reply, beat);
    // Without a link of our own silence says nothing about the caller.
    if (isCut) return;
    if (answer === "taken") call.on.taken?.();
    else if (isAnswered && (answer === "here" || answer === "served")) call.on.untaken?.();
    if (answer === "here" || answer === "served" || answer === "taken") call.evidence = 0;
    else call.evidence += WEIGHT[answer];
    // No subscriber, for good or for now: an ingress that reconnects is back by the next time.
    if (answer === "refused") call.askAt = performance.now() + INGRESS_RETURN_MS;
    if (call.evidence >= WEIGHT.gone && call.end()) call.on.gone();
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
    if (isCut) return;
    const now = performance.now();
    for (const call of calls) {
      if (call.askAt > now) continue;
      call.askAt = now + INGRESS_PROBE_MS;
      void check(call);
    }
  }, TICK_MS);

  // Another worker may have been given our calls meanwhile: their ingress must know at once that we have them.
  onLink(connection, {
    lost() {
      isCut = true;
    },
    restored() {
      isCut = false;
      const now = performance.now();
      for (const call of calls) call.askAt = now;
    },
  });

  return {
    watch(reply, on) {
      const askAt = performance.now() + INGRESS_FIRST_PROBE_MS;
      const end = (): boolean => calls.delete(entry);
      const call: Watched = { reply, on, askAt, evidence: 0, isAnswered: false, end };
      const entry = calls.add(call);
      return {
        expectTaken() {
          call.isAnswered = true;
          call.askAt = performance.now() + TAKEN_ASK_MS;
        },
        end,
      };
    },
    async ask(reply, waitMs) {
      let answer = await request(reply, ASK, waitMs);
      if (answer === "refused") {
        await Bun.sleep(INGRESS_RETURN_MS);
        answer = await request(reply, ASK, waitMs);
      }
      if (answer === "here") return "waiting";
      if (answer === "late") return "silent";
      return answer === "served" || answer === "taken" ? "served" : "gone";
    },
    async confirm(reply, signal) {
      const subject = presenceSubject(reply);
      while (!(await beforeAbort(askPresence(subject), signal))) {
        await sleep(PRESENCE_RETRY_MS, signal);
      }
    },
    close: () => clearInterval(clock),
  };
}

/** Reports of ingresses about answers that a runner has sent before they are settled. */
export interface TakenAcks {
  /** Subject on which the reports are received. */
  readonly subject: string;
  /** Runs `listener` at the next word about the job. Returns what takes it back. */
  onWord(jobId: string, listener: (word: TakenAck) => void): () => void;
  close(): void;
}

export function openTakenAcks(connection: Pick<NatsConnection, "subscribe">): TakenAcks {
  const listeners = new InFlightMap<(word: TakenAck) => void>();
  const subject = takenSubject(newId());
  const subscription = connection.subscribe(subject, {
    callback: (error, message) => {
      // Without a message; the connection's own log tells of it.
      if (error) return;
      for (const [word, jobId] of readWords<TakenAck>(message.data, ["taken", "gone"])) listeners.get(jobId)?.(word);
    },
  });
  return {
    subject,
    onWord(jobId, listener) {
      listeners.set(jobId, listener);
      return () => {
        // A repeat of the same job may have taken its place.
        if (listeners.get(jobId) === listener) listeners.take(jobId);
      };
    },
    close: () => subscription.unsubscribe(),
  };
}
