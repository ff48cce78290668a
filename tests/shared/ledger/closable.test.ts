/** Every hold can be closed, whatever stands under its key; and an answer that was delivered is paid although its hold was not there any more. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { listSettleFaults, resolveSettleFault } from "#shared/database/settle-faults.ts";
import { newId } from "#shared/base/ids.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { type CallSettlement, type Ledger, openLedger } from "#shared/ledger/settle.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { admitLone, balanceOf, createWorkspace, settlementOf, settleSingle } from "../accounts.ts";

const log = createLogger({ level: "silent", role: "test" });

let db: TestDatabase;
let ledger: Ledger;
beforeAll(async () => {
  db = await createTestDatabase();
  ledger = openLedger({ database: db.database, log, retryMs: 10_000 });
});
afterAll(async () => {
  await ledger.idle();
  await db.drop();
});
afterEach(async () => {
  expect(await auditLedger(db.database)).toEqual([]);
  await db.query("delete from settle_fault");
});

/** Places a hold of 100 nano-credits, under a daily cap. */
async function hold(workspaceId: string, jobId: string = newId(), amount = 100n): Promise<string> {
  expect(await admitLone(db.database, { workspaceId, jobId, amount, tokens: 9, cap: 1_000 })).toBe(0);
  return jobId;
}

describe("a hold whose key was settled before", () => {
  test.each([
    ["is settled", 30n],
    ["is released", null],
  ])("that %s is closed, nothing is charged a second time, and a fault is recorded", async (_name, used) => {
    const workspaceId = await createWorkspace(db.database, 1_000n);
    const jobId = await hold(workspaceId);
    expect(await ledger.settle(settlementOf(workspaceId, jobId, 40n))).toEqual({ takenNano: 40n, wasClosed: false });
    await hold(workspaceId, jobId);
    // It keeps none of its group from being settled, and waits for no try after it.
    const others = await Promise.all(Array.from({ length: 5 }, () => hold(workspaceId)));
    const settled = await Promise.all(
      [jobId, ...others].map((id) => ledger.settle(settlementOf(workspaceId, id, id === jobId ? used : 10n))),
    );
    expect(settled.map(({ takenNano }) => takenNano)).toEqual([0n, ...others.map(() => 10n)]);
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 910n, held: 0n, holds: 0n });
    const [fault, ...more] = await listSettleFaults(db.database, 10);
    expect(more).toEqual([]);
    const facts = { workspace_id: workspaceId, job_id: jobId, fault: "usage_record", held: 100n, settled: 40n };
    expect(fault).toMatchObject({ ...facts, used: used?.toString() ?? null });
    const id = fault?.id ?? 0n;
    const actor = { type: "operator", id: "test" } as const;
    expect(await resolveSettleFault(db.database, { id, actor, note: null })).toMatchObject({ job_id: jobId });
    expect(await resolveSettleFault(db.database, { id, actor, note: null })).toBeUndefined();
    expect(await listSettleFaults(db.database, 10)).toEqual([]);
  });

  test("is closed if only the ledger has the key: the usage record contains the charged amount", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n);
    const jobId = await hold(workspaceId);
    await settleSingle(db.database, { jobId, used: 40n });
    // An operator has dropped old records.
    await db.query("delete from usage_record where job_id = $1", [jobId]);
    await db.query("update balance set day_tokens = 0 where workspace_id = $1", [workspaceId]);
    await hold(workspaceId, jobId);
    expect(await ledger.settle(settlementOf(workspaceId, jobId, 70n))).toEqual({ takenNano: 0n, wasClosed: false });
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 960n, held: 0n, holds: 0n });
    const usage = "select settled, uncollected from usage_record where job_id = $1";
    expect(await db.query(usage, [jobId])).toEqual([{ settled: 40n, uncollected: 30n }]);
    expect(await listSettleFaults(db.database, 10)).toMatchObject([
      { fault: "ledger_entry", used: "70", settled: 40n },
    ]);
  });
});

describe("an answer that was delivered after its hold had been released", () => {
  const delivered = (workspaceId: string, jobId: string, usedNano = 60n): CallSettlement => ({
    ...settlementOf(workspaceId, jobId, usedNano),
    isDelivered: true,
  });

  test("is charged from the available credits, once, for any number of reports", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n);
    const jobId = await hold(workspaceId);
    await settleSingle(db.database, { jobId });
    const settled = await Promise.all(Array.from({ length: 8 }, () => ledger.settle(delivered(workspaceId, jobId))));
    expect(settled.map(({ takenNano, wasClosed }) => [takenNano, wasClosed])).toEqual(settled.map(() => [60n, true]));
    expect(settled.reduce((sum, { lateNano = 0n }) => sum + lateNano, 0n)).toBe(60n);
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 940n, held: 0n, day_tokens: 3n });
    const usage = "select attempt, status, held, settled, uncollected from usage_record where job_id = $1 order by 1";
    expect(await db.query(usage, [jobId])).toEqual([
      { attempt: 1, status: "failed", held: 100n, settled: 0n, uncollected: 0n },
      { attempt: 2, status: "succeeded", held: 0n, settled: 60n, uncollected: 0n },
    ]);
  });

  test("is charged its cost minus earlier charges, and never more than its hold", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n);
    const [partly, dear] = [await hold(workspaceId), await hold(workspaceId)];
    await settleSingle(db.database, { jobId: partly, used: 25n });
    await settleSingle(db.database, { jobId: dear });
    expect(await ledger.settle(delivered(workspaceId, partly))).toMatchObject({ takenNano: 60n, lateNano: 35n });
    expect(await ledger.settle(delivered(workspaceId, dear, 500n))).toMatchObject({ takenNano: 100n, lateNano: 100n });
    expect(await ledger.settle(delivered(workspaceId, partly, 20n))).toEqual({ takenNano: 25n, wasClosed: true });
    // One that was settled at all it held owes nothing, however dear it was.
    const whole = await hold(workspaceId);
    expect(await settleSingle(db.database, { jobId: whole, used: 300n })).toBe(100n);
    expect(await ledger.settle(delivered(workspaceId, whole, 300n))).toMatchObject({ takenNano: 100n, lateNano: 0n });
    expect(await db.query("select 1 from usage_record where job_id = $1 and attempt = 2", [whole])).toEqual([]);
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 740n, held: 0n });
  });

  test("is charged what is available of a balance with other holds, and reports the difference", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await hold(workspaceId);
    await settleSingle(db.database, { jobId });
    await hold(workspaceId, newId(), 80n);
    expect(await ledger.settle(delivered(workspaceId, jobId))).toMatchObject({ takenNano: 20n, lateNano: 20n });
    // What comes in later is not for it: it was told as uncollected.
    await db.query("select move_credits($1, 'top_up', 1000, $2, null)", [workspaceId, newId()]);
    expect(await ledger.settle(delivered(workspaceId, jobId))).toMatchObject({ takenNano: 20n, lateNano: 0n });
    const usage = "select settled, uncollected from usage_record where job_id = $1 and attempt = 2";
    expect(await db.query(usage, [jobId])).toEqual([{ settled: 20n, uncollected: 40n }]);
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 1_080n, held: 80n });
  });

  test("is not charged by a process that does not know of its delivery, nor without a former hold", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n);
    const jobId = await hold(workspaceId);
    await settleSingle(db.database, { jobId });
    expect(await ledger.settle(settlementOf(workspaceId, jobId, 60n))).toEqual({ takenNano: 0n, wasClosed: true });
    expect(await ledger.settle(delivered(workspaceId, newId()))).toEqual({ takenNano: 0n, wasClosed: true });
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 1_000n, held: 0n });
  });
});
