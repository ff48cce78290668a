/**
 * Takes messages of a durable as fast as they can be held: asks for what there is room for, keeps those in hand alive, and ends without
 * losing one. The handler alone decides about a message; it acknowledges it or hands it back.
 */
import type { NatsConnection } from "nats";

import { InFlightSet } from "#shared/in-flight.ts";
import type { Logger } from "#shared/logger.ts";

import type { NatsRole } from "./connection.ts";
import { type Delivery, openPuller, type Puller } from "./puller.ts";

export interface PullLoop extends Pick<Puller, "mayBeRepeat" | "restoredAt"> {
  /** Number of messages in hand. */
  held(): number;
  /** Says that there is more room than a moment ago; rooms that become free in the same turn share one request. */
  askForMore(): void;
  /** Asks for no more; resolves when all that was on its way has come. Messages are handled, and kept alive, all the same. */
  stop(): Promise<void>;
  /** Resolves when no message is in hand, and keeps none alive from then on. Called once, after `stop`. */
  finish(): Promise<void>;
}

export function openPullLoop(options: {
  connection: NatsConnection;
  role: NatsRole;
  stream: string;
  durable: string;
  log: Logger;
  /** Well inside the durable's ack_wait. */
  beatMs: number;
  /** Returns how many messages could be held now beyond the `held` that are in hand. */
  capacity(held: number): number;
  handle(message: Delivery): Promise<void>;
}): PullLoop {
  const { log, beatMs, ...pulled } = options;
  const held = new InFlightSet<Delivery>();
  let isStopping = false;
  let isQueued = false;
  let whenIdle: (() => void) | undefined;

  const pump = (): void => {
    isQueued = false;
    if (isStopping) return;
    const asked = puller.asked();
    const free = options.capacity(held.size) - asked;
    // Only when what is asked for has shrunk to what is free: a request for every freed slot would leave hundreds of open
    // requests, which the server looks through for each message (0.8 ms of its CPU a call, measured).
    if (free > 0 && free >= asked) puller.ask(free);
  };

  const askForMore = (): void => {
    if (isQueued || isStopping) return;
    isQueued = true;
    setImmediate(pump);
  };

  const take = async (message: Delivery): Promise<void> => {
    const entry = held.add(message);
    try {
      const handled = options.handle(message);
      // Not only when it ends, which may be minutes away: others wait on the queue while slots are free.
      askForMore();
      await handled;
    } catch (error) {
      // The server hands out again what it hears nothing of.
      log.warn({ err: error, deliveries: message.deliveries }, "a message could not be acknowledged");
    } finally {
      held.delete(entry);
      if (held.size === 0) whenIdle?.();
      askForMore();
    }
  };

  const puller = openPuller({ ...pulled, log, onMessage: (message) => void take(message), onRoom: askForMore });
  const beats = setInterval(() => {
    for (const message of held) message.working();
    askForMore();
  }, beatMs);
  pump();

  return {
    held: () => held.size,
    askForMore,
    mayBeRepeat: (message) => puller.mayBeRepeat(message),
    restoredAt: () => puller.restoredAt(),
    async stop() {
      isStopping = true;
      await puller.stop();
    },
    async finish() {
      if (held.size > 0) {
        await new Promise<void>((resolve) => {
          whenIdle = resolve;
        });
      }
      clearInterval(beats);
    },
  };
}
