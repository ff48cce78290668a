/** Owners of runs: who sees a run, who pays for it, and for whom its steps call. */
import { beforeAll, expect, test } from "bun:test";

import type { WorkflowRun } from "#schemas/generated/types.ts";
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";

import { type RunsBench, say } from "./runs-bench.ts";
import { sharedRuns } from "./shared-runs.ts";

let bench: RunsBench;
beforeAll(async () => {
  bench = await sharedRuns();
}, 120_000);

async function call(key: string, path: string, body?: object): Promise<{ status: number; body: WorkflowRun }> {
  const answer = await fetch((bench.stack.baseUrls[0] ?? "") + path, {
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
  });
  return { status: answer.status, body: (await answer.json()) as WorkflowRun };
}

const run = (of: Workspace, body: object) => call(of.key, "/v1/pipelines/runs", body);

test("another workspace's run does not exist, for every request", async () => {
  const [one, other] = [
    await createWorkspace(bench.stack, { creditsNano: 10n ** 12n }),
    await createWorkspace(bench.stack, { creditsNano: 0n }),
  ];
  const { body } = await run(one, { definition: { steps: [say("a", "1")] } });
  expect(body.status).toBe("succeeded");
  const path = `/v1/workflows/runs/${body.id}`;
  for (const [at, more] of [[path], [`${path}/events`], [`${path}/steps/a/output`], [`${path}/cancel`, {}]] as const) {
    expect([at, (await call(other.key, at, more)).status]).toEqual([at, 404]);
  }
  expect((await call(one.key, path)).status).toBe(200);
  expect((await call(other.key, "/v1/workflows/runs")).body).toMatchObject({ total: 0 });
});

test("a step without credits fails, and the run with it; earlier steps are charged", async () => {
  const poor = await createWorkspace(bench.stack, { creditsNano: 0n });
  const definition = { steps: [say("a", "1"), say("b", "2", { depends_on: ["a"] })] };
  const none = await run(poor, { definition });
  expect(none.body).toMatchObject({
    status: "failed",
    creditsUsed: 0,
    error: { code: "insufficient_credits", stepId: "a" },
  });
  expect(none.body.stepRuns.map(({ status }) => status)).toEqual(["failed", "skipped"]);
});

test.each(["async", "sync"])(
  "the steps of a run act for its key: a second after that is revoked, no step starts (%s)",
  async (mode) => {
    const owner = await createWorkspace(bench.stack, { creditsNano: 10n ** 12n });
    const ids = Array.from({ length: 30 }, (_, at) => `slow${at}`);
    const steps = ids.map((id, at) => ({
      ...say(id, "1", at === 0 ? {} : { depends_on: [ids[at - 1]] }),
      model: "sandbox-slow",
    }));
    const answer = run(owner, { definition: { steps }, mode });
    await eventually("its first step runs", async () => {
      const rows = await bench.stack.query("select 1 from job where workspace_id = $1 and state = 'running'", [
        owner.id,
      ]);
      return rows.length > 0;
    });
    await bench.stack.query("update api_key set revoked_at = clock_timestamp() where id = $1", [owner.keyId]);
    const { id } = (await answer).body;
    const [row] = await eventually("the run ends", async () => {
      const rows = await bench.stack.query<{ status: string; error: { code: string } }>(
        "select status, error from run where id = $1 and ended_at is not null",
        [id],
      );
      return rows.length > 0 && rows;
    });
    expect(row).toMatchObject({ status: "failed", error: { code: "invalid_api_key" } });
    const late = await bench.stack.query(
      `select step_id from job, api_key k where run_id = $1 and k.id = $2 and job.created_at > k.revoked_at + interval '1 second'`,
      [id, owner.keyId],
    );
    expect(late).toEqual([]);
  },
  60_000,
);
