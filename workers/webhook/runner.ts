/**
 * Runs the pool `webhook`: creates deliveries from events and makes the attempts that are due. It reads only database rows. Therefore
 * neither a lost message nor a wiped queue can lose or delay a notification (deploy/decisions/0029).
 */
import type { Database } from "#shared/database/client.ts";
import {
  claimDeliveries,
  type ClaimedDelivery,
  claimMail,
  fanOutEvents,
  hasWaitingEvents,
} from "#shared/database/delivery-work.ts";
import type { Lifecycle } from "#shared/process/lifecycle.ts";
import { paced } from "#shared/config/pace.ts";
import { openSealer } from "#shared/secrets/open-sealer.ts";

import type { WorkerContext } from "../context.ts";
import type { Runner } from "../runner/runner.ts";
import { type AttemptContext, makeAttempt } from "./attempt.ts";
import { SENDERS } from "./channels/index.ts";
import { openMailer } from "./mailer.ts";

/** Share of the process's slots that the pool `webhook` uses. An attempt mostly waits for its receiver, which costs little. */
const SLOTS_SHARE = 1 / 2;

/** Starts the pool webhook. @throws Error with one sentence when a key of stored credentials is missing */
export async function startWebhooks(
  context: Pick<WorkerContext, "config" | "database" | "log" | "metrics"> & {
    readonly lifecycle: Pick<Lifecycle, "onStop">;
  },
): Promise<Runner> {
  const { config, database, log, metrics, lifecycle } = context;
  const sealer = await openSealer(config, database);
  const mailer =
    config.smtpUrl === undefined ? undefined : openMailer({ smtpUrl: config.smtpUrl, from: config.mailFrom });
  if (mailer) lifecycle.onStop("mail", () => mailer.close());
  const slots = Math.max(8, Math.floor(config.workerSlots * SLOTS_SHARE));
  return startDeliveries({ database, sealer, mailer, senders: SENDERS, log, metrics, slots });
}

/** Interval at which a worker queries events and due deliveries, in milliseconds. */
const DELIVERY_POLL_INTERVAL_MS = 250;

/** Time for which ended attempts are collected, in milliseconds, so that one query refills all their slots. */
const DELIVERY_GATHER_MS = 10;
const FAN_OUT_EVENTS_MAX = 200;

/**
 * Lease of an attempt, in milliseconds. It is longer than an attempt and its write, so that two workers never make the same attempt at
 * once.
 */
const ATTEMPT_LEASE_MS = paced(40_000);

/** Maximum number of concurrent attempts at a healthy channel. */
export const CHANNEL_ATTEMPTS_MAX = 8;
const MAIL_ATTEMPTS_MAX = 4;

/** Share of a worker's slots for failing channels. `NEW_SLOTS_SHARE` is the share for untried channels. */
const FAILING_SLOTS_SHARE = 1 / 4;
const NEW_SLOTS_SHARE = 1 / 2;

const NO_CHANNEL = "00000000-0000-0000-0000-000000000000";

export function startDeliveries(
  options: AttemptContext & {
    readonly database: Database;
    /** Maximum number of concurrent attempts of this worker. */
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
  /**
   * Channel whose delivery was claimed last. The next query for due deliveries begins after this channel, so that all channels take turns.
   */
  let lastChannel = NO_CHANNEL;
  let whenIdle: (() => void) | undefined;

  const attempt = (delivery: ClaimedDelivery): void => {
    const work = makeAttempt(options, delivery, hurried.signal)
      .catch((error: unknown) => {
        // The lease expires, and the attempt is repeated.
        if (!hurried.signal.aborted)
          log.error({ err: error, delivery_id: delivery.id }, "a delivery attempt could not be saved");
      })
      .finally(() => {
        running.delete(work);
        if (running.size === 0) whenIdle?.();
        // Delayed to include attempts that end in the next moments: a query costs as much for one as for many.
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

  /**
   * Creates deliveries from events and claims due deliveries once.
   * @returns true if more events wait
   */
  const turn = async (): Promise<boolean> => {
    const fanned = (await hasWaitingEvents(database)) ? await fanOutEvents(database, FAN_OUT_EVENTS_MAX) : 0;
    const max = slots - running.size;
    if (max <= 0) return false;
    const claim = {
      max,
      failingMax: Math.max(0, failingMax - countOf("failing")),
      newMax: Math.max(0, newMax - countOf("new")),
      // Further concurrent attempts at a channel leave half of the slots free.
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
      log.warn({ err: error }, "searching for due deliveries failed");
    } finally {
      taking = undefined;
    }
  };
  const takeOnce = (): void => {
    if (!isStopping) taking ??= takeDue();
  };

  const timer = setInterval(takeOnce, DELIVERY_POLL_INTERVAL_MS);
  takeOnce();
  return {
    running: () => running.size,
    async stop(hurry) {
      isStopping = true;
      clearInterval(timer);
      clearTimeout(soon);
      const abort = (): void => hurried.abort(hurry.reason);
      // Deliveries that the last turn claims are still attempted, since their leases are ours.
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
