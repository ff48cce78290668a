/**
 * Watches the ingresses of running calls. A request to each ingress asks whether its client still waits, and shows that this worker is
 * alive. The reply may also confirm that the ingress has received the whole answer. All calls of a runner share one timer. A call that ends
 * quickly causes no request.
 */
import { type NatsConnection, RequestError } from "nats";

import { beforeAbort, sleep } from "#shared/base/abortable.ts";
import { onLink } from "#shared/queue/connection.ts";
import { CALLER_GONE, CALLER_SERVED, CALLER_TAKEN, encodeFrame } from "#shared/queue/frames.ts";
import { newId } from "#shared/base/ids.ts";
import { InFlightMap, InFlightSet } from "#shared/limits/in-flight.ts";
import { presenceSubject, takenSubject } from "#shared/queue/subjects.ts";
import { parseAcks, type TakenAck } from "#shared/queue/acks.ts";
import { paced } from "#shared/config/pace.ts";

/** Interval at which the ingress of a running call is asked, in milliseconds. The requests also show that the worker is alive. */
export const INGRESS_PROBE_MS = paced(2_000);

/** Delay of the first request to the ingress, in milliseconds, so that a quick call causes no request. */
const INGRESS_FIRST_PROBE_MS = paced(500);

/**
 * Time in which an ingress must reconnect, in milliseconds. After it, the ingress counts as dead. With the interval above, this takes less
 * than 5 s.
 */
export const INGRESS_RETURN_MS = 1_500;

/**
 * Pause between two requests that check whether an ingress is alive, in milliseconds. An answer that costs more than its held credits is
 * sent only after such a request was answered.
 */
const PRESENCE_RETRY_MS = paced(250);

/** Delay before an ingress is asked to confirm an answer, in milliseconds. The confirmation usually arrives earlier without a request. */
const TAKEN_ASK_MS = 250;

/**
 * State of a caller. `waiting`: still waits. `served`: another worker answered. `gone`: no longer waits. `silent`: the request or its reply
 * was lost.
 */
export type CallerAnswer = "waiting" | "served" | "gone" | "silent";

export interface CallerLiveness {
  /** Starts to watch the ingress that waits for a call. Calls `on.gone` once when the ingress is dead or no longer waits. */
  watch(reply: string, on: WatchEvents): CallWatch;
  /** Asks the ingress about a call that waited long or may run elsewhere. @param waitMs timeout of the reply, in milliseconds */
  ask(reply: string, waitMs?: number): Promise<CallerAnswer>;
  /**
   * Resolves when the ingress has replied to a request that was sent after this function was called. Does not resolve for a dead ingress;
   * the watch then aborts the call.
   * @throws the signal's reason when it aborts first
   */
  confirm(reply: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface WatchEvents {
  gone(): void;
  /** Called whenever the ingress confirms that it has received the whole answer. */
  taken?(): void;
  /** Called when the ingress still waits after the answer was sent, which means that a frame was lost. */
  untaken?(): void;
}

export interface CallWatch {
  /** Called after the answer was sent. If the ingress does not confirm the answer soon, it is asked for the confirmation. */
  expectTaken(): void;
  end(): unknown;
}

interface Watched {
  readonly reply: string;
  readonly on: WatchEvents;
  isAnswered: boolean;
  askAt: number;
  evidence: number;
  /** Ends the watch. Returns false if it had ended before. */
  readonly end: () => boolean;
}

/** Requests that check whether an ingress is alive. `asking` is pending; `next` is sent after it, for calls that arrived meanwhile. */
interface Presence {
  readonly asking: Promise<boolean>;
  next: Promise<boolean> | undefined;
}

const TICK_MS = 250;
/** Weights of the evidence that a caller is gone. A refusal by the broker weighs more than a timeout. */
const WEIGHT = { refused: 4, late: 1, gone: 8 } as const;

const ASK = encodeFrame({ t: "ask" });
const EMPTY = new Uint8Array();

/**
 * Creates the watch of a runner.
 * @param cancel prefix of the subject on which this worker receives cancels
 */
export function openCallerLiveness(connection: NatsConnection, cancel?: string): CallerLiveness {
  const beat = encodeFrame({ t: "beat", ...(cancel !== undefined && { cancel }) });
  const calls = new InFlightSet<Watched>();
  /** True while this worker's own connection is lost. */
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
    // Without a connection of our own, silence says nothing about the caller.
    if (isCut) return;
    if (answer === "taken") call.on.taken?.();
    else if (isAnswered && (answer === "here" || answer === "served")) call.on.untaken?.();
    if (answer === "here" || answer === "served" || answer === "taken") call.evidence = 0;
    else call.evidence += WEIGHT[answer];
    // No subscriber: an ingress that reconnects is back by the next request.
    if (answer === "refused") call.askAt = performance.now() + INGRESS_RETURN_MS;
    if (call.evidence >= WEIGHT.gone && call.end()) call.on.gone();
  };

  // All calls of an ingress share a request; calls that arrive while it is pending share the next one.
  const presences = new Map<string, Presence>();

  /** Returns true if the ingress is alive. Any reply counts, because an ingress of another version may not understand the request. */
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

  // Another worker may have received our calls meanwhile, so their ingress must learn immediately that this one runs them.
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

/**
 * Subscription of a worker to confirmations from ingresses. An ingress confirms each answer that it received before the call was settled.
 */
export interface TakenAcks {
  /** Subject on which ingresses send confirmations. */
  readonly subject: string;
  /** Calls `listener` at the next confirmation for the job. Returns a function that removes the listener. */
  onAck(jobId: string, listener: (ack: TakenAck) => void): () => void;
  close(): void;
}

export function openTakenAcks(connection: Pick<NatsConnection, "subscribe">): TakenAcks {
  const listeners = new InFlightMap<(ack: TakenAck) => void>();
  const subject = takenSubject(newId());
  const subscription = connection.subscribe(subject, {
    callback: (error, message) => {
      // The connection logs errors of the subscription, which have no message.
      if (error) return;
      for (const [ack, jobId] of parseAcks<TakenAck>(message.data, ["taken", "gone"])) listeners.get(jobId)?.(ack);
    },
  });
  return {
    subject,
    onAck(jobId, listener) {
      listeners.set(jobId, listener);
      return () => {
        // A repeat of the same job may have replaced the listener.
        if (listeners.get(jobId) === listener) listeners.take(jobId);
      };
    },
    close: () => subscription.unsubscribe(),
  };
}
