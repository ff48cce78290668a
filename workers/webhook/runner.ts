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

const NO_CHANNEL = "00000000-0000-0000-0000-000000000000";

export function startDeliveries(
  options: AttemptContext & {
    readonly database: Database;
    /** Attempts at once. */
    readonly slots: number;
  },
): Runner {
  const { database, slots, log } = options;
  const failingMax = Math.max(1, Math.floor(slots * LIMITS.failingSlotsShare));
  const newMax = Math.max(1, Math.floor(slots * LIMITS.newSlotsShare));
  const running = new Map<Promise<void>, ClaimedDelivery>();
  const hurried = new AbortController();
  let isStopping = false;
  let looking: Promise<void> | undefined;
  let soon: ReturnType<typeof setTimeout> | undefined;
  /** The channel that was served last: the next turn begins behind it. */
  let lastChannel = NO_CHANNEL;
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
        // Together with what ends in the next moments: a look costs as much for one as for many.
        soon ??= setTimeout(() => {
          soon = undefined;
          lookOnce();
        }, LIMITS.deliveryGatherMs);
      });
    running.set(work, delivery);
  };

  const countOf = (health: ClaimedDelivery["health"]): number =>
    [...running.values()].filter((delivery) => delivery.health === health).length;

  const countMail = (): number => [...running.values()].filter(({ channel }) => channel === null).length;

  /** @returns whether more events wait */
  const turn = async (): Promise<boolean> => {
    const fanned = (await hasWaitingEvents(database)) ? await fanOutEvents(database, LIMITS.fanOutEventsMax) : 0;
    const max = slots - running.size;
    if (max <= 0) return false;
    const claim = {
      max,
      failingMax: Math.max(0, failingMax - countOf("failing")),
      newMax: Math.max(0, newMax - countOf("new")),
      // Half of the slots.
      spareMax: Math.max(0, max - Math.floor(slots / 2)),
      eachMax: LIMITS.channelAttemptsMax,
      leaseMs: LIMITS.attemptLeaseMs,
      from: lastChannel,
    };
    const taken = [
      ...(await claimDeliveries(database, claim)),
      ...(await claimMail(database, { ...claim, max: Math.max(0, LIMITS.mailAttemptsMax - countMail()) })),
    ];
    lastChannel = taken.findLast(({ channel }) => channel !== null)?.channel?.id ?? NO_CHANNEL;
    for (const delivery of taken) attempt(delivery);
    return fanned === LIMITS.fanOutEventsMax;
  };

  const look = async (): Promise<void> => {
    try {
      for (let hasMore = true; hasMore;) hasMore = (await turn()) && !isStopping;
    } catch (error) {
      log.warn({ err: error }, "deliveries could not be looked for");
    } finally {
      looking = undefined;
    }
  };
  const lookOnce = (): void => {
    if (!isStopping) looking ??= look();
  };

  const timer = setInterval(lookOnce, LIMITS.deliveryLookMs);
  lookOnce();
  return {
    running: () => running.size,
    async stop(hurry) {
      isStopping = true;
      clearInterval(timer);
      clearTimeout(soon);
      const abort = (): void => hurried.abort(hurry.reason);
      // What it claims is attempted: its leases are ours.
      await looking;
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
