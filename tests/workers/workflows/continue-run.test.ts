/**
 * A worker that ends a step and goes on with its run in one statement, over real Postgres: everything that keeps the two apart leaves
 * nothing written, and what is sent again is done once.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { openPublishers } from "#shared/access/authenticate.ts";
import { loadCatalogue, loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { beatJobs, type ClaimedJob, claimJob } from "#shared/database/jobs.ts";
import { requestRunCancel } from "#shared/database/runs.ts";
import { newId } from "#shared/base/ids.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import { endJob, type JobEnd } from "#shared/jobs/end.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import type { Dispatched } from "#shared/database/jobs.ts";
import { beginRun } from "#shared/workflows/begin-run.ts";
import { inlineRunOf } from "#shared/workflows/new-run.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import { type FileBench, log, openFileBench } from "#tests/shared/files/bench.ts";
import type { StepContinuation } from "#workers/job.ts";
import { openRunContinuation } from "#workers/workflows/continue-run.ts";
import { driveRun, type WorkflowContext } from "#workers/workflows/drive-run.ts";
import { RunPermits } from "#workers/workflows/permits.ts";
import { workIdOf } from "#workers/workflows/start.ts";
import type { RunState } from "#workers/workflows/state.ts";
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

interface Begun extends NewRun {
  readonly job: ClaimedJob;
}

interface NewRun {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly runId: string;
}

/** A run that no worker has looked at. */
async function insertRun(definition: object, creditsNano = 100n * CREDIT): Promise<NewRun> {
  const { id: workspaceId, keyId } = await createWorkspace(bench.db, { creditsNano });
  const caller = await context.publishers.find(workspaceId, keyId);
  if (!caller) throw new Error("the workspace has no key");
  const runId = newId();
  const request = { id: runId, input: undefined, mode: "async", lane: "live", depth: 0 } as const;
  await beginRun(context, inlineRunOf(caller, definition as never, request));
  sent = [];
  return { workspaceId, keyId, runId };
}

const drive = (runId: string, own = context): Promise<void> => driveRun(own, runId, false, async () => undefined);

/** A run whose first step's job a worker has claimed. */
async function begin(definition: object): Promise<Begun> {
  const { database } = bench.db;
  const { workspaceId, keyId, runId } = await insertRun(definition);
  await drive(runId);
  const [first] = sent;
  if (!first) throw new Error("no job was dispatched");
  const { id, attempt, dispatch } = first;
  const job = await claimJob(database, { id, workspaceId, attempt, dispatch, ...OWNER, claimsMax: 5 });
  if (!job) throw new Error("the job was not claimed");
  told = [];
  return { workspaceId, keyId, runId, job };
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
  test("owns the next one immediately, its provider about to be called, until the run has ended", async () => {
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

  test("records the run's last progress, to the second, and drops the earlier notice of it", async () => {
    const { runId, job } = await begin(CHAIN);
    const set = async (time: string): Promise<string> => {
      const text = `update run set woken_at = now(), progressed_at = ${time} where id = $1 returning progressed_at::text as was`;
      return (await bench.db.query<{ was: string }>(text, [runId]))[0]?.was ?? "";
    };
    const seen = async (was: string) => {
      const [row] = await bench.db.query<{ woken_at: Date | null; is_kept: boolean; is_late: boolean }>(
        `select woken_at, progressed_at = $2::timestamptz as is_kept, clock_timestamp() > $2::timestamptz + interval '1 second' as is_late
         from run where id = $1`,
        [runId, was],
      );
      return row;
    };
    const old = await set("now() - interval '1 minute'");
    const { next } = (await (await opened(job)).end(endOf(job), OWNER, RETRY_MS)) ?? {};
    expect(await seen(old)).toEqual({ woken_at: null, is_kept: false, is_late: true });
    const recent = await set("clock_timestamp()");
    await next?.step?.end(endOf(next.job), OWNER, RETRY_MS);
    const last = await seen(recent);
    expect(last?.woken_at).toBeNull();
    // A busy machine may have needed more than the second.
    expect(last?.is_kept === true || last?.is_late === true).toBe(true);
  });

  test("does a repeated write once, as its answer may be lost", async () => {
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

  test("continues when an answer was lost, also if it finds a lock then; the next one belongs to its worker again", async () => {
    const begun = await begin(CHAIN);
    let tries = 0;
    const query = async (text: string, values: never[], name: string): Promise<unknown> => {
      if (name === "advance_run") tries += 1;
      if (name === "advance_run" && tries === 2) throw Object.assign(new Error("a lock"), { code: "55P03" });
      const rows = await bench.db.database.query(text, values, name);
      if (name !== "advance_run" || tries > 1) return rows;
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

  test("keeps no large run in its memory: the next step ends like any job", async () => {
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
  ])("leaves a run to the workflow pool that continues with %s", async (_what, ...steps) => {
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

describe("a worker that starts a run", () => {
  function notingNames(): { readonly names: string[]; readonly database: typeof bench.db.database } {
    const names: string[] = [];
    const query = (text: string, values: never[], name: string): Promise<unknown[]> => {
      names.push(name);
      return bench.db.database.query(text, values, name);
    };
    return { names, database: { ...bench.db.database, query } as typeof bench.db.database };
  }

  /** Drives it, and returns the names of the statements that this took. */
  async function statementsOf(runId: string): Promise<string[]> {
    const { names, database } = notingNames();
    await drive(runId, { ...context, database });
    return names;
  }
  const queued = ({ runId }: NewRun) =>
    bench.db.query(
      "select state, dispatch, dispatched_at is not null as is_sent, epoch, claims, worker, attempt from job where run_id = $1",
      [runId],
    );
  const SENT = { state: "queued", dispatch: 1, is_sent: true, epoch: 0, claims: 0, worker: null, attempt: 1 };
  const WAITING = { ...SENT, dispatch: 0, is_sent: false };
  const holds = ({ workspaceId }: NewRun) =>
    bench.db.query("select 1 from hold where workspace_id = $1", [workspaceId]);

  test("reads it, and puts its first call on the queue, in one statement each", async () => {
    const run = await insertRun(CHAIN);
    expect(await statementsOf(run.runId)).toEqual(["load_run", "advance_run"]);
    expect(await queued(run)).toEqual([SENT]);
    expect(sent).toMatchObject([{ workspace_id: run.workspaceId, attempt: 1, dispatch: 1 }]);
    expect(await holds(run)).toHaveLength(1);
    expect(await runOf(run.runId)).toMatchObject({ status: "running", rev: 1 });
  });

  test("admits it once when two do so concurrently", async () => {
    const run = await insertRun(CHAIN);
    const other = { ...context, store: new RunStore(bench.storage) };
    await Promise.all([drive(run.runId), drive(run.runId, other)]);
    expect(await queued(run)).toEqual([SENT]);
    expect(await holds(run)).toHaveLength(1);
    expect(sent).toHaveLength(1);
  });

  test.each<[why: string, prepare: (run: NewRun) => Promise<unknown>]>([
    ["a job of its workspace waits for room there", (run) => insertJobs(run, 1, "null")],
    ["its workspace has its share there", (run) => insertJobs(run, 40, "now()")],
  ])("leaves its first call in its row if %s", async (_why, prepare) => {
    const run = await insertRun(CHAIN);
    await prepare(run);
    expect(await statementsOf(run.runId)).toEqual(["load_run", "advance_run"]);
    expect(await queued(run)).toEqual([WAITING]);
    expect(await holds(run)).toHaveLength(1);
    expect(sent).toEqual([]);
  });

  test.each<[why: string, keepApart: (run: NewRun) => Promise<unknown>, jobs: Record<string, unknown>[]]>([
    ["its job's id was used before", (run) => useId(run, "usage_record"), [{ ...SENT, attempt: 2 }]],
    ["its job's id was used long ago", (run) => useId(run, "archived_attempt"), [{ ...SENT, attempt: 2 }]],
    [
      "its workspace cannot pay for it",
      ({ workspaceId }) => bench.db.query("update balance set held = amount where workspace_id = $1", [workspaceId]),
      [{ ...SENT, state: "refused", dispatch: 0, is_sent: false }],
    ],
    ["it is to be cancelled", ({ runId }) => requestRunCancel(bench.db.database, runId), []],
  ])("uses separate statements if %s", async (_why, keepApart, jobs) => {
    const run = await insertRun(CHAIN);
    await keepApart(run);
    expect(await statementsOf(run.runId)).toContain("save_run");
    expect(await queued(run)).toEqual(jobs);
    expect(sent).toHaveLength(jobs.filter((job) => job["is_sent"]).length);
    await bench.db.query("delete from usage_record where workspace_id = $1", [run.workspaceId]);
    await bench.db.query(
      "update balance set held = (select coalesce(sum(h.amount), 0) from hold h where h.workspace_id = balance.workspace_id)",
    );
  });

  test("writes nothing for one that is cancelled, or locked, while it decides", async () => {
    const locker = bench.db.database.reserve("locker");
    for (const [during, is_over] of [
      ["update run set cancel_requested = true where id = $1", true],
      ["select from balance b join run r using (workspace_id) where r.id = $1 for update of b", false],
    ] as const) {
      const run = await insertRun(CHAIN);
      let isHeld = false;
      const query = async (text: string, values: never[], name: string): Promise<unknown[]> => {
        if (name !== "advance_run") {
          if (isHeld) await locker.query("rollback");
          isHeld = false;
          return bench.db.database.query(text, values, name);
        }
        await locker.query("begin");
        await locker.query(during, [run.runId]);
        if (is_over) await locker.query("commit");
        isHeld = !is_over;
        const rows = await bench.db.database.query(text, values, name).catch((error: unknown) => {
          expect(error).toMatchObject({ code: "55P03" });
          throw error;
        });
        expect(rows).toEqual([{ number: null }]);
        return rows;
      };
      await drive(run.runId, { ...context, database: { ...bench.db.database, query } as typeof bench.db.database });
      expect(await queued(run)).toEqual(is_over ? [] : [SENT]);
    }
  });

  test.each([
    ["two calls", [step("one"), step("two")]],
    ["a list", [step("one", { for_each: [1, 2] })]],
    ["a model that is not offered", [step("one", { model: "gone" })]],
  ])("uses separate statements if the run starts with %s", async (_what, steps) => {
    const { runId } = await insertRun({ steps });
    expect(await statementsOf(runId)).not.toContain("advance_run");
  });

  test("uses separate statements for a nested run, whose root counts its work", async () => {
    const parent = await insertRun(CHAIN);
    await bench.db.query("update run set status = 'running' where id = $1", [parent.runId]);
    const caller = await context.publishers.find(parent.workspaceId, parent.keyId);
    const runId = newId();
    const place = { id: parent.runId, stepId: "sub", attempt: 1, index: 0 };
    const request = { id: runId, input: undefined, mode: "async", lane: "live", depth: 1 } as const;
    if (!caller) throw new Error("the workspace has no key");
    await beginRun(context, { ...inlineRunOf(caller, CHAIN, request), parent: place });
    const names = await statementsOf(runId);
    expect(names).not.toContain("advance_run");
    expect(names).toContain("save_run");
  });

  test("that another has continued receives its ends", async () => {
    const begun = await begin(CHAIN);
    await endJob({ database: bench.db.database, log }, endOf(begun.job), 0);
    sent = [];
    await drive(begun.runId, { ...context, store: new RunStore(bench.storage) });
    expect((await jobsOf(begun.runId)).map((row) => row["step_id"])).toEqual(["one", "two"]);
    expect(sent).toHaveLength(1);
  });

  test.each([
    ["a small run's rows with it", 8_000, []],
    ["a large run's rows by themselves", 80_000, ["load_step_runs", "load_step_items"]],
  ])("reads %s", async (_what, length, more) => {
    const begun = await begin({ steps: [step("one", { for_each: ["x".repeat(length)] }), step("two")] });
    const { names, database } = notingNames();
    const read = await new RunStore(bench.storage).load(database, begun.runId);
    expect(names).toEqual(["load_run", ...more]);
    const known = await context.store.load(bench.db.database, begun.runId);
    expect(read?.state).toEqual(known?.state as RunState);
    expect(read?.state.stepRuns).toHaveLength(2);
  });
});

/** The id of the run's first job was used before. */
function useId({ runId, workspaceId }: NewRun, table: "usage_record" | "archived_attempt"): Promise<unknown> {
  const id = workIdOf(runId, { stepId: "one", attempt: 1, index: 0 });
  return bench.db.query(
    table === "archived_attempt"
      ? "insert into archived_attempt (workspace_id, job_id, attempt) values ($2, $1, 1)"
      : `insert into usage_record (job_id, attempt, workspace_id, key_id, model, status, units, is_estimated, held, settled, uncollected, day,
           tokens, started_at)
         values ($1, 1, $2, $2, 'sandbox-chat', 'failed', '{}', false, 0, 0, 0, current_date, 0, now())`,
    [id, workspaceId],
  );
}

/** Jobs of a run's workspace beside its own. @param dispatchedAt as SQL */
function insertJobs({ workspaceId }: NewRun, count: number, dispatchedAt: string): Promise<unknown> {
  return bench.db.query(
    `insert into job (id, workspace_id, pool, lane, kind, modality, state, work, deadline, dispatched_at)
     select gen_random_uuid(), $1, 'chat', 'live', 'chat', 'text', 'queued', '{}', now() + interval '1 hour', ${dispatchedAt}
     from generate_series(1, $2::int)`,
    [workspaceId, count],
  );
}
