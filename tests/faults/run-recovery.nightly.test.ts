/**
 * Fault: workers of runs die when what they have written is to be told or done: an end, a cancel, a step that is late; or there are
 * none for a long time. Expected: whoever comes next tells and does it; nothing begins after a cancel; a run waits for workers.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { WorkflowRun } from "#schemas/generated/types.ts";
import { openDatabase } from "#shared/database/client.ts";
import { countRecovery, giveUpRun } from "#shared/database/run-work.ts";
import { takeStalledRuns } from "#shared/database/run-sweeps.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { notifyRun } from "#shared/queue/run-notice.ts";
import { type ManagedProcess, startRole } from "#tests/support/role-process.ts";
import { subscribeToEvents } from "#tests/support/tenant.ts";

import { type Bed, startBed } from "./bed.ts";
import { oldestKey, openPublisher, type Publisher } from "./publisher.ts";
import { eventually } from "./wait.ts";

let bed: Bed;
let workspaceId: string;
let publisher: Publisher;
let chat: ManagedProcess;
beforeAll(async () => {
  bed = await startBed({ workers: 0, behaviours: ["delay-20", "delay-2000"] });
  const [row] = await bed.stack.query<{ id: string }>("select id from workspace limit 1");
  workspaceId = row?.id ?? "";
  await subscribeToEvents(bed.stack, workspaceId);
  publisher = await openPublisher(bed.stack.natsUrl, await oldestKey(bed.stack, workspaceId));
  chat = await startRole(["worker", "chat"], bed.stack.env);
}, 90_000);
afterAll(async () => {
  await publisher.close();
  await chat.stop();
  await bed.stop();
});

async function call<T = WorkflowRun>(path: string, body?: object, method = body ? "POST" : "GET"): Promise<T> {
  const { url, key } = bed.target();
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return (await answer.json()) as T;
}

const flat = (id: string, content: string, more: object = {}) => ({
  id,
  type: "model",
  model: "flat",
  params: { messages: [{ role: "user", content }] },
  ...more,
});
const slow = (id: string, content: string, more: object = {}) => ({
  ...flat(id, content, more),
  model: "mock-delay-2000",
});

const worker = (failpoint?: string) =>
  startRole(["worker", "workflow"], { ...bed.stack.env, ...(failpoint ? { SLUICE_FAILPOINT: failpoint } : {}) });

const endOf = (id: string) =>
  eventually(
    `run ${id} ends`,
    async () => {
      const run = await call(`/v1/workflows/runs/${id}`);
      return run.status === "queued" || run.status === "running" ? undefined : run;
    },
    60_000,
  );

async function submitRun(definition: object, body: object = {}) {
  const { id: workflow } = await call("/v1/workflows", { name: "w", definition });
  const key = newId();
  const told = await publisher.submit(
    { endpoint: "/v1/workflows/{id}/runs", workflow, body },
    { key, pool: "workflow" },
  );
  return { key, workflow, jobId: told.job_id };
}

test("a publisher receives the end of its run, although the worker that ended it died", async () => {
  const mortal = await worker("run.ended");
  const { key, jobId } = await submitRun({ steps: [flat("a", "told late")] });
  expect((await mortal.exited()).signal).toBe("SIGKILL");
  const next = await worker();
  try {
    expect(await publisher.ended(key, 40_000)).toMatchObject({ status: "completed" });
    expect(await call(`/v1/images/jobs/${jobId}`)).toMatchObject({ status: "completed", credits_used: 1 });
    // A second look at the run sends nothing more.
    expect(await bed.stack.query("select told from run where id = $1", [jobId])).toEqual([{ told: true }]);
    notifyRun(publisher.connection, { id: jobId, workspace_id: workspaceId, lane: "batch" }, { isFullCheck: true });
    await endOf((await submitRun({ steps: [flat("a", "behind it")] })).jobId);
    expect(publisher.answers.filter((answer) => answer.key === key).map(({ status }) => status)).toEqual([
      "queued",
      "completed",
    ]);
  } finally {
    await next.stop();
  }
}, 120_000);

test("an accepted run continues, although its workflow is deleted before a worker receives it", async () => {
  const { key, workflow } = await submitRun({ steps: [flat("a", "kept")] });
  await call(`/v1/workflows/${workflow}`, undefined, "DELETE");
  const next = await worker();
  try {
    expect(await publisher.ended(key, 40_000)).toMatchObject({ status: "completed", result: { status: "succeeded" } });
  } finally {
    await next.stop();
  }
}, 120_000);

test("a run that no worker receives for a day fails, and its publisher receives the end", async () => {
  const { key, jobId } = await submitRun({ steps: [flat("a", "too late")] });
  await bed.stack.query("update run set progressed_at = now() - interval '25 hours' where id = $1", [jobId]);
  expect(await publisher.ended(key, 40_000)).toMatchObject({
    status: "failed",
    job_id: jobId,
    error: { code: "overloaded" },
    credits_used: 0,
  });
  expect(await call(`/v1/workflows/runs/${jobId}`)).toMatchObject({ status: "failed", stepRuns: [] });
}, 60_000);

test("an unstarted run ends immediately when its publisher cancels its job, and the publisher receives the end", async () => {
  const { key, jobId } = await submitRun({ steps: [flat("a", "never")] });
  await call(`/v1/images/jobs/${jobId}/cancel`, {}, "POST");
  expect(await publisher.ended(key, 40_000)).toMatchObject({ status: "cancelled", job_id: jobId, credits_used: 0 });
  const run = await bed.stack.query("select status, ended_at is not null as is_over from run where id = $1", [jobId]);
  expect(run).toEqual([{ status: "cancelled", is_over: true }]);
}, 60_000);

test("an ingress that dies after the start of a run leaves one run, and its publisher receives its acceptance and end", async () => {
  const { id: workflow } = await call("/v1/workflows", { name: "w", definition: { steps: [flat("a", "one run")] } });
  const [ingress] = bed.stack.ingresses;
  await ingress?.stop();
  const mortal = await startRole(["ingress"], { ...bed.stack.env, PORT: "0", SLUICE_FAILPOINT: "run.inserted" });
  const key = newId();
  await publisher.publish({ endpoint: "/v1/workflows/{id}/runs", workflow, body: {} }, { key, pool: "workflow" });
  expect((await mortal.exited()).signal).toBe("SIGKILL");
  await ingress?.restart();
  const heard = () => publisher.answers.filter((answer) => answer.key === key).map(({ status }) => status);
  await eventually("it is queued", () => heard().length > 0, 60_000);
  const next = await worker();
  try {
    await publisher.ended(key, 40_000);
    expect(heard()).toEqual(["queued", "completed"]);
    expect(await bed.stack.query("select status from run where publisher_key = $1", [key])).toEqual([
      { status: "succeeded" },
    ]);
  } finally {
    await next.stop();
  }
}, 120_000);

test("a cancel reaches the runs of steps, although the worker that should notify them died", async () => {
  const first = await worker();
  const { id: child } = await call("/v1/workflows", {
    name: "child",
    definition: {
      steps: [
        slow("s1", "one"),
        slow("s2", "two", { depends_on: ["s1"] }),
        flat("s3", "three", { depends_on: ["s2"] }),
      ],
    },
  });
  const definition = { steps: [{ id: "sub", type: "sub_pipeline", workflow_id: child }] };
  const { id } = await call("/v1/pipelines/runs", { mode: "async", definition });
  const childId = await eventually("the child's first step runs", async () => {
    const [own] = (await call(`/v1/workflows/runs/${id}`)).stepRuns[0]?.childRunIds ?? [];
    if (own === undefined) return undefined;
    return (await call(`/v1/workflows/runs/${own}`)).stepRuns[0]?.status === "running" ? own : undefined;
  });
  await first.stop();
  expect(await call<object>(`/v1/workflows/runs/${id}/cancel`, {})).toEqual({ id, status: "cancelled" });
  const mortal = await worker("run.saved").catch(() => undefined);
  await mortal?.exited();
  const next = await worker();
  try {
    expect((await endOf(childId)).status).toBe("cancelled");
    const jobs = await bed.stack.query("select step_id from job where run_id = $1", [childId]);
    expect(jobs).toEqual([{ step_id: "s1" }]);
  } finally {
    await Promise.all([next.stop(), mortal?.stop()]);
  }
}, 120_000);

test("a call is not started after its step has continued without it", async () => {
  await chat.stop();
  const mortal = await worker("run.saved:2");
  const mark = `late ${newId()}`;
  const definition = { steps: [flat("a", mark, { timeout_seconds: 2 })] };
  const { id } = await call("/v1/pipelines/runs", { mode: "async", definition });
  expect((await mortal.exited()).signal).toBe("SIGKILL");
  // The step is late, as it is written, before anything can start its call; whoever was to cancel the call is dead.
  await Bun.sleep(2_000);
  chat = await startRole(["worker", "chat"], bed.stack.env);
  const next = await worker();
  try {
    expect(await endOf(id)).toMatchObject({ status: "failed", error: { code: "step_timeout" } });
    await eventually("its call ends", async () => {
      const rows = await bed.stack.query("select 1 from job where run_id = $1 and state in ('queued', 'running')", [
        id,
      ]);
      return rows.length === 0;
    });
    expect(bed.upstream.requests.filter(({ body }) => JSON.stringify(body).includes(mark))).toEqual([]);
    expect(await call(`/v1/workflows/runs/${id}`)).toMatchObject({ creditsUsed: 0 });
  } finally {
    await next.stop();
  }
}, 120_000);

describe("a stalled run", () => {
  const database = () =>
    openDatabase({ url: bed.stack.databaseUrl, poolMax: 2, log: createLogger({ level: "silent", role: "test" }) });

  test("waits for workers through any number of searches, and fails only after attempts that workers took", async () => {
    const { id } = await call("/v1/pipelines/runs", { mode: "async", definition: { steps: [flat("a", "waits")] } });
    const own = database();
    try {
      const age = "update run set progressed_at = now() - interval '1 hour', woken_at = null where id = $1";
      for (let look = 0; look < 20; look += 1) {
        await bed.stack.query(age, [id]);
        await takeStalledRuns(own, { olderMs: 60_000, max: 500 });
      }
      expect(await call(`/v1/workflows/runs/${id}`)).toMatchObject({ status: "queued" });
      const next = await worker();
      try {
        expect(await endOf(id)).toMatchObject({ status: "succeeded" });
      } finally {
        await next.stop();
      }
    } finally {
      await own.close();
    }
  }, 90_000);

  test.each([
    [false, "failed", ["run.failed"]],
    [true, "cancelled", ["run.cancelled"]],
  ])("that fails ends once, with a cancel requested %p as %s", async (isCancelled, status, told) => {
    const { id } = await call("/v1/pipelines/runs", { mode: "async", definition: { steps: [flat("a", "given up")] } });
    const own = database();
    try {
      await bed.stack.query(
        "update run set progressed_at = now() - interval '1 hour', cancel_requested = $2 where id = $1",
        [id, isCancelled],
      );
      expect(await countRecovery(own, id, { weight: 10, olderMs: 60_000 })).toBe(10);
      expect(await countRecovery(own, id, { weight: -9, olderMs: 60_000 })).toBe(1);
      await giveUpRun(own, id);
      await giveUpRun(own, id);
      expect(await call(`/v1/workflows/runs/${id}`)).toMatchObject({ status });
      const events = await bed.stack.query<{ type: string }>("select type from event where metadata ->> 'runId' = $1", [
        id,
      ]);
      expect(events.map(({ type }) => type)).toEqual(told);
      expect(await countRecovery(own, id, { weight: 10, olderMs: 0 })).toBeUndefined();
    } finally {
      await own.close();
    }
  });
});
