/**
 * Fault: the way to NATS is slow, loses heartbeats or is gone, workers die with all that a lane may have unacknowledged, and
 * messages vanish; or a worker's way to Postgres is gone. Injection: a proxy before NATS and one before Postgres, a client that
 * takes messages and never answers for them. Expected: callers hear a true answer in bounded time, accepted jobs wait and end once,
 * nothing is submitted or paid twice, no job is used up by an outage.
 */
import { AckPolicy, jetstreamManager } from "@nats-io/jetstream";
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { connect } from "nats";

import { freePort } from "#deploy/embedded/probe.mjs";
import { newId } from "#shared/base/ids.ts";
import { paced } from "#shared/config/pace.ts";
import { ADVISORY_STREAM, durableName, streamName } from "#shared/queue/subjects.ts";
import { LANE_SETTINGS } from "#shared/queue/topology.ts";

import { residentMb } from "../load/processes.ts";
import { changeDurable } from "../support/nats.ts";
import { type ManagedProcess, startRole } from "../support/role-process.ts";
import { soakMinutes, storm } from "../support/storm.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { audit } from "./audit.ts";
import { ask, type Bed, createWorkspace, FLAT_NANO, startBed } from "./bed.ts";
import { type Answer, requestId, type Target } from "./client.ts";
import { isServed, sentTwice, tally } from "./load.ts";
import { metric } from "./metric.ts";
import { openPublisher, type Publisher } from "./publisher.ts";
import { eventually } from "./wait.ts";

interface Part {
  readonly role: ManagedProcess;
  readonly nats: TcpProxy;
  readonly postgres: TcpProxy;
}

/** Delay in each direction: at the pace of production a publish takes two seconds. */
const SLOW_MS = storm(300, 1_000);
const OUTAGE_MS = paced(20_000);
const AWAY_MS = storm(2_500, Math.min(30, soakMinutes()) * 60_000);
/** Outlasts the wait of its lane for an acknowledgement. */
const LONG_CALL_MS = LANE_SETTINGS.live.ackWaitMs + 1_500;
const LONG_JOB_MS = LANE_SETTINGS.batch.ackWaitMs + 1_500;
/** A job whose message has vanished is looked for once in a minute, at the pace of production. */
const ENDS_MS = storm(60_000, 180_000);
const GROWTH_MB_MAX = storm(Infinity, 48);

let bed: Bed;
let ingress: Part;
let worker: Part;
let publisher: Publisher;

async function startPart(...args: string[]): Promise<Part> {
  const [queue, database] = [new URL(bed.stack.natsUrl), new URL(bed.stack.databaseUrl)];
  const [nats, postgres] = [startTcpProxy(queue.host), startTcpProxy(database.host)];
  queue.host = nats.host;
  database.host = postgres.host;
  const env = { ...bed.stack.env, NATS_URL: queue.href, DATABASE_URL: database.href, PORT: String(await freePort()) };
  return { role: await startRole(args, env), nats, postgres };
}

beforeAll(async () => {
  bed = await startBed({
    ingress: 0,
    workers: 0,
    behaviours: [`delay-${LONG_CALL_MS}`, `delay-${LONG_JOB_MS}`, "delay-500"],
  });
  [ingress, worker] = await Promise.all([startPart("ingress"), startPart("worker", "chat", "workflow")]);
  const workspace = await createWorkspace(bed.stack, { creditsNano: 10n ** 12n });
  publisher = await openPublisher(bed.stack.natsUrl, workspace);
}, 90_000);

/** Ends the faults of a test, also of one that failed. */
afterEach(() => {
  for (const { nats } of [ingress, worker]) {
    nats.delay(0);
    nats.alter(undefined);
  }
});

afterAll(async () => {
  await publisher?.close();
  const parts = [ingress, worker].filter((part) => part !== undefined);
  await Promise.all(parts.map(({ role }) => role.stop()));
  for (const { nats, postgres } of parts) for (const proxy of [nats, postgres]) proxy.close();
  await bed?.stop();
});

const target = (): Target => ({ url: ingress.role.baseUrl, key: bed.stack.key });
const call = (model = "flat", more = {}): Promise<Answer> => bed.client.chat(target(), ask(model, more));
/** A name by which the upstream can tell calls apart. */
const named = (): { readonly user: string } => ({ user: newId() });

async function submit(count: number, model = "flat"): Promise<string[]> {
  const keys = Array.from({ length: count }, () => newId());
  await Promise.all(keys.map((key) => publisher.submit({ body: ask(model, { user: key }) }, { key })));
  return keys;
}

async function endsOf(keys: readonly string[], withinMs = ENDS_MS): Promise<string[]> {
  const ends = await Promise.all(keys.map((key) => publisher.ended(key, withinMs)));
  return ends.map(({ status }) => status);
}

const jobsOf = (keys: readonly string[]) =>
  bed.stack.query<{ claims: number; settled: bigint; records: bigint }>(
    `select claims, coalesce(sum(settled), 0)::bigint as settled, count(usage_record) as records
     from job left join usage_record on usage_record.job_id = job.id where publisher_key = any($1) group by job.id`,
    [keys],
  );

async function expectPaidOnce(keys: readonly string[]): Promise<void> {
  const jobs = await jobsOf(keys);
  expect(jobs.map(({ settled, records }) => [settled, records])).toEqual(keys.map(() => [FLAT_NANO, 1n]));
}

test(
  "a slow connection to NATS delays calls, and neither loses nor repeats them",
  async () => {
    for (const { nats } of [ingress, worker]) nats.delay(SLOW_MS);
    const keys = submit(6);
    const startedAt = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) => call("flat", { ...named(), stream: at % 2 === 0 })),
    );
    const tookMs = performance.now() - startedAt;
    expect(Object.keys(tally(answers)).filter((status) => status !== "200" && status !== "503")).toEqual([]);
    expect(tookMs).toBeLessThan(30_000);
    const done = await keys;
    expect(await endsOf(done)).toEqual(done.map(() => "completed"));
    for (const { nats } of [ingress, worker]) nats.delay(0);
    await eventually("calls are served as before", async () => isServed(await call("flat", named())));
    await expectPaidOnce(done);
    expect(sentTwice(bed.upstream)).toEqual([]);
    await audit(bed, { withinMs: 30_000 });
  },
  storm(60_000, 200_000),
);

test(
  "a worker whose heartbeats are lost keeps its job, and no call is run or charged twice",
  async () => {
    let lost = 0;
    // Its jobs' leases are rows in Postgres; here only NATS hears nothing of it.
    worker.nats.alter((bytes) =>
      bytes.replaceAll(/PUB \$JS\.ACK(\.\S+ 4\r\n\+WPI\r\n)/g, (_all, rest: string) => {
        lost += 1;
        return `PUB $JS.ACX${rest}`;
      }),
    );
    const [job] = (await submit(1, `mock-delay-${LONG_JOB_MS}`)) as [string];
    const live = call(`mock-delay-${LONG_CALL_MS}`, named());
    await bed.upstream.received(bed.upstream.requests.length + 1).catch(() => undefined);
    // What the server hands out again goes to whoever asks.
    const other = await startRole(["worker", "chat"], bed.stack.env);
    try {
      expect(await endsOf([job])).toEqual(["completed"]);
      const answer = await live;
      expect([200, 500, 502, 503, 504]).toContain(answer.status);
      expect(lost).toBeGreaterThan(0);
      const records = await bed.stack.query("select status from usage_record where job_id = $1", [requestId(answer)]);
      expect(records).toHaveLength(1);
      expect(sentTwice(bed.upstream)).toEqual([]);
      await audit(bed, { withinMs: 40_000 });
    } finally {
      worker.nats.alter(undefined);
      await other.stop();
    }
  },
  storm(90_000, 240_000),
);

test(
  "an outage of a required server uses up none of a job's attempts",
  async () => {
    const connection = await connect({ servers: bed.stack.natsUrl });
    const manager = await jetstreamManager(connection);
    const deliveries = async (): Promise<number> =>
      (await manager.consumers.info(streamName("chat"), durableName("chat", "batch"))).delivered.consumer_seq;
    const before = await deliveries();
    // The worker takes messages and cannot claim their jobs.
    worker.postgres.cut(Bun.sleep(OUTAGE_MS));
    const unclaimed = await submit(3);
    expect(await endsOf(unclaimed)).toEqual(unclaimed.map(() => "completed"));

    // It has a job whose end it can tell nobody: its publisher hears of that when it sends it again.
    const running = await submit(1, "mock-delay-500");
    const healed = Bun.sleep(OUTAGE_MS);
    worker.nats.cut(healed);
    await healed;
    const end = await eventually("the job has ended", async () => {
      const [key = ""] = running;
      const answer = await publisher.submit({ body: ask("mock-delay-500", { user: key }) }, { key });
      return ["completed", "failed"].includes(answer.status) && answer.status;
    });
    expect(end).toBe("completed");
    // Half of what a message may have.
    expect((await deliveries()) - before).toBeLessThanOrEqual(3 * (unclaimed.length + running.length));
    await connection.close();
    await expectPaidOnce(unclaimed);
    expect((await jobsOf([...unclaimed, ...running])).every(({ claims }) => claims <= 3)).toBe(true);
    expect(sentTwice(bed.upstream)).toEqual([]);
    await audit(bed, { withinMs: 40_000 });
  },
  storm(60_000, 200_000),
);

test("dead workers with all unacknowledged messages of a lane stop it until their silence limit, and no longer", async () => {
  const [stream, durable] = [streamName("chat"), durableName("chat", "batch")];
  const changeBack = await changeDurable(bed.stack.natsUrl, "chat", "batch", { max_ack_pending: 6 });
  await worker.role.stop();
  const keys = await submit(10);
  const holder = await connect({ servers: bed.stack.natsUrl });
  const { config } = await (await jetstreamManager(holder)).consumers.info(stream, durable);
  expect(config.ack_policy).toBe(AckPolicy.Explicit);
  try {
    const held: string[] = [];
    holder.subscribe("holder", { callback: (_error, message) => void held.push(message.subject) });
    holder.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`, JSON.stringify({ batch: 6, expires: 5e9 }), {
      reply: "holder",
    });
    await eventually("the lane is full", () => held.length >= 6);
    await eventually("its metric tells it", async () => {
      const { adminUrl } = bed.stack.janitors[0] as ManagedProcess;
      const of = 'pool="chat",lane="batch"';
      const [now, max] = await Promise.all([
        metric(adminUrl, "sluice_queue_unacknowledged", of),
        metric(adminUrl, "sluice_queue_unacknowledged_max", of),
      ]);
      return now > 0.8 * max;
    });
    await holder.close();
    await worker.role.restart();
    expect(await endsOf(keys, LANE_SETTINGS.batch.ackWaitMs + storm(20_000, 5_000))).toEqual(
      keys.map(() => "completed"),
    );
  } finally {
    await holder.close();
    await changeBack();
  }
  await expectPaidOnce(keys);
  await audit(bed, { withinMs: 40_000 });
}, 120_000);

test(
  "jobs and calls whose messages vanish end by the sweeps alone, exhausted ones as dead letters",
  async () => {
    await worker.role.stop();
    const keys = await submit(4);
    const [spent = ""] = keys;
    const live = [call("flat", named()), call("flat", { ...named(), stream: true })];
    const connection = await connect({ servers: bed.stack.natsUrl });
    const manager = await jetstreamManager(connection);
    await eventually(
      "all are queued",
      async () => (await manager.streams.info(streamName("chat"))).state.messages === 6,
    );
    // Its last claim was its owner's, of whom nothing is left.
    await bed.stack.query(
      `update job set state = 'running', claims = 99, epoch = epoch + 1, worker = $2, started_at = clock_timestamp(),
       lease_until = clock_timestamp() - interval '1 hour' where publisher_key = $1`,
      [spent, newId()],
    );
    await manager.streams.purge(streamName("chat"));
    await manager.streams.purge(ADVISORY_STREAM);
    await connection.close();
    await worker.role.restart();
    expect(await endsOf(keys)).toEqual(["failed", "completed", "completed", "completed"]);
    // Taken for lost with a worker: the queue says only that it has handed out what is gone.
    for (const answer of await Promise.all(live)) expect([200, 500, 503]).toContain(answer.status);
    await expectPaidOnce(keys.slice(1));
    expect(sentTwice(bed.upstream)).toEqual([]);
    await audit(bed, { withinMs: 40_000, deadLetters: 1 });
  },
  2 * ENDS_MS,
);

test(
  "accepted work waits in Postgres during a long outage of NATS, memory is flat and roles reconnect",
  async () => {
    const roles = [ingress.role, worker.role];
    const before = roles.map(({ pid }) => residentMb([pid]));
    const dialled = worker.nats.connections();
    const back = Bun.sleep(AWAY_MS);
    for (const { nats } of [ingress, worker]) nats.cut(back);
    const key = newId();
    await publisher.publish({ body: ask("flat", { user: key }) }, { key });
    const steps = [
      { id: "a", type: "model", model: "flat", params: { messages: [{ role: "user", content: "away" }] } },
    ];
    const begun = await fetch(`${ingress.role.baseUrl}/v1/pipelines/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${bed.stack.key}`, "content-type": "application/json" },
      body: JSON.stringify({ definition: { steps }, mode: "async" }),
    });
    expect([200, 201, 202, 503]).toContain(begun.status);
    const { id } = (await begun.json()) as { id?: string };
    // Served when NATS is back in time.
    expect([200, 503]).toContain((await call("flat", named())).status);
    await back;
    // Two connections, each after 250 to 500 ms.
    const tries = worker.nats.connections() - dialled;
    expect(tries).toBeGreaterThan(AWAY_MS / 1_000);
    expect(tries).toBeLessThan((4 * AWAY_MS) / 250);
    expect(await endsOf([key])).toEqual(["completed"]);
    if (begun.ok) {
      await eventually("the run ends", async () => {
        const rows = await bed.stack.query<{ status: string }>("select status from run where id = $1", [id ?? ""]);
        return rows[0]?.status === "succeeded";
      });
    }
    await eventually("calls are served", async () => isServed(await call("flat", named())));
    for (const [at, { pid }] of roles.entries()) {
      expect(residentMb([pid]) - (before[at] ?? 0)).toBeLessThan(GROWTH_MB_MAX);
    }
    await audit(bed, { withinMs: 40_000, deadLetters: 1 });
  },
  120_000 + AWAY_MS,
);
