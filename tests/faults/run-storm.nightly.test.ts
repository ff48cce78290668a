/**
 * Fault: workers of the pools that runs need are killed again and again while runs of three workspaces go on, Postgres goes away and
 * comes back, one worker sleeps longer than its queue waits, and wakes come many times over. Expected: every run ends, nothing is done
 * twice, and the books are exact.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { WorkflowRun } from "#schemas/generated/types.ts";
import { notifyRun } from "#shared/queue/run-notice.ts";
import { connect } from "nats";
import { type ManagedProcess, startRole } from "#tests/support/role-process.ts";
import { seeded, testSeed } from "#tests/support/seed.ts";
import { storm } from "#tests/support/storm.ts";

import { audit } from "./audit.ts";
import { type Bed, createWorkspace, startBed, type Workspace } from "./bed.ts";
import { eventually } from "./wait.ts";

/** Over three workspaces. */
const RUNS = storm(18, 200);
const KILL_EVERY_MS = storm(1_500, 3_000);
/** Ten wakes at a time. */
const WAKE_EVERY_MS = storm(25, 5);

let bed: Bed;
const workspaces: Workspace[] = [];

beforeAll(async () => {
  bed = await startBed({ workers: 0, ownPostgres: true, behaviours: ["delay-20"] });
  for (let at = 0; at < 3; at += 1) workspaces.push(await createWorkspace(bed.stack, { creditsNano: 10n ** 15n }));
}, 90_000);
afterAll(() => bed?.stop());

async function call(key: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(bed.target().url + path, {
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
  });
  const value = (await answer.json()) as Record<string, unknown>;
  if (answer.status >= 400) throw new Error(`${answer.status} ${JSON.stringify(value)}`);
  return value;
}

const flat = (id: string, content: string, more: object = {}) => ({
  id,
  type: "model",
  model: "flat",
  params: { messages: [{ role: "user", content }] },
  ...more,
});

async function ended(key: string, id: string, withinMs = 120_000): Promise<WorkflowRun> {
  return eventually(
    `run ${id} ends`,
    async () => {
      const run = (await call(key, `/v1/workflows/runs/${id}`)) as unknown as WorkflowRun;
      const isOpen = [run, ...run.stepRuns].some(({ status }) => status === "queued" || status === "running");
      return isOpen ? undefined : run;
    },
    withinMs,
  );
}

function asked(mark: string): string[] {
  return bed.upstream.requests
    .map(({ body }) => /"content":"([^"]*)"/.exec(JSON.stringify(body))?.[1] ?? "")
    .filter((content) => content.startsWith(mark));
}

test("repeated notices for a list of a hundred, to two workers: a hundred calls, and one that follows", async () => {
  const { key, id: workspaceId } = workspaces[0] as Workspace;
  const workers = await Promise.all([
    startRole(["worker", "workflow"], bed.stack.env),
    startRole(["worker", "workflow"], bed.stack.env),
    startRole(["worker", "chat"], bed.stack.env),
  ]);
  const connection = await connect({ servers: bed.stack.natsUrl });
  try {
    const list = Array.from({ length: 100 }, (_, at) => at);
    const steps = [
      flat("each", "hundred ${{ item }}.", { for_each: list, concurrency: 32 }),
      flat("after", "hundred after ${{ size(steps.each.output) }}"),
    ];
    const { id } = (await call(key, "/v1/pipelines/runs", {
      definition: { steps, output: { count: "${{ size(steps.each.output) }}" } },
      mode: "async",
    })) as { id: string };
    const resender = setInterval(() => {
      for (const lane of ["live", "batch"] as const) {
        for (let at = 0; at < 5; at += 1) notifyRun(connection, { id, workspace_id: workspaceId, lane });
      }
    }, WAKE_EVERY_MS);
    const run = await ended(key, id);
    clearInterval(resender);
    expect(run).toMatchObject({ status: "succeeded", output: { count: 100 }, creditsUsed: 101 });
    const calls = asked("hundred");
    expect(calls.length).toBe(101);
    expect(new Set(calls).size).toBe(101);
  } finally {
    await connection.close();
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}, 90_000);

test("a worker that was paused while another ended its run changes nothing after its pause", async () => {
  const { key } = workspaces[1] as Workspace;
  const chat = await startRole(["worker", "chat"], bed.stack.env);
  const sleeper = await startRole(["worker", "workflow"], bed.stack.env);
  let heir: ManagedProcess | undefined;
  try {
    const steps = [
      flat("a", "sleeper a"),
      flat("b", "sleeper b ${{ steps.a.status }}"),
      flat("c", "sleeper c ${{ steps.b.status }}"),
    ];
    const { id } = (await call(key, "/v1/pipelines/runs", { definition: { steps }, mode: "async" })) as { id: string };
    await eventually("it has begun", () => asked("sleeper").length > 0);
    sleeper.kill("SIGSTOP");
    heir = await startRole(["worker", "workflow"], bed.stack.env);
    const run = await ended(key, id);
    expect(run).toMatchObject({ status: "succeeded", creditsUsed: 3 });
    sleeper.kill("SIGCONT");
    await Bun.sleep(1_000);
    expect(await ended(key, id)).toEqual(run);
    expect(asked("sleeper").toSorted()).toEqual(["sleeper a", "sleeper b succeeded", "sleeper c succeeded"]);
  } finally {
    await Promise.all([chat.stop(), sleeper.stop(), heir?.stop()]);
  }
}, 90_000);

test(`${RUNS} runs of three workspaces end while workers are killed and Postgres fails`, async () => {
  const chance = seeded(testSeed("run-storm"));
  const living: ManagedProcess[] = [];
  const start = async (pool: string): Promise<void> =>
    void living.push(await startRole(["worker", pool], bed.stack.env));
  const pools = ["workflow", "workflow", "chat", "chat"];
  await Promise.all(pools.map(start));
  const over = new AbortController();
  const killing = (async () => {
    for (let count = 0; !over.signal.aborted; count += 1) {
      await Bun.sleep(KILL_EVERY_MS);
      const at = Math.floor(chance() * living.length);
      const [victim] = living.splice(at, 1);
      const [pool = "chat"] = pools.splice(at, 1);
      victim?.kill("SIGKILL");
      pools.push(pool);
      await start(pool);
      if (count % 4 !== 2) continue;
      await bed.stack.postgres?.stop("fast");
      await Bun.sleep(500);
      await bed.stack.postgres?.start();
    }
  })();
  try {
    const definition = (mark: string) => ({
      steps: [
        flat("a", `${mark} a`, { retry: { max_attempts: 5 } }),
        flat("each", `${mark} item \${{ item }}`, {
          for_each: [1, 2, 3],
          retry: { max_attempts: 5 },
          depends_on: ["a"],
        }),
        flat("last", `${mark} last`, { depends_on: ["each"], retry: { max_attempts: 5 } }),
      ],
      retry: { max_attempts: 5 },
    });
    const begun = await Promise.all(
      Array.from({ length: RUNS }, async (_, at) => {
        const { key } = workspaces[at % 3] as Workspace;
        const body = { definition: definition(`storm ${at}.`), mode: "async" };
        // Postgres may be away: the key makes the repeat the same run.
        const run = await eventually("a run begins", async () => {
          const answer = await fetch(`${bed.target().url}/v1/pipelines/runs`, {
            method: "POST",
            headers: {
              authorization: `Bearer ${key}`,
              "content-type": "application/json",
              "idempotency-key": `storm ${at}`,
            },
            body: JSON.stringify(body),
          });
          return answer.ok && ((await answer.json()) as WorkflowRun);
        });
        return { key, id: run.id, at };
      }),
    );
    const runs = await Promise.all(begun.map(({ key, id }) => ended(key, id, 240_000)));
    over.abort();
    await killing;
    const statuses = new Map<string, number>();
    for (const { status } of runs) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    process.stderr.write(`run-storm: ${JSON.stringify(Object.fromEntries(statuses))}\n`);
    // A call whose worker died is lost; five tries each leave room for all of them.
    expect([...statuses.keys()]).toEqual(["succeeded"]);
    for (const run of runs) {
      const sum = run.stepRuns.reduce((total, { creditsUsed }) => total + creditsUsed, 0);
      expect(run.creditsUsed).toBeCloseTo(sum, 6);
      expect(run.creditsUsed).toBeGreaterThanOrEqual(5);
    }
    await audit(bed, { withinMs: 60_000 });
  } finally {
    over.abort();
    await killing;
    await Promise.all(living.map((worker) => worker.stop()));
  }
}, 300_000);
