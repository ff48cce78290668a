import { afterAll, beforeAll, expect, test } from "bun:test";

import { AckPolicy, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "nats";

import { createLogger } from "#shared/base/logger.ts";
import { openPullLoop } from "#shared/queue/pull-loop.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";

const ACK_WAIT_MS = 400;
const log = createLogger({ level: "silent", role: "test" });
let nats: TestNats;
let connection: NatsConnection;

beforeAll(async () => {
  nats = await startNats();
  connection = await connect({ servers: nats.url });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: "WORK", subjects: ["work.>"] });
}, 60_000);
afterAll(async () => {
  await connection?.close();
  await nats?.close();
});

/** A durable with `count` messages of its own. */
async function durableWith(name: string, count: number) {
  const manager = await jetstreamManager(connection);
  const common = { ack_policy: AckPolicy.Explicit, ack_wait: ACK_WAIT_MS * 1_000_000, filter_subject: `work.${name}` };
  await manager.consumers.add("WORK", { durable_name: name, ...common });
  for (let at = 0; at < count; at += 1) connection.publish(`work.${name}`, String(at));
  await connection.flush();
  const facts = { connection, role: "worker", stream: "WORK", durable: name, log, beatMs: ACK_WAIT_MS / 8 } as const;
  return { facts, info: () => manager.consumers.info("WORK", name) };
}

test("a message is kept alive while it is processed, and delivered once", async () => {
  const { facts, info } = await durableWith("long", 2);
  const [deliveries, ended]: [number[], number[]] = [[], []];
  const loop = openPullLoop({
    ...facts,
    // Room for one that the server hands out again.
    capacity: (held) => 4 - held,
    async handle(message) {
      deliveries.push(message.deliveries);
      await Bun.sleep(4 * ACK_WAIT_MS);
      message.ack();
      ended.push(message.streamSeq);
    },
  });
  while (ended.length < 2) await Bun.sleep(10);
  await loop.stop();
  await loop.finish();
  await connection.flush();
  expect(deliveries).toEqual([1, 1]);
  expect(await info()).toMatchObject({ num_ack_pending: 0, num_redelivered: 0, num_pending: 0 });
});

test("at most the capacity is processed, and all arrive eventually", async () => {
  const { facts } = await durableWith("many", 20);
  const inHand: number[] = [];
  const loop = openPullLoop({
    ...facts,
    capacity: (held) => 3 - held,
    async handle(message) {
      inHand.push(loop.held());
      await Bun.sleep(5);
      message.ack();
    },
  });
  while (inHand.length < 20) await Bun.sleep(10);
  await loop.stop();
  await loop.finish();
  expect(Math.max(...inHand)).toBe(3);
  expect([inHand.length, loop.held()]).toEqual([20, 0]);
});

test("a failed handler leaves its message to the server, which redelivers it", async () => {
  const { facts } = await durableWith("failing", 1);
  const deliveries: number[] = [];
  const loop = openPullLoop({
    ...facts,
    capacity: (held) => 1 - held,
    handle(message) {
      deliveries.push(message.deliveries);
      if (message.deliveries === 1) return Promise.reject(new Error("could not be acknowledged"));
      message.ack();
      return Promise.resolve();
    },
  });
  while (deliveries.length < 2) await Bun.sleep(10);
  expect(deliveries).toEqual([1, 2]);
  await loop.stop();
  await loop.finish();
});
