/** Alerts on a low balance: each fires once until the balance has been a tenth above its threshold, for any number of janitors. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { parse } from "#shared/json/contracts.ts";
import {
  type BalanceTerms,
  findBalanceAlert,
  insertBalanceAlert,
  updateBalanceAlert,
} from "#shared/database/balance-alerts.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { admitLone, createWorkspace, CREDIT, settleSingle } from "#tests/shared/accounts.ts";
import { spend } from "#tests/shared/usage-records.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { sweepBalanceAlerts } from "#workers/janitor/money.ts";

const ACTOR = { type: "system", id: "test" } as const;

let db: TestDatabase;
const log = createLogger({ level: "silent", role: "test" });

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

async function alertOf(workspaceId: string, terms: Partial<BalanceTerms> = {}): Promise<string> {
  const [id, memberId] = [newId(), newId()];
  await db.query("insert into member (id, workspace_id, name, role) values ($1::uuid, $2, $1::uuid::text, 'owner')", [
    memberId,
    workspaceId,
  ]);
  const made = await insertBalanceAlert(db.database, workspaceId, {
    id,
    actor: ACTOR,
    memberId,
    max: 20,
    name: id,
    below_credits: 100n * CREDIT,
    below_days: null,
    channel_ids: [],
    is_active: true,
    ...terms,
  });
  expect(made).toBe("made");
  return id;
}

const sweep = (options: { readonly batch?: number } = {}): Promise<void> =>
  sweepBalanceAlerts({ database: db.database, log, ...options });

async function told(workspaceId: string): Promise<Record<string, unknown>[]> {
  const rows = await db.query<{ metadata: Record<string, unknown> }>(
    "select metadata from event where workspace_id = $1 and type = 'balance.low' order by occurred_at",
    [workspaceId],
  );
  for (const { metadata } of rows) parse("BalanceLow", metadata);
  return rows.map(({ metadata }) => metadata);
}

const topUp = (workspaceId: string, nano: bigint): Promise<unknown> =>
  db.query("select move_credits($1, 'top_up', $2, $3, null)", [workspaceId, nano, newId()]);

/** Makes the workspace some days older than it is, with everything that it has spent. */
async function ageBy(workspaceId: string, days: number): Promise<void> {
  for (const [table, column, id] of [
    ["balance", "day", "workspace_id"],
    ["spent_day", "day", "workspace_id"],
  ] as const) {
    await db.query(`update ${table} set ${column} = ${column} - $2::int where ${id} = $1`, [workspaceId, days]);
  }
  await db.query("update workspace set created_at = created_at - $2 * interval '1 day' where id = $1", [
    workspaceId,
    days,
  ]);
}

describe("an alert on an amount", () => {
  test("fires below its threshold, not at it, once for any number of janitors", async () => {
    const workspaceId = await createWorkspace(db.database, 100n * CREDIT);
    const id = await alertOf(workspaceId);
    await sweep();
    expect(await told(workspaceId)).toEqual([]);
    await spend(db.database, [{ workspaceId, nano: 1n }]);
    await Promise.all(Array.from({ length: 8 }, () => sweep()));
    await sweep();
    expect(await told(workspaceId)).toEqual([
      { alertId: id, available: 99.999999999, belowCredits: 100, daysLeft: expect.any(Number) },
    ]);
    expect(await findBalanceAlert(db.database, workspaceId, id)).toMatchObject({
      is_low: true,
      available: 100n * CREDIT - 1n,
      last_fired_at: expect.any(Date),
    });
  });

  test("fires again after a top-up to a tenth above the threshold, and not after a smaller one", async () => {
    const workspaceId = await createWorkspace(db.database, 50n * CREDIT);
    const id = await alertOf(workspaceId);
    const isLow = async (): Promise<unknown> => {
      await sweep();
      const row = await findBalanceAlert(db.database, workspaceId, id);
      return [row?.is_low, (await told(workspaceId)).length];
    };
    expect(await isLow()).toEqual([true, 1]);
    await topUp(workspaceId, 60n * CREDIT - 1n);
    expect(await isLow()).toEqual([true, 1]);
    await spend(db.database, [{ workspaceId, nano: 20n * CREDIT }]);
    expect(await isLow()).toEqual([true, 1]);
    await topUp(workspaceId, 20n * CREDIT + 1n);
    expect(await isLow()).toEqual([false, 1]);
    await spend(db.database, [{ workspaceId, nano: 10n * CREDIT }]);
    expect(await isLow()).toEqual([false, 1]);
    await spend(db.database, [{ workspaceId, nano: 1n }]);
    expect(await isLow()).toEqual([true, 2]);
  });

  test("counts held credits as not available, and does not fire again when holds of calls vary", async () => {
    const workspaceId = await createWorkspace(db.database, 105n * CREDIT);
    await alertOf(workspaceId);
    for (let call = 0; call < 3; call++) {
      const jobId = newId();
      expect(await admitLone(db.database, { workspaceId, jobId, amount: 10n * CREDIT })).toBe(0);
      await sweep();
      await settleSingle(db.database, { jobId, used: 0n });
      await sweep();
    }
    expect((await told(workspaceId)).map(({ available }) => available)).toEqual([95]);
  });

  test("is silent while it is disabled, and fires at once when it is enabled or its threshold changes", async () => {
    const workspaceId = await createWorkspace(db.database, 50n * CREDIT);
    const id = await alertOf(workspaceId, { is_active: false });
    const change = async (terms: Partial<BalanceTerms>): Promise<number> => {
      await updateBalanceAlert(db.database, workspaceId, { id, actor: ACTOR, ...terms });
      await sweep();
      return (await told(workspaceId)).length;
    };
    await sweep();
    expect(await told(workspaceId)).toEqual([]);
    expect(await change({ is_active: true })).toBe(1);
    expect(await change({ name: "other" })).toBe(1);
    expect(await change({ below_credits: 60n * CREDIT })).toBe(2);
    expect(await change({ below_credits: 40n * CREDIT })).toBe(2);
  });

  test("is delivered to its own channels", async () => {
    const workspaceId = await createWorkspace(db.database, 0n);
    const channel_ids = [newId(), newId()];
    await alertOf(workspaceId, { channel_ids });
    await sweep();
    const rows = await db.query("select channel_ids::text[] as channel_ids from event where workspace_id = $1", [
      workspaceId,
    ]);
    expect(rows).toEqual([{ channel_ids }]);
  });
});

describe("an alert on days", () => {
  test("never fires without spending", async () => {
    const workspaceId = await createWorkspace(db.database, 1n);
    const id = await alertOf(workspaceId, { below_credits: null, below_days: 365 });
    await sweep();
    expect(await told(workspaceId)).toEqual([]);
    expect((await findBalanceAlert(db.database, workspaceId, id))?.days_left).toBeNull();
  });

  test("uses the mean spending of the last seven days, and the age of a younger workspace", async () => {
    const workspaceId = await createWorkspace(db.database, 200n * CREDIT);
    const id = await alertOf(workspaceId, { below_credits: null, below_days: 5 });
    const daysLeft = async (): Promise<number> =>
      (await findBalanceAlert(db.database, workspaceId, id))?.days_left ?? Number.NaN;
    await spend(db.database, [{ workspaceId, nano: 40n * CREDIT }]);
    // Of a workspace of today: 160 credits at 40 a day.
    expect(await daysLeft()).toBe(4);
    await sweep();
    expect(await told(workspaceId)).toEqual([{ alertId: id, available: 160, belowDays: 5, daysLeft: 4 }]);
    // Two days old: at 20 a day.
    await ageBy(workspaceId, 2);
    expect(await daysLeft()).toBe(8);
    await sweep();
    expect((await findBalanceAlert(db.database, workspaceId, id))?.is_low).toBe(false);
    // The spending is older than seven days.
    await ageBy(workspaceId, 7);
    expect(await daysLeft()).toBeNaN();
    await spend(db.database, [{ workspaceId, nano: 80n * CREDIT }]);
    // 80 credits at a seventh to an eighth of 80 a day, by the hour of the test.
    const left = await daysLeft();
    expect(left >= 7 && left <= 8).toBe(true);
    await sweep();
    expect(await told(workspaceId)).toHaveLength(1);
    await spend(db.database, [{ workspaceId, nano: 60n * CREDIT }]);
    await sweep();
    expect((await told(workspaceId)).length).toBe(2);
  });
});

test("a sweep checks every alert, in pages of any size", async () => {
  const workspaces = await Promise.all(Array.from({ length: 7 }, () => createWorkspace(db.database, 1n)));
  for (const workspaceId of workspaces) await alertOf(workspaceId);
  await sweep({ batch: 2 });
  const counts = await Promise.all(workspaces.map(async (workspaceId) => (await told(workspaceId)).length));
  expect(counts).toEqual(workspaces.map(() => 1));
});

test("a check that fires nothing writes nothing", async () => {
  const workspaceId = await createWorkspace(db.database);
  const id = await alertOf(workspaceId);
  const version = (): Promise<unknown[]> =>
    db.query("select xmin::text, ctid::text from balance_alert where id = $1", [id]);
  const before = await version();
  await sweep();
  expect(await version()).toEqual(before);
});
