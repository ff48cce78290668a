/** The JetStream store is wiped with calls queued. Each call ends once, honestly, and the service heals by itself. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { audit } from "./audit.ts";
import { ask, type Bed, startBed } from "./bed.ts";
import { isServed, tally } from "./load.ts";
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

test("streams and durables are there again, and calls are served", async () => {
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
