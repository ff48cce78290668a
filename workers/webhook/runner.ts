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
import { paced } from "#shared/pace.ts";

import type { Runner } from "../runner/runner.ts";
import { type AttemptContext, makeAttempt } from "./attempt.ts";

/** Interval at which a worker looks for events and for deliveries that are due. */
const DELIVERY_LOOK_MS = 250;

/** Attempts that end within so long make room for others by one look. */
const DELIVERY_GATHER_MS = 10;
const FAN_OUT_EVENTS_MAX = 200;

/** Longer than any attempt and its write: two workers never make one at once. */
const ATTEMPT_LEASE_MS = paced(40_000);

/** At once to one channel that takes what it is sent. */
export const CHANNEL_ATTEMPTS_MAX = 8;
const MAIL_ATTEMPTS_MAX = 4;

/** Shares of a worker's slots for failing channels, and for channels that have not been tried. */
const FAILING_SLOTS_SHARE = 1 / 4;
const NEW_SLOTS_SHARE = 1 / 2;

const NO_CHANNEL = "00000000-0000-0000-0000-000000000000";

export function startDeliveries(
  options: AttemptContext & {
    readonly database: Database;
    /** Attempts at once. */
    readonly slots: number;
  },
): Runner {
  const { database, slots, log } = options;
  const failingMax = Math.max(1, Math.floor(slots * FAILING_SLOTS_SHARE));
  const newMax = Math.max(1, Math.floor(slots * NEW_SLOTS_SHARE));
  const running = new Map<Promise<void>, ClaimedDelivery>();
  const hurried = new AbortController();
  let isStopping = false;
  let taking: Promise<void> | undefined;
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
          takeOnce();
        }, DELIVERY_GATHER_MS);
      });
    running.set(work, delivery);
  };

  const countOf = (health: ClaimedDelivery["health"]): number =>
    [...running.values()].filter((delivery) => delivery.health === health).length;

  const countMail = (): number => [...running.values()].filter(({ channel }) => channel === null).length;

  /** @returns whether more events wait */
  const turn = async (): Promise<boolean> => {
    const fanned = (await hasWaitingEvents(database)) ? await fanOutEvents(database, FAN_OUT_EVENTS_MAX) : 0;
    const max = slots - running.size;
    if (max <= 0) return false;
    const claim = {
      max,
      failingMax: Math.max(0, failingMax - countOf("failing")),
      newMax: Math.max(0, newMax - countOf("new")),
      // Half of the slots.
      spareMax: Math.max(0, max - Math.floor(slots / 2)),
      eachMax: CHANNEL_ATTEMPTS_MAX,
      leaseMs: ATTEMPT_LEASE_MS,
      from: lastChannel,
    };
    const taken = [
      ...(await claimDeliveries(database, claim)),
      ...(await claimMail(database, { ...claim, max: Math.max(0, MAIL_ATTEMPTS_MAX - countMail()) })),
    ];
    lastChannel = taken.findLast(({ channel }) => channel !== null)?.channel?.id ?? NO_CHANNEL;
    for (const delivery of taken) attempt(delivery);
    return fanned === FAN_OUT_EVENTS_MAX;
  };

  const takeDue = async (): Promise<void> => {
    try {
      for (let hasMore = true; hasMore;) hasMore = (await turn()) && !isStopping;
    } catch (error) {
      log.warn({ err: error }, "deliveries could not be looked for");
    } finally {
      taking = undefined;
    }
  };
  const takeOnce = (): void => {
    if (!isStopping) taking ??= takeDue();
  };

  const timer = setInterval(takeOnce, DELIVERY_LOOK_MS);
  takeOnce();
  return {
    running: () => running.size,
    async stop(hurry) {
      isStopping = true;
      clearInterval(timer);
      clearTimeout(soon);
      const abort = (): void => hurried.abort(hurry.reason);
      // What it claims is attempted: its leases are ours.
      await taking;
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
