import { afterAll, beforeAll, expect, test } from "bun:test";

import { connect, type NatsConnection } from "nats";

import type { Queryable } from "#shared/database/client.ts";
import { createLogger } from "#shared/logger.ts";
import { encodeJobFrame } from "#shared/queue/job-frames.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";
import { type JobWaiter, openJobWaiter } from "#ingress/wait/job-waiter.ts";

let nats: TestNats;
let ingress: NatsConnection;
let worker: NatsConnection;
let waiter: JobWaiter;

beforeAll(async () => {
  nats = await startNats();
  [ingress, worker] = await Promise.all([connect({ servers: nats.url }), connect({ servers: nats.url })]);
  const ended = { state: "failed", is_unknown: false };
  const database = { query: () => Promise.resolve([ended]) } as unknown as Queryable;
  waiter = openJobWaiter({ connection: ingress, database, log: createLogger({ level: "silent", role: "test" }) });
  await ingress.flush();
}, 60_000);

afterAll(async () => {
  await waiter.close();
  await Promise.all([ingress.close(), worker.close()]);
  await nats.close();
});

test("what a job said before it ended is heard before its end, though its row is read first", async () => {
  const heard: string[] = [];
  const ended = waiter.wait({
    workspaceId: "workspace",
    jobId: "job",
    ms: 60_000,
    left: new AbortController().signal,
    onFrame: (frame) => heard.push(frame.t),
  });
  worker.publish(waiter.address("job"), encodeJobFrame({ t: "begun" }));
  worker.publish(waiter.address("job"), "job");
  expect(await ended).toMatchObject({ state: "failed" });
  expect(heard).toEqual(["begun"]);
});

test("a job that ended without a word is not waited for", async () => {
  const listening = { onFrame: () => undefined };
  for (const more of [{}, listening]) {
    const left = new AbortController();
    const row = await waiter.wait({ workspaceId: "workspace", jobId: "mute", ms: 60_000, left: left.signal, ...more });
    expect(row).toMatchObject({ state: "failed" });
  }
});
