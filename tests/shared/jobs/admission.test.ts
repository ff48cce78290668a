import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { type Database, openDatabase } from "#shared/database/client.ts";
import { findJob, noteUnknown } from "#shared/database/jobs.ts";
import { newId } from "#shared/base/ids.ts";
import { createJobAdmission, type JobAdmission } from "#shared/jobs/admission.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { createLogger } from "#shared/base/logger.ts";
import { eventually } from "#tests/faults/wait.ts";
import { createWorkspace, CREDIT, stopCalls } from "#tests/shared/accounts.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { jobRequest } from "./jobs.ts";

const log = createLogger({ level: "silent", role: "test" });
let db: TestDatabase;
/** Two processes with a door each. */
let databases: Database[];
let doors: JobAdmission[];

beforeAll(async () => {
  db = await createTestDatabase();
  databases = [0, 1].map(() => openDatabase({ url: db.url, poolMax: 6, log }));
  doors = databases.map((database) => createJobAdmission({ database }));
});
afterAll(async () => {
  await Promise.all(databases.map((database) => database.close()));
  await db.query("select pg_stat_clear_snapshot()");
  expect(await db.query("select deadlocks from pg_stat_database where datname = current_database()")).toEqual([
    { deadlocks: 0n },
  ]);
  await db.drop();
});
afterEach(async () => {
  expect(await auditLedger(db.database)).toEqual([]);
});

const door = (): JobAdmission => doors[0] as JobAdmission;
const count = async (table: string, workspaceId: string): Promise<number> => {
  const [row] = await db.query<{ count: bigint }>(`select count(*) as count from ${table} where workspace_id = $1`, [
    workspaceId,
  ]);
  return Number(row?.count);
};
const counted = async (workspaceId: string): Promise<bigint | undefined> =>
  (await db.query<{ calls: bigint }>("select calls from rate_window where workspace_id = $1", [workspaceId]))[0]?.calls;

describe("a submitted job", () => {
  test("is admitted with row, hold and first dispatch in one transaction", async () => {
    const workspaceId = await createWorkspace(db.database);
    const job = jobRequest({ workspaceId, amount: 7n, publisherKey: "mine" });
    expect(await door().admit(job)).toEqual({ kind: "admitted", attempt: 1, dispatch: 1 });
    expect(await findJob(db.database, workspaceId, job.id)).toMatchObject({ state: "queued", publisher_key: "mine" });
    expect(await db.query("select amount from hold where job_id = $1", [job.id])).toEqual([{ amount: 7n }]);
    expect(await db.query("select request, dispatch from job where id = $1", [job.id])).toEqual([
      { request: '{"a":"\\u0000"}', dispatch: 1 },
    ]);
    expect(await counted(workspaceId)).toBe(1n);
  });

  test("alone uses the single form; rejections and concurrent jobs are decided by the group form", async () => {
    const names: string[] = [];
    const noting = (target: Pick<Database, "query">): Pick<Database, "query"> => ({
      query(text, values, name) {
        names.push(name ?? "");
        return target.query(text, values, name);
      },
    });
    const own = databases[0] as Database;
    const database = { ...own, ...noting(own), reserve: (name: string) => noting(own.reserve(name)) };
    const admission = createJobAdmission({ database });
    const workspaceId = await createWorkspace(db.database);
    const offer = (more: object = {}) => admission.admit(jobRequest({ workspaceId, ...more }));
    const told = async (work: Promise<{ readonly kind: string }>[]): Promise<[string[], string[]]> => {
      const kinds = (await Promise.all(work)).map(({ kind }) => kind);
      return [kinds, names.splice(0)];
    };
    expect(await told([offer()])).toEqual([["admitted"], ["admit_job"]]);
    expect(await told([offer(), offer(), offer()])).toEqual([Array(3).fill("admitted"), ["admit_job", "admit_jobs"]]);
    expect(await told([offer({ amount: 10n ** 18n })])).toEqual([["refused"], ["admit_job", "admit_jobs"]]);
    // For a moment, so that who asks again and again has not two statements each time.
    expect(await told([offer({ limit: 5 })])).toEqual([["full"], ["admit_jobs"]]);
    expect(await told([offer({ isRefused: true })])).toEqual([["refused"], ["admit_jobs"]]);
    // One that waits for its window is not counted; all others are, once.
    expect(await counted(workspaceId)).toBe(6n);
    expect(await count("hold", workspaceId)).toBe(4);
    await eventually("the lone form is tried again", async () => (await told([offer()]))[1][0] === "admit_job");
  });

  test("of a run's step keeps run, step and trace, and places a hold without counting in a full window", async () => {
    const workspaceId = await createWorkspace(db.database);
    await door().admit(jobRequest({ workspaceId, limit: 1, ifFull: "refuse" }));
    const runId = newId();
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const step = { runId, stepId: "art", parentId: newId() };
    const job = jobRequest({ workspaceId, limit: 1, ifFull: "refuse", isCounted: false, step, traceparent });
    expect(await door().admit(job)).toMatchObject({ kind: "admitted" });
    expect(await door().admit(jobRequest({ workspaceId, limit: 1, ifFull: "refuse" }))).toMatchObject({ kind: "full" });
    expect([await count("hold", workspaceId), await counted(workspaceId)]).toEqual([2, 2n]);
    const columns = "run_id, step_id, parent_id, traceparent";
    expect(await db.query(`select ${columns} from job where id = $1`, [job.id])).toEqual([
      { run_id: runId, step_id: "art", parent_id: step.parentId, traceparent },
    ]);
  });

  test("is recognised when it is submitted again: nothing is counted or held twice", async () => {
    const workspaceId = await createWorkspace(db.database);
    const job = jobRequest({ workspaceId });
    await door().admit(job);
    expect(await door().admit(job)).toEqual({ kind: "known" });
    expect(await door().admit(jobRequest({ workspaceId, id: job.id, isRefused: true }))).toEqual({ kind: "known" });
    expect([await counted(workspaceId), await count("hold", workspaceId)]).toEqual([1n, 1]);
  });

  test("submitted concurrently through two entry points is one job with one hold", async () => {
    const workspaceId = await createWorkspace(db.database);
    const ids = Array.from({ length: 20 }, () => newId());
    const offers = Array.from({ length: 10 }, () => ids).flat();
    const verdicts = await Promise.all(
      offers.map((id, at) => (doors[at % 2] as JobAdmission).admit(jobRequest({ workspaceId, id }))),
    );
    expect(verdicts.filter(({ kind }) => kind === "admitted")).toHaveLength(20);
    expect(verdicts.filter(({ kind }) => kind === "known")).toHaveLength(180);
    expect([await count("job", workspaceId), await count("hold", workspaceId), await counted(workspaceId)]).toEqual([
      20,
      20,
      20n,
    ]);
  });

  test("above a budget is rejected by a sentence which names it, counted, and does not wait for a window", async () => {
    const workspaceId = await createWorkspace(db.database);
    await stopCalls(db.database, workspaceId, "a day");
    const sentence =
      'The workspace\'s budget "a day" is spent; calls are refused until its period ends or it is changed.';
    for (const ifFull of ["wait", "refuse"] as const) {
      const job = jobRequest({ workspaceId, limit: 0, ifFull });
      const error = { code: "budget_reached", type: "quota_exceeded", message: sentence, param: null };
      expect(await door().admit(job)).toMatchObject({ kind: "refused", error });
      expect(await findJob(db.database, workspaceId, job.id)).toMatchObject({ state: "refused", error });
    }
    const step = jobRequest({ workspaceId, isCounted: false, limit: null, ifFull: "refuse" });
    expect(await door().admit(step)).toMatchObject({ kind: "refused", error: { code: "budget_reached" } });
    expect(await door().admit(jobRequest({ workspaceId, amount: 0n }))).toMatchObject({ kind: "admitted" });
    expect([await counted(workspaceId), await count("hold", workspaceId)]).toEqual([4n, 1]);
  });

  test("without enough credits is stored as rejected, and counted once", async () => {
    const workspaceId = await createWorkspace(db.database, 10n);
    const jobs = Array.from({ length: 20 }, () => jobRequest({ workspaceId, amount: 1n }));
    const verdicts = await Promise.all(jobs.map((job, at) => (doors[at % 2] as JobAdmission).admit(job)));
    const refused = verdicts.filter((verdict) => verdict.kind === "refused");
    expect(refused).toHaveLength(10);
    expect(refused[0]).toMatchObject({ error: { code: "insufficient_credits", type: "quota_exceeded", param: null } });
    const rows = await db.query("select state, error->>'code' as code, ended_at is not null as ended from job where workspace_id = $1 and state <> 'queued'", [workspaceId]); // prettier-ignore
    expect(rows).toEqual(
      Array.from({ length: 10 }, () => ({ state: "refused", code: "insufficient_credits", ended: true })),
    );
    expect([await count("hold", workspaceId), await counted(workspaceId)]).toEqual([10, 20n]);
  });

  test("beyond the daily tokens is stored as rejected", async () => {
    const workspaceId = await createWorkspace(db.database);
    await door().admit(jobRequest({ workspaceId, tokens: 100, cap: 100 }));
    expect(await door().admit(jobRequest({ workspaceId, tokens: 60, cap: 100 }))).toMatchObject({
      kind: "refused",
      error: { code: "daily_tokens_exceeded" },
    });
  });

  test("rejected by validation is counted and stored in text that Postgres accepts", async () => {
    const workspaceId = await createWorkspace(db.database);
    const job = jobRequest({ workspaceId, isRefused: true });
    expect(await door().admit(job)).toMatchObject({ kind: "refused", error: { code: "unsupported_value" } });
    expect(await findJob(db.database, workspaceId, job.id)).toMatchObject({
      state: "refused",
      error: { message: "Not  this \ufffd.", param: "a" },
    });
    expect([await counted(workspaceId), await count("hold", workspaceId)]).toEqual([1n, 0]);
  });

  test("of a workspace that does not exist leaves nothing", async () => {
    const workspaceId = newId();
    expect(await door().admit(jobRequest({ workspaceId }))).toEqual({ kind: "unknown_workspace" });
    expect(await count("job", workspaceId)).toBe(0);
  });

  test("waits without being counted while its window is full, and is admitted when it opens", async () => {
    const workspaceId = await createWorkspace(db.database);
    // Half of a window.
    for (let at = 0; at < 3; at++) await door().admit(jobRequest({ workspaceId, limit: 6 }));
    const job = jobRequest({ workspaceId, limit: 6 });
    const verdict = await door().admit(job);
    expect(verdict.kind).toBe("full");
    if (verdict.kind === "full") {
      expect(verdict.waitMs).toBeGreaterThan(50_000);
      expect(verdict.waitMs).toBeLessThanOrEqual(60_000);
    }
    expect([await findJob(db.database, workspaceId, job.id), await counted(workspaceId)]).toEqual([undefined, 3n]);
    await db.query(
      `update rate_window set last_ms = last_ms - 61000, recent = array(select at - 61000 from unnest(recent) at)
       where workspace_id = $1`,
      [workspaceId],
    );
    expect(await door().admit(job)).toMatchObject({ kind: "admitted" });
  });

  test.each(["one after the other", "at once"])(
    "that waits takes half of the window minus the calls in it, %s, and leaves the remainder to calls",
    async (how) => {
      const workspaceId = await createWorkspace(db.database);
      const limit = 10;
      const offer = (ifFull: "wait" | "refuse") => door().admit(jobRequest({ workspaceId, limit, ifFull }));
      const admittedOf = async (count: number, ifFull: "wait" | "refuse"): Promise<number> => {
        const kinds: string[] = [];
        if (how === "at once")
          kinds.push(...(await Promise.all(Array.from({ length: count }, () => offer(ifFull)))).map(({ kind }) => kind)); // prettier-ignore
        else for (let at = 0; at < count; at++) kinds.push((await offer(ifFull)).kind);
        return kinds.filter((kind) => kind === "admitted").length;
      };
      expect(await admittedOf(3, "refuse")).toBe(3);
      expect(await admittedOf(20, "wait")).toBe(2);
      expect(await admittedOf(5, "refuse")).toBe(5);
      expect(await admittedOf(1, "refuse")).toBe(0);
    },
  );

  test.each([
    ["twice as many calls as it takes, evenly", (step: number) => (step % 2 === 0 ? 1 : 2), false],
    ["bursts", (step: number) => (step % 20 === 7 ? 30 : 0), false],
    ["calls as soon as there is room", () => 20, true],
  ] as const)(
    "that starves is admitted to a tenth of a window kept full by %s, and no 60 s exceed the limit",
    async (_what, callsAt, looksFirst) => {
      const workspaceId = await createWorkspace(db.database);
      const limit = 20;
      let nowMs = 1_700_000_000_000;
      /** Times in milliseconds between which something passed: those that pass by themselves, a busy machine's, count too. */
      const passed: { from: number; to: number; isBatch: boolean }[] = [];
      const clock = (): number => nowMs + performance.now();
      /** All that the window has seen moves into the past: a minute takes no minute. */
      const pass = async (ms: number): Promise<void> => {
        nowMs += ms;
        await db.query(
          `with w as (update rate_window set last_ms = last_ms - $2, recent = array(select at - $2 from unnest(recent) at)
           where workspace_id = $1),
         b as (update rate_block set at_ms = array(select at - $2 from unnest(at_ms) at) where workspace_id = $1)
         update window_share set at_ms = at_ms - $2, ready_ms = ready_ms - $2 where workspace_id = $1`,
          [workspaceId, BigInt(ms)],
        );
      };
      let job = jobRequest({ workspaceId, limit, starves: true });
      const call = async (): Promise<boolean> => {
        const [row] = await db.query<{ v: number }>(
          "select case when $3 and (check_window($1, $2)).is_full then 1 else admit_call($1, $2, null, null, null, null, null, null, null, null) end as v",
          [workspaceId, limit, looksFirst],
        );
        return row?.v === 0;
      };
      for (let step = 0; step < 160; step++) {
        await pass(2_000);
        for (let calls = callsAt(step); calls > 0; calls--) {
          const from = clock();
          const isIn = await call();
          if (isIn) passed.push({ from, to: clock(), isBatch: false });
          else if (looksFirst) break;
        }
        const from = clock();
        const verdict = await door().admit(job);
        if (verdict.kind !== "admitted") continue;
        passed.push({ from, to: clock(), isBatch: true });
        job = jobRequest({ workspaceId, limit, starves: true });
      }
      for (const { from, to } of passed) {
        const within = passed.filter((other) => other.from <= from && to - other.from < 60_000);
        expect(within.length).toBeLessThanOrEqual(limit);
      }
      const ofBatch = passed.filter(({ isBatch }) => isBatch).length;
      expect(ofBatch).toBeGreaterThanOrEqual(4);
      expect(passed.length - ofBatch).toBeGreaterThanOrEqual(10);
    },
    60_000,
  );

  test("that may not wait is counted over a full window, like a call, and stores nothing", async () => {
    const workspaceId = await createWorkspace(db.database);
    for (let at = 0; at < 3; at++) await door().admit(jobRequest({ workspaceId, limit: 3, ifFull: "refuse" }));
    expect(await door().admit(jobRequest({ workspaceId, limit: 3, ifFull: "refuse" }))).toEqual({
      kind: "full",
      waitMs: 0,
    });
    expect([await counted(workspaceId), await count("job", workspaceId), await count("hold", workspaceId)]).toEqual([
      4n,
      3,
      3,
    ]);
  });

  test("is limited by full blocks of the ring too, and a burst admits exactly half of the limit", async () => {
    const workspaceId = await createWorkspace(db.database);
    const verdicts = await Promise.all(
      Array.from({ length: 300 }, (_, at) =>
        (doors[at % 2] as JobAdmission).admit(jobRequest({ workspaceId, limit: 200 })),
      ),
    );
    expect(verdicts.filter(({ kind }) => kind === "admitted")).toHaveLength(100);
    expect(verdicts.filter(({ kind }) => kind === "full")).toHaveLength(200);
    expect(await counted(workspaceId)).toBe(100n);
    // The oldest call, in the first block, grows old: one place opens.
    await db.query("update rate_block set at_ms[1] = at_ms[1] - 61000 where workspace_id = $1 and slot = 0", [
      workspaceId,
    ]);
    expect((await door().admit(jobRequest({ workspaceId, limit: 200 }))).kind).toBe("admitted");
    expect((await door().admit(jobRequest({ workspaceId, limit: 200 }))).kind).toBe("full");
  });

  test("of one workspace waits for a lock of its balance without delaying another's", async () => {
    const [locked, free] = await Promise.all([createWorkspace(db.database), createWorkspace(db.database)]);
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const { promise: isLocked, resolve: locks } = Promise.withResolvers<void>();
    const blocker = db.database.transaction(async (tx) => {
      await tx.query("select 1 from balance where workspace_id = $1 for update", [locked]);
      locks();
      await held;
    });
    await isLocked;
    const waiting = door().admit(jobRequest({ workspaceId: locked }));
    for (let at = 0; at < 5; at++) {
      expect((await door().admit(jobRequest({ workspaceId: free }))).kind).toBe("admitted");
    }
    letGo();
    await blocker;
    expect((await waiting).kind).toBe("admitted");
  });
});

describe("the first dispatch", () => {
  test("is limited to a workspace's share; others are not delayed by its backlog", async () => {
    const [greedy, modest] = [await createWorkspace(db.database, 1_000n * CREDIT), await createWorkspace(db.database)];
    await db.query("delete from job");
    const verdicts = await Promise.all(
      Array.from({ length: 100 }, () => door().admit(jobRequest({ workspaceId: greedy }))),
    );
    const sent = verdicts.filter((verdict) => verdict.kind === "admitted" && verdict.dispatch === 1);
    // No worker has told of itself: two fleets of sixteen.
    expect(sent).toHaveLength(32);
    expect(await door().admit(jobRequest({ workspaceId: modest }))).toEqual({
      kind: "admitted",
      attempt: 1,
      dispatch: 1,
    });
    // Nobody overtakes those of the same workspace that wait.
    await db.query("update job set state = 'completed', ended_at = now() where workspace_id = $1 and dispatch = 1", [
      greedy,
    ]);
    expect(await door().admit(jobRequest({ workspaceId: greedy }))).toEqual({
      kind: "admitted",
      attempt: 1,
      dispatch: 0,
    });
  });

  test("of jobs with waiting callers leaves slots to other workspaces", async () => {
    const [greedy, modest] = [await createWorkspace(db.database, 1_000n * CREDIT), await createWorkspace(db.database)];
    await db.query("delete from job");
    const many = (workspaceId: string) =>
      Promise.all(Array.from({ length: 40 }, () => door().admit(jobRequest({ workspaceId, lane: "live" }))));
    const sent = (verdicts: Awaited<ReturnType<typeof many>>): number =>
      verdicts.filter((verdict) => verdict.kind === "admitted" && verdict.dispatch === 1).length;
    // No worker has told of itself: as for sixteen slots, of which two stay free.
    expect(sent(await many(greedy))).toBe(14);
    expect(sent(await many(modest))).toBe(7);
  });

  test("is not blocked by a workspace's jobs of unknown outcome", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    await db.query("delete from job");
    await Promise.all(Array.from({ length: 40 }, () => door().admit(jobRequest({ workspaceId }))));
    const out = await db.query<{ id: string }>(
      "update job set state = 'running', epoch = 1 where workspace_id = $1 and dispatch = 1 returning id",
      [workspaceId],
    );
    expect(out).toHaveLength(32);
    for (const { id } of out)
      expect(await noteUnknown(db.database, { id, epoch: 1, isOwned: true }, 60_000)).toBe(true);
    await db.query("delete from job where state = 'queued'");
    expect(await door().admit(jobRequest({ workspaceId }))).toEqual({ kind: "admitted", attempt: 1, dispatch: 1 });
    // Those who look for the ones that are known no more do not read all there are.
    const plan = await db.query<Record<string, string>>(
      "explain select 1 from job where state in ('queued', 'running') and unknown_since < now()",
    );
    expect(JSON.stringify(plan)).toContain("job_unknown_since");
  });
});
