/** The daily token cap: open calls count, what was used replaces what was reserved, midnight is UTC's. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { newId } from "#shared/ids.ts";
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

test("the cap is open to the last token, and open calls count", async () => {
  const workspaceId = await createWorkspace(db.database);
  await place(workspaceId, MIDNIGHT, 60);
  expect(await isRefused(workspaceId, MIDNIGHT, 41)).toBe(true);
  expect(await isRefused(workspaceId, MIDNIGHT, 40)).toBe(false);
});

test("what a call used replaces what it reserved", async () => {
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
  expect(await isRefused(workspaceId, MIDNIGHT, 46)).toBe(true);
  expect(await isRefused(workspaceId, MIDNIGHT, 45)).toBe(false);
});

test("the cap opens at 00:00:00.000 UTC and not a millisecond before", async () => {
  const workspaceId = await createWorkspace(db.database);
  await place(workspaceId, MIDNIGHT - HOUR_MS, 100);
  expect(await isRefused(workspaceId, MIDNIGHT - 1, 1)).toBe(true);
  expect(await isRefused(workspaceId, MIDNIGHT, 100)).toBe(false);
  expect(await isRefused(workspaceId, MIDNIGHT, 101)).toBe(true);
});

test("a call over midnight counts on the day it was admitted", async () => {
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

test("a clock set back over midnight does not give the day before again", async () => {
  const workspaceId = await createWorkspace(db.database);
  await place(workspaceId, MIDNIGHT, 100);
  expect(await isRefused(workspaceId, MIDNIGHT - HOUR_MS, 1)).toBe(true);
  expect(await isRefused(workspaceId, MIDNIGHT + 24 * HOUR_MS, 100)).toBe(false);
});

test("calls without a cap count once they end, whatever came first, and are never refused for it", async () => {
  const workspaceId = await createWorkspace(db.database);
  const before = await place(workspaceId, MIDNIGHT, 500, null);
  await settleSingle(db.database, { jobId: before, used: 0n, tokens: 30 });
  const during = await place(workspaceId, MIDNIGHT, 500, null);
  expect(await isRefused(workspaceId, MIDNIGHT, 71)).toBe(true);
  expect(await isRefused(workspaceId, MIDNIGHT, 70)).toBe(false);
  await settleGroup(db.database, [{ jobId: during, used: 0n, tokens: 30 }]);
  expect(await isRefused(workspaceId, MIDNIGHT, 41)).toBe(true);
  expect(await isRefused(workspaceId, MIDNIGHT, 40)).toBe(false);
});

test("keys of a workspace count together, each against its own cap", async () => {
  const [workspaceId, other] = [await createWorkspace(db.database), await createWorkspace(db.database)];
  const calls = [
    { workspaceId, jobId: newId(), tokens: 60, cap: 100 },
    { workspaceId, jobId: newId(), tokens: 60, cap: 100 },
    { workspaceId, jobId: newId(), tokens: 60, cap: 200 },
    { workspaceId: other, jobId: newId(), tokens: 60, cap: 100 },
  ];
  expect(await admitGroup(db.database, calls, { nowMs: MIDNIGHT })).toEqual([0, 2, 0, 0]);
});
