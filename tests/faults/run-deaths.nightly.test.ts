/**
 * Fault: a worker that carries runs on dies by SIGKILL at each of its failpoints, at the first pass and at later ones, and so does one
 * that does a step's call. Expected: the run ends; no step that was done is done again; the provider was asked once for each; credits
 * are the sum of the steps and the books are exact.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "nats";

import type { WorkflowRun } from "#schemas/generated/types.ts";
import type { Failpoint } from "#shared/base/failpoint.ts";
import { type Pool, streamName } from "#shared/queue/subjects.ts";
import { type ManagedProcess, startRole } from "#tests/support/role-process.ts";
import { storm } from "#tests/support/storm.ts";

import { audit } from "./audit.ts";
import { type Bed, startBed } from "./bed.ts";
import { failpointsOf } from "./failpoints.ts";
import { eventually } from "./wait.ts";

let bed: Bed;
let child: string;

beforeAll(async () => {
  bed = await startBed({ workers: 0, behaviours: ["delay-20"] });
  await bed.stack.addRole("worker", "capability");
  const { body } = await call("/v1/workflows", {
    name: "child",
    definition: { steps: [flat("inner", "inner ${{ run.id }}")] },
  });
  child = String(body["id"]);
}, 90_000);
afterAll(async () => {
  await keepWorkers();
  await bed?.stop();
});

const living = new Map<string, ManagedProcess>();

/** Sees to it that one worker of each of these pools lives, and none of others, beside those that die. */
async function keepWorkers(...pools: readonly string[]): Promise<void> {
  for (const [pool, worker] of living) {
    if (pools.includes(pool)) continue;
    living.delete(pool);
    await worker.stop();
  }
  for (const pool of pools) {
    if (!living.has(pool)) living.set(pool, await startRole(["worker", pool], bed.stack.env));
  }
}

async function call(path: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const { url, key } = bed.target();
  const answer = await fetch(url + path, {
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const flat = (id: string, content: string, more: object = {}) => ({
  id,
  type: "model",
  model: "flat",
  params: { messages: [{ role: "user", content }] },
  ...more,
});

/** Each kind of step; five calls of one credit. */
const definitionOf = (mark: string) => ({
  steps: [
    flat("first", `${mark} first`),
    flat("each", `${mark} item \${{ item }}`, { for_each: [1, 2, 3], concurrency: 2, depends_on: ["first"] }),
    { id: "sub", type: "sub_pipeline", workflow_id: child, depends_on: ["first"] },
    {
      id: "resized",
      type: "code.transform_json",
      input: { data: { text: '{"a":1}' } },
      params: {},
      depends_on: ["each", "sub"],
    },
  ],
  output: { count: "${{ size(steps.each.output) }}" },
});

function asked(mark: string): string[] {
  return bed.upstream.requests
    .map(({ body }) => JSON.stringify(body))
    .filter((text) => text.includes(mark))
    .map((text) => /(first|item \d)/.exec(text)?.[0] ?? text);
}

async function endOf(id: string): Promise<WorkflowRun> {
  return eventually(
    `run ${id} ends`,
    async () => {
      const run = (await call(`/v1/workflows/runs/${id}`)).body as unknown as WorkflowRun;
      const isOpen = [run, ...run.stepRuns].some(({ status }) => status === "queued" || status === "running");
      return isOpen ? undefined : run;
    },
    60_000,
  );
}

/** Begins a run while only one worker of the pool lives, which dies where it is told to; another takes over. */
async function runThrough(pool: Pool, at: string, mode: "async" | "sync" | "stream"): Promise<WorkflowRun> {
  const mark = `${pool} ${mode} ${at}`;
  const mortal = await startRole(["worker", pool], { ...bed.stack.env, SLUICE_FAILPOINT: at });
  let next: ManagedProcess | undefined;
  try {
    const begun = call("/v1/pipelines/runs", { definition: definitionOf(mark), mode: "async" });
    const id = String((await begun).body["id"]);
    const { signal: died } = await mortal.exited();
    next = await startRole(["worker", pool], bed.stack.env);
    const run = await endOf(id);
    expect([at, died]).toEqual([at, "SIGKILL"]);
    // Messages that the dead worker did not acknowledge come again: they would reach the next mortal worker before it is ready.
    await eventually("the pool's messages are done", async () => (await messagesOf(pool)) === 0, 60_000);
    return run;
  } finally {
    await mortal.stop();
    await next?.stop();
  }
}

async function messagesOf(pool: Pool): Promise<number> {
  const connection = await connect({ servers: bed.stack.natsUrl });
  try {
    return (await (await jetstreamManager(connection)).streams.info(streamName(pool))).state.messages;
  } finally {
    await connection.close();
  }
}

const CREDITS = 5;

describe("a worker of a run dies at", () => {
  beforeAll(() => keepWorkers("chat"));

  const points = failpointsOf("workflow worker");
  const later = storm([3], [2, 3, 4, 5]);
  const passes = points.flatMap((at) => (at === "run.ended" ? [at] : [at, ...later.map((pass) => `${at}:${pass}`)]));
  test.each([...passes, "job.dispatched:2"])(
    "%s: another ends the run, and repeats no call",
    async (at) => {
      const run = await runThrough("workflow", at, "async");
      expect(run).toMatchObject({ status: "succeeded", output: { count: 3 }, attempt: 1 });
      expect(run.stepRuns.map(({ id, status, attempt }) => [id, status, attempt])).toEqual([
        ["each", "succeeded", 1],
        ["first", "succeeded", 1],
        ["resized", "succeeded", 1],
        ["sub", "succeeded", 1],
      ]);
      expect(asked(`workflow async ${at}`).toSorted()).toEqual(["first", "item 1", "item 2", "item 3"]);
      const free = run.creditsUsed - CREDITS;
      expect(free).toBeGreaterThanOrEqual(0);
      expect(free).toBeLessThan(0.1);
      expect(run.creditsUsed).toBeCloseTo(
        run.stepRuns.reduce((sum, { creditsUsed }) => sum + creditsUsed, 0),
        9,
      );
    },
    90_000,
  );
});

test("runs in the modes sync and stream are delivered to their ends, although their worker dies", async () => {
  await keepWorkers("chat");
  const mortal = await startRole(["worker", "workflow"], { ...bed.stack.env, SLUICE_FAILPOINT: "step.started:2" });
  let next: ManagedProcess | undefined;
  try {
    const { url, key } = bed.target();
    const modes = ["sync", "stream"] as const;
    const answers = modes.map((mode) =>
      fetch(`${url}/v1/pipelines/runs`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ definition: definitionOf(`waited ${mode}`), mode }),
      }),
    );
    expect((await mortal.exited()).signal).toBe("SIGKILL");
    next = await startRole(["worker", "workflow"], bed.stack.env);
    const texts = await Promise.all(answers.map(async (answer) => (await answer).text()));
    for (const text of texts) expect(text).toContain('"status":"succeeded"');
    expect(texts[1]?.trimEnd()).toEndWith("data: [DONE]");
    for (const mode of modes) {
      expect(asked(`waited ${mode}`).toSorted()).toEqual(["first", "item 1", "item 2", "item 3"]);
    }
  } finally {
    await Promise.all([mortal.stop(), next?.stop()]);
  }
}, 90_000);

test.each(failpointsOf("ingress, run"))(
  "an ingress that dies at %s leaves one run, which a repeat under its key returns",
  async (at) => {
    await keepWorkers("chat", "workflow");
    const mortal = await startRole(["ingress"], { ...bed.stack.env, PORT: "0", SLUICE_FAILPOINT: at });
    try {
      const ask = (url: string) =>
        fetch(`${url}/v1/pipelines/runs`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${bed.stack.key}`,
            "content-type": "application/json",
            "idempotency-key": at,
          },
          body: JSON.stringify({ definition: { steps: [flat("only", `ingress ${at}`)] }, mode: "async" }),
        });
      expect(
        await ask(mortal.baseUrl).then(
          () => "answered",
          () => "cut",
        ),
      ).toBe("cut");
      expect((await mortal.exited()).signal).toBe("SIGKILL");
      const answer = await ask(bed.target().url);
      expect(answer.status).toBe(202);
      const run = await endOf(((await answer.json()) as WorkflowRun).id);
      expect(run).toMatchObject({ status: "succeeded", creditsUsed: 1 });
      const rows = await bed.stack.query("select 1 from run where idempotency_key = $1", [at]);
      expect(rows).toHaveLength(1);
    } finally {
      await mortal.stop();
    }
  },
  90_000,
);

describe("a worker dies during a step's call, at", () => {
  beforeAll(() => keepWorkers("workflow"));

  /** A provider may have been asked by then: it is not asked again. */
  const LOST: readonly Failpoint[] = ["job.intended", "job.served"];
  /** Behind the end of the first call, and a moment before the worker dies. */
  const LATER: readonly Failpoint[] = ["job.told", "job.acknowledged"];

  test.each(["job.claimed", "job.intended", "job.served", "job.ended", "job.told", "job.acknowledged"] as const)(
    "%s: the step runs once, or fails as lost, and the run ends",
    async (at) => {
      const run = await runThrough("chat", at, "async");
      const calls = asked(`chat async ${at}`);
      expect(new Set(calls).size).toBe(calls.length);
      if (LOST.includes(at)) {
        expect(run).toMatchObject({ status: "failed", error: { code: "worker_lost", stepId: "first" } });
        expect(calls.length).toBeLessThanOrEqual(1);
      } else if (LATER.includes(at) && run.status === "failed") {
        // The calls that follow may have been under way in the same worker.
        expect(run).toMatchObject({
          error: { code: "worker_lost" },
          stepRuns: expect.arrayContaining([expect.objectContaining({ id: "first", status: "succeeded" })]) as never,
        });
      } else {
        expect(run).toMatchObject({ status: "succeeded", output: { count: 3 } });
        expect(calls.toSorted()).toEqual(["first", "item 1", "item 2", "item 3"]);
      }
    },
    90_000,
  );
});

const DEATH_HEARD_MS = 5_000;

describe("a worker that continues a run dies, at", () => {
  beforeAll(() => keepWorkers("workflow"));

  const IDS = ["a", "b", "c", "d"];
  const retry = { max_attempts: 2 };
  const chainOf = (mark: string) => ({
    steps: IDS.map((id, at) => flat(id, `${mark} ${id}.`, at === 0 ? { retry } : { retry, depends_on: [IDS[at - 1]] })),
  });

  test.each([
    ["step.continued", "b"],
    ["step.continued:3", "d"],
    ["job.served:2", "b"],
    ["run.ended", undefined],
  ])(
    "%s: finished steps are kept, started ones are lost and retried",
    async (at, lostStep) => {
      const mark = `chain ${at}`;
      const mortal = await startRole(["worker", "chat"], { ...bed.stack.env, SLUICE_FAILPOINT: at });
      let next: ManagedProcess | undefined;
      try {
        const answer = call("/v1/pipelines/runs", { definition: chainOf(mark), mode: "sync" });
        const died = mortal.exited().then(({ signal }) => signal);
        // An end that was saved may be told before the death is heard of.
        const lived = answer.then(() => Bun.sleep(DEATH_HEARD_MS)).then(() => "the run ended before");
        expect(await Promise.race([died, lived])).toBe("SIGKILL");
        next = await startRole(["worker", "chat"], bed.stack.env);
        const run = await endOf(String((await answer).body["id"]));
        expect(run).toMatchObject({ status: "succeeded", creditsUsed: IDS.length });
        const asks = bed.upstream.requests
          .map(({ body }) => JSON.stringify(body))
          .filter((text) => text.includes(mark));
        const counts = IDS.map((id) => asks.filter((text) => text.includes(`${mark} ${id}.`)).length);
        // Only the one whose provider had been asked is asked again.
        expect(counts).toEqual(at === "job.served:2" ? [1, 2, 1, 1] : [1, 1, 1, 1]);
        const lost = run.stepRuns.filter(({ status }) => status === "failed").map(({ id, error }) => [id, error?.code]);
        expect(lost).toEqual(lostStep === undefined ? [] : [[lostStep, "worker_lost"]]);
      } finally {
        await mortal.stop();
        await next?.stop();
      }
    },
    90_000,
  );
});

test("the books are exact afterwards", async () => {
  // Words about runs that have ended may wait for a worker still.
  await keepWorkers("workflow", "chat");
  await audit(bed, { withinMs: 60_000 });
  const open = await bed.stack.query("select id from run where status in ('queued', 'running')");
  expect(open).toEqual([]);
  await eventually("all work that was begun is known to have ended", async () => {
    const rows = await bed.stack.query("select 1 from step_item where work_id is not null and credits is null");
    return rows.length === 0;
  });
}, 90_000);
