/**
 * The pool webhook: fans events out into deliveries and makes the attempts that are due. It goes by rows alone, so that neither a
 * lost message nor a wiped queue can lose or delay a notification (deploy/decisions/0029).
 */
import type { Database } from "#shared/database/client.ts";
import {
  claimDeliveries,
  type ClaimedDelivery,
  claimMail,
  fanOutEvents,
  hasWaitingEvents,
} from "#shared/database/delivery-work.ts";
import { LIMITS } from "#shared/limits.ts";

import type { Runner } from "../runner/runner.ts";
import { type AttemptContext, makeAttempt } from "./attempt.ts";

export function startDeliveries(
  options: AttemptContext & {
    readonly database: Database;
    /** Attempts at once. */
    readonly slots: number;
  },
): Runner {
  const { database, slots, log } = options;
  const failingMax = Math.max(1, Math.floor(slots * LIMITS.failingSlotsShare));
  const running = new Map<Promise<void>, ClaimedDelivery>();
  const hurried = new AbortController();
  let isStopping = false;
  let isLooking = false;
  let whenIdle: (() => void) | undefined;

  const attempt = (delivery: ClaimedDelivery): void => {
    const work = makeAttempt(options, delivery, hurried.signal)
      .catch((error: unknown) => {
        // Its lease ends, and it is made again.
        if (!hurried.signal.aborted) log.error({ err: error, delivery_id: delivery.id }, "an attempt was not written");
      })
      .finally(() => {
        running.delete(work);
        if (running.size === 0) whenIdle?.();
        void look();
      });
    running.set(work, delivery);
  };

  /** @returns whether there may be more at once */
  const turn = async (): Promise<boolean> => {
    const fanned = (await hasWaitingEvents(database)) ? await fanOutEvents(database, LIMITS.fanOutEventsMax) : 0;
    const max = slots - running.size;
    const failing = [...running.values()].filter(({ is_failing }) => is_failing).length;
    if (max <= 0) return false;
    const claim = {
      max,
      failingMax: Math.max(0, failingMax - failing),
      eachMax: LIMITS.channelAttemptsMax,
      leaseMs: LIMITS.attemptLeaseMs,
    };
    const taken = [
      ...(await claimDeliveries(database, claim)),
      ...(await claimMail(database, { ...claim, max: LIMITS.mailAttemptsMax })),
    ];
    for (const delivery of taken) attempt(delivery);
    return fanned === LIMITS.fanOutEventsMax || taken.length > 0;
  };

  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      while (!isStopping && (await turn()));
    } catch (error) {
      log.warn({ err: error }, "deliveries could not be looked for");
    } finally {
      isLooking = false;
    }
  };

  const timer = setInterval(() => void look(), LIMITS.deliveryLookMs);
  void look();
  return {
    running: () => running.size,
    async stop(hurry) {
      isStopping = true;
      clearInterval(timer);
      const abort = (): void => hurried.abort(hurry.reason);
      hurry.addEventListener("abort", abort, { once: true });
      if (running.size > 0) {
        await new Promise<void>((resolve) => {
          whenIdle = resolve;
        });
      }
      hurry.removeEventListener("abort", abort);
    },
  };
}
