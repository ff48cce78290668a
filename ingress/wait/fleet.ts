/**
 * State of the fleet in one ingress. Slots of the workers come from heartbeats in the database. Ingresses send each other their queued
 * calls and their requests per address over core NATS. All values may be a few seconds old.
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
/** Time within which all running ingresses have sent their state to a new one. Until then, it would consider itself alone. */
const HEAR_MS = TELL_MS;
const SLOTS_MS = paced(5_000);
/** Interval of messages from an ingress without changes: they show that it is alive, and how many messages it has sent. */
const ALIVE_MS = paced(5_000);
/** An ingress without a message for this long is considered ended. A process without CPU still has its calls, hence the margin. */
const FORGET_MS = ALIVE_MS * 3;

/** Message from an ingress to all others. */
interface Word extends CallsWord {
  /** Requests per address since the last message. */
  readonly addresses: AddressCounts;
  /** `new`: just started, the others send their whole state immediately. `gone`: the ingress ends. */
  readonly state?: "new" | "gone";
}

/** Message to one ingress: all calls of the sender, or a request for all calls of the recipient. */
type DirectWord = { readonly from: string } & (CallsWord | { readonly wants: "whole" });

export interface FleetLink {
  /** Resolves when the others have sent their state. No call is served before. */
  readonly heard: Promise<void>;
  close(): Promise<void>;
}

/** Connects this ingress to the fleet. @param ingressId UUID that identifies this ingress to the others */
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
        log.warn({ err: error }, "calls of other ingresses are not received; check the NATS permission inflight.*");
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
      log.warn({ err: error }, "the workers' slots could not be read");
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

/** Parses a message; invalid parts become empty. A message without a number is from an old version, whose messages were always complete. */
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
