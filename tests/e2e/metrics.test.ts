/** Metrics of calls, runs and servers beneath, as a scrape of real processes finds them. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { metric } from "#tests/faults/metric.ts";
import { eventually } from "#tests/faults/wait.ts";
import { type ManagedProcess, type Stack, startStack } from "#tests/support/stack.ts";

import manifest from "../../package.json" with { type: "json" };

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ apart: true, pools: ["chat", "workflow"] });
}, 60_000);
afterAll(() => stack.stop());

const STEP = { model: "sandbox-chat", messages: [{ role: "user", content: "Say exactly: yes" }] };

async function post(path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${stack.key}`, "content-type": "application/json" };
  const answer = await fetch(`${stack.baseUrls[0]}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  expect([await answer.text(), answer.status]).toEqual([expect.any(String), 200]);
}

const sample = (process: ManagedProcess | undefined, name: string, labels = ""): Promise<number> =>
  metric(process?.adminUrl ?? "", name, labels).catch(() => NaN);

test("a call is counted by its parts, its tokens, and the slots it took", async () => {
  const [ingress, worker] = [stack.ingresses[0], stack.workers[0]];
  expect(await sample(worker, "sluice_worker_slots", 'pool="chat",lane="live"')).toBe(224);
  for (let count = 0; count < 3; count++) await post("/v1/chat/completions", STEP);
  await stack.settled();
  expect(await sample(ingress, "sluice_call_part_seconds_count", 'part="admit"')).toBe(3);
  for (const part of ["queue", "provider", "settle"]) {
    await eventually(`${part} is counted`, async () => (await sample(worker, "sluice_call_part_seconds_count", `part="${part}"`)) === 3); // prettier-ignore
    const seconds = await sample(worker, "sluice_call_part_seconds_sum", `part="${part}"`);
    // A worker that is free takes a call within the millisecond that a message's time is told in.
    const isMeasured = part === "queue" ? seconds >= 0 : seconds > 0;
    expect([part, isMeasured && seconds < 30]).toEqual([part, true]);
  }
  expect(await sample(ingress, "sluice_http_request_seconds_count", 'route="/v1/chat/completions"')).toBe(3);
  expect(await sample(worker, "sluice_queue_wait_seconds_count", 'pool="chat",lane="live"')).toBe(3);
  expect(await sample(worker, "sluice_tokens_total", 'kind="output"')).toBeGreaterThanOrEqual(3);
  await eventually("its slot is free", async () => (await sample(worker, "sluice_worker_slots_busy", 'pool="chat",lane="live"')) === 0); // prettier-ignore
});

test("runs and attempts of their steps are counted once, by outcome", async () => {
  const [worker] = stack.workers;
  const chat = (id: string, more = {}) => ({ id, type: "model", model: "sandbox-chat", params: { messages: STEP.messages }, ...more }); // prettier-ignore
  await post("/v1/pipelines/runs", {
    definition: {
      steps: [chat("a"), chat("b", { depends_on: ["a"] }), chat("c", { depends_on: ["b"], if: "${{ 1 == 2 }}" })],
    },
  });
  await eventually("the run is counted", async () => (await sample(worker, "sluice_workflow_runs_total", 'outcome="succeeded"')) === 1); // prettier-ignore
  expect(await sample(worker, "sluice_workflow_steps_total", 'type="model",outcome="succeeded"')).toBe(2);
  expect(await sample(worker, "sluice_workflow_steps_total", 'type="model",outcome="skipped"')).toBe(1);
});

test("each process reports its version and the state of its servers", async () => {
  for (const process of [...stack.ingresses, ...stack.workers, ...stack.janitors]) {
    const labels = `version="${manifest.version}",bun="${Bun.version}"`;
    expect(await sample(process, "sluice_build_info", labels)).toBe(1);
    expect(await sample(process, "sluice_database_pool_waiting")).toBe(0);
    expect(await sample(process, "sluice_nats_reconnects_total")).toBe(0);
    await eventually("it asks the bucket", async () => (await sample(process, "sluice_storage_seconds_count", 'operation="HeadBucket"')) > 0); // prettier-ignore
  }
  const [janitor] = stack.janitors;
  await stack.query(
    "insert into event (workspace_id, type, metadata, occurred_at) values (gen_random_uuid(), 'run.failed', '{}', now() - interval '100 seconds')",
  );
  await eventually("the outbox is counted", async () => (await sample(janitor, "sluice_outbox_oldest_seconds", 'outbox="events"')) > 99); // prettier-ignore
  expect(await sample(janitor, "sluice_outbox_depth", 'outbox="events"')).toBeGreaterThan(0);
  expect(await sample(janitor, "sluice_outbox_depth", 'outbox="jobs"')).toBe(0);
  await stack.nats.stop("SIGKILL");
  await stack.nats.start();
  await eventually("the connection is back", async () => (await sample(janitor, "sluice_nats_reconnects_total")) >= 1);
});
