import { jetstream, jetstreamManager, type JetStreamManager } from "@nats-io/jetstream";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { connect, headers, type NatsConnection } from "nats";

import { newId } from "#shared/ids.ts";
import { createLogger } from "#shared/logger.ts";
import { createMetrics, type Metrics } from "#shared/metrics.ts";
import { durableName, streamName, workSubject } from "#shared/queue/subjects.ts";
import { ensureTopology } from "#shared/queue/topology.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { sweepDeadLetters, watchQueue } from "#workers/janitor/queue.ts";

const STREAM = streamName("chat");
/** Longer than any delivery can still be under way behind a deadline. */
const LONG_MS = 3_600_000;

let nats: TestNats;
let database: TestDatabase;
let connection: NatsConnection;
let manager: JetStreamManager;
let metrics: Metrics;
const log = createLogger({ level: "silent", role: "test" });

beforeAll(async () => {
  [nats, database] = await Promise.all([startNats(), createTestDatabase()]);
  connection = await connect({ servers: nats.url });
  manager = await jetstreamManager(connection);
  metrics = createMetrics("test");
  await ensureTopology(connection, 1);
}, 120_000);

afterAll(async () => {
  metrics.close();
  await connection.close();
  await Promise.all([nats.close(), database.drop()]);
});

afterEach(async () => {
  const { state } = await manager.streams.info(STREAM);
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    await manager.streams.deleteMessage(STREAM, seq).catch(() => undefined);
  }
  await database.query("delete from dead_letter");
});

/** A message with this deadline, or none; resolves with its sequence and id. */
async function put(
  deadlineMs: unknown,
  body = JSON.stringify({ deadline_ms: deadlineMs }),
): Promise<{ seq: number; id: string; subject: string }> {
  const id = `${newId()}:1:1`;
  const subject = workSubject("chat", "live", newId());
  const { seq } = await jetstream(connection).publish(subject, body, { msgID: id });
  return { seq, id, subject };
}

const sweep = (now = Date.now()): Promise<number> =>
  sweepDeadLetters({ connection, database: database.database, log, metrics, now: () => now });
const letters = () => database.query<{ stream_seq: bigint; message_id: string; reason: string; subject: string }>("select * from dead_letter order by stream_seq"); // prettier-ignore
const inStream = async (): Promise<number> => (await manager.streams.info(STREAM)).state.messages;

describe("a message that nobody finished", () => {
  test("becomes a dead letter long behind its deadline, and leaves the stream", async () => {
    const { seq, id, subject } = await put(Date.now());
    expect(await sweep(Date.now() + LONG_MS)).toBe(1);
    expect(await inStream()).toBe(0);
    expect(await letters()).toMatchObject([
      { stream_seq: BigInt(seq), message_id: id, subject, reason: "undelivered" },
    ]);
    expect(await metrics.registry.getSingleMetricAsString("sluice_dead_letters")).toContain("} 1");
  });

  test("becomes one although a message before it cannot, as the database refuses what it is called", async () => {
    const refused = headers();
    refused.set("Nats-Msg-Id", "not a \0 text");
    await jetstream(connection).publish(workSubject("chat", "live", newId()), "{}", { headers: refused });
    const { id } = await put(Date.now());
    expect(await sweep(Date.now() + LONG_MS)).toBe(1);
    expect(await letters()).toMatchObject([{ message_id: id }]);
    expect(await inStream()).toBe(1);
  });

  test("is left alone while a delivery may still be under way", async () => {
    await put(Date.now());
    expect(await sweep(Date.now() + 1_000)).toBe(0);
    expect(await inStream()).toBe(1);
  });

  test("is left alone before its deadline, however old it is", async () => {
    await put(Date.now() + 2 * LONG_MS);
    expect(await sweep(Date.now() + LONG_MS)).toBe(0);
    expect(await inStream()).toBe(1);
  });

  test.each([undefined, "", "soon", "NaN"])("with the deadline %j counts from when it came", async (deadline) => {
    await put(deadline);
    expect(await sweep()).toBe(0);
    expect(await sweep(Date.now() + LONG_MS)).toBe(1);
  });

  test("takes no neighbour with it: what still waits stays where it is", async () => {
    const now = Date.now();
    await put(now);
    await put(now);
    const young = await put(now + 2 * LONG_MS);
    expect(await sweep(now + LONG_MS)).toBe(2);
    expect(await inStream()).toBe(1);
    expect(await manager.streams.getMessage(STREAM, { seq: young.seq })).not.toBeNull();
  });

  test("is left to the jobs' own sweeps when it is a durable job's: that may run long behind its deadline", async () => {
    const now = Date.now();
    const durable = JSON.stringify({ durable: true, job_id: newId(), attempt: 1, dispatch: 1, workspace_id: newId() });
    const before = await put(now, durable);
    const call = await put(now, '{"durable":"true"}');
    await put(now, "no JSON");
    await put(now, "null");
    const after = await put(now, durable);
    expect(await sweep(now + LONG_MS)).toBe(3);
    expect(await manager.streams.getMessage(STREAM, { seq: call.seq })).toBeNull();
    for (const { seq } of [before, after]) expect(await manager.streams.getMessage(STREAM, { seq })).not.toBeNull();
    expect(await letters()).toHaveLength(3);
  });

  test("is only removed when it is the word of a run, whose rows say as much", async () => {
    const word = JSON.stringify({ run_id: newId(), workspace_id: newId() });
    await put(Date.now(), word);
    expect(await sweep(Date.now() + 1_000)).toBe(0);
    expect(await inStream()).toBe(1);
    expect(await sweep(Date.now() + LONG_MS)).toBe(0);
    expect(await inStream()).toBe(0);
    expect(await letters()).toEqual([]);
  });

  test("is found behind durable jobs that wait for longer, and behind more of them than are swept at once", async () => {
    const now = Date.now();
    const durable = Array.from({ length: 150 }, () => put(now + 2 * LONG_MS, '{"durable":true}'));
    await Promise.all(durable);
    await put(now);
    expect(await sweep(now + LONG_MS)).toBe(1);
    expect(await inStream()).toBe(150);
  });

  test("is swept in bounded batches until none is left", async () => {
    const now = Date.now();
    await Promise.all(Array.from({ length: 130 }, () => put(now)));
    expect(await sweep(now + LONG_MS)).toBe(100);
    expect(await sweep(now + LONG_MS)).toBe(30);
    expect(await letters()).toHaveLength(130);
  });

  test("is recorded once, however many janitors sweep", async () => {
    const now = Date.now();
    await Promise.all(Array.from({ length: 20 }, () => put(now)));
    await Promise.allSettled(Array.from({ length: 4 }, () => sweep(now + LONG_MS)));
    while ((await inStream()) > 0) await sweep(now + LONG_MS);
    expect(await letters()).toHaveLength(20);
  });
});

describe("the backlog", () => {
  test("counts what waits and what is under way, per lane", async () => {
    for (let count = 0; count < 3; count++) await put(Date.now() + LONG_MS);
    await (await jetstream(connection).consumers.get(STREAM, durableName("chat", "live"))).next({ expires: 5_000 });
    await watchQueue({ connection, metrics });
    const text = await metrics.registry.getSingleMetricAsString("sluice_queue_depth");
    expect(text).toContain('pool="chat",lane="live",role="test"} 3');
    expect(text).toContain('pool="chat",lane="batch",role="test"} 0');
    expect(await metrics.registry.getSingleMetricAsString("sluice_queue_oldest_seconds")).toContain('pool="chat"');
  });
});
