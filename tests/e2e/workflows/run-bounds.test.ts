/** Bounds of one call, and of a workspace's runs and storage: a caller that tries for more hears so, and others do not. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { ListObjectsV2Command } from "@aws-sdk/client-s3";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "nats";

import type { WorkflowRun } from "#schemas/generated/types.ts";
import type { ErrorEnvelope } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { notifyRun } from "#shared/queue/run-notice.ts";
import { streamName, workSubject } from "#shared/queue/subjects.ts";
import type { Storage } from "#shared/storage/client.ts";
import { storageOf } from "#tests/shared/files/bench.ts";
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";
import { startRole } from "#tests/support/role-process.ts";
import { WORKFLOW_WORK_MAX } from "#shared/workflows/limits.ts";
import { ACTIVE_RUNS_MAX, RUN_ROW_BYTES } from "#shared/database/runs.ts";

import { type RunsBench, say, startRunsBench } from "./runs-bench.ts";

const STORAGE_BYTES_MAX = 8_000_000;

let bench: RunsBench;
let storage: Storage;
beforeAll(async () => {
  bench = await startRunsBench({
    apart: true,
    workers: 0,
    janitor: false,
    env: { SLUICE_STORAGE_BYTES_MAX: String(STORAGE_BYTES_MAX) },
  });
  storage = storageOf(bench.stack.env);
}, 120_000);
afterAll(async () => {
  storage.close();
  await bench.close();
});

/** A call of another workspace than the bench's. */
async function callAs({ key }: Pick<Workspace, "key">, path: string, body?: object) {
  const answer = await fetch((bench.stack.baseUrls[0] ?? "") + path, {
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: JSON.parse(text) as WorkflowRun & ErrorEnvelope };
}

const worker = () => startRole(["worker", "workflow"], bench.stack.env);
const newWorkspace = () => createWorkspace(bench.stack, { creditsNano: 10n ** 12n });
const FREE = say("a", "x", { if: false });
const sub = (id: string, workflow: string, more: object = {}) => ({
  id,
  type: "sub_pipeline",
  workflow_id: workflow,
  ...more,
});
async function storeAs(owner: Workspace, definition: object): Promise<string> {
  const { body } = await callAs(owner, "/v1/workflows", { name: "w", definition });
  return body.id;
}
const endedAs = (owner: Workspace, id: string) =>
  eventually(
    `run ${id} ends`,
    async () => {
      const { body } = await callAs(owner, `/v1/workflows/runs/${id}`);
      return ["queued", "running"].includes(body.status) ? undefined : body;
    },
    60_000,
  );
const usedBy = async (owner: Workspace): Promise<number> =>
  Number((await callAs(owner, "/v1/files")).headers.get("x-storage-used-bytes"));
async function objectsOf(prefix: string): Promise<string[]> {
  const { Contents = [] } = await storage.client.send(
    new ListObjectsV2Command({ Bucket: storage.bucket, Prefix: prefix }),
  );
  return Contents.map(({ Key = "" }) => Key);
}

describe("one call", () => {
  test("is limited to a number of calls and runs, regardless of its expressions and of the number of workers", async () => {
    const owner = await newWorkspace();
    const leaf = await storeAs(owner, { steps: [FREE] });
    const mid = await storeAs(owner, {
      inputs: { items: { type: "array" } },
      steps: [sub("each", leaf, { for_each: "${{ inputs.items }}", concurrency: 32 })],
    });
    const items = Array.from({ length: 20 }, (_, at) => at);
    const definition = {
      inputs: { items: { type: "array" } },
      steps: [
        sub("mids", mid, {
          for_each: "${{ inputs.items }}",
          concurrency: 20,
          input: { items: "${{ inputs.items }}" },
          on_error: "continue",
        }),
      ],
    };
    const begun = await callAs(owner, "/v1/pipelines/runs", { definition, input: { items }, mode: "async" });
    const { id } = begun.body;
    // Room for the 20 runs of its own step, and for two and a half of theirs with 20 runs of a step each.
    const left = 20 + 2 * 40 + 20;
    await bench.stack.query("update run set work = $2 where id = $1", [id, WORKFLOW_WORK_MAX - left]);
    const workers = await Promise.all([worker(), worker()]);
    try {
      const run = await endedAs(owner, id);
      const [row] = await bench.stack.query<{ runs: number; work: number; errors: string[] }>(
        `select (select count(*)::int from run where root_id = $1) as runs, (select work from run where id = $1),
           (select array_agg(distinct coalesce(error ->> 'code', '-')) from run where root_id = $1 and status = 'failed') as errors`,
        [id],
      );
      expect(row?.work).toBeLessThanOrEqual(WORKFLOW_WORK_MAX);
      // It was worth what was left: none is refused while there is room for a whole one.
      expect(row?.work).toBeGreaterThan(WORKFLOW_WORK_MAX - 40);
      expect(row?.runs).toBeLessThanOrEqual(left);
      expect(row?.errors).toEqual(["run_too_large"]);
      expect(run.stepRuns[0]).toMatchObject({ status: "succeeded" });
    } finally {
      await Promise.all(workers.map((one) => one.stop()));
    }
  }, 120_000);
});

test("a workspace with its maximum of open runs starts no further one, except nested runs of those", async () => {
  const owner = await newWorkspace();
  const leaf = await storeAs(owner, { steps: [FREE], output: { text: "done" } });
  const definition = { steps: [sub("child", leaf)], output: { text: "${{ steps.child.output.text }}" } };
  const { body: run } = await callAs(owner, "/v1/pipelines/runs", { definition, mode: "async" });
  await bench.stack.query(
    `insert into run (id, workspace_id, key_id, member_id, definition, mode, lane, max_attempts)
     select gen_random_uuid(), workspace_id, key_id, member_id, '{}', 'async', 'batch', 1 from run, generate_series(2, $2::int) where id = $1`,
    [run.id, ACTIVE_RUNS_MAX],
  );
  try {
    const refused = await callAs(owner, `/v1/workflows/${leaf}/runs`, { mode: "async" });
    expect([refused.status, refused.body.error.code]).toEqual([503, "overloaded"]);
    expect(refused.body.error.message).toContain(`${ACTIVE_RUNS_MAX} active runs`);
    const one = await worker();
    try {
      expect(await endedAs(owner, run.id)).toMatchObject({ status: "succeeded", output: { text: "done" } });
    } finally {
      await one.stop();
    }
  } finally {
    await bench.stack.query("delete from run where workspace_id = $1 and definition::text = '{}'", [owner.id]);
  }
}, 60_000);

describe("a large input", () => {
  const definition = {
    inputs: { text: { type: "string" }, n: { type: "integer" } },
    steps: [FREE],
    output: { next: "${{ inputs.n + 1 }}" },
  };
  const text = "x".repeat(2_000_000);

  test("is stored in the object store and read from there, by steps and by readers; it counts as stored", async () => {
    const owner = await newWorkspace();
    const one = await worker();
    try {
      const { status, body } = await callAs(owner, "/v1/pipelines/runs", { definition, input: { text, n: 1 } });
      expect([status, body.status, body.output]).toEqual([200, "succeeded", { next: 2 }]);
      const [row] = await bench.stack.query<{ input: string | null; input_ref: string }>(
        "select input, input_ref from run where id = $1",
        [body.id],
      );
      expect(row?.input).toBeNull();
      expect(row?.input_ref).toStartWith(`run-inputs/${body.id}/`);
      expect((await callAs(owner, `/v1/workflows/runs/${body.id}`)).body.input).toEqual({ text, n: 1 });
      const used = await usedBy(owner);
      expect(used).toBeGreaterThan(2_000_000);
      expect(used).toBeLessThan(2_000_000 + 3 * RUN_ROW_BYTES);
      // A small one stands in its row.
      const small = await callAs(owner, "/v1/pipelines/runs", { definition, input: { text: "x".repeat(1_000) } });
      expect(await objectsOf(`run-inputs/${small.body.id}`)).toEqual([]);
    } finally {
      await one.stop();
    }
  }, 60_000);

  test("that exceeds the workspace's storage is rejected, and leaves nothing; other workspaces continue", async () => {
    const owner = await newWorkspace();
    const before = await objectsOf("run-inputs/");
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        callAs(owner, "/v1/pipelines/runs", { definition, input: { text }, mode: "async" }),
      ),
    );
    const refused = answers.filter(({ status }) => status !== 202);
    expect(refused.map(({ status, body }) => [status, body.error.code, body.error.type])).toEqual(
      Array.from({ length: 5 }, () => [403, "storage_limit_exceeded", "quota_exceeded"]),
    );
    expect(await usedBy(owner)).toBeLessThanOrEqual(STORAGE_BYTES_MAX);
    expect((await objectsOf("run-inputs/")).length - before.length).toBe(3);
    const other = await callAs(await newWorkspace(), "/v1/pipelines/runs", { definition, mode: "async" });
    expect(other.status).toBe(202);
  });
});

test("a run that would store more than the workspace's storage fails, with the reason", async () => {
  const owner = await newWorkspace();
  const echo = await storeAs(owner, {
    inputs: { text: { type: "string" } },
    steps: [FREE],
    output: { text: "${{ inputs.text }}" },
  });
  const definition = {
    inputs: { text: { type: "string" } },
    steps: [
      sub("each", echo, {
        for_each: Array.from({ length: 200 }, (_, at) => at),
        input: { text: "${{ inputs.text }}" },
      }),
    ],
  };
  const input = { text: "x".repeat(50_000) };
  const one = await worker();
  try {
    const { body } = await callAs(owner, "/v1/pipelines/runs", { definition, input, mode: "async" });
    expect(await endedAs(owner, body.id)).toMatchObject({
      status: "failed",
      error: { code: "storage_limit_exceeded" },
    });
    const used = await usedBy(owner);
    expect(used).toBeLessThanOrEqual(STORAGE_BYTES_MAX);
    expect(used).toBeGreaterThan(STORAGE_BYTES_MAX - 200_000);
  } finally {
    await one.stop();
  }
}, 60_000);

test("a definition that exceeds the storage is rejected like a file", async () => {
  const owner = await newWorkspace();
  await bench.stack.query(
    `insert into file (id, workspace_id, state, bytes, filename, purpose, media_type, sha256, block_sha256, block_bytes)
     values ('file-' || md5($1::text), $1::text::uuid, 'ready', $2::bigint, 'f', 'user_data', 'text/plain', '', '', 1)`,
    [owner.id, STORAGE_BYTES_MAX - 300],
  );
  await bench.stack.query("insert into file_storage (workspace_id, used, files) values ($1, $2, 1)", [
    owner.id,
    STORAGE_BYTES_MAX - 300,
  ]);
  const store = () => callAs(owner, "/v1/workflows", { name: "w", definition: { steps: [FREE] } });
  expect((await store()).status).toBe(201);
  const refused = await store();
  expect([refused.status, refused.body.error.code]).toEqual([403, "storage_limit_exceeded"]);
  const begun = await callAs(owner, "/v1/pipelines/runs", { definition: { steps: [FREE] } });
  expect([begun.status, begun.body.error.code]).toEqual([403, "storage_limit_exceeded"]);
});

test("a workspace's run gets its turn while thousands of notices of another wait before it", async () => {
  const [loud, quiet] = [await newWorkspace(), await newWorkspace()];
  const connection = await connect({ servers: bench.stack.natsUrl });
  const words = async (): Promise<number> => {
    const manager = await jetstreamManager(connection);
    const subject = workSubject("workflow", "live", loud.id);
    const { state } = await manager.streams.info(streamName("workflow"), { subjects_filter: subject });
    return (state.subjects ?? {})[subject] ?? 0;
  };
  // Each is looked for in vain, which takes a turn as any pass does.
  for (let at = 0; at < 2_000; at += 1) notifyRun(connection, { id: newId(), workspace_id: loud.id, lane: "live" });
  await connection.flush();
  await eventually("they wait", async () => (await words()) === 2_000);
  const answered = callAs(quiet, "/v1/pipelines/runs", { definition: { steps: [FREE] } });
  const one = await worker();
  try {
    const { body } = await answered;
    expect(body.status).toBe("succeeded");
    // Before all but some of theirs, though every one of them was there first.
    expect(await words()).toBeGreaterThan(500);
  } finally {
    await one.stop();
    await connection.close();
  }
}, 60_000);
