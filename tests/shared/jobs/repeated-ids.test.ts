/** Ids made from names come again when their jobs are not kept any more: a further attempt, paid like the first. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";

import { dropEndedJobs } from "#shared/database/job-sweeps.ts";
import { claimJob } from "#shared/database/jobs.ts";
import { jobIdOf, newId } from "#shared/base/ids.ts";
import { createJobAdmission, type JobAdmission } from "#shared/jobs/admission.ts";
import { endJob } from "#shared/jobs/end.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { createLogger } from "#shared/base/logger.ts";
import { balanceOf, createWorkspace } from "#tests/shared/accounts.ts";
import { makeStep, spend } from "#tests/shared/usage-records.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { jobRequest } from "./jobs.ts";

const log = createLogger({ level: "silent", role: "test" });
let db: TestDatabase;
let door: JobAdmission;

beforeAll(async () => {
  db = await createTestDatabase();
  door = createJobAdmission({ database: db.database });
});
afterAll(() => db.drop());
afterEach(async () => {
  expect(await auditLedger(db.database)).toEqual([]);
});

/** Runs the job once, as its owner would. Returns what was taken. */
async function run(workspaceId: string, id: string, attempt: number, dispatch: number): Promise<bigint | undefined> {
  const claim = { id, workspaceId, attempt, dispatch, worker: newId(), leaseMs: 30_000, claimsMax: 6 };
  const job = await claimJob(db.database, claim);
  const usage = {
    usedNano: 40n,
    status: "succeeded",
    source: "a/b",
    units: {},
    isEstimated: false,
    tokens: 3,
  } as const;
  return endJob(
    { database: db.database, log },
    { id, epoch: job?.epoch ?? 0, isOwned: true, state: "completed", usage, result: { text: "{}" }, error: null },
    5_000,
  );
}

test("a name repeated after the retention is the next attempt, is run and charged again", async () => {
  const workspaceId = await createWorkspace(db.database, 1_000n);
  const id = jobIdOf(workspaceId, "key:mine");
  for (const attempt of [1, 2, 3]) {
    // With another of the same group, which is not touched by it.
    const [verdict, other] = await Promise.all([
      door.admit(jobRequest({ workspaceId, id, amount: 100n })),
      door.admit(jobRequest({ workspaceId, amount: 1n })),
    ]);
    expect([verdict, other]).toMatchObject([
      { kind: "admitted", attempt },
      { kind: "admitted", attempt: 1 },
    ]);
    expect(await door.admit(jobRequest({ workspaceId, id }))).toEqual({ kind: "known" });
    expect(await db.query("select attempt from hold where job_id = $1", [id])).toEqual([{ attempt }]);
    expect(await run(workspaceId, id, attempt, 1)).toBe(40n);
    await dropEndedJobs(db.database, -1_000, 10);
  }
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 880n, held: 3n });
  expect(await db.query("select attempt, settled from usage_record where job_id = $1 order by 1", [id])).toEqual(
    [1, 2, 3].map((attempt) => ({ attempt, settled: 40n })),
  );
});

test("an ended job stays for a run that has not received its end, for any age, and later ones are deleted", async () => {
  const workspaceId = await createWorkspace(db.database, 1_000n);
  const [heard = "", unheard = "", own = ""] = await spend(
    db.database,
    [1n, 2n, 3n].map((nano) => ({ workspaceId, nano })),
  );
  for (const [id, credits] of [
    [unheard, null],
    [heard, 1n],
  ] as const) {
    const { runId } = await makeStep(db.database, workspaceId, id);
    await db.query(
      `insert into step_run (run_id, step_id, attempt, seq, run_attempt, type, status, rev) values ($1, 's', 1, 1, 1, 'model', 'running', 0)`,
      [runId],
    );
    await db.query(
      `insert into step_item (run_id, step_id, attempt, item, status, work_id, credits, rev) values ($1, 's', 1, 0, 'running', $2, $3, 0)`,
      [runId, id, credits],
    );
  }
  await makeStep(db.database, workspaceId, own);
  await db.query("update job set run_id = null where id = $1", [own]);
  await db.query("update job set ended_at = now() - interval '1 day' where id = $1", [unheard]);
  const dropped = (await dropEndedJobs(db.database, 0, 2)).map(({ id }) => id);
  expect(dropped.toSorted()).toEqual([heard, own].toSorted());
  expect(await dropEndedJobs(db.database, 0, 2)).toEqual([]);
  await db.query("update step_item set credits = 2 where work_id = $1", [unheard]);
  expect((await dropEndedJobs(db.database, 0, 2)).map(({ id }) => id)).toEqual([unheard]);
});
