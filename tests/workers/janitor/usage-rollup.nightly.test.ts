/** Hourly sums of usage: the same totals at any moment, whoever rolls up and whatever breaks off. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";

import type { Database } from "#shared/database/client.ts";
import { raiseUsageFloor, usageBehindSeconds } from "#shared/database/usage-sums.ts";
import { newId } from "#shared/base/ids.ts";
import { auditInSteps, auditLedger, auditNewEntries } from "#shared/ledger/audit.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { admitLone, createWorkspace, CREDIT, settleSingle } from "#tests/shared/accounts.ts";
import { makeStep, rollUpAll, spend } from "#tests/shared/usage-records.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { checkInvariants, openUsageRollUp } from "#workers/janitor/money.ts";

const HOUR_MS = 3_600_000;
const STEP_MS = 600_000;

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
beforeEach(async () => {
  await db.query(
    "truncate usage_hour, usage_by_day, usage_model_by_day, usage_key_by_day, usage_day, usage_key, usage_record, ledger_entry, ledger_checkpoint, balance cascade",
  );
  await db.query("update ledger_border set entry_id = 0, next_id = 0, next_xid = '0', usage_until = '-infinity'");
  await db.query("update usage_rollup set until = now() - interval '6 hours', next_at = until, next_xid = '0'");
  await db.query("select setval('usage_floor', (extract(epoch from clock_timestamp()) * 1e6)::bigint)");
});

const janitor = (): (() => Promise<number>) => openUsageRollUp({ database: db.database, metrics, log });
const rollUp = (turn = janitor()): Promise<void> => rollUpAll(db.database, turn);

interface Totals {
  readonly read: string;
  readonly ledger: string;
}

/** Sums that readers see and that the ledger took, in one snapshot. */
async function totals(workspaceId: string): Promise<Totals> {
  const [row] = await db.query<Totals>(
    `select (select coalesce(sum(s.settled), 0)::text from (
               select settled from usage_hour where workspace_id = $1
               union all
               select settled from usage_record where workspace_id = $1 and ended_at >= (select until from usage_rollup)) s) as read,
            (select coalesce(-sum(amount), 0)::text from ledger_entry where workspace_id = $1 and kind = 'settle') as ledger`,
    [workspaceId],
  );
  if (!row) throw new Error("no totals");
  return row;
}

const sums = (): Promise<object[]> =>
  db.query(
    `select workspace_id, hour, key_id, model, workflow_id, status, calls, settled, uncollected, tokens
     from usage_hour order by 1, 2, 3, 4, 5, 6`,
  );

/** The same from the records. */
const recorded = (): Promise<object[]> =>
  db.query(
    `select workspace_id, date_trunc('hour', ended_at, 'UTC') as hour, key_id, model,
            '00000000-0000-0000-0000-000000000000'::uuid as workflow_id, status, count(*) as calls, sum(settled)::bigint as settled,
            sum(uncollected)::bigint as uncollected, sum(tokens)::bigint as tokens
     from usage_record where ended_at < (select until from usage_rollup)
     group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6`,
  );

/** Totals of keys, or the same from the records. */
const keySums = (from: "sums" | "records" = "sums"): Promise<object[]> =>
  db.query(
    from === "sums"
      ? "select workspace_id, key_id, calls, failed, settled, tokens from usage_key order by 1, 2"
      : `select workspace_id, key_id, count(*) as calls, count(*) filter (where status in ('failed', 'lost')) as failed,
           sum(settled)::bigint as settled, sum(tokens)::bigint as tokens
         from usage_record where ended_at < (select until from usage_rollup) group by 1, 2 order by 1, 2`,
  );

/** Calls that ended over the last five hours, with the odd nano-credit. */
async function past(workspaceId: string, count: number): Promise<void> {
  await spend(
    db.database,
    Array.from({ length: count }, (_, index) => ({
      workspaceId,
      nano: index % 5 === 0 ? null : CREDIT / 1_000n + BigInt(index),
      tokens: index,
      model: `model ${index % 3}`,
      at: new Date(Date.now() - HOUR_MS / 2 - ((index + 1) * 4.5 * HOUR_MS) / count),
    })),
  );
}

describe("rolling up", () => {
  test("returns the sums of the raw records, while calls are settled and two janitors run it", async () => {
    const workspaceId = await createWorkspace(db.database);
    await past(workspaceId, 60);
    const seen: Totals[] = [await totals(workspaceId)];
    const settling = { isDone: false };
    const settles = (async () => {
      for (let round = 0; round < 8; round++) {
        await spend(
          db.database,
          Array.from({ length: 5 }, () => ({ workspaceId, nano: 7n })),
        );
      }
    })();
    const reads = (async () => {
      while (!settling.isDone) seen.push(await totals(workspaceId));
    })();
    const janitors = [janitor(), janitor()].map(async (turn) => {
      while (!settling.isDone) await turn();
    });
    await settles;
    settling.isDone = true;
    await Promise.all([reads, ...janitors]);
    await rollUp();
    seen.push(await totals(workspaceId));
    for (const { read, ledger } of seen) expect(read).toBe(ledger);
    expect(await sums()).toEqual(await recorded());
    expect(await keySums()).toEqual(await keySums("records"));
    const [{ calls } = { calls: 0n }] = await db.query<{ calls: bigint }>(
      "select sum(calls)::bigint as calls from usage_hour",
    );
    expect(calls).toBe(100n);
    expect(await auditLedger(db.database)).toEqual([]);
  });

  test("changes nothing when it is interrupted, and continues from there", async () => {
    const workspaceId = await createWorkspace(db.database);
    await past(workspaceId, 10);
    const before = await totals(workspaceId);
    const border = await db.query("select * from usage_rollup");
    await raiseUsageFloor(db.database);
    const broken = db.database.transaction(async (tx) => {
      await tx.query("select roll_up_usage($1)", [STEP_MS]);
      throw new Error("the janitor dies");
    });
    expect(await broken.catch((error: unknown) => error)).toEqual(new Error("the janitor dies"));
    expect([await sums(), await db.query("select * from usage_rollup")]).toEqual([[], border]);
    expect(await totals(workspaceId)).toEqual(before);
    await rollUp();
    expect(await totals(workspaceId)).toEqual(before);
    expect(await sums()).toEqual(await recorded());
    expect(await keySums()).toEqual(await keySums("records"));
  });

  test("returns the same sums after every step", async () => {
    const workspaceId = await createWorkspace(db.database);
    await past(workspaceId, 20);
    const before = await totals(workspaceId);
    let steps = 0;
    const each: Database = {
      ...db.database,
      async query(text, values) {
        const rows = await db.database.query(text, values);
        expect(await totals(workspaceId)).toEqual(before);
        steps += 1;
        return rows as never;
      },
    };
    await rollUp(openUsageRollUp({ database: each, metrics, log }));
    expect(steps).toBeGreaterThan(20);
  });

  test("reports the delay of the sums also when it fails, its only signal", async () => {
    await rollUp();
    const behind = async (): Promise<number> => {
      const told = await metrics.registry.getSingleMetricAsString("sluice_usage_behind_seconds");
      return Number(told.trim().split(" ").at(-1));
    };
    expect(await behind()).toBeLessThan(60);
    await db.query("update usage_rollup set until = now() - interval '3 hours', next_at = now() - interval '1 hour'");
    await db.query(
      "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no room' using errcode = '53100'; end $$",
    );
    await db.query("create trigger bad before update on usage_rollup for each row execute function refuse()");
    try {
      expect(await janitor()().then(String, String)).toContain("no room");
      expect(await behind()).toBeGreaterThan(10_700);
    } finally {
      await db.query("drop trigger bad on usage_rollup");
    }
  });

  test("does nothing while another process runs it", async () => {
    await db.database.transaction(async (tx) => {
      await tx.query("select from usage_rollup for update");
      expect(await janitor()()).toBe(0);
    });
  });

  test("rejects a transaction that has written before: its border would be invalid", async () => {
    const work = db.database.transaction(async (tx) => {
      await tx.query("update usage_rollup set until = until");
      return tx.query("select roll_up_usage($1)", [STEP_MS]);
    });
    expect(await work.then(String, String)).toContain("needs a transaction of its own");
  });

  test("names the stored workflow whose run made a call", async () => {
    const workspaceId = await createWorkspace(db.database);
    const [jobId = ""] = await spend(db.database, [{ workspaceId, nano: 5n, at: new Date(Date.now() - HOUR_MS) }]);
    const { workflowId } = await makeStep(db.database, workspaceId, jobId);
    await spend(db.database, [{ workspaceId, nano: 3n, at: new Date(Date.now() - HOUR_MS) }]);
    await rollUp();
    const rows = await db.query("select workflow_id, settled from usage_hour order by settled");
    expect(rows).toEqual([
      { workflow_id: "00000000-0000-0000-0000-000000000000", settled: 3n },
      { workflow_id: workflowId, settled: 5n },
    ]);
  });
});

describe("nothing is missing from the sums", () => {
  /** A call of 700 nano-credits that is held. */
  async function held(workspaceId: string): Promise<string> {
    const jobId = newId();
    expect(await admitLone(db.database, { workspaceId, jobId, amount: 700n })).toBe(0);
    return jobId;
  }

  test("when a settlement commits long after its start: the border waits for it, and its readers with it", async () => {
    const workspaceId = await createWorkspace(db.database);
    const [late, early] = [await held(workspaceId), await held(await createWorkspace(db.database))];
    await db.database.slowTransaction(60_000, async (tx) => {
      await settleSingle(tx, { jobId: late, used: 700n });
      await settleSingle(db.database, { jobId: early, used: 700n });
      // As many turns as it takes where nothing is under way.
      for (let times = 0; times < 5; times++) await janitor()();
      expect(await sums()).toEqual([]);
    });
    expect(await totals(workspaceId)).toEqual({ read: "700", ledger: "700" });
    await rollUp();
    expect(await totals(workspaceId)).toEqual({ read: "700", ledger: "700" });
    expect(await sums()).toEqual(await recorded());
    expect(await auditLedger(db.database)).toEqual([]);
  });

  test("when the clock is set back by an hour: the sums continue from their position", async () => {
    const workspaceId = await createWorkspace(db.database);
    // As it is where the clock ran an hour ahead until now.
    await db.query(
      "select setval('usage_floor', (extract(epoch from clock_timestamp() + interval '1 hour') * 1e6)::bigint)",
    );
    for (let round = 1; round <= 3; round++) {
      expect(await settleSingle(db.database, { jobId: await held(workspaceId), used: 700n })).toBe(700n);
      await rollUp();
      await janitor()();
      expect(await totals(workspaceId)).toEqual({ read: String(round * 700), ledger: String(round * 700) });
    }
    const [{ calls } = { calls: 0n }] = await db.query<{ calls: bigint }>(
      "select sum(calls)::bigint as calls from usage_hour",
    );
    expect(calls).toBe(3n);
    expect(await sums()).toEqual(await recorded());
    expect(await auditLedger(db.database)).toEqual([]);
  });

  test("when the database was restored on a server with lower transaction numbers", async () => {
    const workspaceId = await createWorkspace(db.database);
    await past(workspaceId, 5);
    await db.query("update usage_rollup set next_xid = '9000000000000000000'");
    await rollUp();
    expect(await sums()).toEqual(await recorded());
  });

  test("and missing or duplicate records are found by the audit", async () => {
    const workspaceId = await createWorkspace(db.database);
    await past(workspaceId, 5);
    await rollUp();
    expect(await auditLedger(db.database)).toEqual([]);
    const fault = "sums of an hour are not those of its usage records";
    await db.query("update usage_hour set settled = settled + 1 where settled = (select max(settled) from usage_hour)");
    const ofDay = "sums of a day are not those of its hours";
    expect(await auditLedger(db.database)).toMatchObject([
      { workspace_id: workspaceId, fault },
      { workspace_id: workspaceId, fault: ofDay },
    ]);
    // The hourly audit tells it in a metric, again and again, until it is mended.
    for (let times = 0; times < 3; times++) {
      await checkInvariants({ database: db.database, log, metrics });
      expect(await metrics.registry.getSingleMetricAsString("sluice_ledger_faults")).toContain("} 2");
    }
    for (const [part, table] of [
      ["model", "usage_model_by_day"],
      ["key", "usage_key_by_day"],
    ]) {
      await db.query(`update ${table} set calls = calls + 1`);
      const faults = (await auditLedger(db.database)).map((found) => found.fault);
      expect(faults).toContain(`sums of a day by ${part} are not those of the day`);
      await db.query(`update ${table} set calls = calls - 1`);
    }
    await db.query("truncate usage_hour, usage_by_day, usage_model_by_day, usage_key_by_day, usage_day, usage_key");
    expect((await auditLedger(db.database)).map((found) => found.fault)).toContain(fault);
    // As in schemas/docs/operate/usage-and-budgets.md.
    await db.query(
      `update usage_rollup set until = first.at, next_at = first.at from (
         select greatest(min(ended_at), (select archived_until from ledger_border)) as at from usage_record) first`,
    );
    await rollUp();
    expect(await auditLedger(db.database)).toEqual([]);
    await checkInvariants({ database: db.database, log, metrics });
    expect(await metrics.registry.getSingleMetricAsString("sluice_ledger_faults")).toContain("} 0");
  });

  test("of many hours since the last audit each step compares one, and closes it if it is exact", async () => {
    const workspaceId = await createWorkspace(db.database);
    await past(workspaceId, 5);
    await rollUp();
    const step = (): Promise<object[]> => db.database.transaction((tx) => auditNewEntries(tx));
    do expect(await step()).toEqual([]);
    while ((await db.query("select 1 from ledger_border where entry_id > 0")).length === 0);
    await db.query("update ledger_border set usage_until = now() - interval '6 hours'");
    await db.query("update usage_hour set settled = settled + 1 where hour = (select max(hour) from usage_hour)");
    const place = async (): Promise<number> =>
      (await db.query<{ at: Date }>("select usage_until as at from ledger_border"))[0]?.at.getTime() ?? 0;
    const places = [await place()];
    while ((await step()).length === 0) places.push(await place());
    expect(places.length).toBeGreaterThan(4);
    for (const [at, now] of places.slice(1).entries()) expect(now - (places[at] ?? 0)).toBeLessThanOrEqual(HOUR_MS);
    expect(await auditInSteps(db.database)).toHaveLength(1);
    await db.query("update usage_hour set settled = settled - 1 where hour = (select max(hour) from usage_hour)");
    expect(await auditInSteps(db.database)).toEqual([]);
    const [{ isDone } = { isDone: false }] = await db.query<{ isDone: boolean }>(
      'select usage_until = until as "isDone" from ledger_border cross join usage_rollup',
    );
    expect(isDone).toBe(true);
  });

  test("tokens of a day are summed with them, and compared with the counters of the cap", async () => {
    const workspaceId = await createWorkspace(db.database);
    await past(workspaceId, 5);
    await spend(
      db.database,
      [3, 4].map((tokens) => ({ workspaceId, nano: 1n, tokens })),
    );
    await rollUp();
    const day =
      "select tokens, day = (now() at time zone 'utc')::date as is_today from usage_day where workspace_id = $1";
    const [{ tokens } = { tokens: 0n }] = await db.query<{ tokens: bigint }>(day, [workspaceId]);
    expect(await db.query("select day_tokens as tokens from balance where workspace_id = $1", [workspaceId])).toEqual([
      { tokens },
    ]);
    // Calls after the border of the sums count beside them.
    await spend(db.database, [{ workspaceId, nano: 1n, tokens: 5 }]);
    const hourly = (): Promise<object[]> => db.database.transaction((tx) => auditNewEntries(tx));
    const isClosed = "select 1 from ledger_border where entry_id > 0";
    do expect(await hourly()).toEqual([]);
    while ((await db.query(isClosed)).length === 0);
    await rollUp();
    expect(await hourly()).toEqual([]);
    expect(await db.query(day, [workspaceId])).toEqual([{ tokens: tokens + 5n, is_today: true }]);
    // A call of the day before that ended late changes nothing, and the first of the next day begins anew.
    await spend(db.database, [{ workspaceId, nano: 1n, tokens: 9 }]);
    await db.query("update usage_record set day = day - 1 where tokens = 9");
    await db.query("update balance set day_tokens = day_tokens - 9");
    await rollUp();
    expect(await db.query(day, [workspaceId])).toEqual([{ tokens: tokens + 5n, is_today: true }]);
    expect(await auditLedger(db.database)).toEqual([]);
    await spend(db.database, [{ workspaceId, nano: 1n, tokens: 11 }]);
    await db.query("update usage_record set day = day + 1 where tokens = 11");
    await db.query("update balance set day = day + 1, day_tokens = 11");
    await rollUp();
    expect(await db.query(day, [workspaceId])).toEqual([{ tokens: 11n, is_today: false }]);
    expect(await hourly()).toEqual([]);
    expect(await auditLedger(db.database)).toEqual([]);
    // Either of the two that was changed is told of.
    await db.query("update usage_day set tokens = tokens + 1");
    expect(await hourly()).toMatchObject([
      { fault: "daily tokens are not the sum of the day's calls", expected: "12", found: "11" },
    ]);
    expect(await auditLedger(db.database)).toMatchObject([
      { fault: "sum of a day's tokens is not that of its usage records" },
    ]);
  });

  test("of hours that an audit found exact only later ones are read again by the hourly one", async () => {
    const workspaceId = await createWorkspace(db.database);
    await past(workspaceId, 5);
    await rollUp();
    const hourly = (): Promise<object[]> => db.database.transaction((tx) => auditNewEntries(tx));
    const isClosed = "select 1 from ledger_border where entry_id > 0 and usage_until > now() - interval '1 hour'";
    do expect(await hourly()).toEqual([]);
    while ((await db.query(isClosed)).length === 0);
    await db.query("update usage_hour set settled = settled + 1 where hour = (select min(hour) from usage_hour)");
    expect(await hourly()).toEqual([]);
    expect(await auditLedger(db.database)).toHaveLength(2);
    await spend(db.database, [{ workspaceId, nano: 7n }]);
    await rollUp();
    await db.query("update usage_hour set settled = settled + 1 where hour = (select max(hour) from usage_hour)");
    expect(await hourly()).toHaveLength(1);
  });
});

describe("a slow step", () => {
  test("is halved until it fits, the shortest with its own time, and lengthened again", async () => {
    const workspaceId = await createWorkspace(db.database);
    await past(workspaceId, 30);
    const before = await totals(workspaceId);
    // The roll-up of a call takes 100 ms, and statements of this pool may take 50 ms. An empty roll-up takes up to 20 ms on a busy machine.
    await db.query(
      `create function slow_hour() returns trigger language plpgsql as $$ begin perform pg_sleep(0.1 * new.calls); return new; end $$`,
    );
    await db.query("create trigger slow_hour before insert on usage_hour for each row execute function slow_hour()");
    const asked: number[] = [];
    const hurried: Database = {
      ...db.database,
      query: (text, values) => {
        if (text.includes("roll_up_usage")) asked.push(Number(values?.[0]));
        return db.database.transaction(async (tx) => {
          await tx.query("select set_config('statement_timeout', $1, true)", [
            text.includes("roll_up_usage") ? "50" : "0",
          ]);
          return tx.query(text, values);
        });
      },
      slowTransaction: (limitMs, work) => {
        asked.push(limitMs);
        return db.database.slowTransaction(limitMs, work);
      },
    };
    try {
      await openUsageRollUp({ database: hurried, metrics, log })();
      expect(asked.join()).toContain([600_000, 300_000, 150_000, 75_000, 62_000].join());
      // Up and down again with each record, each time from the shortest.
      expect(asked.filter((limitMs) => limitMs === 62_000).length).toBeGreaterThan(10);
      expect(await totals(workspaceId)).toEqual(before);
    } finally {
      await db.query("drop function slow_hour() cascade");
    }
    await rollUp();
    expect(await sums()).toEqual(await recorded());
    expect(await usageBehindSeconds(db.database)).toBeLessThan(3_600);
  });

  test("is skipped for this turn if the shortest has not enough time", async () => {
    await past(await createWorkspace(db.database), 30);
    const refused = Object.assign(new Error("canceling statement due to statement timeout"), { code: "57014" });
    const late: Database = { ...db.database, slowTransaction: () => Promise.reject(refused) };
    late.query = (text, values) => (text.includes("roll_up_usage") ? Promise.reject(refused) : db.query(text, values));
    const turn = openUsageRollUp({ database: late, metrics, log });
    expect(await turn().catch((error: unknown) => error)).toBe(refused);
    expect(await sums()).toEqual([]);
  });
});
