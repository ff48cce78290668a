/** Runs that are asked for by batch messages. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { WorkflowRun } from "#schemas/generated/types.ts";
import { dropEndedJobs } from "#shared/database/job-sweeps.ts";
import { dropEndedRuns } from "#shared/database/run-sweeps.ts";
import { newId } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import { openPublisher, type Publisher } from "#tests/faults/publisher.ts";
import { eventually } from "#tests/faults/wait.ts";

import { say } from "./runs-bench.ts";
import { runsOfNewWorkspace, sharedMediaRuns, type WorkspaceRuns } from "./shared-runs.ts";

let bench: WorkspaceRuns;
let publisher: Publisher;
let workflow: string;
const ENDPOINT = "/v1/workflows/{id}/runs";

beforeAll(async () => {
  bench = await runsOfNewWorkspace(sharedMediaRuns());
  publisher = await openPublisher(bench.stack.natsUrl, bench.workspace.id);
  workflow = await bench.store({
    inputs: { word: { type: "string", required: true } },
    steps: [say("a", "${{ inputs.word }}!")],
    output: { text: "${{ steps.a.output.text }}" },
  });
}, 120_000);
afterAll(() => publisher.close());

const holds = () => bench.stack.query("select 1 from hold where workspace_id = $1", [bench.workspace.id]);
const ask = (body: object, of: object = { workflow }) => ({ endpoint: ENDPOINT, ...of, body });

test("a message begins a run, whose end its publisher is told; a repeat is the same run", async () => {
  const key = newId();
  const first = await publisher.submit(ask({ input: { word: "tea" } }), { key, pool: "workflow" });
  expect(first).toMatchObject({ key, status: "queued" });
  const ended = await publisher.ended(key);
  const run = ended["result"] as unknown as WorkflowRun;
  expect(run).toMatchObject({ id: first.job_id, status: "succeeded", mode: "async", output: { text: "tea!" } });
  expect(ended["credits_used"]).toBe(run.creditsUsed);
  expect(await bench.read(run.id)).toMatchObject({ status: "succeeded", input: { word: "tea" } });
  const again = await publisher.submit(ask({ input: { word: "tea" } }), { key, pool: "workflow" });
  expect(again).toMatchObject({ job_id: first.job_id, status: "completed" });
  const events = await bench.stack.query<{ type: string }>(
    "select type from event where metadata ->> 'runId' = $1 or metadata ->> 'jobId' = $1 order by type",
    [run.id],
  );
  expect(events.map(({ type }) => type)).toEqual(["run.started", "run.succeeded"]);
});

test("a key whose run is not kept any more begins it anew, and each step of it is paid once more", async () => {
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
  // The step's job, and the one that asked for the run.
  expect(await dropEndedJobs(database, 86_400_000, 10)).toHaveLength(2);
  await publisher.submit(ask({ input: { word: "tea" } }), { key, pool: "workflow" });
  const ended = await eventually("it ends twice", () => {
    const ends = publisher.answers.filter((answer) => answer.key === key && answer.status === "completed");
    return ends.length === 2 && ends;
  });
  expect(ended[1]).toMatchObject({ job_id: id, result: { status: "succeeded", output: { text: "tea!" } } });
  expect(ended[1]?.credits_used).toBe(ended[0]?.credits_used ?? NaN);
  const usage = await bench.stack.query<{ attempt: number; settled: bigint }>(
    "select attempt, settled from usage_record where job_id in (select id from job where run_id = $1 and id <> $1) order by 1",
    [id],
  );
  expect(usage).toEqual([1, 2].map((attempt) => ({ attempt, settled: usage[0]?.settled ?? 0n })));
  expect(await holds()).toEqual([]);
  expect(await bench.stack.query("select * from audit_ledger()")).toEqual([]);
});

test("a key whose run is still kept finds that run, however old its job is, and no second one is begun beside it", async () => {
  const key = newId();
  const { job_id: id } = await publisher.submit(ask({ input: { word: "tea" } }), { key, pool: "workflow" });
  await publisher.ended(key);
  await bench.stack.query("update job set ended_at = ended_at - interval '1 year' where run_id = $1", [id]);
  // The step's job alone.
  expect(await dropEndedJobs({ query: bench.stack.query }, 86_400_000, 10)).toHaveLength(1);
  const again = await publisher.submit(ask({ input: { word: "tea" } }), { key, pool: "workflow" });
  expect(again).toMatchObject({ job_id: id, status: "completed", result: { output: { text: "tea!" } } });
  const other = await publisher.submit(ask({ input: { word: "coffee" } }), { key, pool: "workflow" });
  expect(other).toMatchObject({ status: "refused", error: { code: "idempotency_key_reused" } });
});

test("a run that fails is told as failed, with the run", async () => {
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
])("%s is refused, and begins nothing", async (_name, body, code) => {
  expect(await publisher.submit(body(), { pool: "workflow" })).toMatchObject({ status: "refused", error: { code } });
});

test("a key of the billing role is refused, as over HTTP, also for a workflow that is shared", async () => {
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
  const asked = publisher.submit(ask({ input: { word: "tea" } }), {
    pool: "workflow",
    headers: { "Sluice-Key-Id": keyId },
  });
  expect(await asked).toMatchObject({ status: "refused", error: { code: "permission_denied" } });
  expect(await runs()).toEqual(before);
});
test("a run waits while its workspace has as many under way as it may, and begins when one has ended", async () => {
  const rows = await bench.stack.query<{ id: string }>(
    `insert into run (id, workspace_id, key_id, member_id, definition, mode, lane, status, max_attempts, progressed_at)
     select gen_random_uuid(), m.workspace_id, m.id, m.id, '{}', 'async', 'batch', 'running', 1, now() + interval '1 hour'
     from (select workspace_id, id from member where workspace_id = $2 limit 1) m, generate_series(1, $1::int) returning id`,
    [LIMITS.activeRunsMax, bench.workspace.id],
  );
  const key = newId();
  const { job_id: id } = await publisher.submit(ask({ input: { word: "later" } }), { key, pool: "workflow" });
  const rests = "select 1 from job where id = $1 and state = 'queued' and rests > 0";
  await eventually("it rests", async () => (await bench.stack.query(rests, [id])).length === 1);
  await bench.stack.query("delete from run where id = any ($1::uuid[])", [rows.map((row) => row.id)]);
  const ended = await publisher.ended(key, 40_000);
  expect([ended.status, (ended["result"] as unknown as WorkflowRun).output]).toEqual(["completed", { text: "later!" }]);
}, 60_000);

test("a message stays in the stream while as many runs wait to begin as may be", async () => {
  await bench.stack.query(
    `insert into job (id, workspace_id, pool, lane, kind, modality, state, deadline, not_before, work)
     select gen_random_uuid(), $2, 'workflow', 'batch', 'workflow', 'text', 'queued', now() + interval '1 day', now() + interval '1 day', '{}'
     from generate_series(1, $1::int)`,
    [LIMITS.ticketsWaitingMax, bench.workspace.id],
  );
  const key = newId();
  const message = ask({ input: { word: "patient" } });
  expect(await publisher.submit(message, { key, pool: "workflow" })).toMatchObject({ key, status: "waiting" });
  await bench.stack.query("delete from job where workspace_id = $1 and not_before > now() + interval '1 hour'", [
    bench.workspace.id,
  ]);
  expect(await publisher.ended(key, 40_000)).toMatchObject({ status: "completed" });
}, 60_000);

test("many are begun and all end; their tickets hold nothing", async () => {
  const keys = Array.from({ length: 30 }, () => newId());
  await Promise.all(keys.map((key) => publisher.publish(ask({ input: { word: key } }), { key, pool: "workflow" })));
  const ends = await Promise.all(keys.map((key) => publisher.ended(key, 40_000)));
  expect(ends.map(({ status, result }) => [status, (result as { output?: unknown } | undefined)?.output])).toEqual(
    keys.map((key) => ["completed", { text: `${key}!` }]),
  );
  await eventually("no hold is open", async () => (await holds()).length === 0);
});
