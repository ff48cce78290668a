/** Runs that are asked for by batch messages. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { jetstreamManager } from "@nats-io/jetstream";

import type { WorkflowRun } from "#schemas/generated/types.ts";
import { dropEndedJobs } from "#shared/database/job-sweeps.ts";
import { dropEndedRuns } from "#shared/database/run-sweeps.ts";
import { newId } from "#shared/base/ids.ts";
import { BATCH_DURABLE, BATCH_STREAM } from "#shared/queue/subjects.ts";
import { openPublisher, type Publisher } from "#tests/faults/publisher.ts";
import { eventually } from "#tests/faults/wait.ts";
import { ACTIVE_RUNS_MAX } from "#shared/database/runs.ts";
import { subscribeToEvents } from "#tests/support/tenant.ts";

import { say } from "./runs-bench.ts";
import { runsOfNewWorkspace, sharedMediaRuns, type WorkspaceRuns } from "./shared-runs.ts";

let bench: WorkspaceRuns;
let publisher: Publisher;
let workflow: string;
const ENDPOINT = "/v1/workflows/{id}/runs";

beforeAll(async () => {
  bench = await runsOfNewWorkspace(sharedMediaRuns());
  await subscribeToEvents(bench.stack, bench.workspace.id);
  publisher = await openPublisher(bench.stack.natsUrl, bench.workspace);
  workflow = await bench.store({
    inputs: { word: { type: "string", required: true } },
    steps: [say("a", "${{ inputs.word }}!")],
    output: { text: "${{ steps.a.output.text }}" },
  });
}, 120_000);
afterAll(() => publisher.close());

const holds = () => bench.stack.query("select 1 from hold where workspace_id = $1", [bench.workspace.id]);
const ask = (body: object, of: object = { workflow }) => ({ endpoint: ENDPOINT, ...of, body });

test("a message starts a run, whose end is reported to its publisher; a repeat finds the same run", async () => {
  const key = newId();
  const first = await publisher.submit(ask({ input: { word: "tea" } }), { key, pool: "workflow" });
  expect(first).toMatchObject({ key, status: "queued" });
  const ended = await publisher.ended(key);
  const run = ended["result"] as unknown as WorkflowRun;
  expect(run).toMatchObject({ id: first.job_id, status: "succeeded", mode: "async", output: { text: "tea!" } });
  expect(ended["credits_used"]).toBe(run.creditsUsed);
  expect(await bench.read(run.id)).toMatchObject({ status: "succeeded", input: { word: "tea" } });
  expect(await (await bench.call(`/v1/images/jobs/${run.id}`)).json()).toMatchObject({
    id: run.id,
    object: "job",
    modality: "text",
    status: "completed",
    progress: 1,
    model: "workflow",
    credits_used: run.creditsUsed,
    data: [ended["result"]],
  });
  const again = await publisher.submit(ask({ input: { word: "tea" } }), { key, pool: "workflow" });
  expect(again).toMatchObject({ job_id: first.job_id, status: "completed" });
  const events = await bench.stack.query<{ type: string }>(
    "select type from event where metadata ->> 'runId' = $1 or metadata ->> 'jobId' = $1 order by type",
    [run.id],
  );
  expect(events.map(({ type }) => type)).toEqual(["run.started", "run.succeeded"]);
});

test("a key whose run was deleted starts it again, and each step of it is charged again", async () => {
  const key = newId();
  const { job_id: id } = await publisher.submit(ask({ input: { word: "tea" } }), { key, pool: "workflow" });
  await publisher.ended(key);
  for (const table of ["run", "job"]) {
    await bench.stack.query(
      `update ${table} set ended_at = ended_at - interval '1 year' where ${table === "run" ? "id" : "run_id"} = $1`,
      [id],
    );
  }
  const database = { query: bench.stack.query };
  expect((await dropEndedRuns(database, 86_400_000, 10)).count).toBe(1);
  expect(await dropEndedJobs(database, 86_400_000, 10)).toHaveLength(1);
  await publisher.submit(ask({ input: { word: "tea" } }), { key, pool: "workflow" });
  const ended = await eventually("it ends twice", () => {
    const ends = publisher.answers.filter((answer) => answer.key === key && answer.status === "completed");
    return ends.length === 2 && ends;
  });
  expect(ended[1]).toMatchObject({ job_id: id, result: { status: "succeeded", output: { text: "tea!" } } });
  expect(ended[1]?.credits_used).toBe(ended[0]?.credits_used ?? NaN);
  const usage = await bench.stack.query<{ attempt: number; settled: bigint }>(
    "select attempt, settled from usage_record where job_id in (select id from job where run_id = $1) order by 1",
    [id],
  );
  expect(usage).toEqual([1, 2].map((attempt) => ({ attempt, settled: usage[0]?.settled ?? 0n })));
  expect(await holds()).toEqual([]);
  expect(await bench.stack.query("select * from audit_ledger()")).toEqual([]);
});

test("a key whose run still exists finds that run, regardless of the age of its steps' jobs, and no second one starts", async () => {
  const key = newId();
  const { job_id: id } = await publisher.submit(ask({ input: { word: "tea" } }), { key, pool: "workflow" });
  await publisher.ended(key);
  await bench.stack.query("update job set ended_at = ended_at - interval '1 year' where run_id = $1", [id]);
  expect(await dropEndedJobs({ query: bench.stack.query }, 86_400_000, 10)).toHaveLength(1);
  const again = await publisher.submit(ask({ input: { word: "tea" } }), { key, pool: "workflow" });
  expect(again).toMatchObject({ job_id: id, status: "completed", result: { output: { text: "tea!" } } });
  const other = await publisher.submit(ask({ input: { word: "coffee" } }), { key, pool: "workflow" });
  expect(other).toMatchObject({ status: "refused", error: { code: "idempotency_key_reused" } });
});

test("a key names one run or one job of any pool", async () => {
  const [ofRun, ofJob] = [newId(), newId()];
  const chat = { body: { model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }] } };
  const run = await publisher.submit(ask({ input: { word: "tea" } }), { key: ofRun, pool: "workflow" });
  const job = await publisher.submit(chat, { key: ofJob });
  // An end would be taken for the next answer under its key.
  await Promise.all([publisher.ended(ofRun), publisher.ended(ofJob)]);
  const reused = { status: "refused", error: { code: "idempotency_key_reused" } };
  expect(await publisher.submit(chat, { key: ofRun })).toMatchObject({ ...reused, job_id: run.job_id });
  expect(await publisher.submit(ask({ input: { word: "tea" } }), { key: ofJob, pool: "workflow" })).toMatchObject({
    ...reused,
    job_id: job.job_id,
  });
  const rows =
    "select 'job' as kind, id from job where id = any ($1::uuid[]) union all select 'run', id from run where id = any ($1::uuid[])";
  expect(await bench.stack.query(rows, [[run.job_id, job.job_id]])).toEqual([
    { kind: "job", id: job.job_id },
    { kind: "run", id: run.job_id },
  ]);
});

test("a run can be cancelled by the job's cancel, and its publisher receives the end", async () => {
  const id = await bench.store({ steps: [{ ...say("a", "one two three ".repeat(20)), model: "sandbox-slow" }] });
  const key = newId();
  const { job_id: run } = await publisher.submit(ask({}, { workflow: id }), { key, pool: "workflow" });
  const cancelled = await bench.call(`/v1/images/jobs/${run}/cancel`, {});
  expect(await cancelled.json()).toMatchObject({ id: run, object: "job" });
  expect(await publisher.ended(key)).toMatchObject({ status: "cancelled", job_id: run, error: { code: "run_failed" } });
  expect(await bench.read(run)).toMatchObject({ status: "cancelled" });
});

test("a failed run is reported as failed, with the run", async () => {
  const id = await bench.store({ steps: [{ ...say("bad", "x"), model: "sandbox-error" }] });
  const key = newId();
  await publisher.submit(ask({}, { workflow: id }), { key, pool: "workflow" });
  const ended = await publisher.ended(key);
  expect(ended).toMatchObject({ status: "failed", error: { code: "run_failed" } });
  expect(await bench.read(ended.job_id)).toMatchObject({ status: "failed", error: { stepId: "bad" } });
});

test.each<[string, () => object, string]>([
  ["a workflow that there is not", () => ask({}, { workflow: newId() }), "workflow_not_found"],
  ["no workflow", () => ask({}, {}), "workflow_not_found"],
  ["an input that is missing", () => ask({}), "missing_required_parameter"],
])("%s is rejected, and starts nothing", async (_name, body, code) => {
  expect(await publisher.submit(body(), { pool: "workflow" })).toMatchObject({ status: "refused", error: { code } });
});

test("a key of the billing role is rejected, as over HTTP, also for a shared workflow", async () => {
  const [member, keyId] = [newId(), newId()];
  await bench.stack.query("insert into member (id, workspace_id, name, role) values ($1, $2, 'books', 'billing')", [
    member,
    bench.workspace.id,
  ]);
  await bench.stack.query(
    `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset)
     values ($1, $2, $3, 'books', sha256(convert_to(gen_random_uuid()::text, 'UTF8')), 'slk_…', 'unlimited')`,
    [keyId, bench.workspace.id, member],
  );
  await bench.stack.query("update workflow set sharing_scope = 'workspace', share_permission = 'run' where id = $1", [
    workflow,
  ]);
  const runs = () => bench.stack.query("select id from run where workspace_id = $1", [bench.workspace.id]);
  const before = await runs();
  const books = await openPublisher(bench.stack.natsUrl, { id: bench.workspace.id, keyId });
  const asked = books.submit(ask({ input: { word: "tea" } }), { pool: "workflow" });
  expect(await asked).toMatchObject({ status: "refused", error: { code: "permission_denied" } });
  await books.close();
  expect(await runs()).toEqual(before);
});
test("a run waits while its workspace has its maximum of open runs, and starts when one has ended", async () => {
  const rows = await bench.stack.query<{ id: string }>(
    `insert into run (id, workspace_id, key_id, member_id, definition, mode, lane, status, max_attempts, progressed_at)
     select gen_random_uuid(), m.workspace_id, m.id, m.id, '{}', 'async', 'batch', 'running', 1, now() + interval '1 hour'
     from (select workspace_id, id from member where workspace_id = $2 limit 1) m, generate_series(1, $1::int) returning id`,
    [ACTIVE_RUNS_MAX, bench.workspace.id],
  );
  const key = newId();
  const counted = () =>
    bench.stack.query("select calls from rate_window where workspace_id = $1", [bench.workspace.id]);
  const before = await counted();
  const told = await publisher.submit(ask({ input: { word: "later" } }), { key, pool: "workflow" });
  expect(told).toMatchObject({ key, status: "waiting" });
  const manager = await jetstreamManager(publisher.connection);
  const deliveries = async () => (await manager.consumers.info(BATCH_STREAM, BATCH_DURABLE)).delivered.consumer_seq;
  const first = await deliveries();
  await eventually("it has come again", async () => (await deliveries()) > first, 30_000);
  expect((await manager.streams.info(BATCH_STREAM)).state.messages).toBe(1);
  // It counts when it is accepted.
  expect(await counted()).toEqual(before);
  await bench.stack.query("delete from run where id = any ($1::uuid[])", [rows.map((row) => row.id)]);
  const ended = await publisher.ended(key, 40_000);
  expect([ended.status, (ended["result"] as unknown as WorkflowRun).output]).toEqual(["completed", { text: "later!" }]);
}, 60_000);

test("many runs start and all end, without open holds", async () => {
  const keys = Array.from({ length: 30 }, () => newId());
  await Promise.all(keys.map((key) => publisher.publish(ask({ input: { word: key } }), { key, pool: "workflow" })));
  const ends = await Promise.all(keys.map((key) => publisher.ended(key, 40_000)));
  expect(ends.map(({ status, result }) => [status, (result as { output?: unknown } | undefined)?.output])).toEqual(
    keys.map((key) => ["completed", { text: `${key}!` }]),
  );
  await eventually("no hold is open", async () => (await holds()).length === 0);
});
