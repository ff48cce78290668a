/** Budgets: each fires once for a period and threshold, whoever looks and whenever the spend is seen. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { parse } from "#shared/contracts.ts";
import {
  type BudgetTerms,
  deleteBudgetAlert,
  insertBudgetAlert,
  updateBudgetAlert,
} from "#shared/database/budget-alerts.ts";
import { listBudgetsToCheck } from "#shared/database/budget-firings.ts";
import { newId } from "#shared/ids.ts";
import { createLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { admitLone, createWorkspace, CREDIT, settleSingle } from "#tests/shared/accounts.ts";
import { rollUpAll, spend } from "#tests/shared/usage-records.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { openUsageRollUp, sweepBudgets } from "#workers/janitor/money.ts";

const DAY_MS = 86_400_000;
const ACTOR = { type: "system", id: "test" } as const;

let db: TestDatabase;
const metrics = createMetrics("test");
const log = createLogger({ level: "silent", role: "test" });

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  metrics.close();
  await db.drop();
});

async function alertOf(workspaceId: string, terms: Partial<BudgetTerms> = {}): Promise<string> {
  const id = newId();
  const memberId = newId();
  await db.query("insert into member (id, workspace_id, name, role) values ($1::uuid, $2, $1::uuid::text, 'owner')", [
    memberId,
    workspaceId,
  ]);
  const made = await insertBudgetAlert(db.database, workspaceId, {
    id,
    actor: ACTOR,
    memberId,
    max: 50,
    name: id,
    threshold: 10n * CREDIT,
    period: "daily",
    channel_ids: [],
    is_active: true,
    stops_calls: false,
    ...terms,
  });
  expect(made).toBe("made");
  return id;
}

const rollUpUsage = (): Promise<number> => openUsageRollUp({ database: db.database, metrics, log })();

const sweep = (): Promise<void> => sweepBudgets({ database: db.database, metrics, log });

interface Told {
  readonly metadata: Record<string, unknown>;
  readonly channel_ids: readonly string[] | null;
}

async function told(workspaceId: string): Promise<Told[]> {
  const rows = await db.query<Told>(
    `select metadata, channel_ids::text[] as channel_ids from event
     where workspace_id = $1 and type = 'budget.threshold_reached' order by occurred_at, metadata->>'periodStart'`,
    [workspaceId],
  );
  for (const { metadata } of rows) parse("BudgetThresholdReached", metadata);
  return rows;
}

interface Stop {
  readonly until: Date | null;
  readonly by: string | null;
}

async function stopOf(workspaceId: string): Promise<Stop | undefined> {
  const [row] = await db.query<{ until: Date | null; by: string | null }>(
    "select stopped_until as until, stopped_by as by from workspace where id = $1",
    [workspaceId],
  );
  return row;
}

const midnight = (days = 0): Date => new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS + days * DAY_MS);

/** Fires budgets at a time of the test's own. */
const fireAt = (workspaceId: string, at: Date): Promise<object[]> =>
  db.query("select * from fire_budgets($1, $2)", [workspaceId, at]);

describe("a budget", () => {
  test("that 100 settles cross together fires once, whichever of two janitors sees it", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId);
    const settling = { isDone: false };
    const sweeps = [0, 1].map(async () => {
      while (!settling.isDone) await sweep();
    });
    await Promise.all(Array.from({ length: 100 }, () => spend(db.database, [{ workspaceId, nano: CREDIT / 5n }])));
    settling.isDone = true;
    await Promise.all(sweeps);
    await Promise.all([sweep(), sweep()]);
    await sweep();
    const events = await told(workspaceId);
    expect(events).toHaveLength(1);
    expect(events[0]?.channel_ids).toBeNull();
    expect(events[0]?.metadata).toMatchObject({
      alertId: id,
      period: "daily",
      periodStart: midnight().toISOString(),
      threshold: 10,
    });
    expect(events[0]?.metadata["spent"]).toBeGreaterThanOrEqual(10);
  });

  test("fires when its spend equals the threshold to the nano-credit, and not below", async () => {
    const workspaceId = await createWorkspace(db.database);
    await alertOf(workspaceId, { threshold: 123_456_789n });
    await spend(db.database, [{ workspaceId, nano: 123_456_788n }]);
    await sweep();
    expect(await told(workspaceId)).toEqual([]);
    await spend(db.database, [{ workspaceId, nano: 1n }]);
    await sweep();
    expect((await told(workspaceId))[0]?.metadata).toMatchObject({ threshold: 0.123456789, spent: 0.123456789 });
  });

  test("counts sums and records alike, and goes to its own channels", async () => {
    const workspaceId = await createWorkspace(db.database);
    const channels = [newId(), newId()];
    await alertOf(workspaceId, { threshold: 5n * CREDIT, period: "monthly", channel_ids: channels });
    await db.query(
      "update usage_rollup set until = now() - interval '3 hours', next_at = now() - interval '1 hour', next_xid = '0'",
    );
    await spend(db.database, [
      { workspaceId, nano: 3n * CREDIT, at: new Date(Math.max(Date.now() - 7_200_000, monthStart())) },
    ]);
    await rollUpUsage();
    await spend(db.database, [{ workspaceId, nano: 2n * CREDIT }]);
    await sweep();
    const events = await told(workspaceId);
    expect(events.map(({ channel_ids }) => channel_ids)).toEqual([channels]);
    expect(events[0]?.metadata).toMatchObject({ period: "monthly", spent: 5 });
  });

  test("is looked at only while there is usage that it has not seen", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId);
    const isDue = async (): Promise<boolean> => (await listBudgetsToCheck(db.database)).includes(workspaceId);
    expect(await isDue()).toBe(false);
    await spend(db.database, [{ workspaceId, nano: 1n }]);
    expect(await isDue()).toBe(true);
    await sweep();
    // A settle that began before the look may be committed after it, until the border has passed it.
    expect(await isDue()).toBe(true);
    await rollUpAll(db.database, rollUpUsage);
    expect(await isDue()).toBe(true);
    await sweep();
    expect(await isDue()).toBe(false);
    await updateBudgetAlert(db.database, workspaceId, { id, actor: ACTOR, threshold: 1n });
    expect(await isDue()).toBe(true);
    await updateBudgetAlert(db.database, workspaceId, { id, actor: ACTOR, is_active: false });
    expect(await isDue()).toBe(false);
  });
});

test("workspaces with new usage are found by one index search each, however many records there are", async () => {
  await db.query(
    `insert into usage_record (job_id, attempt, workspace_id, key_id, model, status, units, is_estimated, held, settled, uncollected, day,
                               tokens, started_at)
     select gen_random_uuid(), 1, gen_random_uuid(), gen_random_uuid(), 'm', 'succeeded', '{}', false, 0, 0, 0, current_date, 0, now()
     from generate_series(1, 20000)`,
  );
  await db.query("analyze usage_record, budget_alert");
  const plan = await db.query<Record<string, string>>("explain select * from budgets_to_check()");
  const lines = plan.map((row) => String(row["QUERY PLAN"]));
  expect(lines.filter((line) => line.includes("Scan") && line.includes("on usage_record"))).toEqual([
    expect.stringContaining("Index Only Scan Backward using usage_record_workspace"),
  ]);
});

const monthStart = (): number => Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth(), 1);

describe("at the turn of a period", () => {
  test("what was spent before midnight belongs to its own day, also when it is seen and rolled up after", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId);
    await db.query("update budget_alert set judged_from = $2, checked_at = $3 where id = $1", [
      id,
      midnight(-3),
      new Date(midnight().getTime() - 60_000),
    ]);
    const lastSecond = new Date(midnight().getTime() - 500);
    await spend(db.database, [{ workspaceId, nano: 11n * CREDIT, at: lastSecond }]);
    const border = new Date(lastSecond.getTime() - 60_000);
    await db.query("update usage_rollup set until = $1, next_at = $2, next_xid = '0'", [border, midnight()]);
    await Promise.all([fireAt(workspaceId, midnight()), fireAt(workspaceId, midnight())]);
    await rollUpUsage();
    await fireAt(workspaceId, new Date(midnight().getTime() + 30_000));
    await sweep();
    expect((await told(workspaceId)).map(({ metadata }) => metadata)).toEqual([
      { alertId: id, period: "daily", periodStart: midnight(-1).toISOString(), threshold: 10, spent: 11 },
    ]);
    // The new day begins with nothing spent, and has its own firing.
    await spend(db.database, [{ workspaceId, nano: 12n * CREDIT }]);
    await sweep();
    expect((await told(workspaceId)).map(({ metadata }) => metadata["periodStart"])).toEqual([
      midnight(-1).toISOString(),
      midnight().toISOString(),
    ]);
  });

  test("what was spent before it and is committed long after it is told, in its own day", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId);
    const jobId = newId();
    expect(await admitLone(db.database, { workspaceId, jobId, amount: 11n * CREDIT })).toBe(0);
    await db.database.slowTransaction(60_000, async (tx) => {
      await settleSingle(tx, { jobId, used: 11n * CREDIT });
      await rollUpUsage();
      // It is tomorrow: Postgres waits for its standby.
      expect(await fireAt(workspaceId, new Date(midnight(1).getTime() + 300_000))).toEqual([]);
    });
    expect(await fireAt(workspaceId, new Date(midnight(1).getTime() + 310_000))).toHaveLength(1);
    expect((await told(workspaceId)).map(({ metadata }) => metadata)).toEqual([
      { alertId: id, period: "daily", periodStart: midnight().toISOString(), threshold: 10, spent: 11 },
    ]);
  });

  test("days that no janitor saw are told one by one, and none from before the alert", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId);
    await db.query("update budget_alert set judged_from = $2 where id = $1", [id, midnight(-2)]);
    await spend(
      db.database,
      [-3, -2, -1, 0].map((day) => ({ workspaceId, nano: 10n * CREDIT, at: midnight(day) })),
    );
    await db.query("update usage_rollup set until = $1, next_at = $1", [midnight(-4)]);
    await sweep();
    expect((await told(workspaceId)).map(({ metadata }) => metadata["periodStart"])).toEqual(
      [-2, -1, 0].map((day) => midnight(day).toISOString()),
    );
  });

  test.each([
    ["weekly", "2026-03-29T23:59:59.999Z", "2026-03-23T00:00:00.000Z", "2026-03-30T00:00:00.000Z"],
    ["monthly", "2028-02-29T23:00:00.000Z", "2028-02-01T00:00:00.000Z", "2028-03-01T00:00:00.000Z"],
    ["daily", "2026-12-31T23:59:59.999Z", "2026-12-31T00:00:00.000Z", "2027-01-01T00:00:00.000Z"],
  ])("a %s period at %s goes from %s to %s", async (period, at, start, end) => {
    const rows = await db.query<{ start: Date; end: Date }>(
      'select budget_period_start($1, $2) as start, budget_period_end($1, $2) as "end"',
      [period, at],
    );
    expect(rows.map((row) => [row.start.toISOString(), row.end.toISOString()])).toEqual([[start, end]]);
  });
});

describe("a changed alert", () => {
  test("fires again for a new threshold in the same period, and not for one that it had", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId);
    const to = async (threshold: bigint): Promise<unknown[]> => {
      await updateBudgetAlert(db.database, workspaceId, { id, actor: ACTOR, threshold });
      await sweep();
      return (await told(workspaceId)).map(({ metadata }) => metadata["threshold"]);
    };
    await spend(db.database, [{ workspaceId, nano: 15n * CREDIT }]);
    await sweep();
    expect(await to(20n * CREDIT)).toEqual([10]);
    expect(await to(10n * CREDIT)).toEqual([10]);
    expect(await to(12n * CREDIT)).toEqual([10, 12]);
    await spend(db.database, [{ workspaceId, nano: 6n * CREDIT }]);
    expect(await to(20n * CREDIT)).toEqual([10, 12, 20]);
  });

  test("fires for what was reached before the change, under the threshold of then", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId);
    await spend(db.database, [{ workspaceId, nano: 10n * CREDIT }]);
    await updateBudgetAlert(db.database, workspaceId, { id, actor: ACTOR, threshold: 100n * CREDIT });
    expect((await told(workspaceId)).map(({ metadata }) => metadata["threshold"])).toEqual([10]);
  });

  test("judges no period that ended before the change", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId, { is_active: false });
    await db.query("update budget_alert set judged_from = $2 where id = $1", [id, midnight(-3)]);
    await spend(db.database, [{ workspaceId, nano: 10n * CREDIT, at: new Date(midnight().getTime() - 1) }]);
    await updateBudgetAlert(db.database, workspaceId, { id, actor: ACTOR, is_active: true });
    await sweep();
    expect(await told(workspaceId)).toEqual([]);
  });

  test("a day and a week that begin together are two periods", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId, { period: "weekly" });
    await db.query(
      `insert into budget_firing (alert_id, period, period_start, threshold, spent)
       select id, 'daily', budget_period_start('weekly', now()), threshold, threshold from budget_alert where id = $1`,
      [id],
    );
    await spend(db.database, [{ workspaceId, nano: 10n * CREDIT }]);
    await sweep();
    expect((await told(workspaceId)).map(({ metadata }) => metadata["period"])).toEqual(["weekly"]);
  });
});

describe("stopping calls", () => {
  async function spent(terms: Partial<BudgetTerms> = {}) {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId, { stops_calls: true, ...terms });
    await spend(db.database, [{ workspaceId, nano: 15n * CREDIT }]);
    await sweep();
    return { workspaceId, id };
  }

  test("begins with the firing and lasts until the period's end", async () => {
    const { workspaceId, id } = await spent();
    expect(await stopOf(workspaceId)).toEqual({ until: midnight(1), by: id });
    expect(await told(workspaceId)).toHaveLength(1);
  });

  test("never begins for an alert that only tells, or for yesterday's spend", async () => {
    const { workspaceId } = await spent({ stops_calls: false });
    expect(await stopOf(workspaceId)).toEqual({ until: null, by: null });
    const other = await createWorkspace(db.database);
    const id = await alertOf(other, { stops_calls: true });
    await db.query("update budget_alert set judged_from = $2 where id = $1", [id, midnight(-3)]);
    await spend(db.database, [{ workspaceId: other, nano: 15n * CREDIT, at: new Date(midnight().getTime() - 1) }]);
    await sweep();
    expect(await told(other)).toHaveLength(1);
    expect(await stopOf(other)).toEqual({ until: null, by: null });
  });

  test.each([
    ["a threshold above the spend", { threshold: 16n * CREDIT }],
    ["an alert that is switched off", { is_active: false }],
    ["an alert that only tells from now on", { stops_calls: false }],
  ])("ends with %s, and comes back with the change undone", async (_name, change) => {
    const { workspaceId, id } = await spent();
    const old = { threshold: 10n * CREDIT, is_active: true, stops_calls: true };
    await updateBudgetAlert(db.database, workspaceId, { id, actor: ACTOR, ...change });
    expect(await stopOf(workspaceId)).toEqual({ until: null, by: null });
    await sweep();
    expect(await stopOf(workspaceId)).toEqual({ until: null, by: null });
    await updateBudgetAlert(db.database, workspaceId, { id, actor: ACTOR, ...old });
    expect(await stopOf(workspaceId)).toEqual({ until: midnight(1), by: id });
  });

  test("goes on when the threshold is raised and still below the spend", async () => {
    const { workspaceId, id } = await spent();
    await updateBudgetAlert(db.database, workspaceId, { id, actor: ACTOR, threshold: 15n * CREDIT });
    expect(await stopOf(workspaceId)).toEqual({ until: midnight(1), by: id });
  });

  test("of two alerts lasts for as long as the later one has it, and what is left when one goes", async () => {
    const { workspaceId, id } = await spent();
    const monthly = await alertOf(workspaceId, { stops_calls: true, period: "monthly", threshold: 1n });
    await sweep();
    const monthEnd = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1, 1));
    expect((await stopOf(workspaceId))?.until).toEqual(monthEnd);
    expect(await deleteBudgetAlert(db.database, workspaceId, { id: monthly, actor: ACTOR })).toBe(true);
    expect(await stopOf(workspaceId)).toEqual({ until: midnight(1), by: id });
    expect(await deleteBudgetAlert(db.database, workspaceId, { id, actor: ACTOR })).toBe(true);
    expect(await stopOf(workspaceId)).toEqual({ until: null, by: null });
  });

  test("stays lifted when an alert is deleted while janitors look at it", async () => {
    const { workspaceId, id } = await spent();
    await Promise.all([sweep(), deleteBudgetAlert(db.database, workspaceId, { id, actor: ACTOR }), sweep(), sweep()]);
    expect(await stopOf(workspaceId)).toEqual({ until: null, by: null });
  });
});
