/** `max_credits` of runs and batches: their calls never cost more together, and what no longer fits is refused. */
import { beforeAll, describe, expect, test } from "bun:test";

import type { Batch, WorkflowRun } from "#schemas/generated/types.ts";
import { ask, type Bed, createWorkspace, FLAT_NANO, type Workspace } from "#tests/faults/bed.ts";
import { openPublisher } from "#tests/faults/publisher.ts";
import { eventually } from "#tests/faults/wait.ts";

import { sharedBed } from "./shared-bed.ts";

const CREDIT = 1_000_000_000n;

let bed: Bed;
beforeAll(async () => {
  bed = await sharedBed();
});

const newWorkspace = (): Promise<Workspace> => createWorkspace(bed.stack, { creditsNano: 10_000n * FLAT_NANO });

async function call(workspace: Workspace, path: string, body?: object, headers: Record<string, string> = {}) {
  const answer = await fetch(`${bed.target().url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${workspace.key}`, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const { messages } = ask("flat");
const flat = (id: string, more: object = {}) => ({ id, type: "model", model: "flat", params: { messages }, ...more });
/** Steps of which each waits for the one before. */
const CHAIN = {
  steps: [
    flat("one"),
    flat("two", { params: { messages, user: "${{ steps.one.status }}" } }),
    flat("three", { params: { messages, user: "${{ steps.two.status }}" } }),
  ],
};

async function run(workspace: Workspace, definition: object, more: object = {}, headers = {}): Promise<WorkflowRun> {
  const { status, body } = await call(workspace, "/v1/pipelines/runs", { definition, ...more }, headers);
  expect([status, body]).toEqual([200, expect.objectContaining({ stepRuns: expect.anything() })]);
  return body as unknown as WorkflowRun;
}

async function store(workspace: Workspace, definition: object): Promise<string> {
  const { status, body } = await call(workspace, "/v1/workflows", { name: "limited", definition });
  expect([status, body]).toEqual([201, expect.objectContaining({ id: expect.any(String) })]);
  return String(body["id"]);
}

/** Nano-credits charged to a workspace, after all its calls have settled. */
async function spentBy({ id }: Workspace): Promise<bigint> {
  await bed.stack.settled();
  await eventually("no hold stays open", async () => {
    return (await bed.stack.query("select from hold where workspace_id = $1", [id])).length === 0;
  });
  const [row] = await bed.stack.query<{ sum: bigint }>(
    "select coalesce(sum(settled), 0)::bigint as sum from usage_record where workspace_id = $1",
    [id],
  );
  expect(await bed.stack.query("select * from audit_ledger() where workspace_id = $1", [id])).toEqual([]);
  return row?.sum ?? -1n;
}

describe("a run", () => {
  test("refuses the step that no longer fits, and reports the maximum and the charge", async () => {
    const workspace = await newWorkspace();
    const ended = await run(workspace, CHAIN, { max_credits: 2 });
    expect(ended).toMatchObject({
      status: "failed",
      maxCredits: 2,
      creditsUsed: 2,
      error: { code: "max_credits_exceeded", stepId: "three" },
    });
    expect(ended.error?.message).toContain("max_credits of the run (2) leaves 0");
    expect(await spentBy(workspace)).toBe(2n * CREDIT);
    const { body } = await call(workspace, `/v1/workflows/runs/${ended.id}`);
    expect(body).toMatchObject({ maxCredits: 2, creditsUsed: 2 });
  });

  test("whose steps fit succeeds, and may be limited by the header", async () => {
    const workspace = await newWorkspace();
    expect(await run(workspace, CHAIN, { max_credits: 3 })).toMatchObject({ status: "succeeded", creditsUsed: 3 });
    const limited = await run(workspace, CHAIN, { max_credits: 3 }, { "x-max-credits": "1" });
    expect(limited).toMatchObject({ status: "failed", maxCredits: 1, creditsUsed: 1 });
  });

  test("with 50 steps at once admits those that fit", async () => {
    const workspace = await newWorkspace();
    const steps = Array.from({ length: 50 }, (_, at) => flat(`step${at}`, { on_error: "continue" }));
    const ended = await run(workspace, { steps }, { max_credits: 20.5 });
    expect(ended).toMatchObject({ status: "succeeded", creditsUsed: 20 });
    const codes = ended.stepRuns.flatMap(({ error }) => error?.code ?? []);
    expect([codes.length, [...new Set(codes)]]).toEqual([30, ["max_credits_exceeded"]]);
    expect(await spentBy(workspace)).toBe(20n * CREDIT);
  });

  test("with a step for each of 50 items never costs more", async () => {
    const workspace = await newWorkspace();
    const list = Array.from({ length: 50 }, (_, at) => at);
    const each = { id: "each", type: "model", model: "flat", for_each: list, concurrency: 32, params: { messages } };
    const ended = await run(workspace, { steps: [each] }, { max_credits: 20.5 });
    expect(ended).toMatchObject({ status: "failed", error: { code: "max_credits_exceeded" } });
    const spent = await spentBy(workspace);
    expect(spent).toBeGreaterThan(0n);
    expect(spent).toBeLessThanOrEqual(20n * CREDIT);
  });

  test("counts sub-workflows and retries of steps, whose own maximums apply too", async () => {
    const workspace = await newWorkspace();
    const child = await store(workspace, { steps: [flat("say", { retry: { max_attempts: 3 } })], max_credits: 1 });
    const each = (max_credits: number) =>
      run(
        workspace,
        {
          steps: [
            {
              id: "each",
              type: "sub_pipeline",
              workflow_id: child,
              for_each: [1, 2, 3, 4, 5, 6],
              concurrency: 2,
              input: {},
            },
          ],
        },
        { max_credits },
      );
    const ended = await each(3);
    expect(ended.status).toBe("failed");
    expect(ended.creditsUsed).toBeLessThanOrEqual(3);
    expect(await spentBy(workspace)).toBeLessThanOrEqual(3n * CREDIT);
    expect(await each(6)).toMatchObject({ status: "succeeded", creditsUsed: 6 });
    const dear = await store(workspace, { steps: [flat("say")], max_credits: 0.5 });
    const refused = await run(
      workspace,
      { steps: [{ id: "sub", type: "sub_pipeline", workflow_id: dear, input: {} }] },
      { max_credits: 10 },
    );
    expect(refused).toMatchObject({ status: "failed", creditsUsed: 0 });
  });

  test("uses the maximum of its definition, unless the request has one", async () => {
    const workspace = await newWorkspace();
    const id = await store(workspace, { ...CHAIN, max_credits: 2 });
    const start = async (body: object) => (await call(workspace, `/v1/workflows/${id}/runs`, body)).body;
    expect(await start({})).toMatchObject({ status: "failed", maxCredits: 2, creditsUsed: 2 });
    expect(await start({ max_credits: 4 })).toMatchObject({ status: "succeeded", maxCredits: 4, creditsUsed: 3 });
  });

  test("is estimated at its maximum at most, also as a sub-workflow", async () => {
    const workspace = await newWorkspace();
    const limited = { ...CHAIN, max_credits: 2 };
    const child = await store(workspace, limited);
    const parent = { steps: [{ id: "sub", type: "sub_pipeline", workflow_id: child, input: {} }] };
    for (const [definition, max_credits] of [
      [CHAIN, 3],
      [limited, 2],
      [parent, 2],
    ] as const) {
      const { body } = await call(workspace, "/v1/workflows/estimate", { definition });
      expect(body).toMatchObject({ max_credits });
    }
  });

  test("limits the output of a call without a limit of its own", async () => {
    const workspace = await newWorkspace();
    const step = { id: "say", type: "model", model: "metered", params: { messages } };
    bed.upstream.next({ text: "words", usage: { prompt_tokens: 900, completion_tokens: 9_000, total_tokens: 9_900 } });
    const ended = await run(workspace, { steps: [step] }, { max_credits: 0.1 });
    expect(ended.status).toBe("succeeded");
    const sent = bed.upstream.requests.at(-1)?.body as Record<string, number>;
    expect(sent["max_completion_tokens"] ?? sent["max_tokens"]).toBeLessThan(500);
    expect(await spentBy(workspace)).toBeLessThanOrEqual(100_000_000n);
  });

  test("gives later calls without a limit what the earlier ones have left", async () => {
    const workspace = await newWorkspace();
    const say = (id: string, user?: string) => ({
      id,
      type: "model",
      model: "metered",
      params: { messages, ...(user === undefined ? {} : { user }) },
    });
    const steps = [
      say("one"),
      say("two", "${{ steps.one.status }}"),
      say("three", "${{ steps.two.status }}"),
      say("four", "${{ steps.three.status }}"),
    ];
    // Each call costs a small part of the maximum, and may hold all that is left of it.
    const ended = await run(workspace, { steps }, { max_credits: 0.3 });
    expect(ended.status).toBe("succeeded");
    expect(await spentBy(workspace)).toBeLessThanOrEqual(300_000_000n);
    const refused = await run(workspace, { steps }, { max_credits: 0.05 });
    expect(refused).toMatchObject({
      status: "failed",
      creditsUsed: 0,
      error: { code: "max_credits_exceeded", stepId: "one" },
    });
    expect(refused.error?.message).toContain("max_credits of the run (0.05) leaves 0.05");
  });

  test.each([
    ["of the run", flat("say", { retry: { max_attempts: 3 } }), { max_credits: 0.5 }],
    ["of the step", flat("say", { params: { messages, max_credits: 0.5 }, retry: { max_attempts: 3 } }), {}],
  ])("does not retry a step that exceeds max_credits %s on its own", async (_name, step, more) => {
    const ended = await run(await newWorkspace(), { steps: [step] }, more);
    expect(ended).toMatchObject({ status: "failed", error: { code: "max_credits_exceeded" } });
    expect(ended.stepRuns.map(({ attempt }) => attempt)).toEqual([1]);
  });

  test("refuses a call that exceeds max_credits of its step", async () => {
    const workspace = await newWorkspace();
    const step = flat("say", { params: { messages, max_credits: 0.5 } });
    expect(await run(workspace, { steps: [step] })).toMatchObject({
      status: "failed",
      creditsUsed: 0,
      error: { code: "max_credits_exceeded" },
    });
  });

  test("of a batch message is limited", async () => {
    const workspace = await newWorkspace();
    const id = await store(workspace, CHAIN);
    const publisher = await openPublisher(bed.stack.natsUrl, workspace);
    try {
      const message = { endpoint: "/v1/workflows/{id}/runs", workflow: id, body: { max_credits: 1 } };
      await publisher.submit(message, { key: "limited", pool: "workflow" });
      const ended = await publisher.ended("limited");
      expect(ended).toMatchObject({ status: "failed", result: { error: { code: "max_credits_exceeded" } } });
      expect(await spentBy(workspace)).toBe(CREDIT);
    } finally {
      await publisher.close();
    }
  });

  test("is deleted with its limit", async () => {
    const workspace = await newWorkspace();
    const { id } = await run(workspace, CHAIN, { max_credits: 5 });
    const limits = () =>
      bed.stack.query("select kind, spent, held from spend_limit where id = work_limit_id($1)", [id]);
    await spentBy(workspace);
    expect(await limits()).toEqual([{ kind: "run", spent: 3n * CREDIT, held: 0n }]);
    await bed.stack.query("delete from run where id = $1", [id]);
    expect(await limits()).toEqual([]);
    const [balance] = await bed.stack.query("select has_limits from balance where workspace_id = $1", [workspace.id]);
    expect(balance).toEqual({ has_limits: false });
  });

  test.each([[0], [1e-10], ["1"]])("with a maximum of %p is invalid", async (max_credits) => {
    const workspace = await newWorkspace();
    for (const body of [{ definition: CHAIN, max_credits }, { definition: { ...CHAIN, max_credits } }]) {
      const { status, body: answer } = await call(workspace, "/v1/pipelines/runs", body);
      expect([status, answer["error"]]).toEqual([
        400,
        expect.objectContaining({ param: expect.stringMatching(/max_credits$/) }),
      ]);
    }
  });
});

describe("a batch", () => {
  async function batchOf(
    workspace: Workspace,
    lines: readonly object[],
    endpoint: string,
    more: object,
  ): Promise<Batch> {
    const text = lines
      .map((body, at) => JSON.stringify({ custom_id: `${at}`, method: "POST", url: endpoint, body }))
      .join("\n");
    const form = new FormData();
    form.append("purpose", "batch");
    form.append("file", new File([text], "lines.jsonl"));
    const headers = { authorization: `Bearer ${workspace.key}` };
    const upload = await fetch(`${bed.target().url}/v1/files`, { method: "POST", headers, body: form });
    const { id } = (await upload.json()) as { readonly id: string };
    const made = await call(workspace, "/v1/batches", {
      input_file_id: id,
      endpoint,
      completion_window: "24h",
      ...more,
    });
    expect([made.status, made.body]).toEqual([200, expect.objectContaining({ object: "batch" })]);
    return eventually(
      "the batch has ended",
      async () => {
        const { body } = await call(workspace, `/v1/batches/${String(made.body["id"])}`);
        return body["status"] === "completed" && (body as unknown as Batch);
      },
      120_000,
    );
  }

  async function errorsOf(workspace: Workspace, { error_file_id: id }: Batch): Promise<readonly string[]> {
    const headers = { authorization: `Bearer ${workspace.key}` };
    const text = await (await fetch(`${bed.target().url}/v1/files/${id}/content`, { headers })).text();
    const codes = text
      .trimEnd()
      .split("\n")
      .map((row) => row.match(/"code":"(\w+)"/)?.[1] ?? row);
    return [...new Set(codes)];
  }

  test("of 100 lines runs as many as fit, and refuses the others", async () => {
    const workspace = await newWorkspace();
    const lines = Array.from({ length: 100 }, () => ask("flat"));
    const batch = await batchOf(workspace, lines, "/v1/chat/completions", { max_credits: 12.5 });
    expect(batch).toMatchObject({
      max_credits: 12.5,
      credits_used: 12,
      request_counts: { total: 100, completed: 12, failed: 88 },
    });
    expect(await errorsOf(workspace, batch)).toEqual(["max_credits_exceeded"]);
    expect(await spentBy(workspace)).toBe(12n * CREDIT);
    const limits = () => bed.stack.query("select kind from spend_limit where workspace_id = $1", [workspace.id]);
    expect(await limits()).toEqual([{ kind: "batch" }]);
    await bed.stack.query("delete from batch where workspace_id = $1", [workspace.id]);
    expect(await limits()).toEqual([]);
  }, 180_000);

  test("refuses a line that exceeds its own maximum, and runs the others", async () => {
    const workspace = await newWorkspace();
    const lines = [ask("flat", { max_credits: 0.5 }), ask("flat", { max_credits: 1 }), ask("flat")];
    const batch = await batchOf(workspace, lines, "/v1/chat/completions", {});
    expect(batch).toMatchObject({ credits_used: 2, request_counts: { completed: 2, failed: 1 } });
    expect(await errorsOf(workspace, batch)).toEqual(["max_credits_exceeded"]);
  }, 180_000);

  test("of runs limits all their steps together", async () => {
    const workspace = await newWorkspace();
    const id = await store(workspace, CHAIN);
    const lines = Array.from({ length: 5 }, () => ({}));
    const batch = await batchOf(workspace, lines, `/v1/workflows/${id}/runs`, { max_credits: 7 });
    expect(batch.request_counts.failed).toBeGreaterThan(0);
    const spent = await spentBy(workspace);
    expect(spent).toBeGreaterThan(0n);
    expect(spent).toBeLessThanOrEqual(7n * CREDIT);
  }, 180_000);
});
