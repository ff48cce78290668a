/** Statements that decide on a balance as read and lock it last: what they must notice once they have the lock. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";

import { type Database, openDatabase, SQL, sqlState } from "#shared/database/client.ts";
import { newId } from "#shared/base/ids.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { createLogger } from "#shared/base/logger.ts";
import { eventually } from "#tests/faults/wait.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { admitGroup, admitLone, balanceOf, createWorkspace, settleGroup, type TestCall } from "../accounts.ts";

const LATE = { waitMs: 5_000, isLate: true } as const;

let db: TestDatabase;
let database: Database;
beforeAll(async () => {
  db = await createTestDatabase();
  database = openDatabase({ url: db.url, poolMax: 4, log: createLogger({ level: "silent", role: "test" }) });
});
afterEach(async () => {
  expect(await auditLedger(db.database)).toEqual([]);
});
afterAll(async () => {
  await database.close();
  await db.drop();
});

function calls(workspaceId: string, ...amounts: bigint[]): (TestCall & { jobId: string })[] {
  return amounts.map((amount) => ({ workspaceId, jobId: newId(), amount }));
}

/** A workspace whose day has begun: the first admission of a day never locks late. */
async function begun(nano: bigint): Promise<string> {
  const workspaceId = await createWorkspace(db.database, nano);
  const first = calls(workspaceId, 0n);
  expect(await admitGroup(database, first)).toEqual([0]);
  await settleGroup(
    database,
    first.map(({ jobId }) => ({ jobId })),
  );
  return workspaceId;
}

/** Runs a late statement up to its lock on the balance, lets `meanwhile` commit first, and returns what came of it. */
async function overtaken<T>(
  workspaceId: string,
  statement: () => Promise<T>,
  meanwhile: string,
): Promise<T | string | undefined> {
  let late: Promise<T | string | undefined> | undefined;
  await db.database.transaction(async (tx) => {
    await tx.query("select 1 from balance where workspace_id = $1 for update", [workspaceId]);
    late = statement().catch((error: unknown) => sqlState(error));
    const waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    // In another session: within a transaction the answer would stay the first one.
    while ((await database.query(waits)).length === 0) await Bun.sleep(2);
    await tx.query(meanwhile, [workspaceId]);
  });
  return late;
}

test("an admission continues when the balance has changed and still covers it", async () => {
  const workspaceId = await begun(100n);
  const wanted = calls(workspaceId, 60n);
  const topUp = `select move_credits($1, 'correction', -40, '${newId()}', null)`;
  expect(await overtaken(workspaceId, () => admitGroup(database, wanted, LATE), topUp)).toEqual([0]);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 60n, held: 60n, holds: 1n });
});

test("an admission above the changed balance does nothing and reports it", async () => {
  const workspaceId = await begun(100n);
  const wanted = calls(workspaceId, 60n);
  const correction = `select move_credits($1, 'correction', -41, '${newId()}', null)`;
  expect(await overtaken(workspaceId, () => admitGroup(database, wanted, LATE), correction)).toBe(SQL.decideLocked);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 59n, held: 0n, holds: 0n });
  expect(await db.query("select calls from rate_window where workspace_id = $1", [workspaceId])).toEqual([
    { calls: 1n },
  ]);
  expect(await admitGroup(database, wanted, { waitMs: 5_000 })).toEqual([3]);
});

test("the first admission of a day takes its lock early, so that the day starts at zero", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  const early = calls(workspaceId, 1n);
  const attempt = admitGroup(database, early, LATE).catch((error: unknown) => sqlState(error));
  expect(await attempt).toBe(SQL.decideLocked);
  expect(await admitGroup(database, early, { waitMs: 5_000 })).toEqual([0]);
  expect(await admitGroup(database, calls(workspaceId, 1n), LATE)).toEqual([0]);
});

test("an admission overtaken by the settlement that reaches a budget does nothing and reports it", async () => {
  const workspaceId = await begun(100n);
  const [paid] = calls(workspaceId, 30n);
  await admitGroup(database, paid ? [paid] : []);
  await db.query("update balance set stop_at = 10 where workspace_id = $1", [workspaceId]);
  const wanted = calls(workspaceId, 5n);
  const settle = (used: number): string =>
    `select settle_call($1, '${paid?.jobId}', 1::smallint, ${used}, 'succeeded', null, '{}', false, 0)`;
  expect(await overtaken(workspaceId, () => admitGroup(database, wanted, LATE), settle(10))).toBe(SQL.decideLocked);
  expect(await admitGroup(database, wanted, { waitMs: 5_000 })).toEqual([9]);
});

test("a finish in a new day takes its lock early, so that the day starts with the earlier spending", async () => {
  const workspaceId = await begun(100n);
  const placed = calls(workspaceId, 30n);
  await admitGroup(database, placed);
  await db.query("update balance set day = day - 1 where workspace_id = $1", [workspaceId]);
  await db.query("update spent_day set day = day - 1 where workspace_id = $1", [workspaceId]);
  await db.query("update usage_record set day = day - 1, ended_at = ended_at - interval '1 day' where workspace_id = $1", [workspaceId]); // prettier-ignore
  const settlements = placed.map(({ jobId }) => ({ jobId, used: 10n }));
  const attempt = settleGroup(database, settlements, LATE).catch((error: unknown) => sqlState(error));
  expect(await attempt).toBe(SQL.decideLocked);
  expect(await settleGroup(database, settlements, { waitMs: 5_000 })).toEqual([10n]);
  const days =
    "select (now() at time zone 'utc')::date - day as ago, spent from spent_day where workspace_id = $1 order by 1";
  expect(await db.query(days, [workspaceId])).toEqual([
    { ago: 0, spent: 0n },
    { ago: 1, spent: 0n },
  ]);
  expect(await db.query("select spent from balance where workspace_id = $1", [workspaceId])).toEqual([{ spent: 10n }]);
  // The sums begin before what was moved.
  await db.query("update usage_rollup set until = now() - interval '3 days', next_at = now() - interval '3 days'");
});

test("a finish charges the current balance", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  const placed = calls(workspaceId, 30n, 30n);
  await admitGroup(database, placed);
  const settlements = placed.map(({ jobId }) => ({ jobId, used: 10n, tokens: 4 }));
  const topUp = `select move_credits($1, 'top_up', 7, '${newId()}', null)`;
  expect(await overtaken(workspaceId, () => settleGroup(database, settlements, LATE), topUp)).toEqual([10n, 10n]);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 87n, held: 0n, day_tokens: 8n });
});

test("a finish overtaken by the first admission of the next day does not change that day's count", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  const placed = calls(workspaceId, 30n);
  await admitGroup(database, placed);
  const settlements = placed.map(({ jobId }) => ({ jobId, used: 10n, tokens: 40 }));
  const tomorrow = Date.now() + 86_400_000;
  const admission = `select admit_call($1, null, '${newId()}', '${newId()}', 'm', 0, false, 25, 1000, 60000, ${tomorrow})`;
  expect(await overtaken(workspaceId, () => settleGroup(database, settlements, LATE), admission)).toEqual([10n]);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 90n, held: 0n, day_tokens: 25n });
});

test("a finish above its hold takes the lock first, as does its group", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  const placed = calls(workspaceId, 30n, 30n).map((call) => ({ ...call, mayExceed: true }));
  await admitGroup(database, placed);
  const settlements = placed.map(({ jobId }, index) => ({ jobId, used: index === 0 ? 30n : 31n }));
  const attempt = settleGroup(database, settlements, LATE).catch((error: unknown) => sqlState(error));
  expect(await attempt).toBe(SQL.decideLocked);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 100n, held: 60n, holds: 2n });
  // The server tells of the failure a moment before it lets its locks go.
  const taken = await eventually("its locks are gone", async () => {
    const group = await settleGroup(database, settlements, { waitMs: 5_000 });
    return !group.includes(-1n) && group;
  });
  expect(taken).toEqual([30n, 31n]);
});

test("two settlements of one call, one of them late, close it once and do not wait for each other", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  const [call] = calls(workspaceId, 30n);
  await admitGroup(database, call === undefined ? [] : [call]);
  const finish = [{ jobId: call?.jobId ?? "", used: 10n }];
  let busy: unknown;
  await db.database.transaction(async (tx) => {
    expect(await settleGroup(tx, finish, LATE)).toEqual([10n]);
    // The other session holds hold and balance now; this one asks for neither in vain.
    busy = await settleGroup(database, finish);
  });
  expect(busy).toEqual([-1n]);
  expect(await settleGroup(database, finish)).toEqual([null]);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 90n, held: 0n });
});

test("a call that is admitted again under its key while a late settlement waits for the balance is rejected, and neither waits for the other", async () => {
  const workspaceId = await begun(100n);
  const [call] = calls(workspaceId, 40n);
  if (!call) throw new Error("no call");
  expect(await admitGroup(database, [call])).toEqual([0]);
  let settling: Promise<unknown> | undefined;
  const again = db.database.transaction(async (tx) => {
    await tx.query("select 1 from balance where workspace_id = $1 for update", [workspaceId]);
    settling = settleGroup(database, [{ jobId: call.jobId, used: 7n }], LATE).catch((error: unknown) =>
      sqlState(error),
    );
    const waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    while ((await database.query(waits)).length === 0) await Bun.sleep(2);
    return admitLone(tx, call);
  });
  expect(await again.catch((error: unknown) => sqlState(error))).toBe(SQL.uniqueViolation);
  expect(await settling).toEqual([7n]);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 93n, held: 0n, holds: 0n });
});
