/** A publisher floods the batch door; the stream caps it, and what others call over HTTP goes on. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { jetstreamManager } from "@nats-io/jetstream";

import { newId } from "#shared/base/ids.ts";
import { BATCH_STREAM } from "#shared/queue/subjects.ts";
import { BATCH_MESSAGES_PER_KEY } from "#shared/queue/topology.ts";

import { audit } from "./audit.ts";
import { ask, type Bed, createWorkspace, startBed } from "./bed.ts";
import { openPublisher, type Publisher } from "./publisher.ts";
import { eventually } from "./wait.ts";

const CAP = BATCH_MESSAGES_PER_KEY;

let bed: Bed;
let flooder: Publisher;
let other: Publisher;

beforeAll(async () => {
  bed = await startBed({ presets: { six: [6, null] } });
  const [one, two] = [
    // Half of its window takes three messages: everything else waits at the door.
    await createWorkspace(bed.stack, { creditsNano: 10n ** 15n, preset: "six" }),
    await createWorkspace(bed.stack, { creditsNano: 10n ** 15n }),
  ];
  flooder = await openPublisher(bed.stack.natsUrl, one);
  other = await openPublisher(bed.stack.natsUrl, two);
}, 120_000);
afterAll(async () => {
  await Promise.all([flooder?.close(), other?.close()]);
  await bed?.stop();
});

test("a flood is limited on its own subject and delays no other message or call", async () => {
  const { client } = bed;
  const manager = await jetstreamManager(flooder.connection);
  // More than the durable would have pending by default.
  for (let sent = 0; sent < CAP; sent += 500) {
    await Promise.all(Array.from({ length: 500 }, () => flooder.publish({ body: ask("flat") }, { key: newId() })));
  }
  await eventually(
    "the flood waits for its window, all of it taken up once",
    async () => (await manager.consumers.info(BATCH_STREAM, "intake")).num_pending === 0,
    30_000,
  );
  await Promise.all(Array.from({ length: 100 }, () => flooder.publish({ body: ask("flat") }, { key: newId() })));

  const key = newId();
  expect(await other.submit({ body: ask("flat") }, { key })).toMatchObject({ status: "queued" });
  expect(await other.ended(key)).toMatchObject({ status: "completed" });
  expect((await manager.streams.info(BATCH_STREAM)).state.messages).toBeLessThanOrEqual(CAP);
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.chat(bed.target(), ask("flat"))));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  expect(flooder.answers.filter(({ status }) => status === "queued")).toHaveLength(3);
  await audit(bed);
}, 120_000);
