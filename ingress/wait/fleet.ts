/**
 * Knowledge of ingresses about each other and about the workers: the slots of the fleet, from the workers' beats in the database;
 * the calls that the others have on the queue, and their requests from each address, which all tell each other over core NATS.
 * All of it may be some moments old.
 */
import type { NatsConnection } from "nats";

import type { AddressCounts, IpNet } from "#shared/access/ip-net.ts";
import { liveSlots } from "#shared/database/jobs.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { paced } from "#shared/pace.ts";
import { IN_FLIGHT_FILTER, inFlightSubject, type Pool, POOLS } from "#shared/queue/subjects.ts";

import type { Elsewhere, LiveShares } from "./live-shares.ts";

const TELL_MS = paced(500);
/** All who run have told a new one by then what they have. Before, it would believe the fleet its own. */
const HEAR_MS = TELL_MS;
const SLOTS_MS = paced(5_000);
/** An ingress without calls says as often that it is there. */
const ALIVE_MS = paced(5_000);
/** One without a word for so long has ended; a starved one has its calls still. */
const FORGET_MS = ALIVE_MS * 3;
/** Workspaces told of each pool, those with the most calls; and ingresses listened to. */
const TOLD_MAX = 1_000;
const INGRESSES_MAX = 1_000;

type Counts = Partial<Record<Pool, Readonly<Record<string, number>>>>;

/** One message of an ingress. */
interface Word {
  /** Calls on the queue, by pool and workspace. */
  readonly calls: Counts;
  /** Requests since its last message. */
  readonly addresses: AddressCounts;
  /** It has just started: the others tell what they have at once. Or it ends. */
  readonly state?: "new" | "gone";
}

interface Told {
  readonly counts: Counts;
  readonly at: number;
}

export interface FleetLink {
  /** Resolves when the others have been heard: no call is served before. */
  readonly heard: Promise<void>;
  close(): Promise<void>;
}

/** @param ingressId names us to the others */
export async function openFleet(options: {
  connection: NatsConnection;
  database: Queryable;
  ingressId: string;
  shares: LiveShares;
  ipNet: Pick<IpNet, "counted" | "add">;
  metrics: Pick<Metrics, "callsWaiting">;
  log: Logger;
}): Promise<FleetLink> {
  const { connection, database, shares, ipNet, metrics, log } = options;
  const own = inFlightSubject(options.ingressId);
  const others = new Map<string, Told>();
  let slots: ReadonlyMap<Pool, number> = new Map();
  /** Something waits to be told: that calls are gone, or that we are there. */
  let owesWord = true;
  let toldAt = 0;

  const subscription = connection.subscribe(IN_FLIGHT_FILTER, {
    callback: (error, message) => {
      if (error)
        log.warn({ err: error }, "the calls of other ingresses are not heard of; check the permission inflight.*");
      if (error || message.subject === own) return;
      const { calls, addresses, state } = wordOf(message.string());
      ipNet.add(addresses);
      if (state === "gone") {
        others.delete(message.subject);
        return;
      }
      if (!others.has(message.subject) && others.size >= INGRESSES_MAX) return;
      others.set(message.subject, { counts: calls, at: performance.now() });
      if (state !== "new") return;
      owesWord = true;
      tell();
    },
  });

  const tell = (state?: Word["state"]): void => {
    const inFlight = shares.inFlight();
    const word: Word = { calls: toCounts(inFlight), addresses: ipNet.counted(), ...(state && { state }) };
    const hasNews = inFlight.size > 0 || Object.keys(word.addresses).length > 0;
    const now = performance.now();
    if (!hasNews && !owesWord && state === undefined && now - toldAt < ALIVE_MS) return;
    connection.publish(own, JSON.stringify(word));
    // The last word is that there is nothing any more.
    owesWord = hasNews;
    toldAt = now;
  };

  const update = (): void => {
    const now = performance.now();
    for (const [subject, { at }] of others) if (now - at > FORGET_MS) others.delete(subject);
    shares.update({ slots, ingresses: others.size + 1, elsewhere: sumOf(others.values()) });
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
    } catch (error) {
      log.warn({ err: error }, "the slots of the workers could not be read");
    } finally {
      isReading = false;
    }
  };
  const reader = setInterval(() => void readSlots(), SLOTS_MS);
  await readSlots();
  tell("new");

  return {
    heard: Bun.sleep(HEAR_MS).then(update),
    async close() {
      clearInterval(teller);
      clearInterval(reader);
      if (!connection.isClosed()) tell("gone");
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
function wordOf(text: string): Word {
  try {
    const value = JSON.parse(text) as Partial<Word> | null;
    const { calls = {}, addresses = {}, state } = value ?? {};
    return { calls, addresses, ...(state && { state }) };
  } catch {
    return { calls: {}, addresses: {} };
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
