/**
 * A worker that ends a step and goes on with its run in one statement, over real Postgres: everything that keeps the two apart leaves
 * nothing written, and what is sent again is done once.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { openPublishers } from "#shared/access/authenticate.ts";
import { loadCatalogue, loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { beatJobs, type ClaimedJob, claimJob } from "#shared/database/jobs.ts";
import { requestRunCancel } from "#shared/database/runs.ts";
import { newId } from "#shared/ids.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import type { JobEnd } from "#shared/jobs/end.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { createMetrics } from "#shared/metrics.ts";
import type { Dispatched } from "#shared/database/jobs.ts";
import { beginRun } from "#shared/workflows/begin-run.ts";
import { inlineRunOf } from "#shared/workflows/new-run.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import { type FileBench, log, openFileBench } from "#tests/shared/files/bench.ts";
import type { StepContinuation } from "#workers/job.ts";
import type { WorkflowContext } from "#workers/workflows/context.ts";
import { openRunContinuation } from "#workers/workflows/continue-run.ts";
import { driveRun } from "#workers/workflows/drive-run.ts";
import { RunPermits } from "#workers/workflows/permits.ts";
import { RunStore } from "#workers/workflows/store.ts";

const CREDIT = 1_000_000_000n;
const OWNER = { worker: newId(), leaseMs: 60_000 };
const RETRY_MS = 5_000;

let bench: FileBench;
let context: WorkflowContext;
let sent: Dispatched[] = [];
let told: string[] = [];

beforeAll(async () => {
  bench = await openFileBench();
  const { database } = bench.db;
  const catalogue = await loadCatalogue(await loadOurLayers(), [], { sandbox: true, providerKey: () => "key" });
  const current = { current: () => catalogue };
  context = {
    config: { storageBytesMax: 1_000_000_000 },
    database,
    catalogue: current,
    storage: bench.storage,
    log,
    metrics: createMetrics("worker"),
    store: new RunStore(bench.storage),
    publishers: openPublishers({ database, catalogue: current }),
    starts: new RunPermits(4),
    jobs: createJobAdmission({ database }),
    dispatcher: { send: async (_pool: string, _lane: string, jobs: Dispatched[]) => void sent.push(...jobs) },
    replies: { isClosed: () => false, publish: (subject: string) => void told.push(subject) },
    adminWorkspaceId: undefined,
    cancel: () => undefined,
  } as unknown as WorkflowContext;
}, 120_000);
afterAll(() => bench.close());
afterEach(async () => {
  expect(await auditLedger(bench.db.database)).toEqual([]);
});

const step = (id: string, more: object = {}) => ({
  id,
  type: "model",
  model: "sandbox-chat",
  params: { messages: [{ role: "user", content: `say ${id}` }], max_tokens: 50 },
  ...more,
});
const CHAIN = { steps: [step("one"), step("two", { depends_on: ["one"] }), step("three", { depends_on: ["two"] })] };

interface Begun {
  readonly workspaceId: string;
  readonly runId: string;
  readonly job: ClaimedJob;
}

/** A run whose first step's job a worker has claimed. */
async function begin(definition: object, creditsNano = 100n * CREDIT): Promise<Begun> {
  const { database } = bench.db;
  const { id: workspaceId, keyId } = await createWorkspace(bench.db, { creditsNano });
  const caller = await context.publishers.find(workspaceId, keyId);
  if (!caller) throw new Error("the workspace has no key");
  const runId = newId();
  const request = { id: runId, input: undefined, mode: "async", lane: "live", depth: 0 } as const;
  await beginRun(context, inlineRunOf(caller, definition as never, request));
  sent = [];
  await driveRun(context, runId, false, async () => undefined);
  const [first] = sent;
  if (!first) throw new Error("no job was dispatched");
  const { id, attempt, dispatch } = first;
  const job = await claimJob(database, { id, workspaceId, attempt, dispatch, ...OWNER, claimsMax: 5 });
  if (!job) throw new Error("the job was not claimed");
  told = [];
  return { workspaceId, runId, job };
}

/** Returns what goes on with the run of a job, when it has read that. */
async function opened(job: ClaimedJob): Promise<StepContinuation> {
  const loads: Promise<unknown>[] = [];
  const { store } = context;
  const load: RunStore["load"] = (target, runId) => {
    const found = store.load(target, runId);
    loads.push(found);
    return found;
  };
  const noting = { load, remember: store.remember.bind(store) } as RunStore;
  const found = openRunContinuation({ ...context, store: noting }).open(job);
  if (!found) throw new Error("nothing goes on");
  await Promise.all(loads);
  return found;
}

function endOf({ id, epoch }: ClaimedJob, more: Partial<JobEnd> = {}): JobEnd {
  const message = { role: "assistant", content: "done" };
  const completion = { model: "sandbox-chat", choices: [{ index: 0, message, finish_reason: "stop" }] };
  return {
    id,
    epoch,
    isOwned: true,
    state: "completed",
    usage: { usedNano: 5n, status: "succeeded", source: "sandbox", units: {}, isEstimated: false, tokens: 3 },
    result: { text: JSON.stringify(completion) },
    error: null,
    ...more,
  };
}

const jobsOf = (runId: string) =>
  bench.db.query(
    "select step_id, state, epoch, worker, intent_at is not null as is_intended, credits from job where run_id = $1 order by created_at",
    [runId],
  );
const runOf = async (runId: string) =>
  (await bench.db.query("select status, rev, credits from run where id = $1", [runId]))[0];
/** All that an attempt to go on could change. */
const everything = async ({ runId, workspaceId }: Begun) => [
  await runOf(runId),
  await jobsOf(runId),
  await bench.db.query("select amount, held from balance where workspace_id = $1", [workspaceId]),
  await bench.db.query("select step_id, status from step_item where run_id = $1 order by step_id", [runId]),
];

describe("a worker that ends a step", () => {
  test("owns the next one at once, its provider about to be asked, until the run has ended", async () => {
    const { runId, job, workspaceId } = await begin(CHAIN);
    let [current, going] = [job, await opened(job)];
    for (const name of ["two", "three"]) {
      const continued = await going.end(endOf(current), OWNER, RETRY_MS);
      expect(continued).toMatchObject({ takenNano: 5n, next: { job: { run_id: runId, epoch: 1, claims: 1 } } });
      const { next } = continued as Required<NonNullable<typeof continued>>;
      expect((await jobsOf(runId)).at(-1)).toMatchObject({
        step_id: name,
        state: "running",
        epoch: 1,
        worker: OWNER.worker,
        is_intended: true,
      });
      expect(JSON.parse(next.job.request ?? "")).toMatchObject({ messages: [{ content: `say ${name}` }] });
      [current, going] = [next.job, next.step as StepContinuation];
    }
    expect(await going.end(endOf(current), OWNER, RETRY_MS)).toEqual({ takenNano: 5n });
    expect(await runOf(runId)).toMatchObject({ status: "succeeded", credits: 15n });
    expect((await jobsOf(runId)).map((row) => row["credits"])).toEqual([5n, 5n, 5n]);
    expect(await bench.db.query("select 1 from hold where workspace_id = $1", [workspaceId])).toEqual([]);
    // Readers hear of each pass, and the workflow pool of none.
    expect(told).toHaveLength(3);
    expect(new Set(told).size).toBe(1);
  });

  test("does what it sends again once, as its answer may be lost", async () => {
    const begun = await begin(CHAIN);
    const going = await opened(begun.job);
    const first = await going.end(endOf(begun.job), OWNER, RETRY_MS);
    const after = await everything(begun);
    expect(await going.end(endOf(begun.job), OWNER, RETRY_MS)).toMatchObject({
      takenNano: 5n,
      next: { job: { id: first?.next?.job.id } },
    });
    expect(await everything(begun)).toEqual(after);
    // Another worker's word for it is not taken.
    expect(
      await (await opened(begun.job)).end(endOf(begun.job), { ...OWNER, worker: newId() }, RETRY_MS),
    ).toBeUndefined();
    expect(await everything(begun)).toEqual(after);
  });

  test("goes on when an answer was lost, also where it finds a lock then; the next one is its worker's anew", async () => {
    const begun = await begin(CHAIN);
    let tries = 0;
    const query = async (text: string, values: never[], name: string): Promise<unknown> => {
      if (name === "end_step") tries += 1;
      if (name === "end_step" && tries === 2) throw Object.assign(new Error("a lock"), { code: "55P03" });
      const rows = await bench.db.database.query(text, values, name);
      if (name !== "end_step" || tries > 1) return rows;
      await bench.db.query("update job set lease_until = now() where worker = $1 and epoch = 1", [OWNER.worker]);
      // The worker does not hold it yet, and lets it go.
      const beat = { worker: OWNER.worker, pool: "chat", lane: "live", slots: 1, jobs: [], leaseMs: 60_000 } as const;
      await beatJobs(bench.db.database, beat);
      throw new Error("Connection terminated unexpectedly");
    };
    const database = { ...bench.db.database, query } as typeof bench.db.database;
    const going = openRunContinuation({ ...context, database }).open(begun.job);
    const continued = await going?.end(endOf(begun.job), OWNER, RETRY_MS);
    expect(continued).toMatchObject({ takenNano: 5n, next: { job: { run_id: begun.runId } } });
    expect(tries).toBe(3);
    const lease = "select worker, lease_until > now() + interval '30 s' as is_long from job where id = $1";
    const owned = { worker: OWNER.worker, is_long: true };
    expect(await bench.db.query(lease, [continued?.next?.job.id ?? null])).toEqual([owned]);
    expect((await jobsOf(begun.runId)).map((row) => row["state"])).toEqual(["completed", "running"]);
  });

  test("keeps no large run in its memory: the next step ends as any job does", async () => {
    const begun = await begin(CHAIN);
    const message = { role: "assistant", content: "x".repeat(300_000) };
    const text = JSON.stringify({ model: "sandbox-chat", choices: [{ index: 0, message, finish_reason: "stop" }] });
    const first = await (await opened(begun.job)).end(endOf(begun.job, { result: { text } }), OWNER, RETRY_MS);
    expect(first?.next?.job.run_id).toBe(begun.runId);
    expect(first?.next?.step).toBeUndefined();
  });

  test.each<[why: string, keepApart: (begun: Begun) => Promise<unknown>, end: Partial<JobEnd>]>([
    [
      "whose lease another worker has taken",
      ({ job }) => bench.db.query("update job set epoch = epoch + 1 where id = $1", [job.id]),
      {},
    ],
    [
      "whose run another worker has carried on",
      ({ runId }) => bench.db.query("update run set rev = rev + 1 where id = $1", [runId]),
      {},
    ],
    ["whose run is to be cancelled", ({ runId }) => requestRunCancel(bench.db.database, runId), {}],
    [
      "whose workspace cannot pay for the next one",
      ({ workspaceId }) => bench.db.query("update balance set amount = held where workspace_id = $1", [workspaceId]),
      {},
    ],
    [
      "whose workspace has a job that waits for room on the queue",
      ({ job }) =>
        bench.db.query(
          `insert into job (id, workspace_id, pool, lane, kind, modality, state, work, deadline)
           select $2, workspace_id, pool, lane, kind, modality, 'queued', '{}', deadline from job where id = $1`,
          [job.id, newId()],
        ),
      {},
    ],
    [
      "that came to more than was held",
      () => Promise.resolve(),
      {
        usage: {
          usedNano: 10n ** 15n,
          status: "succeeded",
          source: "sandbox",
          units: {},
          isEstimated: false,
          tokens: 3,
        },
      },
    ],
    [
      "that failed",
      () => Promise.resolve(),
      { state: "failed", result: null, error: { code: "bad", message: "No." } as never },
    ],
  ])("writes nothing of a step %s", async (_why, keepApart, more) => {
    const begun = await begin(CHAIN);
    const going = await opened(begun.job);
    await keepApart(begun);
    const before = await everything(begun);
    expect(await going.end(endOf(begun.job, more), OWNER, RETRY_MS)).toBeUndefined();
    expect(await everything(begun)).toEqual(before);
    // The books of these workspaces were bent above.
    await bench.db.query(
      "update balance set amount = (select coalesce(sum(e.amount), 0) from ledger_entry e where e.workspace_id = balance.workspace_id)",
    );
  });

  test.each([
    ["a list", step("two", { depends_on: ["one"], for_each: [1, 2] })],
    ["a capability", { id: "two", type: "code.jq", depends_on: ["one"], input: { data: {} }, params: { filter: "." } }],
    ["two calls", step("two", { depends_on: ["one"] }), step("three", { depends_on: ["one"] })],
    ["a model that is not offered", step("two", { depends_on: ["one"], model: "gone" })],
  ])("leaves a run to the workflow pool that goes on with %s", async (_what, ...steps) => {
    const begun = await begin({ steps: [step("one"), ...steps] });
    const before = await everything(begun);
    expect(await (await opened(begun.job)).end(endOf(begun.job), OWNER, RETRY_MS)).toBeUndefined();
    expect(await everything(begun)).toEqual(before);
  });

  test("opens nothing for an item of a list, nor beside other work of the run", async () => {
    const list = await begin({ steps: [step("one", { for_each: [1] })] });
    expect(openRunContinuation(context).open(list.job)).toBeUndefined();
    const beside = await begin({ steps: [step("one"), step("two")] });
    expect(openRunContinuation(context).open(beside.job)).toBeUndefined();
  });
});
