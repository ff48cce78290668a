/** Settle and release: once per job and attempt, clamped, and never to the harm of anybody else. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { openDatabase, type Database, SQL, sqlState } from "#shared/database/client.ts";
import { findBilledWork } from "#shared/database/holds.ts";
import { listSettleFaults } from "#shared/database/settle-faults.ts";
import { newId } from "#shared/base/ids.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { type Ledger, openLedger } from "#shared/ledger/settle.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import {
  admitGroup,
  balanceOf,
  createWorkspace,
  impatient,
  settleGroup,
  settlementOf,
  settleSingle,
  type TestCall,
} from "../accounts.ts";
import { makeStep } from "../usage-records.ts";

const log = createLogger({ level: "silent", role: "test" });

let db: TestDatabase;
let database: Database;
let ledger: Ledger;
beforeAll(async () => {
  db = await createTestDatabase();
  database = openDatabase({ url: db.url, poolMax: 4, log });
  ledger = openLedger({ database, log, retryMs: 10_000 });
});
afterAll(async () => {
  await ledger.idle();
  expect(await auditLedger(db.database)).toEqual([]);
  await database.close();
  await db.drop();
});

/** Admits calls of one workspace and returns their job ids. */
async function place(workspaceId: string, ...calls: Omit<TestCall, "workspaceId" | "jobId">[]): Promise<string[]> {
  const ids = calls.map(newId);
  const verdicts = await admitGroup(
    db.database,
    calls.map((call, index) => ({ ...call, workspaceId, jobId: ids[index] ?? "" })),
  );
  expect(verdicts).toEqual(calls.map(() => 0));
  return ids;
}

test("a settlement charges the usage, releases the remainder and writes one entry and one usage record", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  const [jobId = ""] = await place(workspaceId, { amount: 40n });
  expect(await ledger.settle(settlementOf(workspaceId, jobId, 15n))).toEqual({ takenNano: 15n, wasClosed: false });
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 85n, held: 0n, holds: 0n });
  expect(await db.query("select kind, amount, attempt from ledger_entry where source_id = $1", [jobId])).toEqual([
    { kind: "settle", amount: -15n, attempt: 1 },
  ]);
  expect(
    await db.query(
      "select source, status, units, is_estimated, held, settled, uncollected, tokens from usage_record where job_id = $1",
      [jobId],
    ),
  ).toEqual([
    {
      source: "sandbox/test-model",
      status: "succeeded",
      units: { output: 3 },
      is_estimated: false,
      held: 40n,
      settled: 15n,
      uncollected: 0n,
      tokens: 3n,
    },
  ]);
});

test("a release charges nothing and writes no entry", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  const [jobId = ""] = await place(workspaceId, { amount: 40n });
  expect(await ledger.settle(settlementOf(workspaceId, jobId, null))).toEqual({ takenNano: 0n, wasClosed: false });
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 100n, held: 0n, holds: 0n });
  expect(await db.query("select 1 from ledger_entry where source_id = $1", [jobId])).toEqual([]);
  expect(await db.query("select status, settled from usage_record where job_id = $1", [jobId])).toEqual([
    { status: "failed", settled: 0n },
  ]);
});

test("a settlement repeated five times, with any figures, changes nothing and returns the first amount", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  const [jobId = ""] = await place(workspaceId, { amount: 40n, tokens: 10, cap: 1_000 });
  await ledger.settle(settlementOf(workspaceId, jobId, 15n));
  const before = await balanceOf(db.database, workspaceId);
  const usage = await db.query("select * from usage_record where job_id = $1", [jobId]);
  for (const used of [15n, 15n, null, 40n, 99n]) {
    expect(await ledger.settle(settlementOf(workspaceId, jobId, used))).toEqual({ takenNano: 15n, wasClosed: true });
  }
  expect(await balanceOf(db.database, workspaceId)).toEqual(before);
  expect(await db.query("select * from usage_record where job_id = $1", [jobId])).toEqual(usage);
});

test("a settlement repeated within one group is charged once", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  const [jobId = ""] = await place(workspaceId, { amount: 40n });
  const settlements = await Promise.all(
    [1, 2, 3, 4, 5].map(() => ledger.settle(settlementOf(workspaceId, jobId, 15n))),
  );
  expect(settlements.map((settlement) => settlement.takenNano)).toEqual([15n, 15n, 15n, 15n, 15n]);
  expect(settlements.filter((settlement) => !settlement.wasClosed)).toHaveLength(1);
  expect(await settleGroup(db.database, [{ jobId }, { jobId }])).toEqual([null, null]);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 85n });
});

test("a job that was never admitted is closed without a charge", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  expect(await ledger.settle(settlementOf(workspaceId, newId(), 15n))).toEqual({ takenNano: 0n, wasClosed: true });
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 100n });
});

test("a settlement never charges more than its hold, and reports the difference", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  const [jobId = ""] = await place(workspaceId, { amount: 40n });
  expect(await ledger.settle(settlementOf(workspaceId, jobId, 55n))).toEqual({ takenNano: 40n, wasClosed: false });
  expect(await db.query("select settled, uncollected from usage_record where job_id = $1", [jobId])).toEqual([
    { settled: 40n, uncollected: 15n },
  ]);
});

test("a call that may exceed its hold charges available credits, but never those that others hold", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  const [first = "", second = "", third = ""] = await place(
    workspaceId,
    { amount: 20n, mayExceed: true },
    { amount: 30n },
    { amount: 10n, mayExceed: true },
  );
  // 40 are available: the first takes 10 of them, the third all 30 that remain.
  expect(
    await settleGroup(db.database, [
      { jobId: first, used: 30n },
      { jobId: third, used: 999n },
    ]),
  ).toEqual([30n, 40n]);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 30n, held: 30n });
  expect(await settleSingle(db.database, { jobId: second, used: 30n })).toBe(30n);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 0n, held: 0n });
  expect(await db.query("select uncollected from usage_record where job_id = $1", [third])).toEqual([
    { uncollected: 959n },
  ]);
});

test("within a group a later call may use credits that an earlier one released", async () => {
  const workspaceId = await createWorkspace(db.database, 50n);
  const [first = "", second = ""] = await place(workspaceId, { amount: 30n }, { amount: 20n, mayExceed: true });
  expect(
    await settleGroup(db.database, [
      { jobId: first, used: 5n },
      { jobId: second, used: 40n },
    ]),
  ).toEqual([5n, 40n]);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 5n, held: 0n });
});

test("no figure ever credits a caller", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  const [lone = "", grouped = ""] = await place(workspaceId, { amount: 20n, mayExceed: true }, { amount: 20n });
  expect(await settleSingle(db.database, { jobId: lone, used: -50n, tokens: -7 })).toBe(0n);
  expect(await settleGroup(db.database, [{ jobId: grouped, used: -50n, tokens: -7 }])).toEqual([0n]);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 100n, held: 0n, day_tokens: 0n });
});

test("a run costs the charges of its work, including nested runs; open work is held", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  const [own = "", nested = "", open = "", other = ""] = await place(workspaceId, { amount: 20n }, { amount: 30n }, { amount: 40n }, { amount: 5n }); // prettier-ignore
  const { runId } = await makeStep(db.database, workspaceId, own);
  const { runId: child } = await makeStep(db.database, workspaceId, nested);
  await db.query("update run set parent_id = $1 where id = $2", [runId, child]);
  await makeStep(db.database, workspaceId, open);
  await db.query("update job set run_id = $1 where id = $2", [child, open]);
  await settleGroup(db.database, [
    { jobId: own, used: 12n },
    { jobId: nested, used: 7n },
    { jobId: other, used: 5n },
  ]);
  expect(await findBilledWork(db.database, workspaceId, runId)).toEqual({ billedNano: 19n, heldNano: 40n });
  expect(await findBilledWork(db.database, workspaceId, open)).toEqual({ billedNano: 0n, heldNano: 40n });
  expect(await findBilledWork(db.database, workspaceId, newId())).toEqual({ billedNano: 0n, heldNano: 0n });
  await settleSingle(db.database, { jobId: open, used: 1n });
  expect(await findBilledWork(db.database, workspaceId, runId)).toEqual({ billedNano: 20n, heldNano: 0n });
});

test("attempts of a job are closed one by one", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  const [jobId = ""] = await place(workspaceId, { amount: 20n });
  await db.query(
    `insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, day, tokens, deadline)
     select job_id, 2, workspace_id, key_id, model, 30, false, day, 0, deadline from hold where job_id = $1`,
    [jobId],
  );
  await db.query("update balance set held = held + 30 where workspace_id = $1", [workspaceId]);
  expect(await settleGroup(db.database, [{ jobId, attempt: 2, used: 25n }])).toEqual([25n]);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 20n, holds: 1n });
  expect(
    await settleGroup(db.database, [
      { jobId, attempt: 2, used: 25n },
      { jobId, used: 10n },
    ]),
  ).toContain(null);
  await settleSingle(db.database, { jobId, used: 10n });
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 65n, held: 0n, holds: 0n });
});

test("calls of a locked workspace are busy and unchanged, the others of the group are closed", async () => {
  const [stuck, other] = [await createWorkspace(db.database, 100n), await createWorkspace(db.database, 100n)];
  const [held = ""] = await place(stuck, { amount: 10n });
  const [free = ""] = await place(other, { amount: 10n });
  await db.database.transaction(async (tx) => {
    await tx.query("select 1 from balance where workspace_id = $1 for update", [stuck]);
    const given = await settleSingle(impatient(database), { jobId: held, used: 5n }).catch(sqlState);
    expect(given).toBe(SQL.lockTimeout);
    expect(
      await settleGroup(database, [{ jobId: held, used: 5n }, { jobId: free, used: 5n }, { jobId: newId() }]),
    ).toEqual([-1n, 5n, null]);
    expect(await balanceOf(database, stuck)).toMatchObject({ amount: 100n, held: 10n, holds: 1n });
  });
  expect(
    await settleGroup(database, [
      { jobId: held, used: 5n },
      { jobId: free, used: 5n },
    ]),
  ).toEqual([5n, null]);
});

test("a finish continues when a lock outlasts its statement, and is written once", async () => {
  const [stuck, other] = [await createWorkspace(db.database, 100n), await createWorkspace(db.database, 100n)];
  const [held = ""] = await place(stuck, { amount: 10n });
  const [free = ""] = await place(other, { amount: 10n });
  let late: Promise<unknown> | undefined;
  await db.database.transaction(async (tx) => {
    await tx.query("select 1 from balance where workspace_id = $1 for update", [stuck]);
    late = ledger.settle(settlementOf(stuck, held, 5n));
    expect(await ledger.settle(settlementOf(other, free, 5n))).toEqual({ takenNano: 5n, wasClosed: false });
    const waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    // Asked in another session: within a transaction the answer would stay the first one.
    while ((await db.query(waiting)).length === 0) await Bun.sleep(5);
    // Its statement gives up; the finish does not.
    while ((await db.query(waiting)).length > 0) await Bun.sleep(5);
  });
  expect(await late).toEqual({ takenNano: 5n, wasClosed: false });
});

test("a call above its hold is settled in full, and immediately, although its workspace is contended", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  const [jobId = ""] = await place(workspaceId, { amount: 10n, mayExceed: true });
  const lines: string[] = [];
  const loud = createLogger({ level: "warn", role: "test", write: (line) => lines.push(line) });
  const mine = openLedger({ database, log: loud, retryMs: 10_000 });
  let settlement: Promise<unknown> | undefined;
  await db.database.transaction(async (tx) => {
    await tx.query("select 1 from balance where workspace_id = $1 for update", [workspaceId]);
    settlement = mine.settle(settlementOf(workspaceId, jobId, 35n));
    await place(await createWorkspace(db.database, 100n), { amount: 10n });
  });
  expect(await settlement).toEqual({ takenNano: 35n, wasClosed: false });
  // Not by repeating the whole settlement.
  expect(lines).toEqual([]);
});

test("a finish whose answer was lost after its commit is repeated and returns the amount", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  const [jobId = ""] = await place(workspaceId, { amount: 10n });
  let losses = 1;
  const forgetful: Database = {
    ...database,
    reserve: () => ({
      async query(text, values) {
        const rows = await database.query(text, values);
        if (losses-- > 0) throw new Error("Connection terminated unexpectedly");
        return rows as never[];
      },
    }),
  };
  const mine = openLedger({ database: forgetful, log, retryMs: 10_000 });
  expect(await mine.settle(settlementOf(workspaceId, jobId, 5n))).toEqual({ takenNano: 5n, wasClosed: true });
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 95n, held: 0n });
});

test("figures that the database rejects release their hold only, immediately, and leave a fault for an operator", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  const ids = await place(workspaceId, ...Array.from({ length: 9 }, () => ({ amount: 10n })));
  const outcomes = await Promise.all(
    ids.map((jobId, index) => ledger.settle(settlementOf(workspaceId, jobId, 5n, index === 4 ? { tokens: 1.5 } : {}))),
  );
  expect(outcomes.map(({ takenNano }) => takenNano)).toEqual(ids.map((_, index) => (index === 4 ? 0n : 5n)));
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 60n, held: 0n, holds: 0n });
  const faults = await listSettleFaults(db.database, 10);
  expect(faults).toMatchObject([
    { workspace_id: workspaceId, job_id: ids[4], attempt: 1, fault: "22P02", held: 10n, used: "5", settled: 0n },
  ]);
});
