/** A workspace's lists of thousands of runs slow its neighbours by their share of the machine, and by no more. */
import { beforeAll, expect, test } from "bun:test";

import type { WorkflowRun } from "#schemas/generated/types.ts";
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";

import { type RunsBench, say } from "./runs-bench.ts";
import { sharedRuns } from "./shared-runs.ts";

const CHAIN = 5;
const ROUNDS = 7;

let bench: RunsBench;
beforeAll(async () => {
  bench = await sharedRuns();
}, 120_000);

async function post({ key }: Workspace, path: string, body: object): Promise<WorkflowRun> {
  const answer = await fetch((bench.stack.baseUrls[0] ?? "") + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as WorkflowRun;
}

const free = (id: string) => say(id, "x", { if: false });
const sub = (id: string, workflow: string, more: object = {}) => ({
  id,
  type: "sub_pipeline",
  workflow_id: workflow,
  ...more,
});
const LIST = { inputs: { items: { type: "array" } } };
const each = (id: string, workflow: string) =>
  sub(id, workflow, { for_each: "${{ inputs.items }}", input: { items: "${{ inputs.items }}" }, concurrency: 32 });

test("a chain of another workspace goes on while lists of thousands of runs are worked off", async () => {
  const [loud, quiet] = [
    await createWorkspace(bench.stack, { creditsNano: 1n }),
    await createWorkspace(bench.stack, { creditsNano: 1n }),
  ];
  const store = async (owner: Workspace, definition: object) =>
    (await post(owner, "/v1/workflows", { name: "w", definition })).id;
  const own = await store(quiet, { steps: [free("a")] });
  const chain = Array.from({ length: CHAIN }, (_, at) =>
    sub(`s${at}`, own, at === 0 ? {} : { depends_on: [`s${at - 1}`] }),
  );
  const measure = async (): Promise<number> => {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const from = performance.now();
      expect((await post(quiet, "/v1/pipelines/runs", { definition: { steps: chain } })).status).toBe("succeeded");
      times.push(performance.now() - from);
    }
    return times.toSorted((one, other) => one - other)[Math.floor(ROUNDS / 2)] ?? 0;
  };
  await measure();
  const alone = await measure();
  const leaf = await store(loud, { ...LIST, steps: [free("a")] });
  const definition = { ...LIST, steps: Array.from({ length: 6 }, (_, at) => each(`s${at}`, leaf)) };
  const items = Array.from({ length: 1_000 }, (_, at) => at);
  const answered = post(loud, "/v1/pipelines/runs", { definition, input: { items } });
  const runsOf = async (): Promise<number> =>
    (await bench.stack.query<{ count: number }>("select count(*)::int as count from run where workspace_id = $1", [loud.id]))[0]
      ?.count ?? 0; // prettier-ignore
  await eventually("the list has begun", async () => (await runsOf()) > 300);
  const before = await runsOf();
  const beside = await measure();
  const begun = (await runsOf()) - before;
  const [storm] = await bench.stack.query<{ id: string }>(
    "select id from run where workspace_id = $1 and parent_id is null",
    [loud.id],
  );
  await fetch(`${bench.stack.baseUrls[0]}/v1/workflows/runs/${storm?.id}/cancel`, {
    method: "POST",
    headers: { authorization: `Bearer ${loud.key}` },
  });
  expect((await answered).status).toBe("cancelled");
  process.stderr.write(
    `run-fairness: a chain of ${CHAIN} ${alone.toFixed(0)} ms alone, ${beside.toFixed(0)} ms beside ${begun} runs begun meanwhile\n`,
  );
  expect(begun).toBeGreaterThan(0);
  // The two take turns, whatever the machine's speed: the one that never has enough begins a few runs for each of the other's.
  expect(begun).toBeLessThan(10 * ROUNDS * (CHAIN + 1));
}, 120_000);
