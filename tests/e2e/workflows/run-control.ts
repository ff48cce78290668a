/** Runs that are cancelled, tried again, repeated under a key, or refused; and who sees them. */
import { beforeAll, describe, expect, test } from "bun:test";

import { eventually } from "#tests/faults/wait.ts";
import { errorOf } from "#tests/e2e/media/bench.ts";
import { subscribeToEvents } from "#tests/support/tenant.ts";
import { framesOf, say } from "./runs-bench.ts";
import { runsOfNewWorkspace, sharedRuns, type WorkspaceRuns } from "./shared-runs.ts";

let bench: WorkspaceRuns;
beforeAll(async () => {
  bench = await runsOfNewWorkspace(sharedRuns());
  await subscribeToEvents(bench.stack, bench.workspace.id);
}, 120_000);

const slow = (id: string, more: object = {}) => ({
  id,
  type: "model",
  model: "sandbox-slow",
  params: { messages: [{ role: "user", content: "Say exactly and nothing else: slowly" }] },
  ...more,
});
const post = (path: string, body: object = {}) => bench.call(path, body);

describe("cancel", () => {
  test("ends a run immediately: nothing of it starts afterwards, and no step stays open", async () => {
    const { run } = await bench.run(
      { steps: [say("a", "1"), slow("b"), say("c", "3", { depends_on: ["b"] })] },
      { mode: "async" },
    );
    await eventually("a has ended and b runs", async () => {
      const { stepRuns } = await bench.read(run.id);
      return stepRuns.map(({ id, status }) => `${id} ${status}`).join() === "a succeeded,b running";
    });
    const answer = await post(`/v1/workflows/runs/${run.id}/cancel`);
    expect([answer.status, await answer.json()]).toEqual([200, { id: run.id, status: "cancelled" }]);
    expect((await bench.read(run.id)).status).toBe("cancelled");
    const ended = await eventually("all steps have ended", async () => {
      const now = await bench.read(run.id);
      return now.stepRuns.every(({ status }) => status !== "running" && status !== "queued") && now.durationMs > 0
        ? now
        : undefined;
    });
    expect(ended).not.toHaveProperty("error");
    expect(ended).not.toHaveProperty("output");
    expect(ended.stepRuns.map(({ id, status }) => [id, status])).toEqual([
      ["a", "succeeded"],
      ["b", "cancelled"],
    ]);
    const again = await post(`/v1/workflows/runs/${run.id}/cancel`);
    expect(await again.json()).toEqual({ id: run.id, status: "cancelled" });
  });

  test("of an ended run changes nothing, and returns its end", async () => {
    const { run } = await bench.run({ steps: [say("a", "1")] });
    const answer = await post(`/v1/workflows/runs/${run.id}/cancel`);
    expect(await answer.json()).toEqual({ id: run.id, status: "succeeded" });
  });

  test("of a run that never started returns no duration", async () => {
    const { run } = await bench.run({ steps: [say("a", "1")] });
    // As when no worker came to it before it was cancelled; the janitor finds it.
    const [made] = await bench.stack.query<{ id: string }>(
      `insert into run (id, workspace_id, key_id, member_id, definition, mode, lane, max_attempts, cancel_requested, progressed_at)
       select gen_random_uuid(), workspace_id, key_id, member_id, definition, 'async', 'batch', 1, true, now() - interval '1 hour'
       from run where id = $1 returning id`,
      [run.id],
    );
    const told = await eventually("its end is told", async () => {
      const [event] = await bench.stack.query<{ metadata: object }>(
        "select metadata from event where type = 'run.cancelled' and metadata ->> 'runId' = $1",
        [made?.id ?? ""],
      );
      return event?.metadata;
    });
    expect(told).toEqual({ runId: made?.id as string, creditsUsed: 0 });
    expect(await bench.read(made?.id ?? "")).toMatchObject({ status: "cancelled", durationMs: 0 });
  });

  test("reaches the runs that its steps started", async () => {
    const child = await bench.store({ steps: [slow("b")] });
    const parent = { steps: [{ id: "sub", type: "sub_pipeline", workflow_id: child }] };
    const { run } = await bench.run(parent, { mode: "async" });
    const childId = await eventually("the child runs", async () => {
      const [id] = (await bench.read(run.id)).stepRuns[0]?.childRunIds ?? [];
      return id !== undefined && (await bench.read(id)).stepRuns[0]?.status === "running" ? id : undefined;
    });
    await post(`/v1/workflows/runs/${run.id}/cancel`);
    expect((await bench.ended(childId)).status).toBe("cancelled");
    const ended = await eventually("the step has ended", async () => {
      const now = await bench.read(run.id);
      return now.stepRuns[0]?.status === "cancelled" ? now : undefined;
    });
    expect(ended.status).toBe("cancelled");
  });

  test("at any moment leaves one end, which its answer contains", async () => {
    const definition = {
      steps: [say("a", "1"), say("b", "2 ${{ steps.a.status }}"), say("c", "3 ${{ steps.b.status }}")],
    };
    const runs = await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        const { run } = await bench.run(definition, { mode: "async" });
        await Bun.sleep(at * 3);
        const answer = await post(`/v1/workflows/runs/${run.id}/cancel`);
        return { id: run.id, told: ((await answer.json()) as { status: string }).status };
      }),
    );
    const ends = await Promise.all(runs.map(({ id }) => bench.ended(id)));
    expect(ends.map(({ status }) => status as string)).toEqual(runs.map(({ told }) => told));
    for (const { stepRuns, creditsUsed } of ends) {
      const sum = stepRuns.reduce((total, one) => total + one.creditsUsed, 0);
      expect(creditsUsed).toBeCloseTo(sum, 9);
    }
  });

  test("leaves the other runs of the workflow alone", async () => {
    const id = await bench.store({ steps: [slow("b")] });
    const runs = await Promise.all(Array.from({ length: 6 }, () => bench.runStored(id, { mode: "async" })));
    await post(`/v1/workflows/runs/${runs[2]?.run.id}/cancel`);
    const ends = await Promise.all(runs.map(({ run }) => bench.ended(run.id)));
    expect(ends.map(({ status }) => status)).toEqual([
      "succeeded",
      "succeeded",
      "cancelled",
      "succeeded",
      "succeeded",
      "succeeded",
    ]);
  });
});

describe("a run in mode async", () => {
  test("is answered immediately, and can be retried as a whole: successful steps are kept", async () => {
    const definition = {
      steps: [say("a", "1"), { ...slow("bad"), model: "sandbox-error" }, say("c", "3", { depends_on: ["bad"] })],
      retry: { max_attempts: 2 },
    };
    const { status, run } = await bench.run(definition, { mode: "async" });
    expect([status, run.maxAttempts]).toEqual([202, 2]);
    // A worker may have it before it is answered.
    expect(["queued", "running"]).toContain(run.status);
    const ended = await bench.ended(run.id);
    expect(ended).toMatchObject({ status: "failed", attempt: 2, error: { stepId: "bad" } });
    expect(ended.stepRuns.map(({ id, attempt, status: of }) => [id, attempt, of])).toEqual([
      ["a", 1, "succeeded"],
      ["bad", 1, "failed"],
      ["bad", 2, "failed"],
      ["c", 1, "skipped"],
      ["c", 2, "skipped"],
    ]);
    const events = await bench.stack.query<{ type: string; metadata: object }>(
      "select type, metadata from event where metadata ->> 'runId' = $1 order by occurred_at",
      [run.id],
    );
    expect(events.map(({ type }) => type)).toEqual(["run.started", "run.retrying", "run.failed"]);
    expect(events[1]?.metadata).toMatchObject({ runId: run.id, attempt: 2, maxAttempts: 2 });
    expect(events[2]?.metadata).toMatchObject({ error: { code: "upstream_error" }, creditsUsed: ended.creditsUsed });
  });

  test("keeps the definition of its start", async () => {
    const id = await bench.store({ steps: [slow("b")], output: { is: "old" } });
    const runs = await Promise.all(Array.from({ length: 50 }, () => bench.runStored(id, { mode: "async" })));
    const changed = await fetch(`${bench.stack.baseUrls[0]}/v1/workflows/${id}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${bench.stack.key}`, "content-type": "application/json" },
      body: JSON.stringify({ definition: { steps: [say("a", "x")], output: { is: "new" } } }),
    });
    expect(changed.status).toBe(200);
    const ends = await Promise.all(runs.map(({ run }) => bench.ended(run.id)));
    expect(ends.map(({ output, version }) => [output, version])).toEqual(
      Array.from({ length: 50 }, () => [{ is: "old" }, 1]),
    );
    const { run } = await bench.runStored(id);
    expect([run.output, run.version]).toEqual([{ is: "new" }, 2]);
    const { run: older } = await bench.runStored(id, { version: 1 });
    expect(older.output).toEqual({ is: "old" });
  });
});

describe("an Idempotency-Key", () => {
  test("names one run: a repeat returns it, with its input; another body is rejected", async () => {
    const definition = { inputs: { x: { type: "string" } }, steps: [say("a", "${{ inputs.x }}")] };
    const headers = { "idempotency-key": "once" };
    const first = await bench.run(definition, { input: { x: "y" } }, headers);
    const second = await bench.run(definition, { input: { x: "y" } }, headers);
    expect(second.status).toBe(200);
    expect(second.run).toMatchObject({ id: first.run.id, input: { x: "y" }, status: "succeeded" });
    const other = await bench.run(definition, { input: { x: "z" } }, headers);
    expect([other.status, (other.run as unknown as { error: { code: string } }).error.code]).toEqual([
      422,
      "idempotency_key_reused",
    ]);
  });

  test("of an open run returns a conflict, or in mode async the run; twenty concurrent calls start one run", async () => {
    const sync = Promise.all([1, 2].map(() => bench.run({ steps: [slow("a")] }, {}, { "idempotency-key": "going" })));
    const codes = (await sync).map(({ status }) => status).toSorted((one, other) => one - other);
    expect(codes).toEqual([200, 409]);
    const many = await Promise.all(
      Array.from({ length: 20 }, () =>
        bench.run({ steps: [say("a", "1")] }, { mode: "async" }, { "idempotency-key": "many" }),
      ),
    );
    expect(new Set(many.map(({ run }) => run.id)).size).toBe(1);
    expect(new Set(many.map(({ status }) => status))).toEqual(new Set([202]));
  });
});

describe("an interrupted stream", () => {
  test("resumes after the last frame of its reader", async () => {
    const answer = await post("/v1/pipelines/runs", {
      definition: { steps: [say("a", "1"), slow("b", { depends_on: ["a"] })] },
      mode: "stream",
    });
    const id = answer.headers.get("x-run-id") ?? "";
    const reader = answer.body?.getReader();
    let text = "";
    while (!text.includes("step.finished")) text += new TextDecoder().decode((await reader?.read())?.value);
    await reader?.cancel();
    const last = [...text.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? "";
    const rest = await fetch(`${bench.stack.baseUrls[0]}/v1/workflows/runs/${id}/events`, {
      headers: { authorization: `Bearer ${bench.stack.key}`, "last-event-id": last },
    });
    const frames = (await framesOf(rest)).filter((one) => one.id !== undefined || one.frame === "[DONE]");
    expect(frames[0]?.id).toBe(String(Number(last) + 1));
    expect(frames.at(-2)?.frame).toMatchObject({ type: "run.finished", run: { status: "succeeded" } });
    const all = await framesOf(await bench.call(`/v1/workflows/runs/${id}/events`));
    expect(all.filter((one) => one.id !== undefined).map((one) => Number(one.id))).toEqual([1, 2, 3, 4, 5, 6]);
  });
});

describe("a rejected request", () => {
  test.each<[string, object, number, string, string | null]>([
    [
      "an input that is not declared",
      { definition: { steps: [say("a", "1")] }, input: { x: 1 } },
      400,
      "invalid_request",
      "input.x",
    ],
    [
      "a missing input",
      { definition: { inputs: { x: { type: "string", required: true } }, steps: [say("a", "1")] } },
      400,
      "missing_required_parameter",
      "input.x",
    ],
    [
      "an input of another type",
      { definition: { inputs: { x: { type: "integer" } }, steps: [say("a", "1")] }, input: { x: "1" } },
      400,
      "invalid_request",
      "input.x",
    ],
    [
      "a definition that cannot work",
      { definition: { steps: [say("a", "${{ steps.b.output }}")] } },
      400,
      "invalid_workflow_definition",
      "definition.steps[0].params.messages[0].content",
    ],
    ["an unknown mode", { definition: { steps: [say("a", "1")] }, mode: "later" }, 400, "unsupported_value", "mode"],
  ])("%s, and nothing is run", async (_name, body, status, code, param) => {
    expect(await errorOf(await post("/v1/pipelines/runs", body))).toMatchObject({ status, code, param });
  });

  test("names a run, a workflow and a filter that do not exist", async () => {
    expect(await errorOf(await bench.call("/v1/workflows/runs/01a208a8-74a2-74f4-b2d2-763ef695b360"))).toMatchObject({
      status: 404,
      code: "run_not_found",
    });
    expect(
      await errorOf(await bench.call("/v1/workflows/01a208a8-74a2-74f4-b2d2-763ef695b360/runs", {})),
    ).toMatchObject({ status: 404, code: "workflow_not_found" });
    expect(await errorOf(await bench.call("/v1/workflows/runs?status=done"))).toMatchObject({
      status: 400,
      param: "status",
    });
  });
});

test("lists are filtered and paged", async () => {
  const id = await bench.store({ steps: [say("a", "1")] });
  for (let at = 0; at < 3; at += 1) await bench.runStored(id);
  const list = async (query: string) =>
    (await (await bench.call(`/v1/workflows/${id}/runs${query}`)).json()) as {
      items: { id: string; status: string }[];
      total: number;
      limit: number;
    };
  const all = await list("");
  expect([all.total, all.items.length, all.limit]).toEqual([3, 3, 20]);
  const page = await list("?limit=1&offset=1");
  expect([page.total, page.items.map((one) => one.id)]).toEqual([3, [all.items[1]?.id ?? ""]]);
  expect((await list("?status=failed")).total).toBe(0);
  expect((await list("?status=succeeded&mode=sync")).total).toBe(3);
});
