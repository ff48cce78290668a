/** Runs that are asked for by batch messages. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { WorkflowRun } from "#schemas/generated/types.ts";
import { newId } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import { openPublisher, type Publisher } from "#tests/faults/publisher.ts";
import { eventually } from "#tests/faults/wait.ts";

import { type RunsBench, say, startRunsBench } from "./runs-bench.ts";

let bench: RunsBench;
let publisher: Publisher;
let workflow: string;
const ENDPOINT = "/v1/workflows/{id}/runs";

beforeAll(async () => {
  bench = await startRunsBench();
  const [row] = await bench.stack.query<{ id: string }>("select id from workspace limit 1");
  publisher = await openPublisher(bench.stack.natsUrl, row?.id ?? "");
  workflow = await bench.store({
    inputs: { word: { type: "string", required: true } },
    steps: [say("a", "${{ inputs.word }}!")],
    output: { text: "${{ steps.a.output.text }}" },
  });
}, 120_000);
afterAll(async () => {
  await publisher.close();
  await bench.close();
});

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

test("a run waits while its workspace has as many under way as it may, and begins when one has ended", async () => {
  const rows = await bench.stack.query<{ id: string }>(
    `insert into run (id, workspace_id, key_id, member_id, definition, mode, lane, status, max_attempts, progressed_at)
     select gen_random_uuid(), m.workspace_id, m.id, m.id, '{}', 'async', 'batch', 'running', 1, now() + interval '1 hour'
     from (select workspace_id, id from member limit 1) m, generate_series(1, $1::int) returning id`,
    [LIMITS.activeRunsMax],
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
     select gen_random_uuid(), w.id, 'workflow', 'batch', 'workflow', 'text', 'queued', now() + interval '1 day', now() + interval '1 day', '{}'
     from (select id from workspace limit 1) w, generate_series(1, $1::int)`,
    [LIMITS.ticketsWaitingMax],
  );
  const key = newId();
  const message = ask({ input: { word: "patient" } });
  expect(await publisher.submit(message, { key, pool: "workflow" })).toMatchObject({ key, status: "waiting" });
  await bench.stack.query("delete from job where not_before > now() + interval '1 hour'");
  expect(await publisher.ended(key, 40_000)).toMatchObject({ status: "completed" });
}, 60_000);

test("many are begun and all end; their tickets hold nothing", async () => {
  const keys = Array.from({ length: 30 }, () => newId());
  await Promise.all(keys.map((key) => publisher.publish(ask({ input: { word: key } }), { key, pool: "workflow" })));
  const ends = await Promise.all(keys.map((key) => publisher.ended(key, 40_000)));
  expect(ends.map(({ status, result }) => [status, (result as { output?: unknown } | undefined)?.output])).toEqual(
    keys.map((key) => ["completed", { text: `${key}!` }]),
  );
  await eventually("no hold is open", async () => (await bench.stack.query("select 1 from hold")).length === 0);
});
