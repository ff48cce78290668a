/**
 * The ingress' side of the answer protocol: one wildcard subscription per process, frames handed to the call they
 * belong to, holes in the numbering found here.
 */
import type { Msg, NatsConnection } from "nats";

import { InFlightMap } from "#shared/in-flight.ts";
import type { Logger } from "#shared/logger.ts";
import { paced } from "#shared/pace.ts";

import { CALLER_LIVES, CALLER_SERVED, decodeFrame, type Frame, readBundle } from "./frames.ts";
import { FRAMES, PRESENCE, replyPrefix, SETTLED } from "./subjects.ts";
import { readWords, type SettledAck } from "./acks.ts";

export interface ReplyListener {
  onFrame(frame: Frame, data: Uint8Array): void;
  /** A numbered frame is missing; nothing after it is delivered. */
  onGap(): void;
}

/** Calls that are over here, of which a worker may still ask or tell. */
export interface EndedCalls {
  /** Returns the answer for who asks: one of the `CALLER_` words. */
  onFrame(jobId: string, frame: Frame): string;
  onSettled(jobId: string): void;
}

export interface ReplyInbox {
  /** Returns the address that a worker answers to for this call. */
  listen(jobId: string, listener: ReplyListener): string;
  forget(jobId: string): void;
  /** Calls being listened for; back to 0 when nothing runs. */
  size(): number;
  close(): Promise<void>;
}

interface Listening {
  readonly listener: ReplyListener;
  next: number;
  run: string | undefined;
  /** A worker has shown that it has the call. */
  isServed: boolean;
}

/** A process that looked at nothing for this long stood still. */
const STILL_MS = paced(2_000);
/** Time in which a process that stood still reads which of its clients have left: an answer that nobody takes is not paid. */
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
      for (const [, jobId] of readWords<SettledAck>(message.data, ["settled"])) ended.onSettled(jobId);
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
      const word = ended.onFrame(jobId, frame);
      if (message.reply) message.respond(word);
      return;
    }
    if (message.reply) message.respond(frame.t === "ask" && call.isServed ? CALLER_SERVED : CALLER_LIVES);
    if (frame.t === "ask") return;
    if (frame.t !== "lost") call.isServed = true;
    if ("n" in frame) {
      if (call.next === 0) call.run = frame.run;
      // The first run that spoke is the one that is heard.
      if (frame.n < call.next || frame.run !== call.run) return;
      if (frame.n > call.next) {
        call.listener.onGap();
        return;
      }
    }
    call.listener.onFrame(frame, data);
    if ("n" in frame) call.next += 1;
  };

  /** Takes what has come; anything thrown would stop the client from reading its connection, and with it every call. */
  const dropUnreadable = (take: () => void): void => {
    try {
      take();
    } catch (fault) {
      log.error({ err: fault }, "a frame that cannot be read was dropped");
    }
  };

  let lookedAt = performance.now();
  /** Messages that came while the process stood still, and those behind them. */
  let held: Msg[] | undefined;
  const look = (): void => {
    const now = performance.now();
    if (now - lookedAt > STILL_MS && !held) {
      const due: Msg[] = [];
      held = due;
      setTimeout(() => {
        held = undefined;
        for (const message of due) dropUnreadable(() => deliver(message));
      }, CLOSES_MS);
    }
    lookedAt = now;
  };
  const clock = setInterval(look, STILL_MS / 4);

  const subscription = connection.subscribe(`${prefix}.>`, {
    callback: (error, message) => {
      if (error) {
        log.error({ err: error }, "reply subscription failed");
        return;
      }
      look();
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
