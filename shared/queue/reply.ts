/**
 * Receives response frames in the ingress. One wildcard subscription per process passes each frame to its call, and detects gaps in the
 * sequence numbers.
 */
import type { Msg, NatsConnection } from "nats";

import { InFlightMap } from "#shared/limits/in-flight.ts";
import type { Logger } from "#shared/base/logger.ts";
import { paced } from "#shared/config/pace.ts";

import { CALLER_LIVES, CALLER_SERVED, decodeFrame, type Frame, readBundle } from "./frames.ts";
import { FRAMES, PRESENCE, replyPrefix, SETTLED } from "./subjects.ts";
import { parseAcks, type SettledAck } from "./acks.ts";

export interface ReplyListener {
  onFrame(frame: Frame, data: Uint8Array): void;
  /** Called when a numbered frame is missing. No later frame is delivered. */
  onGap(): void;
}

/** Handles frames and requests that a worker still sends for calls that have ended. */
export interface EndedCalls {
  /** Handles a request of a worker for an ended call, and returns the reply: one of the `CALLER_` constants. */
  onFrame(jobId: string, frame: Frame): string;
  onSettled(jobId: string): void;
}

export interface ReplyInbox {
  /** Registers a call. Returns the reply subject of the call. */
  listen(jobId: string, listener: ReplyListener): string;
  forget(jobId: string): void;
  /** Returns the number of registered calls; 0 when no call is running. */
  size(): number;
  close(): Promise<void>;
}

interface Listening {
  readonly listener: ReplyListener;
  next: number;
  run: string | undefined;
  /** True after a worker has reported that it has the call. */
  isServed: boolean;
}

/** Pause of the event loop above which the process counts as having been suspended, in milliseconds. */
const STILL_MS = paced(2_000);
/**
 * Delay of received frames after a suspension, in milliseconds. Meanwhile, the process notices clients that have disconnected. A response
 * to a disconnected client is not charged.
 */
const CLOSES_MS = 50;

export function openReplyInbox(
  connection: NatsConnection,
  ingressId: string,
  log: Logger,
  ended: EndedCalls,
): ReplyInbox {
  const prefix = replyPrefix(ingressId);
  const calls = new InFlightMap<Listening>();

  const deliver = (message: Msg): void => {
    const name = message.subject.slice(prefix.length + 1);
    if (name === PRESENCE) {
      message.respond(CALLER_LIVES);
      return;
    }
    if (name === SETTLED) {
      for (const [, jobId] of parseAcks<SettledAck>(message.data, ["settled"])) ended.onSettled(jobId);
      return;
    }
    if (name !== FRAMES) {
      deliverFrame(name, message.data, message);
      return;
    }
    for (const [jobId, bytes] of readBundle(message.data)) {
      dropUnreadable(() => deliverFrame(jobId, bytes, message));
    }
  };

  const deliverFrame = (jobId: string, bytes: Uint8Array, message: Msg): void => {
    const { frame, data } = decodeFrame(bytes);
    const call = calls.get(jobId);
    if (!call) {
      const answer = ended.onFrame(jobId, frame);
      if (message.reply) message.respond(answer);
      return;
    }
    if (message.reply) message.respond(frame.t === "ask" && call.isServed ? CALLER_SERVED : CALLER_LIVES);
    if (frame.t === "ask") return;
    if (frame.t !== "lost") call.isServed = true;
    if ("n" in frame) {
      if (call.next === 0) call.run = frame.run;
      // Only frames of the run that sent the first frame are accepted.
      if (frame.n < call.next || frame.run !== call.run) return;
      if (frame.n > call.next) {
        call.listener.onGap();
        return;
      }
    }
    call.listener.onFrame(frame, data);
    if ("n" in frame) call.next += 1;
  };

  /** Handles a message and drops it if that fails. An exception would stop the NATS client from reading, and thereby every call. */
  const dropUnreadable = (take: () => void): void => {
    try {
      take();
    } catch (fault) {
      log.error({ err: fault }, "dropped an unreadable frame");
    }
  };

  let lastCheckAt = performance.now();
  /** Messages that arrived while the process was suspended, and later ones. Undefined when none are waiting. */
  let held: Msg[] | undefined;
  const checkForPause = (): void => {
    const now = performance.now();
    if (now - lastCheckAt > STILL_MS && !held) {
      const due: Msg[] = [];
      held = due;
      setTimeout(() => {
        held = undefined;
        for (const message of due) dropUnreadable(() => deliver(message));
      }, CLOSES_MS);
    }
    lastCheckAt = now;
  };
  const clock = setInterval(checkForPause, STILL_MS / 4);

  const subscription = connection.subscribe(`${prefix}.>`, {
    callback: (error, message) => {
      if (error) {
        log.error({ err: error }, "reply subscription failed");
        return;
      }
      checkForPause();
      if (held) held.push(message);
      else dropUnreadable(() => deliver(message));
    },
  });

  return {
    listen(jobId, listener) {
      calls.set(jobId, { listener, next: 0, run: undefined, isServed: false });
      return `${prefix}.${jobId}`;
    },
    forget(jobId) {
      calls.take(jobId);
    },
    size: () => calls.size,
    async close() {
      clearInterval(clock);
      await subscription.drain();
    },
  };
}
