import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { jetstream } from "@nats-io/jetstream";
import { connect, headers, type NatsConnection } from "nats";

import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { type Delivery, openPuller } from "#shared/queue/puller.ts";
import {
  BATCH_DURABLE,
  BATCH_STREAM,
  breakerSubject,
  cancelSubject,
  fleetSubject,
  workerCancels,
  durableName,
  replyPrefix,
  POOLS,
  FREED_FILTER,
  freedSubject,
  runSubject,
  sourceResetSubject,
  sourceTestSubject,
  streamName,
  workSubject,
} from "#shared/queue/subjects.ts";
import { checkTopology, ensureTopology } from "#shared/queue/topology.ts";
import {
  type ConfiguredClient,
  type ConfiguredNats,
  PUBLISHER_KEY as KEY,
  PUBLISHER_WORKSPACE as WORKSPACE,
  startConfiguredNats,
  type User,
  USERS,
} from "#tests/support/configured-nats.ts";

const OTHER = "00000000-0000-7000-8000-000000000001";

let server: ConfiguredNats;
const clients = {} as Record<User, ConfiguredClient>;

beforeAll(async () => {
  server = await startConfiguredNats();
  for (const user of Object.keys(USERS) as User[]) clients[user] = await server.open(user);
  await ensureTopology(clients.janitor.connection, 1);
}, 60_000);

afterAll(async () => {
  await Promise.all(Object.values(clients).map(({ connection }) => connection.close()));
  await server.stop();
});

/** Returns the server's refusals while `act` runs; the answer to the flush comes after every refusal. */
async function refusals(user: User, act: (connection: NatsConnection) => void): Promise<string[]> {
  const { connection, refused } = clients[user];
  refused.length = 0;
  act(connection);
  await connection.flush();
  await new Promise((resolve) => setImmediate(resolve));
  return [...refused];
}

describe("deploy/nats/server.conf", () => {
  test("allows every role to compare the topology, and only the janitor to change it", async () => {
    for (const user of ["ingress", "worker", "workflow", "janitor"] as const)
      await checkTopology(clients[user].connection, 1);
    const { config } = await (
      await jetstream(clients.janitor.connection).jetstreamManager()
    ).streams.info(BATCH_STREAM);
    for (const user of ["ingress", "worker", "workflow"] as const) {
      const [subject, body] = [`$JS.API.STREAM.UPDATE.${BATCH_STREAM}`, JSON.stringify({ ...config, max_msgs: 7 })];
      expect(await refusals(user, (connection) => connection.publish(subject, body))).toHaveLength(1);
    }
    await checkTopology(clients.janitor.connection, 1);
  });

  test("allows a call from the ingress to a worker and its answer", async () => {
    const reply = `${replyPrefix("in-1")}.${newId()}`;
    const answers = clients.ingress.connection.subscribe(`${replyPrefix("in-1")}.>`, { max: 2 });
    const head = headers();
    head.set("Sluice-Reply", reply);
    await jetstream(clients.ingress.connection).publish(workSubject("chat", "live", WORKSPACE), "{}", {
      headers: head,
    });

    const consumer = await jetstream(clients.worker.connection).consumers.get(
      streamName("chat"),
      durableName("chat", "live"),
    );
    const message = await consumer.next({ expires: 5_000 });
    expect(message?.headers?.get("Sluice-Reply")).toBe(reply);
    message?.working();
    const beat = clients.worker.connection.request(reply, "beat", { timeout: 5_000 });
    for await (const answer of answers) {
      if (answer.string() === "beat") answer.respond("here");
      else break;
      expect((await beat).string()).toBe("here");
      clients.worker.connection.publish(reply, "end");
    }
    expect(await message?.ackAck()).toBe(true);
  });

  test("allows cancels to reach workers", async () => {
    const cancels = clients.worker.connection.subscribe("cancel.*", { max: 1 });
    await clients.worker.connection.flush();
    const job = newId();
    clients.ingress.connection.publish(cancelSubject(job));
    for await (const cancel of cancels) expect(cancel.subject).toBe(cancelSubject(job));
  });

  test("allows ingresses to exchange their calls, and one worker to receive a cancelled call", async () => {
    const [cancels, id] = [workerCancels(newId()), newId()];
    const heard = [
      clients.worker.connection.subscribe(`${cancels}.*`, { max: 1 }),
      clients.ingress.connection.subscribe(fleetSubject(id), { max: 1 }),
    ];
    await clients.worker.connection.flush();
    const subjects = [`${cancels}.${newId()}`, fleetSubject(id)];
    const refused = await refusals("ingress", (connection) => {
      for (const subject of subjects) connection.publish(subject);
    });
    expect(refused).toEqual([]);
    const seen = heard.map(async (one) => {
      for await (const { subject } of one) return subject;
      return undefined;
    });
    expect(await Promise.all(seen)).toEqual(subjects);
  });

  test("allows workers to exchange disabled sources", async () => {
    const heard = clients.worker.connection.subscribe(breakerSubject("chat"), { max: 1 });
    const refused = await refusals("worker", (connection) => connection.publish(breakerSubject("chat"), "rests"));
    expect(refused).toEqual([]);
    for await (const message of heard) expect(message.string()).toBe("rests");
  });

  test("allows an ingress to reset a source, and to request a test of it from a worker", async () => {
    const { connection: worker } = clients.worker;
    const resets = worker.subscribe(sourceResetSubject("image"), { max: 1 });
    worker.subscribe(sourceTestSubject("image"), {
      queue: "workers",
      max: 1,
      callback: (_error, message) => void message.respond("works"),
    });
    await worker.flush();
    const refused = await refusals("ingress", (connection) => connection.publish(sourceResetSubject("image"), "reset"));
    expect(refused).toEqual([]);
    for await (const message of resets) expect(message.string()).toBe("reset");
    const verdict = await clients.ingress.connection.request(sourceTestSubject("image"), "{}", { timeout: 5_000 });
    expect(verdict.string()).toBe("works");
  });

  test("allows the janitor to put work back and to delete a message by its sequence", async () => {
    const stream = jetstream(clients.janitor.connection);
    const { seq } = await stream.publish(workSubject("chat", "batch", WORKSPACE), "{}");
    const manager = await stream.jetstreamManager();
    expect((await manager.streams.getMessage(streamName("chat"), { seq }))?.seq).toBe(seq);
    const direct = await manager.direct.getMessage(streamName("chat"), { seq, next_by_subj: ">" });
    expect(direct?.seq).toBe(seq);
    expect(await manager.streams.deleteMessage(streamName("chat"), seq)).toBe(true);
  });

  test("allows a publisher to publish batch messages with its own key and to receive their answers", async () => {
    const answers = clients.publisher.connection.subscribe(`_INBOX.ws.${WORKSPACE}.${KEY}.>`, { max: 1 });
    const refused = await refusals("publisher", (connection) => {
      for (const pool of POOLS) connection.publish(`batch.${pool}.${WORKSPACE}.${KEY}`);
    });
    expect(refused).toEqual([]);
    clients.worker.connection.publish(`_INBOX.ws.${WORKSPACE}.${KEY}.1`, "accepted");
    for await (const answer of answers) expect(answer.string()).toBe("accepted");
  });

  test("allows an ingress to consume batch messages and to answer their publishers", async () => {
    const answers = clients.publisher.connection.subscribe(`_INBOX.ws.${WORKSPACE}.${KEY}.answers`, { max: 1 });
    clients.publisher.connection.publish(`batch.chat.${WORKSPACE}.${KEY}`, "{}");
    await clients.publisher.connection.flush();
    const { promise, resolve } = Promise.withResolvers<Delivery>();
    const puller = openPuller({
      connection: clients.ingress.connection,
      role: "ingress",
      stream: BATCH_STREAM,
      durable: BATCH_DURABLE,
      log: createLogger({ level: "silent", role: "test" }),
      onMessage: resolve,
      onPullEnded: () => undefined,
    });
    const refused = await refusals("ingress", (connection) => {
      puller.ask(1);
      connection.publish(`_INBOX.ws.${WORKSPACE}.${KEY}.answers`, "queued");
    });
    expect(refused).toEqual([]);
    const message = await promise;
    expect(message.subject).toBe(`batch.chat.${WORKSPACE}.${KEY}`);
    message.working();
    message.ack();
    await clients.ingress.connection.flush();
    const manager = await jetstream(clients.janitor.connection).jetstreamManager();
    expect((await manager.consumers.info(BATCH_STREAM, BATCH_DURABLE)).num_ack_pending).toBe(0);
    for await (const answer of answers) expect(answer.string()).toBe("queued");
    await puller.stop();
  });

  test("allows an ingress to notify another ingress of a cancelled job", async () => {
    const told = clients.ingress.connection.subscribe(`${replyPrefix("in-2")}.>`, { max: 1 });
    await clients.ingress.connection.flush();
    const reply = `${replyPrefix("in-2")}.${newId()}`;
    expect(await refusals("ingress", (connection) => connection.publish(reply, "ended"))).toEqual([]);
    for await (const message of told) expect(message.string()).toBe("ended");
  });

  test("allows workers to notify the janitor of free capacity, and the janitor to notify publishers", async () => {
    const heard = clients.janitor.connection.subscribe(FREED_FILTER, { max: 1 });
    await clients.janitor.connection.flush();
    const answers = clients.publisher.connection.subscribe(`_INBOX.ws.${WORKSPACE}.${KEY}.>`, { max: 1 });
    await clients.publisher.connection.flush();
    expect(await refusals("worker", (connection) => connection.publish(freedSubject("chat", "batch")))).toEqual([]);
    for await (const message of heard) expect(message.subject).toBe(freedSubject("chat", "batch"));
    expect(
      await refusals("janitor", (connection) => connection.publish(`_INBOX.ws.${WORKSPACE}.${KEY}.1`, "lost")),
    ).toEqual([]);
    for await (const answer of answers) expect(answer.string()).toBe("lost");
  });

  test("allows workers to resume runs and notify readers, and workflow workers to queue and cancel calls", async () => {
    const told = clients.ingress.connection.subscribe(runSubject("one"), { max: 1 });
    await clients.ingress.connection.flush();
    const wake = workSubject("workflow", "live", WORKSPACE);
    expect(await refusals("worker", (connection) => connection.publish(wake))).toEqual([]);
    expect(await refusals("worker", (connection) => connection.publish(runSubject("one"), "frames"))).toEqual([]);
    for await (const message of told) expect(message.string()).toBe("frames");
    for (const subject of [workSubject("chat", "batch", WORKSPACE), cancelSubject("x")]) {
      expect(await refusals("workflow", (connection) => connection.publish(subject))).toEqual([]);
    }
  });

  test.each([
    ["publisher", `work.chat.live.${WORKSPACE}`],
    ["publisher", "freed.chat.batch"],
    ["publisher", "$JS.API.CONSUMER.MSG.NEXT.BATCH_IN.intake"],
    ["publisher", `_INBOX.ws.${OTHER}.${KEY}.x`],
    ["publisher", `batch.chat.${WORKSPACE}`],
    ["publisher", `batch.chat.${WORKSPACE}.${OTHER}`],
    ["publisher", `batch.chat.${WORKSPACE}.*`],
    ["publisher", "publishers.end.x"],
    ["ingress", "publishers.end.x"],
    ["auth", "$SYS.REQ.SERVER.x.KICK"],
    ["publisher", "$SYS.REQ.SERVER.x.KICK"],
    ["ingress", `batch.chat.${WORKSPACE}.${KEY}`],
    ["ingress", "freed.chat.batch"],
    ...POOLS.map((pool) => ["publisher", `batch.${pool}.${OTHER}.${KEY}`] as const),
    ["publisher", "batch.chat.*"],
    ["publisher", `batch.anything.${WORKSPACE}.${KEY}`],
    ["publisher", "_INBOX.gw.in-1.x"],
    ["publisher", "$JS.API.STREAM.PURGE.POOL_chat"],
    ["publisher", "$JS.API.CONSUMER.MSG.NEXT.POOL_chat.chat_live"],
    ["publisher", "cancel.x"],
    ["publisher", "$SYS.REQ.USER.AUTH"],
    ["ingress", "$SYS.REQ.USER.AUTH"],
    ["auth", `work.chat.live.${WORKSPACE}`],
    ["auth", `batch.chat.${WORKSPACE}.${KEY}`],
    ["auth", "$JS.API.INFO"],
    ["auth", "$SYS.REQ.ACCOUNT.PING.CONNZ"],
    ["publisher", "$SYS.REQ.ACCOUNT.PING.CONNZ"],
    ["publisher", "publishers.connections"],
    ["publisher", "breaker.chat"],
    ["worker", `work.chat.live.${WORKSPACE}`],
    ["worker", `batch.chat.${WORKSPACE}.${KEY}`],
    ["workflow", `batch.chat.${WORKSPACE}.${KEY}`],
    ["workflow", "$JS.API.STREAM.PURGE.POOL_chat"],
    ["worker", "cancel.x"],
    ["worker", "$JS.API.STREAM.PURGE.POOL_chat"],
    ["worker", "$JS.API.STREAM.DELETE.POOL_chat"],
    ["ingress", "$JS.API.CONSUMER.MSG.NEXT.POOL_chat.chat_live"],
    ["ingress", "$JS.ACK.POOL_chat.chat_live.1.1.1.1.0"],
    ["ingress", "$JS.API.STREAM.PURGE.POOL_chat"],
    ["ingress", "breaker.chat"],
    ["worker", "source.reset.chat"],
    ["janitor", "$JS.API.STREAM.PURGE.POOL_chat"],
    ["janitor", "$JS.API.STREAM.DELETE.POOL_chat"],
    ["janitor", "breaker.chat"],
  ] as const)("denies %s to publish %s", async (user, subject) => {
    expect(await refusals(user, (connection) => connection.publish(subject))).toEqual([`publish ${subject}`]);
  });

  test.each([
    ["publisher", "_INBOX.>"],
    ["publisher", `_INBOX.ws.${OTHER}.>`],
    ["publisher", `_INBOX.ws.${WORKSPACE}.>`],
    ["publisher", `_INBOX.ws.${WORKSPACE}.${OTHER}.>`],
    ["publisher", `_INBOX.ws.${WORKSPACE}.*.answers`],
    ["publisher", "_INBOX.ws.*.>"],
    ["publisher", "work.>"],
    ["publisher", `batch.chat.${WORKSPACE}.${KEY}`],
    ["publisher", "$SYS.REQ.USER.AUTH"],
    ["ingress", "$SYS.REQ.USER.AUTH"],
    ["auth", `batch.chat.${WORKSPACE}.${KEY}`],
    ["auth", "_INBOX.gw.>"],
    ["worker", "_INBOX.gw.>"],
    ["worker", "_INBOX.ws.>"],
    ["ingress", "_INBOX.wk.>"],
    ["ingress", "_INBOX.ws.>"],
    ["ingress", "work.>"],
    ["janitor", "_INBOX.gw.>"],
  ] as const)("denies %s to subscribe to %s", async (user, subject) => {
    const refused = await refusals(user, (connection) => connection.subscribe(subject, { callback: () => undefined }));
    expect(refused).toEqual([`subscription ${subject}`]);
  });

  test("rejects connections without a password", async () => {
    const attempt = connect({ servers: server.address, reconnect: false });
    expect(await attempt.catch((error: Error) => error.name)).toBe("AuthorizationError");
  });
});
