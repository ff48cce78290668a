/**
 * State of the fleet as one ingress knows it. The workers' slots come from heartbeats in the database. Ingresses send each other the
 * numbers of their queued calls and of their requests per IP address over core NATS. All values may be a few seconds old.
 */
import type { NatsConnection } from "nats";

import type { AddressCounts, IpNet } from "#shared/access/ip-net.ts";
import { liveSlots } from "#shared/database/jobs.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import { commonNow } from "#shared/base/clock.ts";
import { paced } from "#shared/config/pace.ts";
import { isUuid } from "#shared/base/ids.ts";
import { fleetSubject, IN_FLIGHT_FILTER, inFlightSubject, type Pool, POOLS } from "#shared/queue/subjects.ts";

import manifest from "../../package.json" with { type: "json" };
import type { LiveShares } from "./live-shares.ts";
import { type CallCountsMessage, type IngressProcess, OthersCalls, OwnCalls } from "./call-counts.ts";

const PUBLISH_INTERVAL_MS = paced(500);
/**
 * Time that a new ingress waits until all others have sent their state, in milliseconds. Without the wait, it would consider itself the
 * only ingress.
 */
const READY_WAIT_MS = PUBLISH_INTERVAL_MS;
const SLOTS_MS = paced(5_000);
/**
 * Interval of messages from an ingress without changes, in milliseconds. The messages show that the ingress is alive. Their sequence number
 * lets the others detect lost messages.
 */
const ALIVE_MS = paced(5_000);
/**
 * Time without a message after which an ingress is considered stopped, in milliseconds. The time allows for late messages, because a
 * process without CPU time still has its calls.
 */
const FORGET_MS = ALIVE_MS * 3;

/** State message from an ingress to all others. */
interface FleetMessage extends CallCountsMessage {
  /** Number of requests per IP address since the last message. */
  readonly addresses: AddressCounts;
  /**
   * `new` if the sender has just started, so that the others send it their whole state immediately. `gone` if the sender is stopping.
   * Absent otherwise.
   */
  readonly state?: "new" | "gone";
}

/** Message to one ingress. It contains all calls of the sender, or requests all calls of the recipient. */
type DirectMessage = { readonly from: string } & (CallCountsMessage | { readonly wants: "whole" });

export interface FleetLink {
  /** Resolves when the other ingresses have sent their state. No call is served before. */
  readonly ready: Promise<void>;
  /** Returns release and start of all running ingresses: this one, and those from which messages arrive. */
  ingresses(): readonly IngressProcess[];
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
  const self: IngressProcess = { version: manifest.version, startedAt: commonNow() };
  const calls = new OwnCalls(self);
  const others = new OthersCalls();
  let slots: ReadonlyMap<Pool, number> = new Map();
  let lastPublishedAt = 0;

  const send = (to: string, message: object): void => {
    if (!connection.isClosed()) connection.publish(fleetSubject(to), JSON.stringify({ from: ingressId, ...message }));
  };
  const broadcast = connection.subscribe(IN_FLIGHT_FILTER, {
    callback: (error, message) => {
      if (error)
        log.warn({ err: error }, "calls of other ingresses are not received; check the NATS permission inflight.*");
      if (error || message.subject === own) return;
      const fleetMessage = parseFleetMessage(message.string());
      const from = message.subject.slice(IN_FLIGHT_FILTER.length - 1);
      ipNet.add(fleetMessage.addresses);
      if (fleetMessage.state === "gone") {
        others.forget(from);
        return;
      }
      others.receive(from, fleetMessage);
      if (fleetMessage.state !== "new") return;
      publish();
      send(from, calls.whole());
    },
  });
  const direct = connection.subscribe(fleetSubject(ingressId), {
    callback: (error, message) => {
      if (error) return;
      const directMessage = parseDirectMessage(message.string());
      if (directMessage === undefined) return;
      if ("wants" in directMessage) send(directMessage.from, calls.whole());
      else others.receive(directMessage.from, directMessage);
    },
  });

  const publish = (state?: FleetMessage["state"]): void => {
    const changes = calls.takeChanges(shares.inFlight());
    const addresses = ipNet.counted();
    const now = performance.now();
    const hasNews = state !== undefined || [changes, addresses].some((news) => Object.keys(news).length > 0);
    if (!hasNews && now - lastPublishedAt < ALIVE_MS) return;
    const message: FleetMessage = { ...calls.nextMessage(changes), addresses, ...(state && { state }) };
    connection.publish(own, JSON.stringify(message));
    lastPublishedAt = now;
  };

  const update = (): void => {
    others.forgetSilent(FORGET_MS);
    for (const from of others.withHoles()) send(from, { wants: "whole" });
    shares.update({ slots, ingresses: others.ingresses + 1, elsewhere: others.sum() });
    for (const pool of POOLS) metrics.callsWaiting.set(shares.waiting(pool), pool);
  };

  const publishTimer = setInterval(() => {
    if (!connection.isClosed()) publish();
    update();
  }, PUBLISH_INTERVAL_MS);

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
  publish("new");

  return {
    ready: Bun.sleep(READY_WAIT_MS).then(update),
    ingresses: () => [self, ...others.processes()],
    async close() {
      clearInterval(publishTimer);
      clearInterval(reader);
      if (!connection.isClosed()) publish("gone");
      await Promise.all([broadcast.drain(), direct.drain()]);
    },
  };
}

/**
 * Parses a state message; invalid members become empty. A message without a sequence number is from an old version, whose messages were
 * always complete.
 */
function parseFleetMessage(text: string): FleetMessage {
  const { n, calls, isWhole = false, sender, addresses, state } = parsed<FleetMessage>(text);
  const numbered = Number.isSafeInteger(n) ? { n: n as number, isWhole } : { n: 0, isWhole: true };
  return {
    ...numbered,
    ...senderIn(sender),
    calls: calls ?? {},
    addresses: addresses ?? {},
    ...(state && { state }),
  };
}

function parseDirectMessage(text: string): DirectMessage | undefined {
  const { from, n, calls, wants, sender } = parsed<{ from: string; wants: "whole" } & CallCountsMessage>(text);
  if (typeof from !== "string" || !isUuid(from)) return undefined;
  if (wants === "whole") return { from, wants };
  if (!Number.isSafeInteger(n)) return undefined;
  return { from, n: n as number, calls: calls ?? {}, isWhole: true, ...senderIn(sender) };
}

/** Returns the member `sender` of a message, or no member if the message has none or its values are invalid. */
function senderIn(sender: Partial<IngressProcess> | undefined): Pick<CallCountsMessage, "sender"> {
  const { version, startedAt } = sender ?? {};
  const isVersion = typeof version === "string" && /^[\w.+-]{1,40}$/.test(version);
  const isTime = typeof startedAt === "number" && !Number.isNaN(new Date(startedAt).getTime());
  return isVersion && isTime ? { sender: { version, startedAt } } : {};
}

function parsed<T>(text: string): Partial<T> {
  try {
    return (JSON.parse(text) as Partial<T> | null) ?? {};
  } catch {
    return {};
  }
}
