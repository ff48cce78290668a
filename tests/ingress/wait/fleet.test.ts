/** Messages between ingresses, over a real NATS server. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { connect, type NatsConnection } from "nats";

import { openFleet } from "#ingress/wait/fleet.ts";
import { createLiveShares, type LiveShares } from "#ingress/wait/live-shares.ts";
import { createIpNet, type IpNet } from "#shared/access/ip-net.ts";
import type { Queryable } from "#shared/database/client.ts";
import { newId } from "#shared/ids.ts";
import { createLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { paced } from "#shared/pace.ts";
import { inFlightSubject } from "#shared/queue/subjects.ts";
import { eventually } from "#tests/faults/wait.ts";
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
  readonly close: () => Promise<void>;
}

/** Calls of a workspace that has a fleet of sixteen slots to itself. */
const ALONE = 14;

/** An ingress of a fleet that runs sixteen chat calls at once. */
async function join(): Promise<Ingress> {
  const connection = await connect({ servers: nats.url });
  const [shares, ipNet, metrics] = [createLiveShares(), createIpNet(10, []), createMetrics("test")];
  const log = createLogger({ level: "silent", role: "test" });
  const database = { query: () => Promise.resolve([{ pool: "chat", slots: 16 }]) } as unknown as Queryable;
  const fleet = await openFleet({ connection, database, ingressId: newId(), shares, ipNet, metrics, log });
  await fleet.heard;
  const close = async (): Promise<void> => {
    await fleet.close();
    metrics.close();
    await connection.close();
  };
  return { shares, ipNet, connection, close };
}

/** Returns how many of so many calls of a workspace would wait for their turn. */
function waitingOf(shares: LiveShares, count: number): number {
  const turns = Array.from({ length: count }, () => enter(shares));
  const waiting = turns.filter(({ entered }) => entered !== undefined).length;
  for (const turn of turns) turn.release();
  return waiting;
}

const enter = (shares: LiveShares) => shares.enter({ pool: "chat", workspaceId: "a", requestBytes: 1 });

test("two ingresses have one share of a workspace and one limit of an address, until one of them goes", async () => {
  const one = await join();
  const turns = Array.from({ length: ALONE }, () => enter(one.shares));
  expect(turns.filter(({ entered }) => entered !== undefined)).toEqual([]);
  const other = await join();
  closing.push(other.close);
  // All of the share is taken: a call in any case is what is left, from the first moment on.
  expect(waitingOf(other.shares, ALONE)).toBe(ALONE - 1);
  for (let request = 0; request < 8; request++) one.ipNet.check("8.8.8.8");
  // Each tells twice a second.
  await Bun.sleep(paced(1_500));
  const check = (): void => other.ipNet.check("8.8.8.8");
  check();
  check();
  expect(check).toThrow("came from this address");

  other.connection.publish(inFlightSubject("odd"), "no JSON");
  for (const turn of turns) turn.release();
  await one.close();
  await eventually("the other has the whole share", () => waitingOf(other.shares, ALONE) === 0);
});
