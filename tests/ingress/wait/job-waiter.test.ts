import { createServer, connect as dial, type Server, type Socket } from "node:net";

import { afterAll, beforeAll, expect, test } from "bun:test";

import { connect, type NatsConnection } from "nats";

import type { Queryable } from "#shared/database/client.ts";
import { createLogger } from "#shared/base/logger.ts";
import { encodeJobFrame } from "#shared/queue/job-frames.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";
import { type JobWaiter, openJobWaiter } from "#ingress/wait/job-waiter.ts";

let nats: TestNats;
let gate: Server;
let ingress: NatsConnection;
let worker: NatsConnection;
let waiter: JobWaiter;
/** Resolves when the row of a job can be read. */
let written: Promise<void> = Promise.resolve();
let state = "failed";
/** Number of times that a row was read. */
let looks = 0;
/** Pending writes of what the server sent to the ingress while that was held back. */
let held: (() => void)[] | undefined;

beforeAll(async () => {
  nats = await startNats();
  gate = createServer((client) => {
    const server = dial(Number(new URL(nats.url).port), "127.0.0.1");
    client.pipe(server);
    server.on("data", (bytes: Buffer) => pass(client, bytes));
    client.on("close", () => server.destroy());
  });
  await new Promise<void>((resolve) => void gate.listen(0, "127.0.0.1", resolve));
  const { port } = gate.address() as { port: number };
  [ingress, worker] = await Promise.all([connect({ servers: `127.0.0.1:${port}` }), connect({ servers: nats.url })]);
  const query = async (): Promise<object[]> => {
    looks += 1;
    await written;
    return [{ state, is_unknown: false }];
  };
  const database = { query } as unknown as Queryable;
  waiter = openJobWaiter({ connection: ingress, database, log: createLogger({ level: "silent", role: "test" }) });
  await ingress.flush();
}, 60_000);

afterAll(async () => {
  await waiter.close();
  await Promise.all([ingress.close(), worker.close()]);
  gate.close();
  await nats.close();
});

/** Resolves when the ingress has had what the worker sent. */
async function delivered(): Promise<void> {
  await worker.flush();
  await ingress.flush();
  await Bun.sleep(0);
}

function pass(client: Socket, bytes: Buffer): void {
  if (held) held.push(() => client.write(bytes));
  else client.write(bytes);
}

test("events of a job are delivered before its end, although its row is read first", async () => {
  const heard: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  written = promise;
  const wait = waiter.wait({
    workspaceId: "workspace",
    jobId: "job",
    ms: 60_000,
    clientSignal: new AbortController().signal,
    onFrame: (frame) => heard.push(frame.t),
  });
  const ended = wait.then((row) => ({ row, heard: [...heard] }));
  const late: (() => void)[] = [];
  held = late;
  worker.publish(waiter.address("job"), encodeJobFrame({ t: "begun" }));
  worker.publish(waiter.address("job"), "job");
  // The server has both, the ingress none of them, when the row tells the end.
  await worker.flush();
  resolve();
  setImmediate(() => {
    held = undefined;
    for (const send of late) send();
  });
  expect(await ended).toMatchObject({ row: { state: "failed" }, heard: ["begun"] });
});

test("a job that ended without an event is not awaited", async () => {
  const listening = { onFrame: () => undefined };
  for (const more of [{}, listening]) {
    const left = new AbortController();
    const row = await waiter.wait({
      workspaceId: "workspace",
      jobId: "mute",
      ms: 60_000,
      clientSignal: left.signal,
      ...more,
    });
    expect(row).toMatchObject({ state: "failed" });
  }
});

test("a job that is found to have ended while the link to NATS is away is answered", async () => {
  const own = await connect({ servers: nats.url });
  const database = { query: () => Promise.resolve([{ state, is_unknown: false }]) } as unknown as Queryable;
  const log = createLogger({ level: "silent", role: "test" });
  const other = openJobWaiter({ connection: own, database, log });
  await own.close();
  const left = new AbortController();
  const waiting = { workspaceId: "workspace", jobId: "spoken", ms: 60_000, clientSignal: left.signal };
  expect(await other.wait({ ...waiting, onFrame: () => undefined })).toMatchObject({ state: "failed" });
});

test("a just admitted job is looked up when it reports its end, or after a while", async () => {
  const before = looks;
  const left = new AbortController();
  const wait = waiter.wait({
    workspaceId: "workspace",
    jobId: "new",
    ms: 60_000,
    isNew: true,
    clientSignal: left.signal,
  });
  await Bun.sleep(0);
  expect(looks).toBe(before);
  worker.publish(waiter.address("new"), "new");
  await delivered();
  expect(looks).toBe(before + 1);
  expect(await wait).toMatchObject({ state: "failed" });
  const other = { workspaceId: "workspace", jobId: "mute", ms: 60_000, isNew: true, clientSignal: left.signal };
  expect(await waiter.wait(other)).toMatchObject({ state: "failed" });
  expect(looks).toBe(before + 2);
});

test("a job that reports its outcome needs no lookup, and its earlier events are delivered first", async () => {
  const before = looks;
  const heard: string[] = [];
  const left = new AbortController();
  const onFrame = ({ t }: { readonly t: string }): void => void heard.push(t);
  const wait = waiter.wait({
    workspaceId: "workspace",
    jobId: "told",
    ms: 60_000,
    isNew: true,
    clientSignal: left.signal,
    onFrame,
  });
  worker.publish(waiter.address("told"), encodeJobFrame({ t: "begun" }));
  worker.publish(waiter.address("told"), encodeJobFrame({ t: "ended", nano: "12" }, Buffer.from('{"a":"ü"}')));
  const ended = {
    id: "told",
    workspace_id: "workspace",
    state: "completed",
    is_unknown: false,
    error: null,
    fallback: null,
  };
  expect(await wait).toEqual({ ...ended, state: "completed", credits: 12n, result: '{"a":"ü"}', result_ref: null });
  expect([heard, looks]).toEqual([["begun"], before]);
});

test.each(["", "x", "-1", "1e3"])(
  "a job that reports a cost of %j is treated as a notice, and its row is looked up",
  async (nano) => {
    const left = new AbortController();
    const wait = waiter.wait({
      workspaceId: "workspace",
      jobId: "odd",
      ms: 60_000,
      isNew: true,
      clientSignal: left.signal,
    });
    const before = looks;
    worker.publish(waiter.address("odd"), encodeJobFrame({ t: "ended", nano }));
    await delivered();
    expect(looks).toBe(before + 1);
    expect(await wait).toMatchObject({ state: "failed" });
  },
);

test("a job whose answer has started is awaited until its end, another up to the wait limit", async () => {
  state = "running";
  const waitFor = (jobId: string, onFrame: () => void) =>
    waiter.wait({
      workspaceId: "workspace",
      jobId,
      ms: 300,
      begunMs: 60_000,
      clientSignal: new AbortController().signal,
      onFrame,
    });
  const { promise: hasBegun, resolve: begun } = Promise.withResolvers<void>();
  let isOver = false;
  const speaking = waitFor("speaking", begun).finally(() => (isOver = true));
  worker.publish(
    waiter.address("speaking"),
    encodeJobFrame({ t: "made", run: 1, contentType: "audio/mpeg", model: "tts", nano: "1" }),
  );
  await hasBegun;
  expect(await waitFor("silent", () => undefined)).toBeUndefined();
  expect(isOver).toBe(false);
  state = "completed";
  worker.publish(waiter.address("speaking"), "speaking");
  expect(await speaking).toMatchObject({ state: "completed" });
});
