/**
 * Keeps the shares of live calls up to date: what the fleet runs at once, from the workers' beats in the database, and what
 * the other ingresses have on the queue, which all tell each other over core NATS. Either may be some moments old.
 */
import type { NatsConnection } from "nats";

import { liveSlots } from "#shared/database/jobs.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { paced } from "#shared/pace.ts";
import { IN_FLIGHT_FILTER, inFlightSubject, type Pool, POOLS } from "#shared/queue/subjects.ts";

import type { Elsewhere, LiveShares } from "./live-shares.ts";

const TELL_MS = paced(500);
const SLOTS_MS = paced(5_000);
/** An ingress that has not told for so long has stopped. */
const FORGET_MS = TELL_MS * 4;
/** Workspaces told of each pool, those with the most calls; and ingresses listened to. */
const TOLD_MAX = 1_000;
const INGRESSES_MAX = 1_000;

type Counts = Partial<Record<Pool, Readonly<Record<string, number>>>>;

interface Told {
  readonly counts: Counts;
  readonly at: number;
}

/** @param ingressId names us to the others. Returns what ends it */
export async function openFleet(options: {
  connection: NatsConnection;
  database: Queryable;
  ingressId: string;
  shares: LiveShares;
  metrics: Pick<Metrics, "callsWaiting">;
  log: Logger;
}): Promise<{ close(): Promise<void> }> {
  const { connection, database, shares, metrics, log } = options;
  const own = inFlightSubject(options.ingressId);
  const others = new Map<string, Told>();
  let slots: ReadonlyMap<Pool, number> = new Map();
  let hasTold = false;

  const subscription = connection.subscribe(IN_FLIGHT_FILTER, {
    callback: (error, message) => {
      if (error)
        log.warn({ err: error }, "the calls of other ingresses are not heard of; check the permission inflight.*");
      if (error || message.subject === own) return;
      if (!others.has(message.subject) && others.size >= INGRESSES_MAX) return;
      others.set(message.subject, { counts: countsOf(message.string()), at: performance.now() });
    },
  });

  const tell = (): void => {
    const inFlight = shares.inFlight();
    // The last word is that there is nothing any more.
    if (inFlight.size > 0 || hasTold) connection.publish(own, JSON.stringify(toCounts(inFlight)));
    hasTold = inFlight.size > 0;
  };

  const update = (): void => {
    const now = performance.now();
    for (const [subject, { at }] of others) if (now - at > FORGET_MS) others.delete(subject);
    shares.update(slots, sumOf(others.values()));
    for (const pool of POOLS) metrics.callsWaiting.set(shares.waiting(pool), pool);
  };

  const teller = setInterval(() => {
    if (!connection.isClosed()) tell();
    update();
  }, TELL_MS);

  let isReading = false;
  const readSlots = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    try {
      slots = await liveSlots(database);
      update();
    } catch (error) {
      log.warn({ err: error }, "the slots of the workers could not be read");
    } finally {
      isReading = false;
    }
  };
  const reader = setInterval(() => void readSlots(), SLOTS_MS);
  await readSlots();

  return {
    async close() {
      clearInterval(teller);
      clearInterval(reader);
      await subscription.drain();
    },
  };
}

function toCounts(inFlight: ReadonlyMap<Pool, ReadonlyMap<string, number>>): Counts {
  return Object.fromEntries(
    Array.from(inFlight, ([pool, counts]) => {
      const largest = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, TOLD_MAX);
      return [pool, Object.fromEntries(largest)];
    }),
  );
}

/** Nothing for what cannot be read: an ingress of another version, perhaps. */
function countsOf(text: string): Counts {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

function sumOf(told: Iterable<Told>): Map<Pool, Map<string, Elsewhere>> {
  const sums = new Map<Pool, Map<string, Elsewhere>>();
  for (const { counts } of told) {
    for (const pool of POOLS) {
      const sum = sums.get(pool) ?? new Map<string, Elsewhere>();
      for (const [workspaceId, count] of Object.entries(counts[pool] ?? {})) {
        if (!Number.isSafeInteger(count) || count < 0) continue;
        const { calls, ingresses } = sum.get(workspaceId) ?? { calls: 0, ingresses: 0 };
        sum.set(workspaceId, { calls: calls + count, ingresses: ingresses + 1 });
      }
      if (sum.size > 0) sums.set(pool, sum);
    }
  }
  return sums;
}
