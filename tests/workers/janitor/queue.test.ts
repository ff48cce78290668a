import { jetstream, jetstreamManager, type JetStreamManager } from "@nats-io/jetstream";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { connect, headers, type NatsConnection } from "nats";

import { newId } from "#shared/base/ids.ts";
import { withFleetSlots } from "#shared/database/pools.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics, type Metrics } from "#shared/metrics/metrics.ts";
import { UNACKED_MIN, WORKSPACE_MESSAGES_MIN } from "#shared/queue/fleet-limits.ts";
import { durableName, streamName, workSubject } from "#shared/queue/subjects.ts";
import { ensureTopology } from "#shared/queue/topology.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { fitQueue, sweepDeadLetters, watchQueue } from "#workers/janitor/queue.ts";

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

describe("an unfinished message", () => {
  test("becomes a dead letter long after its deadline, and leaves the stream", async () => {
    const { seq, id, subject } = await put(Date.now());
    expect(await sweep(Date.now() + LONG_MS)).toBe(1);
    expect(await inStream()).toBe(0);
    expect(await letters()).toMatchObject([
      { stream_seq: BigInt(seq), message_id: id, subject, reason: "undelivered" },
    ]);
    expect(await metrics.registry.getSingleMetricAsString("sluice_dead_letters")).toContain("} 1");
  });

  test("becomes one although an earlier message cannot, as the database rejects its name", async () => {
    const refused = headers();
    refused.set("Nats-Msg-Id", "not a \0 text");
    await jetstream(connection).publish(workSubject("chat", "live", newId()), "{}", { headers: refused });
    const { id } = await put(Date.now());
    expect(await sweep(Date.now() + LONG_MS)).toBe(1);
    expect(await letters()).toMatchObject([{ message_id: id }]);
    expect(await inStream()).toBe(1);
  });

  test("is unchanged while a delivery may still be in progress", async () => {
    await put(Date.now());
    expect(await sweep(Date.now() + 1_000)).toBe(0);
    expect(await inStream()).toBe(1);
  });

  test("is unchanged before its deadline, at any age", async () => {
    await put(Date.now() + 2 * LONG_MS);
    expect(await sweep(Date.now() + LONG_MS)).toBe(0);
    expect(await inStream()).toBe(1);
  });

  test.each([undefined, "", "soon", "NaN"])("with the deadline %j counts from its arrival", async (deadline) => {
    await put(deadline);
    expect(await sweep()).toBe(0);
    expect(await sweep(Date.now() + LONG_MS)).toBe(1);
  });

  test("leaves waiting neighbours unchanged", async () => {
    const now = Date.now();
    await put(now);
    await put(now);
    const young = await put(now + 2 * LONG_MS);
    expect(await sweep(now + LONG_MS)).toBe(2);
    expect(await inStream()).toBe(1);
    expect(await manager.streams.getMessage(STREAM, { seq: young.seq })).not.toBeNull();
  });

  test("is left to the jobs' own sweeps when it belongs to a durable job, which may run long after its deadline", async () => {
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

  test("is only removed when it is a run's notice, whose rows are sufficient", async () => {
    const word = JSON.stringify({ run_id: newId(), workspace_id: newId() });
    await put(Date.now(), word);
    expect(await sweep(Date.now() + 1_000)).toBe(0);
    expect(await inStream()).toBe(1);
    expect(await sweep(Date.now() + LONG_MS)).toBe(0);
    expect(await inStream()).toBe(0);
    expect(await letters()).toEqual([]);
  });

  test("is found after durable jobs that wait for longer, and after more of them than one batch", async () => {
    const now = Date.now();
    const durable = Array.from({ length: 150 }, () => put(now + 2 * LONG_MS, '{"durable":true}'));
    await Promise.all(durable);
    await put(now);
    expect(await sweep(now + LONG_MS)).toBe(1);
    expect(await inStream()).toBe(150);
  });

  test("is swept in bounded batches until none remains", async () => {
    const now = Date.now();
    await Promise.all(Array.from({ length: 130 }, () => put(now)));
    expect(await sweep(now + LONG_MS)).toBe(100);
    expect(await sweep(now + LONG_MS)).toBe(30);
    expect(await letters()).toHaveLength(130);
  });

  test("is recorded once, for any number of janitors", async () => {
    const now = Date.now();
    await Promise.all(Array.from({ length: 20 }, () => put(now)));
    await Promise.allSettled(Array.from({ length: 4 }, () => sweep(now + LONG_MS)));
    while ((await inStream()) > 0) await sweep(now + LONG_MS);
    expect(await letters()).toHaveLength(20);
  });
});

describe("the backlog", () => {
  test("counts waiting and running messages, per lane", async () => {
    for (let count = 0; count < 3; count++) await put(Date.now() + LONG_MS);
    await (await jetstream(connection).consumers.get(STREAM, durableName("chat", "live"))).next({ expires: 5_000 });
    await watchQueue({ connection, metrics });
    const text = await metrics.registry.getSingleMetricAsString("sluice_queue_depth");
    expect(text).toContain('pool="chat",lane="live",role="test"} 3');
    expect(text).toContain('pool="chat",lane="batch",role="test"} 0');
    for (const [name, value] of [
      ["sluice_queue_unacknowledged", 1],
      ["sluice_queue_unacknowledged_max", UNACKED_MIN.live],
    ] as const) {
      const unacknowledged = await metrics.registry.getSingleMetricAsString(name);
      expect(unacknowledged).toContain(`pool="chat",lane="live",role="test"} ${value}`);
    }
  });

  test("reports the age of the oldest undelivered message, and 0 if workers have all of them", async () => {
    const oldest = async (): Promise<number> => {
      await watchQueue({ connection, metrics });
      const text = await metrics.registry.getSingleMetricAsString("sluice_queue_oldest_seconds");
      return Number(/pool="chat",role="test"\} (\S+)/.exec(text)?.[1]);
    };
    const consumer = await jetstream(connection).consumers.get(STREAM, durableName("chat", "live"));
    expect(await oldest()).toBe(0);
    await put(Date.now() + LONG_MS);
    await Bun.sleep(30);
    const second = await put(Date.now() + LONG_MS);
    const { time } = (await manager.streams.getMessage(STREAM, { seq: second.seq }))!;
    expect(await oldest()).toBeGreaterThan(0.03);
    await consumer.next({ expires: 5_000 });
    expect(await oldest()).toBeLessThanOrEqual((Date.now() - time.getTime()) / 1_000);
    expect(await oldest()).toBeGreaterThan(0);
    await consumer.next({ expires: 5_000 });
    expect(await oldest()).toBe(0);
  });
});

describe("the limits of the queue", () => {
  const tell = (slots: number) =>
    database.query(
      `insert into worker_slots (worker, pool, lane, slots) values ($1, 'chat', 'live', $2)
       on conflict (worker, pool, lane) do update set slots = excluded.slots, seen_at = clock_timestamp()`,
      [WORKER, slots],
    );
  const fit = () => fitQueue({ connection, database: database.database, log });
  const WORKER = newId();
  const limits = async () => {
    const { config } = await manager.streams.info(STREAM);
    const { config: durable } = await manager.consumers.info(STREAM, durableName("chat", "live"));
    return [durable.max_ack_pending, config.max_msgs_per_subject, config.max_msgs];
  };
  const atLeast = [UNACKED_MIN.live, WORKSPACE_MESSAGES_MIN, 200_000];

  test("grow and shrink with the workers' reports, also past a process that starts meanwhile", async () => {
    await fit();
    expect(await limits()).toEqual(atLeast);
    await tell(112_000);
    await fit();
    const grown = [524_288, 262_144, 200_000 + 524_288 - UNACKED_MIN.live];
    expect(await limits()).toEqual(grown);
    await ensureTopology(connection, 1);
    await ensureTopology(connection, 1, "keep");
    expect(await limits()).toEqual(grown);
    await tell(100);
    await fit();
    expect(await limits()).toEqual(atLeast);
  });

  test("allow one workspace more messages than a small fleet's limit, and drop none of them when the fleet shrinks", async () => {
    await tell(10_000);
    await fit();
    const subject = workSubject("chat", "live", newId());
    const count = WORKSPACE_MESSAGES_MIN + 500;
    const publish = () => jetstream(connection).publish(subject, "{}");
    for (let sent = 0; sent < count; sent += 500) await Promise.all(Array.from({ length: 500 }, publish));
    await tell(1);
    await fit();
    expect((await manager.streams.info(STREAM)).state.messages).toBe(count);
    await manager.streams.purge(STREAM);
    await fit();
    expect(await limits()).toEqual(atLeast);
  });

  test("are changed by one janitor at a time", async () => {
    await tell(112_000);
    await withFleetSlots(database.database, async () => {
      await fit();
      expect(await limits()).toEqual(atLeast);
    });
    await database.query("delete from worker_slots");
  });
});
