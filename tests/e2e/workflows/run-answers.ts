/** Answers and events of runs beyond the plain case. */
import { beforeAll, describe, expect, test } from "bun:test";

import type { UsageRequest, UsageRequestList, WorkflowRun } from "#schemas/generated/types.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";
import { subscribeToEvents } from "#tests/support/tenant.ts";

import { say } from "./runs-bench.ts";
import { runsOfNewWorkspace, sharedRuns, type WorkspaceRuns } from "./shared-runs.ts";

let bench: WorkspaceRuns;
beforeAll(async () => {
  bench = await runsOfNewWorkspace(sharedRuns());
  await subscribeToEvents(bench.stack, bench.workspace.id);
}, 120_000);

const LONG = "word ".repeat(400);
const slow = (id: string, more: object = {}) => ({ ...say(id, LONG, more), model: "sandbox-slow" });

function begin(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch((bench.stack.baseUrls[0] ?? "") + path, {
    method: "POST",
    headers: { authorization: `Bearer ${bench.stack.key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** Waits for the first words of a step. */
async function says(answer: Response): Promise<void> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("step.delta")) {
    const piece = await reader?.read();
    if (piece?.value === undefined) throw new Error("the run has ended without a word");
    text += piece.value;
  }
  await reader?.cancel();
}

describe("events", () => {
  test.each<[string, object, object, string]>([
    [
      "has nothing to do",
      { steps: [say("a", "1", { if: "${{ inputs.no }}" })], inputs: { no: { type: "boolean" } } },
      { no: false },
      "run.succeeded",
    ],
    [
      "cannot begin",
      { steps: [say("a", "1", { for_each: "${{ inputs.n }}" })], inputs: { n: { type: "integer" } } },
      { n: 1 },
      "run.failed",
    ],
  ])("of a run that %s are both delivered, in order", async (_what, definition, input, last) => {
    const { run } = await bench.run(definition, { input });
    const rows = await bench.stack.query<{ type: string }>(
      "select type from event where metadata ->> 'runId' = $1 order by occurred_at",
      [run.id],
    );
    expect(rows.map(({ type }) => type)).toEqual(["run.started", last]);
  });
});

describe("credits of a run whose step is a run", () => {
  test.each(["cancel", "timeout"])(
    "equal the sum of its work, also when the work is repeated after a %s",
    async (how) => {
      const late = how === "timeout" ? { timeout_seconds: 1, on_error: "continue" } : {};
      const child = await bench.store({ steps: [slow("b", late)], output: { x: "x" } });
      const definition = { steps: [{ id: "sub", type: "sub_pipeline", workflow_id: child }] };
      const answer = await begin("/v1/pipelines/runs", { mode: "stream", definition });
      const id = answer.headers.get("x-run-id") ?? "";
      const reading = answer.text();
      const childId = await eventually("the child is there", async () => {
        const [own] = await bench.stack.query<{ id: string }>("select id from run where parent_id = $1", [id]);
        return own?.id;
      });
      await says(await bench.call(`/v1/workflows/runs/${childId}/events`));
      if (how === "cancel") await bench.call(`/v1/workflows/runs/${id}/cancel`, {});
      const used = await eventually("the work has come back", async () => {
        const [row] = await bench.stack.query<{ credits: bigint | null }>(
          "select sum(credits)::bigint as credits from job where run_id = $1 and ended_at is not null having count(*) > 0",
          [childId],
        );
        return row?.credits ?? undefined;
      });
      expect(used).toBeGreaterThan(0n);
      await eventually("both runs tell it", async () => {
        const [parent, own] = await Promise.all([bench.read(id), bench.read(childId)]);
        return parent.creditsUsed === Number(used) / 1e9 && own.creditsUsed === parent.creditsUsed;
      });
      await reading;
    },
  );
});

describe("an Idempotency-Key", () => {
  test("belongs to a member: another member's repeat starts another run", async () => {
    const one = await createWorkspace(bench.stack, { creditsNano: 10n ** 12n });
    const made = await bench.stack.command("admin", "member", "add", one.id, "grace", "--role", "developer", "--json");
    expect(made.code).toBe(0);
    const other = await bench.stack.command(
      "admin",
      "key",
      "create",
      one.id,
      "--member",
      "grace",
      "--preset",
      "unlimited",
      "--json",
    );
    const { key } = JSON.parse(other.stdout) as { key: string };
    const body = { definition: { steps: [say("a", "1")] } };
    const ids = await Promise.all(
      [one.key, key, one.key].map(async (bearer) => {
        const answer = await begin("/v1/pipelines/runs", body, {
          authorization: `Bearer ${bearer}`,
          "idempotency-key": "k",
        });
        return ((await answer.json()) as WorkflowRun).id ?? answer.headers.get("x-run-id");
      }),
    );
    expect(ids[0]).toBe(ids[2] as string);
    expect(ids[1]).not.toBe(ids[0] as string);
  });
});

describe("the price of a run", () => {
  test("is a header of the charged response only: reading and repeating cost nothing", async () => {
    const definition = { steps: [say("a", "1")] };
    const key = { "idempotency-key": "charged once" };
    const first = await bench.run(definition, {}, key);
    expect(first.run.creditsUsed).toBeGreaterThan(0);
    expect(Number(first.headers.get("x-credits-used"))).toBe(first.run.creditsUsed);
    const again = await bench.run(definition, {}, key);
    const asked = await bench.call(`/v1/workflows/runs/${first.run.id}`);
    const read = (await asked.json()) as WorkflowRun;
    expect([again.run.creditsUsed, read.creditsUsed]).toEqual([first.run.creditsUsed, first.run.creditsUsed]);
    expect([again.headers.get("x-credits-used"), asked.headers.get("x-credits-used")]).toEqual([null, null]);
  });

  test("is found by the call's x-request-id, like the calls of its steps and of its nested runs", async () => {
    const child = await bench.store({ steps: [say("b", "2")] });
    const sub = { id: "sub", type: "sub_pipeline", workflow_id: child };
    const { headers, run } = await bench.run({ steps: [say("a", "1"), sub] });
    await bench.run({ steps: [say("a", "of another run")] });
    const id = headers.get("x-request-id") ?? "";
    const usage = `/workspaces/${bench.workspace.id}/usage/requests`;
    const record = (await (await bench.call(`${usage}/${id}`)).json()) as UsageRequest;
    expect(record).toMatchObject({ request_id: id, run_id: id, model: null, source: null, status: "succeeded" });
    expect(record.credits).toBe(run.creditsUsed);
    const steps = (await (await bench.call(`${usage}?run_id=${id}`)).json()) as UsageRequestList;
    expect(steps.data.map(({ model }) => model)).toEqual(["sandbox-chat", "sandbox-chat"]);
    const nano = (credits: number): number => Math.round(credits * 1e9);
    expect(steps.data.reduce((sum, { credits }) => sum + nano(credits), 0)).toBe(nano(record.credits));
    expect(record.tokens).toBe(steps.data.reduce((sum, { tokens }) => sum + tokens, 0));
    expect(new Set(steps.data.map(({ run_id }) => run_id))).toEqual(
      new Set([id, run.stepRuns[1]?.childRunIds?.[0] ?? null]),
    );
    const page = (await (await bench.call(`${usage}?run_id=${id}&limit=1`)).json()) as UsageRequestList;
    const rest = (await (
      await bench.call(`${usage}?run_id=${id}&limit=1&after=${page.last_id}`)
    ).json()) as UsageRequestList;
    expect([...page.data, ...rest.data]).toEqual(steps.data);
    expect([page.has_more, rest.has_more]).toEqual([true, false]);
  });

  test("is not returned for an open run, nor to another workspace or member", async () => {
    const { run } = await bench.run({ steps: [say("a", "1")] });
    const going = await begin("/v1/pipelines/runs", { mode: "async", definition: { steps: [slow("a")] } });
    const { id } = (await going.json()) as WorkflowRun;
    expect((await bench.call(`/workspaces/${bench.workspace.id}/usage/requests/${id}`)).status).toBe(404);
    await bench.call(`/v1/workflows/runs/${id}/cancel`, {});
    const stranger = await createWorkspace(bench.stack, { creditsNano: 1n });
    const list = async (key: string, workspace: string): Promise<unknown> => {
      const path = `${bench.stack.baseUrls[0]}/workspaces/${workspace}/usage/requests`;
      const ask = (query: string) => fetch(path + query, { headers: { authorization: `Bearer ${key}` } });
      const [one, all] = await Promise.all([ask(`/${run.id}`), ask(`?run_id=${run.id}`)]);
      return [one.status, ((await all.json()) as UsageRequestList).data];
    };
    expect(await list(stranger.key, stranger.id)).toEqual([404, []]);
    const own = bench.workspace.id;
    const made = await bench.stack.command("admin", "member", "add", own, "ada", "--role", "developer", "--json");
    expect(made.code).toBe(0);
    const other = await bench.stack.command(
      "admin",
      "key",
      "create",
      own,
      "--member",
      "ada",
      "--preset",
      "standard",
      "--json",
    );
    const { key } = JSON.parse(other.stdout) as { key: string };
    expect(await list(key, own)).toEqual([404, []]);
  });
});

describe("an answer", () => {
  test("names the run in its header, also if the run is not its body", async () => {
    const { headers, run } = await bench.run({ steps: [say("a", "1")] });
    expect(headers.get("x-run-id")).toBe(run.id);
    const key = { "idempotency-key": "goes on" };
    const body = { definition: { steps: [slow("a")] } };
    const first = begin("/v1/pipelines/runs", body, key);
    await eventually("it is there", async () => {
      const rows = await bench.stack.query("select 1 from run where idempotency_key = $1", [key["idempotency-key"]]);
      return rows.length > 0;
    });
    const told = await eventually("the repeat is told that it goes on", async () => {
      const answer = await begin("/v1/pipelines/runs", body, key);
      return answer.status === 409 ? answer : undefined;
    });
    const id = told.headers.get("x-run-id");
    await bench.call(`/v1/workflows/runs/${id}/cancel`, {});
    expect((await first).headers.get("x-run-id")).toBe(id);
  });

  test("to a run without a body equals the one to an empty body", async () => {
    const id = await bench.store({ steps: [say("a", "1")] });
    const answer = await fetch(`${bench.stack.baseUrls[0]}/v1/workflows/${id}/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${bench.stack.key}` },
    });
    expect([answer.status, ((await answer.json()) as WorkflowRun).status]).toEqual([200, "succeeded"]);
  });

  test("lists no child that was never created", async () => {
    const child = await bench.store({ inputs: { n: { type: "integer" } }, steps: [say("a", "1")] });
    const definition = {
      inputs: { more: { type: "object" } },
      steps: [{ id: "sub", type: "sub_pipeline", workflow_id: child, input: { n: "${{ inputs.more.n }}" } }],
    };
    const { run } = await bench.run(definition, { input: { more: { n: "no number" } } });
    expect(run.status).toBe("failed");
    expect(run.stepRuns[0]?.childRunIds).toBeUndefined();
  });

  test.each([
    ["keeps a traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true],
    ["keeps no capitals", "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false],
    ["keeps no trace of zeros", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", false],
    ["keeps no text of 7,000 characters", `00-${"a".repeat(7_000)}`, false],
  ])("%s", async (_name, traceparent, isKept) => {
    const { run } = await bench.run({ steps: [say("a", "1")] }, {}, { traceparent });
    const rows = await bench.stack.query("select traceparent from run where id = $1", [run.id]);
    expect(rows).toEqual([{ traceparent: isKept ? traceparent : null }]);
  });

  test("to a cancel lists no open step", async () => {
    const answer = await begin("/v1/pipelines/runs", { mode: "async", definition: { steps: [slow("a")] } });
    const { id } = (await answer.json()) as WorkflowRun;
    await eventually("it runs", async () => (await bench.read(id)).stepRuns[0]?.status === "running");
    await bench.call(`/v1/workflows/runs/${id}/cancel`, {});
    expect((await bench.read(id)).stepRuns.map(({ status }) => status)).toEqual(["cancelled"]);
  });

  test("of many items with large outputs returns references, which can be read", async () => {
    const { run } = await bench.run(
      {
        inputs: { text: { type: "string" } },
        steps: [
          {
            id: "each",
            type: "code.transform_json",
            for_each: [1, 2, 3],
            input: { data: { text: '{"item":"${{ inputs.text }}"}' } },
            params: {},
          },
        ],
      },
      { input: { text: "x".repeat(30_000) } },
    );
    const [step] = run.stepRuns;
    expect(step?.status).toBe("succeeded");
    expect(step?.outputRef).toContain("/steps/each/output");
    expect(step).not.toHaveProperty("output");
    const output = (await (await bench.call(step?.outputRef ?? "")).json()) as object[];
    expect(output).toHaveLength(3);
    expect(JSON.stringify(output)).toContain("x".repeat(30_000));
  });
});

test("a limit above the maximum is the maximum", async () => {
  const answer = await bench.call("/v1/workflows?limit=99999999999999999999");
  expect(((await answer.json()) as { limit: number }).limit).toBe(100);
});
