/**
 * Fault: workers of runs die when what they have written is to be told or done: an end, a cancel, a step that is late; or there are
 * none for a long time. Expected: whoever comes next tells and does it; nothing begins after a cancel; a run waits for workers.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { WorkflowRun } from "#schemas/generated/types.ts";
import { openDatabase } from "#shared/database/client.ts";
import { countRecovery, giveUpRun } from "#shared/database/run-work.ts";
import { takeStalledRuns } from "#shared/database/run-sweeps.ts";
import { newId } from "#shared/ids.ts";
import { createLogger } from "#shared/logger.ts";
import { type ManagedProcess, startRole } from "#tests/support/role-process.ts";

import { type Bed, startBed } from "./bed.ts";
import { openPublisher, type Publisher } from "./publisher.ts";
import { eventually } from "./wait.ts";

let bed: Bed;
let publisher: Publisher;
let chat: ManagedProcess;
beforeAll(async () => {
  bed = await startBed({ workers: 0, behaviours: ["delay-20", "delay-2000"] });
  const [row] = await bed.stack.query<{ id: string }>("select id from workspace limit 1");
  publisher = await openPublisher(bed.stack.natsUrl, row?.id ?? "");
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

const ticketOf = async (id: string) => {
  const [row] = await bed.stack.query<{ state: string; is_long: boolean }>(
    "select state, lease_until > now() + interval '1 hour' as is_long from job where id = $1",
    [id],
  );
  return row;
};

async function submitRun(definition: object, body: object = {}) {
  const { id: workflow } = await call("/v1/workflows", { name: "w", definition });
  const key = newId();
  const told = await publisher.submit(
    { endpoint: "/v1/workflows/{id}/runs", workflow, body },
    { key, pool: "workflow" },
  );
  return { key, workflow, jobId: told.job_id };
}

test("a publisher hears of the end of its run, though the worker that ended it died", async () => {
  const mortal = await worker("run.ended");
  const { key, jobId } = await submitRun({ steps: [flat("a", "told late")] });
  expect((await mortal.exited()).signal).toBe("SIGKILL");
  const next = await worker();
  try {
    expect(await publisher.ended(key, 40_000)).toMatchObject({ status: "completed" });
    expect(await ticketOf(jobId)).toMatchObject({ state: "completed" });
    const again = await call<{ credits_used: number }>(`/v1/images/jobs/${jobId}`);
    expect(again.credits_used).toBe(1);
    const usage = "select status, settled from usage_record where job_id = $1";
    expect(await bed.stack.query(usage, [jobId])).toEqual([{ status: "succeeded", settled: 0n }]);
  } finally {
    await next.stop();
  }
}, 120_000);

test("a run that is refused at its turn is told, though its books are locked at first; its lease is short", async () => {
  const { key, workflow, jobId } = await submitRun({ steps: [flat("a", "refused")] });
  await call(`/v1/workflows/${workflow}`, undefined, "DELETE");
  const database = openDatabase({
    url: bed.stack.databaseUrl,
    poolMax: 2,
    log: createLogger({ level: "silent", role: "test" }),
  });
  let next: ManagedProcess | undefined;
  try {
    await database.slowTransaction(60_000, async (tx) => {
      await tx.query("select from balance for update");
      next = await worker();
      const taken = await eventually("a worker has it", async () => {
        const ticket = await ticketOf(jobId);
        return ticket?.state === "running" ? ticket : undefined;
      });
      expect(taken.is_long).toBe(false);
    });
    expect(await publisher.ended(key, 40_000)).toMatchObject({
      status: "failed",
      error: { code: "workflow_not_found" },
    });
  } finally {
    await next?.stop();
    await database.close();
  }
}, 120_000);

test("a cancel reaches the runs of steps, though the worker that was to tell them died", async () => {
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

test("a call whose step has gone on without it is not begun any more", async () => {
  await chat.stop();
  const mortal = await worker("run.saved:2");
  const mark = `late ${newId()}`;
  const definition = { steps: [flat("a", mark, { timeout_seconds: 2 })] };
  const { id } = await call("/v1/pipelines/runs", { mode: "async", definition });
  expect((await mortal.exited()).signal).toBe("SIGKILL");
  // The step is late by now, as it is written; whoever was to cancel its call is dead.
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

describe("a run that stands still", () => {
  const database = () =>
    openDatabase({ url: bed.stack.databaseUrl, poolMax: 2, log: createLogger({ level: "silent", role: "test" }) });

  test("waits for workers however often it is looked for, and is given up for looks that they took alone", async () => {
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
  ])("and is given up ends once, with a cancel asked %p as %s", async (isCancelled, status, told) => {
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
