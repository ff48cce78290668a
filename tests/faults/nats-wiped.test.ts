/** The JetStream store is wiped with calls queued, or is an older one. Each call ends once, honestly, and the service heals by itself. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";

import { audit } from "./audit.ts";
import { ask, type Bed, createWorkspace, startBed } from "./bed.ts";
import { isServed, sentTwice, tally } from "./load.ts";
import { openPublisher } from "./publisher.ts";
import { eventually } from "./wait.ts";

let bed: Bed;
beforeAll(async () => {
  bed = await startBed({ ingress: 2, env: { SLUICE_CALL_QUEUE_MS: "15000" } });
});
afterAll(() => bed?.stop());

test("queued calls whose queue is wiped are queued again and served once", async () => {
  const { client, stack, upstream } = bed;
  await stack.workers[0]?.stop();
  const waiting = Array.from({ length: 100 }, (_, index) =>
    client.chat(bed.target(index % 2), ask("flat", index % 4 === 0 ? { stream: true } : {})),
  );
  await eventually("all calls hold their credit", async () => {
    const [row] = await stack.query<{ count: bigint }>("select count(*) as count from hold");
    return row?.count === 100n;
  });
  await stack.nats.wipe();
  await stack.workers[0]?.restart();
  const answers = await Promise.all(waiting);
  // The ingress still has them and puts them on the new queue.
  expect(tally(answers)).toEqual({ 200: 100 });
  await audit(bed);
  expect(upstream.requests).toHaveLength(100);
});

test("streams and durable consumers are created again, and calls are served", async () => {
  const { client } = bed;
  await eventually("calls are served", async () => isServed(await client.chat(bed.target(1), ask("flat"))), 15_000);
  await audit(bed);
});

test("a store wiped under running workers is rebuilt without a restart", async () => {
  const { client, stack } = bed;
  await stack.nats.wipe();
  await eventually("calls are served", async () => isServed(await client.chat(bed.target(0), ask("flat"))), 15_000);
  await audit(bed);
});

test("an older store restores finished jobs and lacks open ones: each runs once", async () => {
  const { stack, upstream } = bed;
  const [worker] = stack.workers;
  const workspace = await createWorkspace(stack, { creditsNano: 10n ** 12n });
  const publisher = await openPublisher(stack.natsUrl, workspace);
  const submit = async (): Promise<string[]> => {
    const keys = [newId(), newId(), newId()];
    await Promise.all(keys.map((key) => publisher.submit({ body: ask("flat", { user: key }) }, { key })));
    return keys;
  };
  const ends = async (keys: readonly string[]) => (await Promise.all(keys.map((key) => publisher.ended(key, 60_000)))).map(({ status }) => status); // prettier-ignore
  try {
    await worker?.stop();
    const done = await submit();
    const putBack = await stack.nats.keepStore();
    await worker?.restart();
    expect(await ends(done)).toEqual(["completed", "completed", "completed"]);
    await worker?.stop();
    const waiting = await submit();
    await putBack();
    await worker?.restart();
    expect(await ends(waiting)).toEqual(["completed", "completed", "completed"]);
    expect(sentTwice(upstream)).toEqual([]);
    await audit(bed, { withinMs: 40_000 });
  } finally {
    await publisher.close();
  }
}, 120_000);
