import { afterAll, beforeAll, expect, test } from "bun:test";

import { connect, type Msg, type NatsConnection } from "nats";

import { createStreamPublisher } from "#shared/queue/publish.ts";
import { ensureTopology } from "#shared/queue/topology.ts";
import { newId } from "#shared/base/ids.ts";
import { workSubject } from "#shared/queue/subjects.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";

let nats: TestNats;
let connection: NatsConnection;
beforeAll(async () => {
  nats = await startNats();
  connection = await connect({ servers: nats.url });
  await ensureTopology(connection, 1);
}, 60_000);
afterAll(async () => {
  await connection.close();
  await nats.close();
});

const SUBJECT = workSubject("chat", "live", newId());
const errorOf = (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined, (error: unknown) => error); // prettier-ignore

test("a message without a stream, a rejected one, and an unanswered one have different errors", async () => {
  const publisher = createStreamPublisher(connection, "ingress", 400);
  const missing = await publisher.publish("work.nobody", "{}", "a");
  expect(missing).toEqual({ reason: "no stream takes the subject", code: undefined });
  const refused = await publisher.publish(SUBJECT, `"${"x".repeat(600 * 1_024)}"`, "b");
  expect(refused).toMatchObject({ code: 10_054 });
  connection.subscribe("silent");
  expect(String(await errorOf(publisher.publish("silent", "{}", "c")))).toContain("within 400 ms");
});

test("an unreadable answer fails its message only", async () => {
  const publisher = createStreamPublisher(connection, "ingress", 5_000);
  const answers = ["no JSON", "", '{"seq":"7"}'];
  connection.subscribe("odd", { callback: (_error, message) => void message.respond(answers.shift() ?? "") });
  const results = await Promise.all([
    ...[1, 2, 3].map((n) => errorOf(publisher.publish("odd", "{}", `odd ${n}`))),
    publisher.publish(SUBJECT, "{}", newId()),
  ]);
  expect(results.slice(0, 3).every((error) => error instanceof Error)).toBe(true);
  expect(results[3]).toBeNumber();
});

test("a thousand concurrent messages have a sequence each, and one sent twice has one", async () => {
  const publisher = createStreamPublisher(connection, "ingress", 5_000);
  const seqs = await Promise.all(Array.from({ length: 1_000 }, () => publisher.publish(SUBJECT, "{}", newId())));
  expect(new Set(seqs).size).toBe(1_000);
  const id = newId();
  expect(await publisher.publish(SUBJECT, "{}", id)).toEqual(await publisher.publish(SUBJECT, "{}", id));
});

test("an answer to an abandoned message does not match a later one", async () => {
  const publisher = createStreamPublisher(connection, "ingress", 600);
  const asked: Msg[] = [];
  connection.subscribe("late", { callback: (_error, message) => void asked.push(message) });
  expect(String(await errorOf(publisher.publish("late", "{}", "e")))).toContain("within 600 ms");
  const next = publisher.publish("late", "{}", "f");
  while (asked.length < 2) await Bun.sleep(1);
  asked[0]?.respond('{"seq":1}');
  asked[1]?.respond('{"seq":2}');
  expect(await next).toBe(2);
  // Answered, so its subject is used again.
  const [third, fourth] = [publisher.publish("late", "{}", "g"), publisher.publish("late", "{}", "h")];
  while (asked.length < 4) await Bun.sleep(1);
  expect(asked[2]?.reply).toBe(asked[1]?.reply);
  expect(new Set(asked.slice(2).map(({ reply }) => reply)).size).toBe(2);
  asked[3]?.respond('{"seq":4}');
  asked[2]?.respond('{"seq":3}');
  expect(await Promise.all([third, fourth])).toEqual([3, 4]);
});

test("messages sent before the loss of the connection are reported as unknown after the reconnect", async () => {
  const publisher = createStreamPublisher(connection, "ingress", 60_000);
  connection.subscribe("mute");
  const lost = publisher.publish("mute", "{}", "d");
  await connection.flush();
  await connection.reconnect();
  expect(await lost).toBeUndefined();
});
