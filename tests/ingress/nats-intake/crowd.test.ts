import { afterAll, beforeAll, expect, test } from "bun:test";

import { connect, type NatsConnection } from "nats";

import { countBatchMessages, createCrowds, WAITING_PER_WORKSPACE_MAX } from "#ingress/nats-intake/intake.ts";
import { newId } from "#shared/base/ids.ts";
import { batchSubject } from "#shared/queue/subjects.ts";
import { ensureTopology } from "#shared/queue/topology.ts";
import { eventually } from "#tests/faults/wait.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";

let nats: TestNats;
let connection: NatsConnection;
beforeAll(async () => {
  nats = await startNats();
  connection = await connect({ servers: nats.url });
  await ensureTopology(connection, 1);
}, 60_000);
afterAll(async () => {
  await connection?.close();
  await nats?.close();
});

test("messages of a workspace are limited over all of its keys, in each pool, independent of other workspaces", async () => {
  const [workspaceId, other] = [newId(), newId()];
  const keys = [newId(), newId(), newId()];
  const publish = (to: string, keyId: string, count: number): void => {
    const subject = batchSubject("chat", { workspaceId: to, keyId });
    for (let at = 0; at < count; at++) connection.publish(subject, "{}");
  };
  for (const keyId of keys) publish(workspaceId, keyId, WAITING_PER_WORKSPACE_MAX / 3);
  publish(other, newId(), 10);
  const count = (subjects: string) => countBatchMessages(connection, subjects);
  await eventually("all are stored", async () => (await count("batch.>")) === WAITING_PER_WORKSPACE_MAX + 10);
  expect(await createCrowds(count).isCrowded("chat", workspaceId)).toBe(false);
  publish(workspaceId, newId(), 1);
  await eventually("one more is", async () => (await count("batch.>")) === WAITING_PER_WORKSPACE_MAX + 11);
  const crowds = createCrowds(count);
  expect(await crowds.isCrowded("chat", workspaceId)).toBe(true);
  expect([await crowds.isCrowded("image", workspaceId), await crowds.isCrowded("chat", other)]).toEqual([false, false]);
});

test("a count is refreshed after two seconds, and an unresponsive server blocks no message", async () => {
  let [nowMs, asked] = [0, 0];
  const crowds = createCrowds(
    () => {
      asked += 1;
      return asked === 1 ? Promise.resolve(WAITING_PER_WORKSPACE_MAX + 1) : Promise.reject(new Error("away"));
    },
    () => nowMs,
  );
  expect([await crowds.isCrowded("chat", "a"), await crowds.isCrowded("chat", "a"), asked]).toEqual([true, true, 1]);
  nowMs = 2_001;
  expect([await crowds.isCrowded("chat", "a"), asked]).toEqual([false, 2]);
});
