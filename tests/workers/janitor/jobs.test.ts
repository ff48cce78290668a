/** The janitor's sweeps over durable jobs, against a real stream. */
import { jetstreamManager, type JetStreamManager } from "@nats-io/jetstream";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { connect, type NatsConnection } from "nats";

import type { Database } from "#shared/database/client.ts";
import { dropEndedJobs, findUnrecorded, noteRecorded } from "#shared/database/job-sweeps.ts";
import { claimJob, noteIntent } from "#shared/database/jobs.ts";
import { noteProviderJob, noteStart } from "#shared/database/open-starts.ts";
import { newId } from "#shared/base/ids.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import { createJobDispatcher } from "#shared/jobs/dispatcher.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics, type Metrics } from "#shared/metrics/metrics.ts";
import { createPublisher } from "#shared/queue/publish.ts";
import { durableName, freedSubject, streamName } from "#shared/queue/subjects.ts";
import { ensureTopology } from "#shared/queue/topology.ts";
import { readClaim, storeResult } from "#shared/storage/claim-check.ts";
import { openStorage, type Storage } from "#shared/storage/client.ts";
import { objectSize, readObject } from "#shared/storage/objects.ts";
import { eventually } from "#tests/faults/wait.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { jobRequest } from "#tests/shared/jobs/jobs.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { createTestBucket } from "#tests/support/storage.ts";
import {
  type JobSweepContext,
  watchFreedSlots,
  releaseAll,
  sweepDispatches,
  sweepEndedJobs,
  sweepJobRecords,
  sweepLeases,
  sweepUnclaimed,
  sweepUnknownJobs,
} from "#workers/janitor/jobs.ts";

const STREAM = streamName("chat");
const log = createLogger({ level: "silent", role: "test" });

let nats: TestNats;
let db: TestDatabase;
let connection: NatsConnection;
let manager: JetStreamManager;
let metrics: Metrics;
let storage: Storage;
let context: JobSweepContext;
let workspaceId: string;

beforeAll(async () => {
  const [server, database, bucket] = await Promise.all([startNats(), createTestDatabase(), createTestBucket()]);
  [nats, db] = [server, database];
  connection = await connect({ servers: nats.url });
  manager = await jetstreamManager(connection);
  metrics = createMetrics("test");
  storage = openStorage(bucket.settings);
  await ensureTopology(connection, 1);
  const publisher = createPublisher(connection, "janitor");
  const dispatcher = createJobDispatcher({ database: db.database, publisher, metrics, log });
  context = { connection, database: db.database, storage, dispatcher, metrics, log, unknownKeepMs: 3_600_000 };
  workspaceId = await createWorkspace(db.database);
}, 120_000);

afterAll(async () => {
  metrics.close();
  storage.close();
  await connection.close();
  await Promise.all([nats.close(), db.drop()]);
});

afterEach(async () => {
  expect(await auditLedger(db.database)).toEqual([]);
  await db.query(
    "update job set cancel_requested = true, lease_until = now() - interval '1 hour' where ended_at is null",
  );
  await sweepLeases(context);
  expect(await db.query("select id, state from job where ended_at is null")).toEqual([]);
  expect(await db.query("select 1 from hold")).toEqual([]);
  for (const { seq } of await messages()) await manager.streams.deleteMessage(STREAM, seq);
});

interface Found {
  readonly seq: number;
  readonly id: string;
}

async function messages(): Promise<Found[]> {
  const { state } = await manager.streams.info(STREAM);
  const found: Found[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq++) {
    const message = await manager.streams.getMessage(STREAM, { seq }).catch(() => undefined);
    if (message) found.push({ seq, id: message.header.get("Nats-Msg-Id") });
  }
  return found;
}

/** A job whose first message is on the stream, and noted. */
async function dispatched(members: object = {}): Promise<string> {
  const job = jobRequest({ workspaceId, ...members });
  await createJobAdmission({ database: db.database }).admit(job);
  await send(job.id);
  await context.dispatcher.idle();
  return job.id;
}

async function send(id: string): Promise<void> {
  const deadline = new Date(Date.now() + 60_000);
  await context.dispatcher.send("chat", "batch", [{ id, workspace_id: workspaceId, attempt: 1, dispatch: 1, deadline }], "admitted"); // prettier-ignore
}

const ids = async (): Promise<string[]> => (await messages()).map(({ id }) => id);
const change = (id: string, what: string) => db.query(`update job set ${what} where id = $1`, [id]);
const stateOf = async (id: string) => (await db.query("select state, error->>'code' as code from job where id = $1", [id]))[0]; // prettier-ignore
/** Later than the stream by more than clocks may differ. */
const LATER = "dispatched_at = clock_timestamp() + interval '3 s'";

describe("a job on the queue", () => {
  const sweepBoth = async (): Promise<void> => {
    await sweepDispatches(context);
    // As if it had waited long.
    await sweepUnclaimed(context, -10_000);
  };

  test("has the position of its message in its row, unless it ended before", async () => {
    const seqOf = async (id: string) => (await db.query("select stream_seq from job where id = $1", [id]))[0];
    const [waits, ended] = [await dispatched(), jobRequest({ workspaceId })];
    await createJobAdmission({ database: db.database }).admit(ended);
    await change(ended.id, "cancel_requested = true, lease_until = now() - interval '1 hour'");
    await sweepLeases(context);
    await send(ended.id);
    await context.dispatcher.idle();
    expect(await seqOf(ended.id)).toEqual({ stream_seq: null });
    expect(await seqOf(waits)).toEqual({ stream_seq: expect.any(BigInt) });
  });

  test("is unchanged while its message waits there, for any time", async () => {
    const id = await dispatched();
    await change(id, LATER);
    await sweepBoth();
    expect(await ids()).toEqual([`${id}:1:1`]);
  });

  test("from before the current stream is put there again under the next number", async () => {
    const id = await dispatched();
    await change(id, "dispatched_at = now() - interval '1 hour'");
    await Promise.all([sweepDispatches(context), sweepDispatches(context)]);
    const [row] = await db.query<{ dispatch: number }>("select dispatch from job where id = $1", [id]);
    // The stream is so young that a second sweep may take the new message for an old one.
    expect(row?.dispatch).toBeGreaterThan(1);
    const found = await ids();
    expect(found.at(-1)).toBe(`${id}:1:${row?.dispatch}`);
    // Nor may it know where the other's message lies: one of an older number stands for nothing when it is handed out.
    expect(found.slice(0, -1)).toEqual(found.length > 1 ? [`${id}:1:2`] : []);
  });

  test("whose message is missing, or another job's, is put there again", async () => {
    const [gone, replaced] = [await dispatched(), await dispatched()];
    await db.query(`update job set ${LATER} where id = any($1::uuid[])`, [[gone, replaced]]);
    for (const { seq } of await messages()) await manager.streams.deleteMessage(STREAM, seq);
    const other = await dispatched();
    await change(other, LATER);
    const [place] = await messages();
    await db.query("update job set stream_seq = $2 where id = $1", [replaced, place?.seq ?? 0]);
    await sweepBoth();
    expect((await ids()).toSorted()).toEqual([`${gone}:1:2`, `${replaced}:1:2`, `${other}:1:1`].toSorted());
  });

  test("whose message was never confirmed is put there again", async () => {
    const job = jobRequest({ workspaceId });
    await createJobAdmission({ database: db.database }).admit(job);
    await change(job.id, "dispatched_at = now() - interval '6 s'");
    await sweepDispatches(context);
    expect(await ids()).toEqual([`${job.id}:1:2`]);
  });

  test("whose message reached its delivery limit is put there again, and the dead one is removed", async () => {
    const id = await dispatched();
    await change(id, LATER);
    // Handed out, and then nobody ever took the job: so it looks when its deliveries are used up.
    const inbox = connection.subscribe("pulled", { max: 1 });
    connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${STREAM}.${durableName("chat", "batch")}`, "1", { reply: "pulled" });
    for await (const message of inbox) expect(message.subject).toContain("work.");
    await sweepBoth();
    expect(await ids()).toEqual([`${id}:1:2`]);
  });
});

describe("a job whose owner stopped its heartbeats", () => {
  const claim = (id: string) => claimJob(db.database, { id, workspaceId, attempt: 1, dispatch: 1, worker: newId(), leaseMs: 1, claimsMax: 6 }); // prettier-ignore
  const LONG_AGO = "lease_until = now() - interval '31 s'";

  test("is left to redelivery at first", async () => {
    const id = await dispatched();
    await claim(id);
    await sweepLeases(context);
    expect(await stateOf(id)).toMatchObject({ state: "running" });
  });

  test("before its start returns to the queue", async () => {
    const id = await dispatched();
    await claim(id);
    await change(id, LONG_AGO);
    await sweepLeases(context);
    expect(await stateOf(id)).toMatchObject({ state: "queued" });
    expect(await ids()).toEqual([`${id}:1:2`]);
  });

  test("after a provider may have received it ends as lost, reported to its publisher, its message removed", async () => {
    const reply = `_INBOX.ws.${workspaceId}.${newId()}.x`;
    const heard = connection.subscribe(reply, { max: 1 });
    await connection.flush();
    const id = await dispatched({ reply, publisherKey: "k" });
    await claim(id);
    await change(id, `intent_at = now(), ${LONG_AGO}`);
    await Promise.all([sweepLeases(context), sweepLeases(context)]);
    expect(await stateOf(id)).toEqual({ state: "failed", code: "worker_lost" });
    expect(await db.query("select status from usage_record where job_id = $1", [id])).toEqual([{ status: "lost" }]);
    for await (const message of heard) {
      expect(message.json<object>()).toMatchObject({
        key: "k",
        job_id: id,
        status: "failed",
        error: { code: "worker_lost" },
      });
    }
    expect(await ids()).toEqual([]);
  });

  test.each([
    ["answers in one exchange ends as lost, its hold released", true, { state: "failed", code: "worker_lost" }],
    ["keeps jobs is of unknown outcome", false, { state: "running", code: null }],
  ])("while it requested images of a source that %s", async (_what, isDirect, expected) => {
    const id = await dispatched({ kind: "images" });
    const job = await claim(id);
    expect(await noteIntent(db.database, id, job?.epoch ?? 0)).toBe(true);
    // As a worker of an earlier release noted of a queue.
    await change(id, `intent_is_direct = ${isDirect}, ${LONG_AGO}`);
    await sweepLeases(context);
    expect(await stateOf(id)).toEqual(expected);
    expect(await db.query("select 1 from hold where job_id = $1", [id])).toHaveLength(isDirect ? 0 : 1);
    // Let go, so that nothing is left over.
    await change(id, "intent_is_direct = true, unknown_since = null, lease_until = now() - interval '1 hour'");
  });

  test.each([
    ["all that it holds", {}, 100],
    ["the share that is held of a line of a batch", { batch_line: { price_millionths: 250_001 } }, 26],
  ])("of unreported outcome is written off: %s", async (_what, members, nano) => {
    const writtenOff = async (): Promise<number> =>
      Number(/^sluice_credits_written_off_total\{.*\} (\S+)$/m.exec(await metrics.registry.metrics())?.[1]);
    const id = await dispatched({ amount: BigInt(nano), work: { hold_nano: "100", ...members } });
    const epoch = (await claim(id))?.epoch ?? 0;
    expect(await noteProviderJob(db.database, id, epoch, { hold_nano: "100" })).toBe(true);
    await change(id, "unknown_since = now() - interval '2 hours', lease_until = null");
    const before = await writtenOff();
    await sweepUnknownJobs(context);
    expect(await stateOf(id)).toEqual({ state: "failed", code: "upstream_timeout" });
    expect(Math.round(((await writtenOff()) - before) * 1e9)).toBe(nano);
  });

  test("whose provider had rejected it ends as lost: there is nothing to poll for, so nothing is held", async () => {
    const id = await dispatched({ kind: "images" });
    const epoch = (await claim(id))?.epoch ?? 0;
    const start = { id: newId(), mark: {}, sent_ms: 1 };
    expect(await noteStart(db.database, id, epoch, { source: "a/b", start })).toBe(true);
    expect(await noteProviderJob(db.database, id, epoch, null)).toBe(true);
    await change(id, LONG_AGO);
    await sweepLeases(context);
    expect(await stateOf(id)).toEqual({ state: "failed", code: "worker_lost" });
    expect(await db.query("select 1 from hold where job_id = $1", [id])).toEqual([]);
  });

  test("for the last time becomes a dead letter", async () => {
    const id = await dispatched();
    await claim(id);
    await change(id, `claims = 6, ${LONG_AGO}`);
    await sweepLeases(context);
    expect(await stateOf(id)).toEqual({ state: "failed", code: "worker_lost" });
    expect(await db.query("select reason from dead_letter where job_id = $1", [id])).toEqual([
      { reason: "claims used up" },
    ]);
    expect(await ids()).toEqual([]);
  });

  test("is ended when no worker received it before its deadline, or it was cancelled while it waited", async () => {
    const [late, cancelled, healthy] = [await dispatched(), await dispatched(), await dispatched()];
    await change(late, "deadline = now()");
    await change(cancelled, "cancel_requested = true");
    await sweepLeases(context);
    expect(await stateOf(late)).toEqual({ state: "failed", code: "overloaded" });
    expect(await stateOf(cancelled)).toMatchObject({ state: "cancelled" });
    expect(await stateOf(healthy)).toMatchObject({ state: "queued" });
  });
});

describe("capacity on the queue", () => {
  test("is assigned to waiting jobs when a worker reports it, and in any case by the sweep", async () => {
    const close = watchFreedSlots(context);
    await connection.flush();
    const [told, swept] = [await dispatched(), await dispatched()];
    for (const { seq } of await messages()) await manager.streams.deleteMessage(STREAM, seq);
    const wait = (id: string) => change(id, "dispatched_at = null, stream_seq = null");
    await wait(told);
    connection.publish(freedSubject("chat", "batch"));
    await eventually("it is let out", async () => (await ids()).includes(`${told}:1:2`));
    await wait(swept);
    await releaseAll(context);
    expect(await ids()).toEqual([`${told}:1:2`, `${swept}:1:2`]);
    await close();
  });
});

describe("a janitor without work", () => {
  test("sends Postgres one query each to find that no job is queued, none waits and none lost its owner", async () => {
    const asked: string[] = [];
    const query: Database["query"] = (text, values, name) => {
      asked.push(text);
      return db.database.query(text, values, name);
    };
    const database = { ...db.database, query };
    const publisher = createPublisher(connection, "janitor");
    const idle = { ...context, database, dispatcher: createJobDispatcher({ database, publisher, metrics, log }) };
    await sweepDispatches(idle);
    expect(asked.splice(0)).toHaveLength(1);
    await releaseAll(idle);
    expect(asked.splice(0)).toHaveLength(1);
    await sweepLeases(idle);
    expect(asked).toHaveLength(1);
  });
});

describe("an ended job", () => {
  test("is deleted with its stored result when it is old; recent and running ones stay", async () => {
    const [old, young, running] = [await dispatched(), await dispatched(), await dispatched()];
    const reference = await storeResult(storage, old, 1, "{}");
    await db.query("update job set cancel_requested = true where id = any($1::uuid[])", [[old, young]]);
    await sweepLeases(context);
    await db.query("update job set ended_at = now() - interval '2 hours', result_ref = $2 where id = $1", [
      old,
      reference,
    ]);
    await sweepEndedJobs(context, 1);
    const left = await db.query<{ id: string }>("select id from job where id = any($1::uuid[])", [
      [old, young, running],
    ]);
    expect(left.map(({ id }) => id).toSorted()).toEqual([young, running].toSorted());
    expect(await readClaim(storage, reference).catch(() => "gone")).toBe("gone");
    expect(await dropEndedJobs(db.database, 0, 500)).not.toEqual([]);
  });
});

describe("the record of a media job", () => {
  async function recordOf(id: string): Promise<Record<string, unknown> | undefined> {
    const key = `jobs/${workspaceId}/${id}.json`;
    const size = await objectSize(storage, key);
    if (size === undefined) return undefined;
    const pieces: Uint8Array[] = [];
    for await (const piece of readObject(storage, key, 0, size)) pieces.push(piece);
    return JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown>;
  }

  test("follows the job to its end, and is deleted with it", async () => {
    const id = await dispatched({ kind: "video", modality: "video" });
    await sweepJobRecords(context);
    expect(await recordOf(id)).toMatchObject({ id, workspace_id: workspaceId, state: "queued", credits: null });
    await db.query("update job set cancel_requested = true where id = $1", [id]);
    await sweepLeases(context);
    await sweepJobRecords(context);
    expect(await recordOf(id)).toMatchObject({
      state: "cancelled",
      error: { message: "The job was cancelled before it began." },
    });
    await db.query("update job set ended_at = now() - interval '2 hours' where id = $1", [id]);
    await sweepEndedJobs(context, 1);
    expect(await recordOf(id)).toBeUndefined();
  });

  test("that was written late, over a newer one, is written again", async () => {
    const id = await dispatched({ kind: "video", modality: "video" });
    await sweepJobRecords(context);
    await noteRecorded(db.database, id, "running");
    const unrecorded = await findUnrecorded(db.database, 10);
    expect(unrecorded.map((job) => job.id)).toEqual([id]);
    await sweepJobRecords(context);
    expect(await findUnrecorded(db.database, 10)).toEqual([]);
  });

  test.each([
    ["a text job", { kind: "chat" }],
    ["a job that nobody is to find", { kind: "images", isHidden: true }],
  ])("of %s is missing", async (_what, members) => {
    const id = await dispatched(members);
    await sweepJobRecords(context);
    expect(await recordOf(id)).toBeUndefined();
  });
});
