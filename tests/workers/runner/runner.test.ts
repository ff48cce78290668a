import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";

import { jetstream, jetstreamManager, type JetStreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "nats";

import type { JobMessage } from "#schemas/generated/types.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { paced } from "#shared/config/pace.ts";
import { connectNats } from "#shared/queue/connection.ts";
import { CALLER_GONE, CALLER_SERVED } from "#shared/queue/frames.ts";
import { cancelSubject, durableName, replyPrefix, streamName, workSubject } from "#shared/queue/subjects.ts";
import { ensureTopology } from "#shared/queue/topology.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { type Cancels, openCancels } from "#workers/runner/cancels.ts";
import type { WorkerContext } from "#workers/context.ts";
import type { DurableJobs, DurableVerdict } from "#workers/runner/durable-jobs.ts";
import type { JobControl, JobHandler } from "#workers/job.ts";
import { freeFailure } from "#workers/outcome.ts";
import { type LiveCalls, openLiveCalls } from "#workers/runner/live-calls.ts";
import { type Runner, startRunner, QUEUED_LONG_MS } from "#workers/runner/runner.ts";
import { chatJob } from "./job-message.ts";

/** Outcome of every call. */
const ENDED = freeFailure({ code: "upstream_error", message: "no", param: null, retry: false });

const STREAM = streamName("chat");
const DURABLE = durableName("chat", "live");

let nats: TestNats;
let database: TestDatabase;
/** The test's own connection. */
let outside: NatsConnection;
let manager: JetStreamManager;
let work: NatsConnection;
let replies: NatsConnection;
const logged: Record<string, unknown>[] = [];
const log = createLogger({
  level: "error",
  role: "test",
  write: (line) => logged.push(JSON.parse(line) as Record<string, unknown>),
});

beforeAll(async () => {
  [nats, database] = await Promise.all([startNats(), createTestDatabase()]);
  outside = await connect({ servers: nats.url });
  manager = await jetstreamManager(outside);
  work = await connectNats({ url: nats.url, name: "work", role: "worker", log });
  replies = await connectNats({ url: nats.url, name: "replies", role: "worker", log });
  await ensureTopology(outside, 1);
  outside.subscribe("$JS.ACK.>", {
    callback: (_error, message) => {
      if (message.string() !== "+WPI") verdicts.push(message.string());
      happened();
    },
  });
  await outside.flush();
}, 120_000);

afterAll(async () => {
  await Promise.all([outside.close(), work.close(), replies.close()]);
  await Promise.all([nats.close(), database.drop()]);
});

/** One call of the handler, held open until the test ends it. */
interface Held {
  readonly kind: "run" | "lost" | "drop";
  readonly job: JobMessage;
  readonly control: Partial<JobControl>;
  readonly reply: string | undefined;
  readonly end: (error?: Error) => void;
}

interface Bench {
  readonly runner: Runner;
  /** Every call of the handler so far. */
  readonly held: Held[];
  /** Resolves when the handler has been called this often. */
  readonly called: (count: number) => Promise<Held>;
  readonly metrics: WorkerContext["metrics"];
}

let bench: Bench | undefined;
let cancels: Cancels;
/** Words to the server about deliveries, in order: "+ACK", "-NAK {…}", "+TERM …". */
const verdicts: string[] = [];
let waiters: (() => void)[] = [];

/** Resolves when `holds` does; looked at again whenever anything happens. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise<void>((resolve) => waiters.push(resolve));
}

function happened(): void {
  for (const wake of waiters.splice(0)) wake();
}

beforeEach(async () => {
  cancels = openCancels(work, { isOf: () => true });
  await work.flush();
});

afterEach(async () => {
  for (const call of bench?.held ?? []) call.end();
  await bench?.runner.stop(AbortSignal.abort());
  bench?.metrics.close();
  bench = undefined;
  await cancels.close();
  const { state } = await manager.streams.info(STREAM);
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    await manager.streams.deleteMessage(STREAM, seq).catch(() => undefined);
  }
  verdicts.length = 0;
  logged.length = 0;
});

/** A runner whose handler calls wait for the test; `ends` lets them end at once. */
function start(options: { slots?: number; ends?: boolean; durable?: DurableJobs } = {}): Bench {
  const held: Held[] = [];
  const replyTo = new Map<string, string | undefined>();
  const hold = (kind: Held["kind"], job: JobMessage, control: Partial<JobControl> = {}): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = (error?: Error): void => (error === undefined ? resolve() : reject(error));
    held.push({ kind, job, control, reply: replyTo.get(job.job_id), end });
    if (options.ends === true) end();
    happened();
    return promise;
  };
  const metrics = createMetrics("test");
  const context = {
    log,
    metrics,
    database: database.database,
    work,
    replies,
    answers: { isClosed: () => true },
    ledger: { settle: () => Promise.resolve({ takenNano: 0n, wasClosed: true }) },
    failures: { record: () => Promise.resolve() },
  } as unknown as WorkerContext;
  const handler: JobHandler = {
    run: (job, control) => hold("run", job, control).then(() => ENDED),
  };
  const opened = openLiveCalls({ context, handler, cancels });
  const live: LiveCalls = {
    ...opened,
    run(call, ...rest) {
      replyTo.set(call.job.job_id, call.reply);
      return opened.run(call, ...rest);
    },
    lost(job, reply) {
      replyTo.set(job.job_id, reply);
      return hold("lost", job);
    },
    drop(job, reply) {
      replyTo.set(job.job_id, reply);
      return hold("drop", job);
    },
  };
  const runner = startRunner({
    context,
    pool: "chat",
    lane: "live",
    slots: options.slots ?? 4,
    live,
    cancels,
    ...(options.durable ? { durable: options.durable } : {}),
  });
  const called = async (count: number): Promise<Held> => {
    await until(() => held.length >= count);
    const call = held[count - 1];
    if (!call) throw new Error("unreachable");
    return call;
  };
  bench = { runner, held, called, metrics };
  return bench;
}

const replyOf = (job: JobMessage): string => `${replyPrefix("test")}.${job.job_id}`;

/** Puts a job on the queue, as an ingress does unless told otherwise. */
async function publish(
  job: JobMessage = chatJob(),
  options: { body?: string | Uint8Array; workspaceId?: string; reply?: string } = {},
): Promise<JobMessage> {
  const reply = options.reply ?? replyOf(job);
  await jetstream(outside).publish(
    workSubject("chat", "live", options.workspaceId ?? job.workspace_id),
    options.body ?? JSON.stringify({ ...job, reply }),
    { msgID: `${job.job_id}:1:1` },
  );
  return job;
}

const left = async (): Promise<number> => (await manager.streams.info(STREAM)).state.messages;

/** Resolves when the job is told to end. */
async function aborted({ control: { signal } }: Held): Promise<void> {
  if (signal?.aborted === true) return;
  await new Promise((resolve) => signal?.addEventListener("abort", resolve, { once: true }));
}

/** Resolves when the stream is empty: everything was acknowledged or removed. */
async function emptied(): Promise<void> {
  while ((await left()) > 0) await Bun.sleep(5);
}

test("an idle runner requests few calls at once, and for a short time: a paused process would keep them", async () => {
  const requests: { batch: number; expires: number }[] = [];
  const listening = outside.subscribe(`$JS.API.CONSUMER.MSG.NEXT.${STREAM}.${DURABLE}`, {
    callback: (_error, message) => {
      requests.push(message.json());
      happened();
    },
  });
  await outside.flush();
  start({ slots: 500 });
  await until(() => requests.length > 0);
  expect(requests[0]).toEqual({ batch: 32, expires: paced(2_000) * 1_000_000 });
  listening.unsubscribe();
});

test("a runner requests more as soon as calls have arrived, for any duration of those", async () => {
  // More than it asks for at once, and all there before it begins.
  for (let count = 0; count < 64; count++) await publish();
  const said: string[] = [];
  const asks = outside.subscribe(`$JS.API.CONSUMER.MSG.NEXT.${STREAM}.${DURABLE}`, {
    callback: () => void said.push("ask"),
  });
  const beats = outside.subscribe("$JS.ACK.>", {
    callback: (_error, message) => void (message.string() === "+WPI" && said.push("beat")),
  });
  await outside.flush();
  const { called, runner } = start({ slots: 500 });
  await called(64);
  await outside.flush();
  // Whatever came late: nothing waited for a beat.
  expect(said.slice(0, 2)).toEqual(["ask", "ask"]);
  expect(runner.running()).toBe(64);
  asks.unsubscribe();
  beats.unsubscribe();
});

describe("a job", () => {
  test("is run with its message and its reply address, and acknowledged at its end", async () => {
    const { called } = start();
    const job = await publish();
    const call = await called(1);
    expect(call).toMatchObject({ kind: "run", job, reply: replyOf(job) });
    expect(call.control.signal?.aborted).toBe(false);
    expect(verdicts).toEqual([]);
    expect(await left()).toBe(1);
    call.end();
    await emptied();
    expect(verdicts).toEqual(["+ACK"]);
  });

  test("waits while all slots are used: no more is pulled than can run", async () => {
    const { runner, held, called } = start({ slots: 2 });
    for (let count = 0; count < 5; count++) await publish();
    const first = await called(2);
    const { num_ack_pending, num_pending } = await manager.consumers.info(STREAM, DURABLE);
    expect([num_ack_pending, num_pending]).toEqual([2, 3]);
    expect(runner.running()).toBe(2);
    first.end();
    await called(3);
    expect(runner.running()).toBe(2);
    held[0]?.end();
    (await called(3)).end();
    for (let next = 4; next <= 5; next++) (await called(next)).end();
    await emptied();
    expect(new Set(held.map(({ job }) => job.job_id)).size).toBe(5);
    expect(runner.running()).toBe(0);
  });

  test("that threw returns to the queue after a delay, counted, and logged", async () => {
    const { called, metrics } = start();
    const job = await publish();
    (await called(1)).end(new Error("the database is away"));
    await until(() => verdicts.length > 0);
    const [verdict = ""] = verdicts;
    expect(verdict).toStartWith("-NAK ");
    const { delay } = JSON.parse(verdict.slice("-NAK ".length)) as { delay: number };
    expect(delay / 1_000_000).toBeGreaterThanOrEqual(paced(4_000));
    expect(delay / 1_000_000).toBeLessThanOrEqual(paced(6_000));
    expect(logged).toEqual([expect.objectContaining({ job_id: job.job_id, msg: "a job could not be finished" })]);
    const text = await metrics.registry.getSingleMetricAsString("sluice_jobs_total");
    expect(text).toContain('pool="chat",outcome="failed",role="test"} 1');
    expect(await left()).toBe(1);
  });

  test("frees its slot for every outcome", async () => {
    const { runner, called } = start({ slots: 1 });
    for (let count = 1; count <= 6; count++) {
      await publish();
      (await called(count)).end(count % 2 === 0 ? new Error("x") : undefined);
    }
    await until(() => verdicts.length === 6);
    expect(runner.running()).toBe(0);
  });

  test.each(["", "work.chat.live.x", "_INBOX.ws.a.b", "_INBOX.gw.a.>", "$JS.API.STREAM.DELETE.POOL_chat"])(
    "is run without an address when its message names %j",
    async (reply) => {
      const { called } = start();
      await publish(chatJob(), { reply });
      expect((await called(1)).reply).toBeUndefined();
    },
  );
});

describe("a delivery that is not run", () => {
  test("because it is not the first: the loss is reported, and acknowledged afterwards", async () => {
    const job = await publish();
    const taken = await (await jetstream(outside).consumers.get(STREAM, DURABLE)).next({ expires: 5_000 });
    taken?.nak();
    await until(() => verdicts.length > 0);
    verdicts.length = 0;
    const { called, held } = start();
    const call = await called(1);
    expect(call).toMatchObject({ kind: "lost", job, reply: replyOf(job) });
    expect(verdicts).toEqual([]);
    call.end();
    await emptied();
    expect(verdicts).toEqual(["+ACK"]);
    expect(held).toHaveLength(1);
  });

  test("because its deadline has passed: its hold is released", async () => {
    const { called } = start({ ends: true });
    const job = await publish(chatJob({ deadline_ms: Date.now() - 1 }));
    expect(await called(1)).toMatchObject({ kind: "drop", job });
    await emptied();
    expect(verdicts).toEqual(["+ACK"]);
  });

  test("because it was cancelled before it arrived: the cancel had overtaken it", async () => {
    const job = chatJob();
    outside.publish(cancelSubject(job.job_id));
    await outside.flush();
    await work.flush();
    const { called } = start({ ends: true });
    await publish(job);
    expect(await called(1)).toMatchObject({ kind: "drop", job });
    await emptied();
  });
});

test("a late first delivery of another worker's call is left to that worker: a cluster's new leader may repeat it", async () => {
  const job = chatJob();
  const asked = outside.subscribe(replyOf(job), { callback: (_error, message) => void message.respond(CALLER_SERVED) });
  await publish(job);
  const storedBy = Date.now();
  while (Date.now() - storedBy <= QUEUED_LONG_MS) await Bun.sleep(5);
  const { held } = start({ ends: true });
  await emptied();
  expect([asked.getProcessed(), held]).toEqual([1, []]);
  asked.unsubscribe();
});

describe("a message without a job of its workspace", () => {
  const foreign = chatJob();
  const { price: _price, ...incomplete } = chatJob();

  test.each<[string, string | Uint8Array, string | undefined]>([
    ["is no JSON", "{", undefined],
    ["is empty", "", undefined],
    ["is no text", Uint8Array.of(0xff, 0x00, 0xfe), undefined],
    ["is null", "null", undefined],
    ["lacks a member", JSON.stringify(incomplete), incomplete.workspace_id],
    ["has a member of the wrong type", JSON.stringify({ ...chatJob(), attempt: "1" }), undefined],
    ["names another workspace than its subject", JSON.stringify(foreign), undefined],
    ["is nested without end", `{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`, undefined],
  ])("because it %s: becomes a dead letter and leaves the stream", async (_name, body, workspaceId) => {
    const { held, runner } = start();
    await database.query("delete from dead_letter");
    const subject = workspaceId ?? newId();
    await publish(chatJob(), { body, workspaceId: subject });
    await emptied();
    expect(verdicts).toEqual(["+TERM unreadable"]);
    expect(held).toEqual([]);
    const [letter] = await database.query("select * from dead_letter");
    expect(letter).toMatchObject({
      stream: STREAM,
      subject: workSubject("chat", "live", subject),
      reason: "unreadable",
      deliveries: 1,
      redriven_at: null,
    });
    expect(Buffer.from(letter?.["body"] as Uint8Array).equals(Buffer.from(body))).toBe(true);
    while (runner.running() > 0) await Bun.sleep(1);
  });

  test("does not block its neighbours", async () => {
    const { called, held } = start({ ends: true });
    await publish(chatJob(), { body: "{" });
    const job = await publish();
    await publish(chatJob(), { body: "[]" });
    expect(await called(1)).toMatchObject({ kind: "run", job });
    await emptied();
    expect(held).toHaveLength(1);
  });
});

describe("a running job", () => {
  test("receives its caller's cancel, and no other job does", async () => {
    const { called } = start();
    await publish();
    const job = await publish();
    const calls = [await called(1), await called(2)];
    outside.publish(cancelSubject(job.job_id));
    const mine = calls.find((call) => call.job.job_id === job.job_id);
    const other = calls.find((call) => call.job.job_id !== job.job_id);
    if (mine) await aborted(mine);
    expect(mine?.control.signal?.reason).toMatchObject({ name: "AbortError", message: "caller_left" });
    expect(other?.control.signal?.aborted).toBe(false);
  });

  test("is notified when its ingress reports that the caller is gone", async () => {
    const job = chatJob();
    const ingress = outside.subscribe(replyOf(job), {
      callback: (_error, message) => void message.respond(CALLER_GONE),
    });
    const { called } = start();
    await publish(job);
    const call = await called(1);
    await aborted(call);
    expect(call.control.signal?.reason).toMatchObject({ name: "AbortError", message: "caller_gone" });
    ingress.unsubscribe();
  });
});

describe("a runner that stops", () => {
  test("waits for running jobs, and takes no more", async () => {
    const { runner, called, held } = start({ slots: 4 });
    await publish();
    const call = await called(1);
    let isStopped = false;
    const stopped = (async () => {
      await runner.stop(new AbortController().signal);
      isStopped = true;
    })();
    await work.flush();
    await publish();
    expect(isStopped).toBe(false);
    expect(call.control.signal?.aborted).toBe(false);
    call.end();
    await stopped;
    expect(held).toHaveLength(1);
    expect((await manager.consumers.info(STREAM, DURABLE)).num_pending).toBe(1);
    await until(() => verdicts.includes("+ACK"));
  });

  test("aborts running jobs when it must hurry, and waits for their settlements", async () => {
    const { runner, called } = start();
    await publish();
    const call = await called(1);
    const hurry = new AbortController();
    let isStopped = false;
    const stopped = (async () => {
      await runner.stop(hurry.signal);
      isStopped = true;
    })();
    hurry.abort();
    await aborted(call);
    expect(call.control.signal?.reason).toMatchObject({ name: "AbortError", message: "shutdown" });
    expect(isStopped).toBe(false);
    call.end();
    await stopped;
    expect(runner.running()).toBe(0);
  });

  test("without running jobs stops immediately", async () => {
    const { runner } = start();
    await runner.stop(new AbortController().signal);
    expect(runner.running()).toBe(0);
  });

  test("leaves untaken jobs to the next one", async () => {
    const first = start();
    await first.runner.stop(new AbortController().signal);
    first.metrics.close();
    const job = await publish();
    const { called } = start({ ends: true });
    expect(await called(1)).toMatchObject({ kind: "run", job });
    await emptied();
  });
});

describe("a message of a durable job", () => {
  const durableMessage = (members: object = {}): object => ({ durable: true, job_id: newId(), attempt: 1, dispatch: 1, workspace_id: newId(), ...members }); // prettier-ignore

  /** Answers each delivery as told. */
  function durable(...verdicts: (DurableVerdict | Error)[]): DurableJobs & { readonly seen: [object, number][] } {
    const seen: [object, number][] = [];
    return {
      seen,
      close: () => Promise.resolve(),
      run: (message, { deliveries }) => {
        seen.push([message, deliveries]);
        const verdict = verdicts.shift() ?? { outcome: "completed" };
        return verdict instanceof Error ? Promise.reject(verdict) : Promise.resolve(verdict);
      },
    };
  }

  async function ring(body: object, workspaceId = (body as { workspace_id: string }).workspace_id): Promise<void> {
    await jetstream(outside).publish(workSubject("chat", "live", workspaceId), JSON.stringify(body));
  }

  test("is acknowledged when the job is over, for any number of deliveries", async () => {
    const jobs = durable({ outcome: "owned", againMs: 1 }, { outcome: "completed" });
    const { held } = start({ durable: jobs });
    const body = durableMessage();
    await ring(body);
    await emptied();
    expect(verdicts).toEqual(['-NAK {"delay":1000000}', "+ACK"]);
    expect(jobs.seen).toEqual([
      [body, 1],
      [body, 2],
    ]);
    expect(held).toEqual([]);
  });

  test("returns to the queue with a delay when the job's end could not be written", async () => {
    start({ durable: durable(new Error("the database is away")) });
    await ring(durableMessage());
    await until(() => verdicts.length > 0);
    expect(verdicts[0]).toStartWith("-NAK ");
    expect(logged).toHaveLength(1);
  });

  test.each<[string, object, string | undefined]>([
    ["for another workspace than its subject's", durableMessage(), newId()],
    ["without an id", durableMessage({ job_id: "1" }), undefined],
  ])("%s is a dead letter", async (_what, body, workspaceId) => {
    await database.query("delete from dead_letter");
    const jobs = durable();
    start({ durable: jobs });
    await ring(body, workspaceId);
    await emptied();
    expect(verdicts).toEqual(["+TERM unreadable"]);
    expect(jobs.seen).toEqual([]);
    expect(await database.query("select reason from dead_letter")).toEqual([{ reason: "unreadable" }]);
  });
});
