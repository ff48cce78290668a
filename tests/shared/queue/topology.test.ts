import { createHash } from "node:crypto";

import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "nats";

import { newId } from "#shared/base/ids.ts";
import { nextLimit, WORKSPACE_MESSAGES_MIN } from "#shared/queue/fleet-limits.ts";
import {
  ADVISORY_STREAM,
  BATCH_DURABLE,
  BATCH_STREAM,
  durableName,
  laneFilter,
  LANES,
  POOLS,
  streamName,
} from "#shared/queue/subjects.ts";
import {
  assertEcho,
  checkTopology,
  ensureTopology,
  LANE_SETTINGS,
  TOPOLOGY_VERSION,
  wantedTopology,
  BATCH_MESSAGES_PER_KEY,
  STREAM_MESSAGE_BYTES_MAX,
} from "#shared/queue/topology.ts";
import { eventually } from "#tests/faults/wait.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";

let nats: TestNats;
let connection: NatsConnection;
let manager: JetStreamManager;

beforeAll(async () => {
  nats = await startNats();
  connection = await connect({ servers: nats.url, reconnectTimeWait: 20, maxReconnectAttempts: -1 });
  manager = await jetstreamManager(connection);
}, 60_000);

afterAll(async () => {
  await connection.close();
  await nats.close();
});

async function snapshot() {
  const streams = await manager.streams.list().next();
  const consumers = await Promise.all(streams.map((stream) => manager.consumers.list(stream.config.name).next()));
  return {
    streams: streams.map(({ config }) => config).toSorted((a, b) => a.name.localeCompare(b.name)),
    consumers: consumers.flat().map(({ config }) => config),
  };
}

describe("the topology", () => {
  test("is created on an empty server, completely", async () => {
    await ensureTopology(connection, 1);
    const { streams, consumers } = await snapshot();
    expect(streams.map(({ name }) => name)).toEqual(
      [ADVISORY_STREAM, BATCH_STREAM, ...POOLS.map(streamName)].toSorted(),
    );
    expect(consumers.map(({ durable_name }) => durable_name ?? "").toSorted()).toEqual(
      [BATCH_DURABLE, ...POOLS.flatMap((pool) => LANES.map((lane) => durableName(pool, lane)))].toSorted(),
    );
  });

  test("limits the effect of publishers' message ids to a moment, and no wait of one fills the intake", async () => {
    const { streams, consumers } = await snapshot();
    const stream = streams.find(({ name }) => name === BATCH_STREAM);
    expect(stream).toMatchObject({
      subjects: POOLS.map((pool) => `batch.${pool}.*.*`),
      retention: "workqueue",
      discard: "new",
      discard_new_per_subject: true,
      max_msgs_per_subject: BATCH_MESSAGES_PER_KEY,
      max_msg_size: 512 * 1024,
      max_bytes: 5 * 1024 ** 3,
      duplicate_window: 100_000_000,
    });
    const intake = consumers.find(({ durable_name }) => durable_name === BATCH_DURABLE);
    expect(intake?.max_ack_pending).toBe(stream?.max_msgs ?? 0);
    expect(intake?.max_deliver).toBe(-1);
  });

  test("limits one publisher to a quarter of the batch stream, and stores nothing for unknown pools", async () => {
    const { config } = await manager.streams.info(BATCH_STREAM);
    const ofOne = config.subjects.length * config.max_msgs_per_subject;
    expect(ofOne).toBeLessThanOrEqual(config.max_msgs / 8);
    expect(ofOne * (config.max_msg_size ?? Infinity)).toBeLessThanOrEqual(config.max_bytes / 4);
    // As a version before this one made it.
    await manager.streams.update(BATCH_STREAM, { ...config, subjects: ["batch.*.*"], max_bytes: -1 });
    await manager.consumers.update(BATCH_STREAM, BATCH_DURABLE, { filter_subject: "batch.*.*" });
    await ensureTopology(connection, 1);
    for (const name of ["nothing", "images", "a.chat"]) connection.publish(`batch.${name}.${newId()}.${newId()}`, "{}");
    connection.publish(`batch.chat.${newId()}`, "{}");
    const marker = `batch.chat.${newId()}.${newId()}`;
    connection.publish(marker, "{}");
    await eventually("the last message is stored", () => manager.streams.getMessage(BATCH_STREAM, { last_by_subj: marker })); // prettier-ignore
    expect((await manager.streams.info(BATCH_STREAM)).state.messages).toBe(1);
    await manager.streams.purge(BATCH_STREAM);
  });

  test("created again changes nothing", async () => {
    const before = await snapshot();
    await ensureTopology(connection, 1);
    expect(await snapshot()).toEqual(before);
  });

  test("created by a newer version is not changed by an older one that starts", async () => {
    const newer = { sluice_topology: String(TOPOLOGY_VERSION + 1) };
    const stream = (await manager.streams.info(BATCH_STREAM)).config;
    await manager.streams.update(BATCH_STREAM, { ...stream, max_msgs: 7_000, metadata: newer });
    const [name, durable] = [streamName("chat"), durableName("chat", "live")];
    await manager.consumers.update(name, durable, { max_deliver: 9, metadata: newer });
    await ensureTopology(connection, 1);
    expect((await manager.streams.info(BATCH_STREAM)).config).toMatchObject({ max_msgs: 7_000, metadata: newer });
    expect((await manager.consumers.info(name, durable)).config).toMatchObject({ max_deliver: 9, metadata: newer });
    const older = { sluice_topology: "0" };
    await manager.streams.update(BATCH_STREAM, { ...stream, max_msgs: 7_000, metadata: older });
    await manager.consumers.update(name, durable, { max_deliver: 9, metadata: older });
    await ensureTopology(connection, 1);
    expect((await manager.streams.info(BATCH_STREAM)).config).toMatchObject({ max_msgs: stream.max_msgs });
    expect((await manager.consumers.info(name, durable)).config.max_deliver).not.toBe(9);
  });

  test("is compared, and not changed, when a role starts", async () => {
    await ensureTopology(connection, 1);
    await checkTopology(connection, 1);
    const refusal = (): Promise<unknown> => checkTopology(connection, 1).then(() => "none", (error: Error) => error.message); // prettier-ignore
    const [name, durable] = [streamName("chat"), durableName("chat", "live")];
    const stream = (await manager.streams.info(name)).config;
    const versioned = (version: number) => ({ sluice_topology: String(version) });
    const hint = "; run the migrate role first, with NATS_URL";

    await manager.streams.update(name, { ...stream, metadata: versioned(TOPOLOGY_VERSION - 1) });
    const words = `stream ${name} is of version ${TOPOLOGY_VERSION - 1} of the topology, this is ${TOPOLOGY_VERSION}`;
    expect(await refusal()).toBe(words + hint);
    await manager.streams.update(name, { ...stream, max_msgs: 7_000, metadata: versioned(TOPOLOGY_VERSION + 1) });
    expect(await refusal()).toBe("none");
    await manager.streams.update(name, stream);

    await manager.consumers.update(name, durable, { max_deliver: 99 });
    expect(await refusal()).toBe(`durable ${durable}: expected max_deliver 5, the server has 99${hint}`);
    await ensureTopology(connection, 1);
    await manager.consumers.delete(name, durable);
    expect(await refusal()).toBe(`the queue has no durable ${durable}${hint}`);
    expect((await manager.consumers.list(name).next()).map(({ name: one }) => one)).not.toContain(durable);
    await ensureTopology(connection, 1);
    expect(await refusal()).toBe("none");
  });

  test("has a new number for every change", () => {
    // The waits of tests are shorter than those of production.
    const text = JSON.stringify(wantedTopology(1)).replaceAll(/"ack_wait":\d+/g, "");
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
    // When this fails: raise TOPOLOGY_VERSION, then write the pair here.
    expect([TOPOLOGY_VERSION, hash]).toEqual([5, "de7be1a716da1c65"]);
  });

  test("keeps the batch stream silent towards publishers, also if an earlier version created it otherwise", async () => {
    const { config } = await manager.streams.info(BATCH_STREAM);
    await manager.streams.update(BATCH_STREAM, { ...config, no_ack: false });
    const subject = `batch.chat.${newId()}.${newId()}`;
    expect((await connection.request(subject, "{}")).string()).toContain('"seq"');
    await ensureTopology(connection, 1);
    expect((await manager.streams.info(BATCH_STREAM)).config.no_ack).toBe(true);
    const heard: unknown[] = [];
    connection.subscribe("answer", { callback: (_error, message) => void heard.push(message.string()) });
    connection.publish(subject, "{}", { reply: "answer" });
    const stored = async (): Promise<number> => (await manager.streams.info(BATCH_STREAM)).state.messages;
    await eventually("it is stored", async () => (await stored()) === 2);
    await connection.flush();
    expect(heard).toEqual([]);
  });

  test("may be created by several processes concurrently", async () => {
    const other = await startNats();
    const connections = await Promise.all(Array.from({ length: 4 }, () => connect({ servers: other.url })));
    await Promise.all(connections.map((one) => ensureTopology(one, 1)));
    await Promise.all(connections.map((one) => one.close()));
    await other.close();
  });

  test("never drops work silently: work streams reject when full, expire nothing by age, limit each workspace", async () => {
    for (const pool of POOLS) {
      const { config } = await manager.streams.info(streamName(pool));
      expect(config).toMatchObject({
        retention: "workqueue",
        storage: "file",
        discard: "new",
        discard_new_per_subject: true,
        max_msgs_per_subject: WORKSPACE_MESSAGES_MIN,
        max_age: 0,
        max_msg_size: STREAM_MESSAGE_BYTES_MAX,
      });
    }
  });

  test("has a durable per lane that survives idleness, acks one by one, and whose filters are disjoint", async () => {
    const filters = new Set<string>();
    for (const pool of POOLS) {
      for (const lane of LANES) {
        const { config } = await manager.consumers.info(streamName(pool), durableName(pool, lane));
        expect(config).toMatchObject({
          ack_policy: "explicit",
          max_deliver: LANE_SETTINGS[lane].maxDeliver,
          max_waiting: 4_096,
        });
        expect(config.ack_wait).toBe(LANE_SETTINGS[lane].ackWaitMs * 1_000_000);
        expect(config.backoff).toBeUndefined();
        expect(config.inactive_threshold ?? 0).toBe(0);
        expect(config.filter_subject).toBe(laneFilter(pool, lane));
        filters.add(config.filter_subject ?? "");
      }
    }
    expect(filters.size).toBe(POOLS.length * LANES.length);
  });

  test("sends heartbeats often enough that two may be lost", () => {
    for (const lane of LANES) {
      const { beatMs, ackWaitMs } = LANE_SETTINGS[lane];
      expect(3 * beatMs).toBeLessThanOrEqual(ackWaitMs);
    }
  });

  test("restores a manually changed field", async () => {
    const name = streamName("chat");
    const durable = durableName("chat", "live");
    await manager.streams.update(name, { max_msgs_per_subject: 7 });
    await manager.consumers.update(name, durable, { max_deliver: 99 });
    await ensureTopology(connection, 1);
    expect((await manager.streams.info(name)).config.max_msgs_per_subject).toBe(2_000);
    expect((await manager.consumers.info(name, durable)).config.max_deliver).toBe(LANE_SETTINGS.live.maxDeliver);
  });

  test("is created again after the server lost its store", async () => {
    const restored = (async () => {
      for await (const status of connection.status()) if (status.type === "reconnect") return;
    })();
    await nats.wipe();
    await restored;
    await ensureTopology(connection, 1);
    expect((await snapshot()).streams).toHaveLength(wantedTopology(1).streams.length);
  });

  test("fails to start if a field cannot be changed any longer", async () => {
    const name = streamName("chat");
    const durable = durableName("chat", "batch");
    const { config } = await manager.consumers.info(name, durable);
    await manager.consumers.delete(name, durable);
    await manager.consumers.add(name, { ...config, max_waiting: 7 });
    expect(ensureTopology(connection, 1)).rejects.toThrow("max waiting");
    await manager.consumers.delete(name, durable).catch(() => undefined);
  });

  test("requests the configured number of replicas", () => {
    for (const stream of wantedTopology(3).streams) expect(stream.num_replicas).toBe(3);
  });
});

test.each([
  ["nothing in force yet", 0, 0, 1_000, 1_000],
  ["enough", 1_000, 900, 1_000, 1_000],
  ["too few", 1_000, 1_001, 1_000, 1_024],
  ["more than is needed, but not by far", 4_096, 1_025, 1_000, 4_096],
  ["far more than is needed", 8_192, 1_025, 1_000, 2_048],
  ["far more than the least", 4_096, 3, 1_000, 1_000],
  ["more wanted than there may be", 1_000, 10 ** 9, 1_000, 1_048_576],
])("a limit with %s is changed to the required value", (_name, inForce, wanted, least, next) => {
  expect(nextLimit(inForce, wanted, least)).toBe(next);
});

describe("the server's response", () => {
  const wanted = { name: "S", max_msgs: 5, subjects: ["a", "b"], allow_direct: false, max_age: 0 };

  test.each<[string, Record<string, unknown>]>([
    ["equal", { ...wanted }],
    ["with more fields than asked for", { ...wanted, sealed: false, num_replicas: 1 }],
    ["without fields that have their zero value", { name: "S", max_msgs: 5, subjects: ["a", "b"] }],
  ])("%s is accepted", (_name, echoed) => {
    expect(() => assertEcho("stream S", wanted, echoed)).not.toThrow();
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["another number", { ...wanted, max_msgs: 6 }, "stream S: expected max_msgs 5, the server has 6"],
    ["another list", { ...wanted, subjects: ["a"] }, 'stream S: expected subjects ["a","b"], the server has ["a"]'],
    ["another order", { ...wanted, subjects: ["b", "a"] }, "stream S: expected subjects"],
    [
      "a field it does not know",
      { name: "S", subjects: ["a", "b"] },
      "stream S: expected max_msgs 5, the server has undefined",
    ],
    ["a flag it set", { ...wanted, allow_direct: true }, "stream S: expected allow_direct false, the server has true"],
    ["an age it set", { ...wanted, max_age: 9 }, "stream S: expected max_age 0, the server has 9"],
  ])("with %s is rejected by name", (_name, echoed, message) => {
    expect(() => assertEcho("stream S", wanted, echoed)).toThrow(message);
  });

  test("without a required field is rejected", () => {
    expect(() => assertEcho("stream S", { discard_new_per_subject: true }, {})).toThrow("discard_new_per_subject");
  });
});
