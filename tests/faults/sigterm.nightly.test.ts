/** A role that is told to stop lets running calls end; told twice, it cuts them honestly. Either way it exits with 0. */
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";

import { jetstreamManager } from "@nats-io/jetstream";
import { afterAll, beforeAll, expect, test } from "bun:test";

import { paced } from "#shared/config/pace.ts";
import { durableName, streamName } from "#shared/queue/subjects.ts";

import type { ManagedProcess } from "../support/stack.ts";
import { audit } from "./audit.ts";
import { ask, type Bed, startBed } from "./bed.ts";
import { DONE, errorCode, requestId } from "./client.ts";
import { isServed, sentTwice, startLoad, tally } from "./load.ts";
import { oldestKey, openPublisher } from "./publisher.ts";
import { eventually } from "./wait.ts";
import { storm } from "../support/storm.ts";

/** Served before each worker is told to stop. */
const CALLS_BETWEEN = storm(40, 100);

let bed: Bed;
beforeAll(async () => {
  bed = await startBed({
    ingress: 2,
    workers: 2,
    behaviours: ["tokens-40-every-50", "tokens-2000-every-20"],
    env: { SLUICE_GRACE_MS: "30000" },
  });
});
afterAll(() => bed?.stop());

const short = ask("mock-tokens-40-every-50", { stream: true });
const long = ask("mock-tokens-2000-every-20", { stream: true });

async function statusOf(call: { answer: Parameters<typeof requestId>[0] }): Promise<unknown> {
  const [row] = await bed.stack.query<{ status: string; settled: bigint }>(
    "select status, settled from usage_record where job_id = $1",
    [requestId(call.answer)],
  );
  return row;
}

/** Returns how a role ended, and what it had not brought to its end by then. */
async function endOf(role: ManagedProcess | undefined): Promise<unknown> {
  const end = await role?.exited();
  const left = role?.logs().filter((line) => /"msg":"(a shutdown step|uncaught)/.test(line));
  return { code: end?.code, left };
}
const TIDY = { code: 0, left: [] };

/** The second signal follows when the first was heard: two at once would count as one. */
async function tellTwice(role: ManagedProcess | undefined): Promise<void> {
  const heard = (): number => role?.logs().filter((line) => line.includes('"msg":"stopping"')).length ?? 0;
  const before = heard();
  role?.kill("SIGTERM");
  await eventually("the first signal is heard", () => heard() > before);
  role?.kill("SIGTERM");
}

test("an ingress after SIGTERM accepts no new calls, ends its streams and exits with 0", async () => {
  const { client, stack } = bed;
  const [ingress] = stack.ingresses;
  // A connection that stays open and idle must not delay the end.
  await (await fetch(`${bed.target().url}/healthz`)).arrayBuffer();
  const streams = await Promise.all([1, 2, 3].map(() => client.open(bed.target(0), short)));
  await Promise.all(streams.map((stream) => stream.frames(3)));
  ingress?.kill("SIGTERM");
  await eventually("new connections are refused", async () => {
    const answer = await client.chat(bed.target(0), ask("flat"));
    return answer.status === 0;
  });
  for (const stream of streams) expect(isServed(await stream.ended)).toBe(true);
  expect(await endOf(ingress)).toEqual(TIDY);
  await ingress?.restart();
  await audit(bed);
});

test("an idle ingress after SIGTERM stays for clients that still see it as ready", async () => {
  const [ingress] = bed.stack.ingresses;
  const times = (): number[] =>
    (ingress?.logs() ?? [])
      .filter((line) => /"msg":"stopp(ing|ed)"/.test(line))
      .slice(-2)
      .map((line) => Date.parse((JSON.parse(line) as { time: string }).time));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const askKept = async (): Promise<[status: number | undefined, connection: string | undefined]> => {
    const [answer] = (await once(get(`${bed.target(0).url}/healthz`, { agent }), "response")) as [IncomingMessage];
    await text(answer);
    return [answer.statusCode, answer.headers.connection];
  };
  expect(await askKept()).toEqual([200, undefined]);
  await Bun.sleep(paced(1_000));
  // Held up, so that the signal and the calls reach it in one moment.
  ingress?.kill("SIGSTOP");
  ingress?.kill("SIGTERM");
  const [kept, fresh] = [askKept(), bed.client.chat(bed.target(0), ask("flat"))];
  await Bun.sleep(paced(1_000));
  ingress?.kill("SIGCONT");
  expect((await kept)[0]).toBe(200);
  expect(isServed(await fresh)).toBe(true);
  expect(await endOf(ingress)).toEqual(TIDY);
  await ingress?.restart();

  await Bun.sleep(paced(1_000));
  expect(await ingress?.stop()).toEqual({ code: 0, signal: null, error: null });
  const [stopping = 0, stopped = 0] = times();
  expect(stopped - stopping).toBeGreaterThanOrEqual(paced(500));
  await ingress?.restart();
  agent.destroy();
});

test("workers after SIGTERM end their calls and exit with 0", async () => {
  const { client, stack } = bed;
  const streams = await Promise.all([0, 1, 0, 1].map((at) => client.open(bed.target(at), short)));
  await Promise.all(streams.map((stream) => stream.frames(3)));
  for (const worker of stack.workers) worker.kill("SIGTERM");
  for (const stream of streams) expect(isServed(await stream.ended)).toBe(true);
  for (const worker of stack.workers) expect(await endOf(worker)).toEqual(TIDY);
  await Promise.all(stack.workers.map((worker) => worker.restart()));
  await audit(bed);
});

test("a worker after SIGTERM takes no message on any lane while a job on one of them runs", async () => {
  const { client, stack, upstream } = bed;
  const [first, second] = stack.workers;
  await second?.stop();
  const publisher = await openPublisher(stack.natsUrl, await oldestKey(stack));
  const manager = await jetstreamManager(publisher.connection);
  const live = (): ReturnType<typeof manager.consumers.info> =>
    manager.consumers.info(streamName("chat"), durableName("chat", "live"));
  upstream.next({ delayMs: 3_000 });
  const before = upstream.requests.length;
  await publisher.submit({ body: ask("metered") }, { key: "slow" });
  await upstream.received(before + 1);
  first?.kill("SIGTERM");
  await eventually("it asks for no more calls", async () => (await live()).num_waiting === 0);
  const late = client.chat(bed.target(), ask("flat"));
  await eventually("the call waits for another worker", async () => (await live()).num_pending === 1);
  expect(upstream.requests.length).toBe(before + 1);
  await second?.restart();
  expect(isServed(await late)).toBe(true);
  expect(await publisher.ended("slow")).toMatchObject({ status: "completed" });
  expect(await endOf(first)).toEqual(TIDY);
  await publisher.close();
  await first?.restart();
  await audit(bed);
});

test("an ingress after a second SIGTERM cuts its streams off with an error frame, and the generated part is charged", async () => {
  const { client, stack, upstream } = bed;
  const [ingress] = stack.ingresses;
  const streams = await Promise.all([1, 2].map(() => client.open(bed.target(0), long)));
  await Promise.all(streams.map((stream) => stream.frames(5)));
  await tellTwice(ingress);
  for (const stream of streams) {
    const answer = await stream.ended;
    expect(errorCode(answer)).toBe("service_unavailable");
    expect(answer.frames).not.toContain(DONE);
  }
  expect(await endOf(ingress)).toEqual(TIDY);
  await ingress?.restart();
  await Promise.all(upstream.requests.map((call) => call.finished));
  await audit(bed);
  for (const stream of streams) expect(await statusOf(stream)).toMatchObject({ status: "cancelled" });
});

test("a worker after a second SIGTERM fails its calls with an error, and the generated part is charged", async () => {
  const { client, stack } = bed;
  const [first, second] = stack.workers;
  await second?.stop();
  const stream = await client.open(bed.target(1), long);
  await stream.frames(5);
  await tellTwice(first);
  const answer = await stream.ended;
  expect(errorCode(answer)).toBe("service_unavailable");
  expect(answer.frames).not.toContain(DONE);
  expect(await endOf(first)).toEqual(TIDY);
  await Promise.all(stack.workers.map((worker) => worker.restart()));
  await audit(bed);
  const usage = (await statusOf(stream)) as { settled: bigint } | undefined;
  expect(usage?.settled).toBeGreaterThan(0n);
});

test("workers restarted one after the other under load fail no call", async () => {
  const { stack, upstream } = bed;
  upstream.setDefault({ delayMs: 30 });
  const load = startLoad(bed);
  for (const worker of [...stack.workers, ...stack.workers]) {
    const before = load.served();
    await eventually("the load runs", () => load.served() > before + CALLS_BETWEEN);
    await worker.restart();
  }
  expect(tally(await load.stop())).toEqual({ 200: load.served() });
  expect(sentTwice(upstream)).toEqual([]);
  await audit(bed);
});
