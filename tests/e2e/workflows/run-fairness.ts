/** A workspace's lists of hundreds of runs slow its neighbours by their share of the machine, and by no more. */
import { beforeAll, expect, test } from "bun:test";

import type { WorkflowRun } from "#schemas/generated/types.ts";
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";

import { type RunsBench, say } from "./runs-bench.ts";
import { sharedRuns } from "./shared-runs.ts";

const CHAIN = 5;
const ROUNDS = 4;
/** Runs of each of the six lists: together more than may end while the chain is measured, 440. */
const ITEMS = 120;
/** Passes of a chain: one that begins it, and for each of its steps that of the step's run and that which hears of its end. */
const PASSES = 2 * CHAIN + 1;
/** Passes that a worker takes at once for a workspace beside others: half of its connections. */
const PERMITS = 5;

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

test("a chain of another workspace continues while lists of hundreds of runs are processed", async () => {
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
  const runChain = async (): Promise<void> => {
    expect((await post(quiet, "/v1/pipelines/runs", { definition: { steps: chain } })).status).toBe("succeeded");
  };
  await runChain();
  const leaf = await store(loud, { ...LIST, steps: [free("a")] });
  const definition = { ...LIST, steps: Array.from({ length: 6 }, (_, at) => each(`s${at}`, leaf)) };
  const items = Array.from({ length: ITEMS }, (_, at) => at);
  const answered = post(loud, "/v1/pipelines/runs", { definition, input: { items } });
  // Those that have ended: each has a pass of its own, where one pass of the lists begins up to 192.
  const countEnded = async (): Promise<number> => {
    const counted = "select count(*)::int as ended from run where workspace_id = $1 and status = 'succeeded'";
    const [row] = await bench.stack.query<{ ended: number }>(counted, [loud.id]);
    return row?.ended ?? 0;
  };
  await eventually("the lists are being worked off", async () => (await countEnded()) > 100);
  const before = await countEnded();
  for (let round = 0; round < ROUNDS; round += 1) await runChain();
  const ended = (await countEnded()) - before;
  const [storm] = await bench.stack.query<{ id: string }>(
    "select id from run where workspace_id = $1 and parent_id is null",
    [loud.id],
  );
  await fetch(`${bench.stack.baseUrls[0]}/v1/workflows/runs/${storm?.id}/cancel`, {
    method: "POST",
    headers: { authorization: `Bearer ${loud.key}` },
  });
  expect((await answered).status).toBe("cancelled");
  expect(ended).toBeGreaterThan(0);
  // For each pass of the chain as many as the lists have permits, and as many again while its message is on the way to the next.
  // Without shares the lists end whole, 620 runs, before the chain does.
  expect(ended).toBeLessThan(ROUNDS * PASSES * PERMITS * 2);
}, 120_000);
