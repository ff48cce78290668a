/** Budgets: each fires once for a period and threshold, whoever looks and whenever the spend is seen. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { parse } from "#shared/json/contracts.ts";
import {
  type BudgetTerms,
  deleteBudgetAlert,
  findBudgetAlert,
  insertBudgetAlert,
  updateBudgetAlert,
} from "#shared/database/budget-alerts.ts";
import { listBudgetsToCheck, setBudgetBounds } from "#shared/database/budget-firings.ts";
import type { Queryable } from "#shared/database/client.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import {
  admitGroup,
  admitLone,
  createWorkspace,
  CREDIT,
  lateIfPossible,
  settleGroup,
  settleSingle,
  type TestSettlement,
} from "#tests/shared/accounts.ts";
import { spend } from "#tests/shared/usage-records.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { sweepBudgets } from "#workers/janitor/money.ts";

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
    warn_at: [],
    ...terms,
  });
  expect(made).toBe("made");
  return id;
}

const sweep = (): Promise<void> => sweepBudgets({ database: db.database, metrics, log });

interface Told {
  readonly metadata: Record<string, unknown>;
  readonly channel_ids: readonly string[] | null;
}

const SCHEMAS = { "budget.threshold_reached": "BudgetThresholdReached", "budget.warning": "BudgetWarning" } as const;

async function told(workspaceId: string, type: keyof typeof SCHEMAS = "budget.threshold_reached"): Promise<Told[]> {
  const rows = await db.query<Told>(
    `select metadata, channel_ids::text[] as channel_ids from event
     where workspace_id = $1 and type = $2 order by occurred_at, metadata->>'periodStart'`,
    [workspaceId, type],
  );
  for (const { metadata } of rows) parse(SCHEMAS[type], metadata);
  return rows;
}

interface Stop {
  readonly until: Date;
  readonly by: string;
}

async function stopOf(workspaceId: string): Promise<Stop | undefined> {
  const [row] = await db.query<Stop>("select until, alert_id as by from budget_stop($1)", [workspaceId]);
  return row;
}

/** Verdict on a call of this workspace that holds so much, in one of the forms of admission. */
async function verdictOn(workspaceId: string, amount = 1n, form: "lone" | "group" | "late" = "lone"): Promise<number> {
  const call = { workspaceId, jobId: newId(), amount };
  if (form === "lone") return admitLone(db.database, call);
  const inGroup = (isLate: boolean) => admitGroup(db.database, [call], { waitMs: 2_000, isLate });
  const [verdict = -1] = form === "late" ? await lateIfPossible(inGroup) : await inGroup(false);
  return verdict;
}
const STOPPED = 9;

/** Has the workspace stand where its last admission or settle was so many days ago: what it has spent since then it spent there. */
async function ageBy(workspaceId: string, days: number): Promise<void> {
  await db.query("update balance set day = day - $2::int where workspace_id = $1", [workspaceId, days]);
  await db.query("update spent_day set day = day - $2::int where workspace_id = $1", [workspaceId, days]);
  await db.query("update usage_record set day = day - $2::int, ended_at = ended_at - $2 * interval '1 day' where workspace_id = $1", [workspaceId, days]); // prettier-ignore
}

const midnight = (days = 0): Date => new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS + days * DAY_MS);

describe("a budget", () => {
  test("that 100 concurrent settlements cross fires once, for any number of janitors", async () => {
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

  test("uses its own channels", async () => {
    const workspaceId = await createWorkspace(db.database);
    const channels = [newId(), newId()];
    await alertOf(workspaceId, { threshold: 5n * CREDIT, period: "monthly", channel_ids: channels });
    await spend(db.database, [{ workspaceId, nano: 5n * CREDIT }]);
    await sweep();
    const events = await told(workspaceId);
    expect(events.map(({ channel_ids }) => channel_ids)).toEqual([channels]);
    expect(events[0]?.metadata).toMatchObject({ period: "monthly", spent: 5 });
  });

  test("is checked only when it may fire, has changed, or a day has begun", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId);
    const isDue = async (): Promise<boolean> => (await listBudgetsToCheck(db.database)).includes(workspaceId);
    expect(await isDue()).toBe(true);
    await sweep();
    expect(await isDue()).toBe(false);
    await spend(db.database, [{ workspaceId, nano: 1n }]);
    await sweep();
    expect(await isDue()).toBe(false);
    await spend(db.database, [{ workspaceId, nano: 10n * CREDIT - 2n }]);
    expect(await isDue()).toBe(false);
    await spend(db.database, [{ workspaceId, nano: 1n }]);
    expect(await isDue()).toBe(true);
    await sweep();
    expect(await isDue()).toBe(false);
    await updateBudgetAlert(db.database, workspaceId, { id, actor: ACTOR, threshold: 1n });
    expect(await isDue()).toBe(true);
    await sweep();
    expect(await isDue()).toBe(false);
    await ageBy(workspaceId, 1);
    expect(await verdictOn(workspaceId)).toBe(0);
    expect(await isDue()).toBe(true);
    await updateBudgetAlert(db.database, workspaceId, { id, actor: ACTOR, is_active: false });
    expect(await isDue()).toBe(false);
  });

  test("counts charges of calls: no correction, no top-up, no repeated settlement, and the late charge of a delivered answer", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId);
    const spentOf = async (): Promise<bigint | undefined> =>
      (await findBudgetAlert(db.database, workspaceId, id))?.spent;
    const [jobId] = await spend(db.database, [{ workspaceId, nano: 3n }]);
    for (const [kind, nano] of [
      ["correction", -7n],
      ["top_up", 5n],
      ["correction", 4n],
    ] as const) {
      await db.query("select move_credits($1, $2, $3, $4, null)", [workspaceId, kind, nano, newId()]);
    }
    expect(await settleSingle(db.database, { jobId: jobId ?? "", used: 3n })).toBeNull();
    expect(await spentOf()).toBe(3n);
    const late = newId();
    expect(await admitLone(db.database, { workspaceId, jobId: late, amount: 10n })).toBe(0);
    await settleSingle(db.database, { jobId: late, used: 2n });
    const deliver = () =>
      db.query("select * from settle_delivered($1, $2, 1::smallint, 9, 'a/b', '{}', false, 0)", [workspaceId, late]);
    expect(await deliver()).toEqual([{ taken: 9n, late: 7n }]);
    expect(await deliver()).toEqual([{ taken: 9n, late: 0n }]);
    expect(await spentOf()).toBe(12n);
    expect(await db.query("select * from audit_ledger() where workspace_id = $1", [workspaceId])).toEqual([]);
  });
});

test("due checks are found without reading usage, for any number of records", async () => {
  const plan = await db.query<Record<string, string>>("explain select * from budgets_to_check()");
  expect(plan.map((row) => String(row["QUERY PLAN"])).join("\n")).not.toMatch(/usage_record|usage_hour|ledger_entry/);
});

describe("at the turn of a period", () => {
  test("spending before midnight belongs to its own day, also when it is seen after, and the new day starts at zero", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId);
    await db.query("update budget_alert set judged_from = $2 where id = $1", [id, midnight(-3)]);
    await spend(db.database, [{ workspaceId, nano: 11n * CREDIT }]);
    await ageBy(workspaceId, 1);
    expect((await findBudgetAlert(db.database, workspaceId, id))?.spent).toBe(0n);
    await Promise.all([sweep(), sweep()]);
    expect((await told(workspaceId)).map(({ metadata }) => metadata)).toEqual([
      { alertId: id, period: "daily", periodStart: midnight(-1).toISOString(), threshold: 10, spent: 11 },
    ]);
    await spend(db.database, [{ workspaceId, nano: 12n * CREDIT }]);
    expect((await findBudgetAlert(db.database, workspaceId, id))?.spent).toBe(12n * CREDIT);
    await sweep();
    expect((await told(workspaceId)).map(({ metadata }) => [metadata["periodStart"], metadata["spent"]])).toEqual([
      [midnight(-1).toISOString(), 11],
      [midnight().toISOString(), 12],
    ]);
  });

  test("a settlement that commits after midnight is reported, in its own day", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId);
    const jobId = newId();
    expect(await admitLone(db.database, { workspaceId, jobId, amount: 11n * CREDIT })).toBe(0);
    await db.database.slowTransaction(60_000, async (tx) => {
      await settleSingle(tx, { jobId, used: 11n * CREDIT });
      await sweep();
      expect(await told(workspaceId)).toEqual([]);
    });
    await sweep();
    expect((await told(workspaceId)).map(({ metadata }) => metadata)).toEqual([
      { alertId: id, period: "daily", periodStart: midnight().toISOString(), threshold: 10, spent: 11 },
    ]);
  });

  test("a settlement starts the day like an admission, in each of its forms", async () => {
    for (const settle of [settleSingle, (target: Queryable, call: TestSettlement) => settleGroup(target, [call])]) {
      const workspaceId = await createWorkspace(db.database);
      const id = await alertOf(workspaceId);
      const jobId = newId();
      await spend(db.database, [{ workspaceId, nano: 4n }]);
      expect(await admitLone(db.database, { workspaceId, jobId, amount: 5n, tokens: 7, cap: 100 })).toBe(0);
      await ageBy(workspaceId, 1);
      await db.query("update hold set day = day - 1 where job_id = $1", [jobId]);
      await settle(db.database, { jobId, used: 5n, tokens: 3 });
      expect((await findBudgetAlert(db.database, workspaceId, id))?.spent).toBe(5n);
      expect(await db.query("select * from audit_present(false) where workspace_id = $1", [workspaceId])).toEqual([]);
    }
  });

  test("a late charge for a delivered answer does so too", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId);
    const jobId = newId();
    expect(await admitLone(db.database, { workspaceId, jobId, amount: 10n })).toBe(0);
    await settleSingle(db.database, { jobId, used: 2n });
    await ageBy(workspaceId, 1);
    await db.query("select settle_delivered($1, $2, 1::smallint, 9, 'a/b', '{}', false, 0)", [workspaceId, jobId]);
    expect((await findBudgetAlert(db.database, workspaceId, id))?.spent).toBe(7n);
  });

  test("days without a janitor are reported one by one, and none from before the alert", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId);
    await db.query("update budget_alert set judged_from = $2 where id = $1", [id, midnight(-2)]);
    for (let day = -3; day <= 0; day++) {
      await spend(db.database, [{ workspaceId, nano: 10n * CREDIT }]);
      if (day < 0) await ageBy(workspaceId, 1);
    }
    await sweep();
    expect((await told(workspaceId)).map(({ metadata }) => metadata["periodStart"])).toEqual(
      [-2, -1, 0].map((day) => midnight(day).toISOString()),
    );
  });

  test.each([
    ["weekly", "2026-03-29T23:59:59.999Z", "2026-03-23T00:00:00.000Z", "2026-03-30T00:00:00.000Z"],
    ["monthly", "2028-02-29T23:00:00.000Z", "2028-02-01T00:00:00.000Z", "2028-03-01T00:00:00.000Z"],
    ["daily", "2026-12-31T23:59:59.999Z", "2026-12-31T00:00:00.000Z", "2027-01-01T00:00:00.000Z"],
  ])("a %s period at %s lasts from %s to %s", async (period, at, start, end) => {
    const rows = await db.query<{ start: Date; end: Date }>(
      'select budget_period_start($1, $2) as start, budget_period_end($1, $2) as "end"',
      [period, at],
    );
    expect(rows.map((row) => [row.start.toISOString(), row.end.toISOString()])).toEqual([[start, end]]);
  });
});

describe("a changed alert", () => {
  test("fires again for a new threshold in the same period, and not for an earlier one", async () => {
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

  test("fires for spending before the change, under the former threshold", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId);
    await spend(db.database, [{ workspaceId, nano: 10n * CREDIT }]);
    await updateBudgetAlert(db.database, workspaceId, { id, actor: ACTOR, threshold: 100n * CREDIT });
    expect((await told(workspaceId)).map(({ metadata }) => metadata["threshold"])).toEqual([10]);
  });

  test("checks no period that ended before the change", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId, { is_active: false });
    await db.query("update budget_alert set judged_from = $2 where id = $1", [id, midnight(-3)]);
    await spend(db.database, [{ workspaceId, nano: 10n * CREDIT }]);
    await ageBy(workspaceId, 1);
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

describe("percentages", () => {
  const warned = async (workspaceId: string): Promise<unknown[]> =>
    (await told(workspaceId, "budget.warning")).map(({ metadata }) => metadata["percent"]);

  test("each warn once, before the threshold, to the nano-credit", async () => {
    const workspaceId = await createWorkspace(db.database);
    const channel = newId();
    const id = await alertOf(workspaceId, { threshold: 1_001n, warn_at: [50, 80], channel_ids: [channel] });
    await spend(db.database, [{ workspaceId, nano: 500n }]);
    await sweep();
    expect(await warned(workspaceId)).toEqual([]);
    // 50 % of 1,001 is 500.5.
    await spend(db.database, [{ workspaceId, nano: 1n }]);
    await Promise.all([sweep(), sweep()]);
    await sweep();
    expect(await told(workspaceId, "budget.warning")).toEqual([
      {
        metadata: {
          alertId: id,
          period: "daily",
          periodStart: midnight().toISOString(),
          percent: 50,
          threshold: 0.000001001,
          spent: 0.000000501,
        },
        channel_ids: [channel],
      },
    ]);
    await spend(db.database, [{ workspaceId, nano: 300n }]);
    await Promise.all([sweep(), sweep()]);
    expect(await warned(workspaceId)).toEqual([50, 80]);
    expect(await told(workspaceId)).toEqual([]);
    await spend(db.database, [{ workspaceId, nano: 200n }]);
    await sweep();
    expect([await warned(workspaceId), (await told(workspaceId)).length]).toEqual([[50, 80], 1]);
  });

  test("that are passed at once are reported by the highest only", async () => {
    const workspaceId = await createWorkspace(db.database);
    await alertOf(workspaceId, { warn_at: [10, 50, 80] });
    await spend(db.database, [{ workspaceId, nano: 6n * CREDIT }]);
    await sweep();
    expect(await warned(workspaceId)).toEqual([50]);
    await spend(db.database, [{ workspaceId, nano: 4n * CREDIT }]);
    await sweep();
    await sweep();
    expect([await warned(workspaceId), (await told(workspaceId)).length]).toEqual([[50], 1]);
  });

  test("warn again in the next period, and for a changed threshold", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId, { warn_at: [50] });
    await spend(db.database, [{ workspaceId, nano: 5n * CREDIT }]);
    await sweep();
    await updateBudgetAlert(db.database, workspaceId, { id, actor: ACTOR, threshold: 9n * CREDIT });
    await sweep();
    expect(await warned(workspaceId)).toEqual([50, 50]);
    await ageBy(workspaceId, 1);
    await db.query("update budget_firing set period_start = period_start - interval '1 day' where alert_id = $1", [id]);
    await spend(db.database, [{ workspaceId, nano: 5n * CREDIT }]);
    await sweep();
    expect(await warned(workspaceId)).toEqual([50, 50, 50]);
  });

  test("added below the present spend warn at once, unless a higher one was reported", async () => {
    const workspaceId = await createWorkspace(db.database);
    const id = await alertOf(workspaceId);
    await spend(db.database, [{ workspaceId, nano: 6n * CREDIT }]);
    await sweep();
    await updateBudgetAlert(db.database, workspaceId, { id, actor: ACTOR, warn_at: [50] });
    await sweep();
    expect(await warned(workspaceId)).toEqual([50]);
    await spend(db.database, [{ workspaceId, nano: 4n * CREDIT }]);
    await sweep();
    await updateBudgetAlert(db.database, workspaceId, { id, actor: ACTOR, warn_at: [50, 80] });
    await sweep();
    expect([await warned(workspaceId), (await told(workspaceId)).length]).toEqual([[50], 1]);
    expect(await listBudgetsToCheck(db.database)).not.toContain(workspaceId);
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

  test("starts with the firing and lasts until the period's end", async () => {
    const { workspaceId, id } = await spent();
    expect(await stopOf(workspaceId)).toEqual({ until: midnight(1), by: id });
    expect(await told(workspaceId)).toHaveLength(1);
  });

  test("never starts for an alert that only notifies, or for yesterday's spending", async () => {
    const { workspaceId } = await spent({ stops_calls: false });
    expect(await stopOf(workspaceId)).toBeUndefined();
    const other = await createWorkspace(db.database);
    const id = await alertOf(other, { stops_calls: true });
    await db.query("update budget_alert set judged_from = $2 where id = $1", [id, midnight(-3)]);
    await spend(db.database, [{ workspaceId: other, nano: 15n * CREDIT }]);
    const isStopped = (): Promise<object[]> => db.query("select is_stopped from check_window($1, null)", [other]);
    expect([await verdictOn(other), await isStopped()]).toEqual([STOPPED, [{ is_stopped: true }]]);
    await ageBy(other, 1);
    expect(await isStopped()).toEqual([{ is_stopped: false }]);
    await sweep();
    expect(await told(other)).toHaveLength(1);
    expect(await stopOf(other)).toBeUndefined();
    expect(await verdictOn(other)).toBe(0);
  });

  test.each(["lone", "group", "late"] as const)(
    "is part of the admission, %s: no call is admitted after the settlement which reaches the threshold",
    async (form) => {
      const workspaceId = await createWorkspace(db.database);
      await alertOf(workspaceId, { stops_calls: true });
      await spend(db.database, [{ workspaceId, nano: 10n * CREDIT - 1n }]);
      expect(await verdictOn(workspaceId, 1n, form)).toBe(0);
      await spend(db.database, [{ workspaceId, nano: 1n }]);
      expect(await verdictOn(workspaceId, 1n, form)).toBe(STOPPED);
      // What costs nothing goes on.
      expect(await verdictOn(workspaceId, 0n, form)).toBe(0);
      expect(await db.query("select held from balance where workspace_id = $1", [workspaceId])).toEqual([{ held: 1n }]);
    },
  );

  test("is exact for concurrent calls: after one rejection none is admitted, and the spending equals the earlier admissions", async () => {
    const workspaceId = await createWorkspace(db.database);
    await alertOf(workspaceId, { stops_calls: true });
    const admitted: { jobId: string; after: bigint }[] = [];
    const caller = async (at: number): Promise<void> => {
      for (let call = 0; call < 40; call++) {
        const jobId = newId();
        // What was settled before the call was sent: the least that its admission can have seen.
        const [row] = await db.query<{ spent: bigint }>("select spent from balance where workspace_id = $1", [
          workspaceId,
        ]);
        const verdict =
          at % 2 === 0
            ? await admitLone(db.database, { workspaceId, jobId, amount: CREDIT })
            : (
                await lateIfPossible((isLate) =>
                  admitGroup(db.database, [{ workspaceId, jobId, amount: CREDIT }], { waitMs: 5_000, isLate }),
                )
              )[0];
        if (verdict === STOPPED) return;
        expect(verdict).toBe(0);
        admitted.push({ jobId, after: row?.spent ?? 0n });
        await settleGroup(db.database, [{ jobId, used: CREDIT }], { waitMs: 5_000 });
      }
    };
    await Promise.all(Array.from({ length: 6 }, (_, at) => caller(at)));
    for (const { after } of admitted) expect(after).toBeLessThan(10n * CREDIT);
    // Beyond the threshold goes at most what was under way with the call that reached it.
    expect(admitted.length).toBeGreaterThanOrEqual(10);
    expect(admitted.length).toBeLessThanOrEqual(15);
    expect(await db.query("select spent from balance where workspace_id = $1", [workspaceId])).toEqual([
      { spent: BigInt(admitted.length) * CREDIT },
    ]);
  });

  test("counts the rejected call in the window and is not hidden by a full one", async () => {
    const { workspaceId } = await spent();
    const call = { workspaceId, jobId: newId(), amount: 1n, limit: 0 };
    const before = await db.query<{ calls: bigint }>("select calls from rate_window where workspace_id = $1", [
      workspaceId,
    ]);
    expect(await admitLone(db.database, call)).toBe(STOPPED);
    expect(await admitGroup(db.database, [call])).toEqual([STOPPED]);
    const after = await db.query<{ calls: bigint }>("select calls from rate_window where workspace_id = $1", [
      workspaceId,
    ]);
    expect((after[0]?.calls ?? 0n) - (before[0]?.calls ?? 0n)).toBe(2n);
  });

  test("waits for a pending change of the alerts, and uses it", async () => {
    const { workspaceId, id } = await spent();
    let verdict: Promise<number> | undefined;
    await db.database.transaction(async (tx) => {
      await tx.query("update budget_alert set threshold = threshold * 100 where id = $1", [id]);
      await setBudgetBounds(tx, workspaceId);
      verdict = verdictOn(workspaceId, 1n, "group");
      await Bun.sleep(50);
    });
    expect(await verdict).toBe(0);
  });

  test("of a month continues over midnight, and that of a day does not", async () => {
    const workspaceId = await createWorkspace(db.database);
    const daily = await alertOf(workspaceId, { stops_calls: true });
    await spend(db.database, [{ workspaceId, nano: 15n * CREDIT }]);
    const stopAtOf = async (day: Date): Promise<bigint | null | undefined> =>
      (await db.query<{ at: bigint | null }>("select budget_stop_at($1, $2::date) as at", [workspaceId, day.toISOString().slice(0, 10)]))[0]?.at; // prettier-ignore
    expect(await stopAtOf(midnight())).toBe(10n * CREDIT);
    expect(await stopAtOf(midnight(1))).toBe(25n * CREDIT);
    await alertOf(workspaceId, { stops_calls: true, period: "monthly", threshold: 12n * CREDIT });
    const isLastDay = midnight(1).getUTCDate() === 1;
    expect(await stopAtOf(midnight(1))).toBe((isLastDay ? 25n : 12n) * CREDIT);
    await deleteBudgetAlert(db.database, workspaceId, { id: daily, actor: ACTOR });
    expect(await stopAtOf(midnight())).toBe(12n * CREDIT);
  });

  test.each([
    ["a threshold above the spend", { threshold: 16n * CREDIT }],
    ["an alert that is switched off", { is_active: false }],
    ["an alert that only tells from now on", { stops_calls: false }],
  ])("ends with %s, and returns when the change is undone", async (_name, change) => {
    const { workspaceId, id } = await spent();
    const old = { threshold: 10n * CREDIT, is_active: true, stops_calls: true };
    await updateBudgetAlert(db.database, workspaceId, { id, actor: ACTOR, ...change });
    expect(await stopOf(workspaceId)).toBeUndefined();
    await sweep();
    expect(await stopOf(workspaceId)).toBeUndefined();
    await updateBudgetAlert(db.database, workspaceId, { id, actor: ACTOR, ...old });
    expect(await stopOf(workspaceId)).toEqual({ until: midnight(1), by: id });
  });

  test("continues when the threshold is raised and still below the spending", async () => {
    const { workspaceId, id } = await spent();
    await updateBudgetAlert(db.database, workspaceId, { id, actor: ACTOR, threshold: 15n * CREDIT });
    expect(await stopOf(workspaceId)).toEqual({ until: midnight(1), by: id });
  });

  test("of two alerts lasts until the later one ends, or the remaining one when one is deleted", async () => {
    const { workspaceId, id } = await spent();
    const monthly = await alertOf(workspaceId, { stops_calls: true, period: "monthly", threshold: 1n });
    await sweep();
    const monthEnd = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1, 1));
    expect((await stopOf(workspaceId))?.until).toEqual(monthEnd);
    expect(await deleteBudgetAlert(db.database, workspaceId, { id: monthly, actor: ACTOR })).toBe(true);
    expect(await stopOf(workspaceId)).toEqual({ until: midnight(1), by: id });
    expect(await deleteBudgetAlert(db.database, workspaceId, { id, actor: ACTOR })).toBe(true);
    expect(await stopOf(workspaceId)).toBeUndefined();
  });

  test("stays ended when an alert is deleted while janitors check it", async () => {
    const { workspaceId, id } = await spent();
    await Promise.all([sweep(), deleteBudgetAlert(db.database, workspaceId, { id, actor: ACTOR }), sweep(), sweep()]);
    expect(await stopOf(workspaceId)).toBeUndefined();
  });
});
