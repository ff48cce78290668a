/** Messages between ingresses, over a real NATS server. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { connect, type NatsConnection } from "nats";

import { type FleetLink, openFleet } from "#ingress/wait/fleet.ts";
import { createLiveShares, type LiveShares } from "#ingress/wait/live-shares.ts";
import { createIpNet, type IpNet } from "#shared/access/ip-net.ts";
import type { Queryable } from "#shared/database/client.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { paced } from "#shared/config/pace.ts";
import { fleetSubject, inFlightSubject } from "#shared/queue/subjects.ts";
import { eventually } from "#tests/faults/wait.ts";
import manifest from "../../../package.json" with { type: "json" };
import { startNats, type TestNats } from "#tests/support/nats.ts";

let nats: TestNats;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  nats = await startNats();
}, 60_000);
afterAll(async () => {
  for (const close of closing) await close();
  await nats?.close();
});

interface Ingress {
  readonly shares: LiveShares;
  readonly ipNet: IpNet;
  readonly connection: NatsConnection;
  readonly ingresses: FleetLink["ingresses"];
  readonly close: () => Promise<void>;
}

/** Calls of a workspace that has a fleet of sixteen slots to itself. */
const ALONE = 14;

/** An ingress of a fleet that runs sixteen chat calls at once. */
async function join(ingressId = newId()): Promise<Ingress> {
  const connection = await connect({ servers: nats.url });
  const [shares, ipNet, metrics] = [createLiveShares(), createIpNet(10, []), createMetrics("test")];
  const log = createLogger({ level: "silent", role: "test" });
  const database = { query: () => Promise.resolve([{ pool: "chat", slots: 16 }]) } as unknown as Queryable;
  const fleet = await openFleet({ connection, database, ingressId, shares, ipNet, metrics, log });
  await fleet.ready;
  const close = async (): Promise<void> => {
    await fleet.close();
    metrics.close();
    await connection.close();
  };
  return { shares, ipNet, connection, ingresses: () => fleet.ingresses(), close };
}

/** Returns how many of so many calls of a workspace would wait for their turn. */
function waitingOf(shares: LiveShares, count: number): number {
  const turns = Array.from({ length: count }, () => enter(shares));
  const waiting = turns.filter(({ entered }) => entered !== undefined).length;
  for (const turn of turns) turn.release();
  return waiting;
}

const enter = (shares: LiveShares, workspaceId = "a") => shares.enter({ pool: "chat", workspaceId, requestBytes: 1 });

test("two ingresses share one quota of a workspace and one limit of an address, until one of them stops", async () => {
  const one = await join();
  const turns = Array.from({ length: ALONE }, () => enter(one.shares));
  expect(turns.filter(({ entered }) => entered !== undefined)).toEqual([]);
  const other = await join();
  closing.push(other.close);
  // All of the share is taken: a call in any case is what is left, from the first moment on.
  expect(waitingOf(other.shares, ALONE)).toBe(ALONE - 1);
  for (let request = 0; request < 8; request++) one.ipNet.check("8.8.8.8");
  // Both ingresses have received version and start of the other.
  const own = { version: manifest.version, startedAt: expect.any(Number) };
  for (const { ingresses } of [one, other]) expect(ingresses()).toEqual([own, own]);
  // Each tells twice a second.
  await Bun.sleep(paced(1_500));
  const check = (): void => other.ipNet.check("8.8.8.8");
  check();
  check();
  expect(check).toThrow("This IP address sent more than");

  other.connection.publish(inFlightSubject("odd"), "no JSON");
  for (const turn of turns) turn.release();
  await one.close();
  await eventually("the other has the whole share", () => waitingOf(other.shares, ALONE) === 0);
  expect(other.ingresses().filter(({ version }) => version !== null)).toEqual([own]);
});

test("a report contains the changes; an ingress that missed one, or has just started, receives everything, and no other", async () => {
  const ingressId = newId();
  const one = await join(ingressId);
  closing.push(one.close);
  const listener = await connect({ servers: nats.url });
  closing.push(() => listener.close());
  const words: { n: number; calls: object; isWhole?: boolean }[] = [];
  const direct: { from: string; n: number; calls: object; wants?: string; isWhole?: boolean; sender?: object }[] = [];
  const stranger = newId();
  listener.subscribe(inFlightSubject(ingressId), { callback: (_error, message) => void words.push(message.json()) });
  listener.subscribe(fleetSubject(stranger), {
    callback(_error, message) {
      const word: (typeof direct)[number] = message.json();
      // Those of other tests answer it too.
      if (word.from === ingressId) direct.push(word);
    },
  });
  await listener.flush();
  const tell = (word: object): void => listener.publish(inFlightSubject(stranger), JSON.stringify(word));

  const turns = [enter(one.shares), enter(one.shares, "b")];
  // Without news it only says that it is there.
  const news = (): object[] => words.map(({ calls }) => calls).filter((calls) => Object.keys(calls).length > 0);
  await eventually("both are told", () => news().length > 0);
  turns[1]?.release();
  await eventually("the end of one is told", () => news().length > 1);
  expect(news()).toEqual([{ chat: { a: 1, b: 1 } }, { chat: { b: null } }]);

  const newer = { version: "9.9.9", startedAt: 5 };
  tell({ n: 1, calls: {}, isWhole: true, state: "new", sender: newer });
  await eventually("the new one is told", () => direct.length > 0);
  expect(one.ingresses()).toContainEqual(newer);
  const sender = { version: manifest.version, startedAt: expect.any(Number) };
  expect(direct[0]).toEqual({
    from: ingressId,
    n: expect.any(Number),
    calls: { chat: { a: 1 } },
    isWhole: true,
    sender,
  });
  // The word between the two was lost: one slot of sixteen would be taken.
  tell({ n: 3, calls: { chat: { b: 1 } } });
  await eventually("what was lost is asked for", () => direct.some(({ wants }) => wants === "whole"));
  const whole = { from: stranger, n: 3, calls: { chat: { a: 13, b: 1 } }, isWhole: true };
  const unreadable = [
    { version: "<b>", startedAt: 5 },
    { version: "9.9.9", startedAt: 9e15 },
    { version: 9 },
    "x",
    null,
  ];
  for (const sender of unreadable) listener.publish(fleetSubject(ingressId), JSON.stringify({ ...whole, sender }));
  listener.publish(fleetSubject(ingressId), JSON.stringify(whole));
  await eventually("it is known", () => waitingOf(one.shares, 2) > 0);
  expect(one.ingresses()).toContainEqual(newer);
  await one.connection.flush();
  await listener.flush();
  const asked = direct.length;
  tell({ n: 4, calls: {} });
  await Bun.sleep(paced(1_500));
  expect(direct.slice(asked)).toEqual([]);
  expect(words.every(({ n, isWhole }) => n > 1 && isWhole === undefined)).toBe(true);
  turns[0]?.release();
});
