/** The daily token cap: open calls count, what was used replaces what was reserved, midnight is UTC's. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { admitGroup, admitLone, balanceOf, createWorkspace, settleGroup, settleSingle } from "../accounts.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  expect(await auditLedger(db.database)).toEqual([]);
  await db.drop();
});

const MIDNIGHT = Date.UTC(2028, 1, 29);
const HOUR_MS = 3_600_000;

async function place(workspaceId: string, nowMs: number, tokens: number, cap: number | null = 100): Promise<string> {
  const jobId = newId();
  expect(await admitLone(db.database, { workspaceId, jobId, tokens, cap }, nowMs)).toBe(0);
  return jobId;
}

async function isRefused(workspaceId: string, nowMs: number, tokens: number, cap = 100): Promise<boolean> {
  const call = { workspaceId, jobId: newId(), tokens, cap };
  const verdict = await admitGroup(db.database, [call], { nowMs });
  if (verdict[0] === 0) await settleSingle(db.database, { jobId: call.jobId });
  return verdict[0] === 2;
}

test("the cap is open while a token is left, for any reservation of a call, and open calls count", async () => {
  const workspaceId = await createWorkspace(db.database);
  await place(workspaceId, MIDNIGHT, 99);
  expect(await isRefused(workspaceId, MIDNIGHT, 5_000)).toBe(false);
  await place(workspaceId, MIDNIGHT, 5_000);
  expect(await isRefused(workspaceId, MIDNIGHT, 1)).toBe(true);
  // A call that can use no tokens is not refused for them.
  expect(await isRefused(workspaceId, MIDNIGHT, 0)).toBe(false);
});

test.each(["alone", "in a group"])("calls exceed the cap together by one call at most: %s", async (form) => {
  const workspaceId = await createWorkspace(db.database);
  const calls = Array.from({ length: 12 }, () => ({ workspaceId, jobId: newId(), tokens: 30, cap: 100 }));
  const verdicts: unknown[] =
    form === "alone"
      ? await Promise.all(calls.map((call) => admitLone(db.database, call, MIDNIGHT)))
      : await admitGroup(db.database, calls, { nowMs: MIDNIGHT });
  expect(verdicts.filter((verdict) => verdict === 0)).toHaveLength(4);
  expect(verdicts.filter((verdict) => verdict === 2)).toHaveLength(8);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ day_tokens: 120n });
});

test("a call's usage replaces its reservation", async () => {
  const workspaceId = await createWorkspace(db.database);
  const [settled, released, over] = [
    await place(workspaceId, MIDNIGHT, 30),
    await place(workspaceId, MIDNIGHT, 30),
    await place(workspaceId, MIDNIGHT, 30),
  ];
  await settleGroup(db.database, [
    { jobId: settled, used: 0n, tokens: 10 },
    { jobId: released, tokens: 0 },
    { jobId: over, used: 0n, tokens: 45 },
  ]);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ day_tokens: 55n });
  expect(await isRefused(workspaceId, MIDNIGHT, 1, 55)).toBe(true);
  expect(await isRefused(workspaceId, MIDNIGHT, 1, 56)).toBe(false);
});

test("the cap opens at 00:00:00.000 UTC and not a millisecond before", async () => {
  const workspaceId = await createWorkspace(db.database);
  await place(workspaceId, MIDNIGHT - HOUR_MS, 100);
  expect(await isRefused(workspaceId, MIDNIGHT - 1, 1)).toBe(true);
  expect(await isRefused(workspaceId, MIDNIGHT, 100)).toBe(false);
});

test("a call over midnight counts on the day of its admission", async () => {
  const workspaceId = await createWorkspace(db.database);
  const [first, second] = [await place(workspaceId, MIDNIGHT - 1, 50), await place(workspaceId, MIDNIGHT - 1, 50)];
  const today = await place(workspaceId, MIDNIGHT, 20);
  await settleSingle(db.database, { jobId: first, used: 0n, tokens: 40 });
  await settleGroup(db.database, [
    { jobId: second, used: 0n, tokens: 40 },
    { jobId: today, used: 0n, tokens: 7 },
  ]);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ day_tokens: 7n });
});

test("a clock set back over midnight does not reset the previous day", async () => {
  const workspaceId = await createWorkspace(db.database);
  await place(workspaceId, MIDNIGHT, 100);
  expect(await isRefused(workspaceId, MIDNIGHT - HOUR_MS, 1)).toBe(true);
  expect(await isRefused(workspaceId, MIDNIGHT + 24 * HOUR_MS, 100)).toBe(false);
});

test("calls without a cap count once they end, in any order, and are never rejected for it", async () => {
  const workspaceId = await createWorkspace(db.database);
  const before = await place(workspaceId, MIDNIGHT, 500, null);
  await settleSingle(db.database, { jobId: before, used: 0n, tokens: 30 });
  const during = await place(workspaceId, MIDNIGHT, 500, null);
  expect(await isRefused(workspaceId, MIDNIGHT, 1, 30)).toBe(true);
  expect(await isRefused(workspaceId, MIDNIGHT, 1, 31)).toBe(false);
  await settleGroup(db.database, [{ jobId: during, used: 0n, tokens: 30 }]);
  expect(await isRefused(workspaceId, MIDNIGHT, 1, 60)).toBe(true);
  expect(await isRefused(workspaceId, MIDNIGHT, 1, 61)).toBe(false);
});

test("keys of a workspace count together, each against its own cap", async () => {
  const [workspaceId, other] = [await createWorkspace(db.database), await createWorkspace(db.database)];
  const calls = [
    { workspaceId, jobId: newId(), tokens: 60, cap: 60 },
    { workspaceId, jobId: newId(), tokens: 60, cap: 60 },
    { workspaceId, jobId: newId(), tokens: 60, cap: 200 },
    { workspaceId: other, jobId: newId(), tokens: 60, cap: 100 },
  ];
  expect(await admitGroup(db.database, calls, { nowMs: MIDNIGHT })).toEqual([0, 2, 0, 0]);
});
