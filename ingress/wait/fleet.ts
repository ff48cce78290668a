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
import { isUuid } from "#shared/ids.ts";
import { fleetSubject, IN_FLIGHT_FILTER, inFlightSubject, type Pool, POOLS } from "#shared/queue/subjects.ts";

import type { LiveShares } from "./live-shares.ts";
import { type CallsWord, OthersCalls, OwnCalls } from "./told-calls.ts";

const TELL_MS = paced(500);
/** All who run have told a new one by then what they have. Before, it would believe the fleet its own. */
const HEAR_MS = TELL_MS;
const SLOTS_MS = paced(5_000);
/** An ingress without news says as often that it is there, and how many words it has sent. */
const ALIVE_MS = paced(5_000);
/** One without a word for so long has ended; a starved one has its calls still. */
const FORGET_MS = ALIVE_MS * 3;

/** One message of an ingress to all others. */
interface Word extends CallsWord {
  /** Requests since its last message. */
  readonly addresses: AddressCounts;
  /** It has just started: the others tell it what they have at once. Or it ends. */
  readonly state?: "new" | "gone";
}

/** One message to one ingress: all calls, or a request for that. */
type DirectWord = { readonly from: string } & (CallsWord | { readonly wants: "whole" });

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
  const { connection, database, ingressId, shares, ipNet, metrics, log } = options;
  const own = inFlightSubject(ingressId);
  const calls = new OwnCalls();
  const others = new OthersCalls();
  let slots: ReadonlyMap<Pool, number> = new Map();
  let toldAt = 0;

  const send = (to: string, word: object): void => {
    if (!connection.isClosed()) connection.publish(fleetSubject(to), JSON.stringify({ from: ingressId, ...word }));
  };
  const broadcast = connection.subscribe(IN_FLIGHT_FILTER, {
    callback: (error, message) => {
      if (error)
        log.warn({ err: error }, "the calls of other ingresses are not heard of; check the permission inflight.*");
      if (error || message.subject === own) return;
      const word = wordOf(message.string());
      const from = message.subject.slice(IN_FLIGHT_FILTER.length - 1);
      ipNet.add(word.addresses);
      if (word.state === "gone") {
        others.forget(from);
        return;
      }
      others.hear(from, word);
      if (word.state !== "new") return;
      tell();
      send(from, calls.whole());
    },
  });
  const direct = connection.subscribe(fleetSubject(ingressId), {
    callback: (error, message) => {
      if (error) return;
      const word = directWordOf(message.string());
      if (word === undefined) return;
      if ("wants" in word) send(word.from, calls.whole());
      else others.hear(word.from, word);
    },
  });

  const tell = (state?: Word["state"]): void => {
    const changes = calls.takeChanges(shares.inFlight());
    const addresses = ipNet.counted();
    const now = performance.now();
    const hasNews = state !== undefined || [changes, addresses].some((news) => Object.keys(news).length > 0);
    if (!hasNews && now - toldAt < ALIVE_MS) return;
    const word: Word = { ...calls.nextWord(changes), addresses, ...(state && { state }) };
    connection.publish(own, JSON.stringify(word));
    toldAt = now;
  };

  const update = (): void => {
    others.forgetSilent(FORGET_MS);
    for (const from of others.withHoles()) send(from, { wants: "whole" });
    shares.update({ slots, ingresses: others.ingresses + 1, elsewhere: others.sum() });
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
      await Promise.all([broadcast.drain(), direct.drain()]);
    },
  };
}

/** Nothing for what cannot be read. A word without a number is of a version whose words were whole. */
function wordOf(text: string): Word {
  const { n, calls, isWhole = false, addresses, state } = parsed<Word>(text);
  const numbered = Number.isSafeInteger(n) ? { n: n as number, isWhole } : { n: 0, isWhole: true };
  return { ...numbered, calls: calls ?? {}, addresses: addresses ?? {}, ...(state && { state }) };
}

function directWordOf(text: string): DirectWord | undefined {
  const { from, n, calls, wants } = parsed<{ from: string; wants: "whole" } & CallsWord>(text);
  if (typeof from !== "string" || !isUuid(from)) return undefined;
  if (wants === "whole") return { from, wants };
  return Number.isSafeInteger(n) ? { from, n: n as number, calls: calls ?? {}, isWhole: true } : undefined;
}

function parsed<T>(text: string): Partial<T> {
  try {
    return (JSON.parse(text) as Partial<T> | null) ?? {};
  } catch {
    return {};
  }
}
