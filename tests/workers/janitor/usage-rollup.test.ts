/** Hourly sums of usage: the same totals at any moment, whoever rolls up and whatever breaks off. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";

import type { Queryable } from "#shared/database/client.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createWorkspace, CREDIT } from "#tests/shared/accounts.ts";
import { makeStep, spend } from "#tests/shared/usage-records.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { rollUpUsage } from "#workers/janitor/usage-rollup.ts";

const HOUR_MS = 3_600_000;
/** Records older than this are rolled up; the settles that go on meanwhile are younger. */
const LAG_MS = HOUR_MS / 2;

let db: TestDatabase;
const metrics = createMetrics("test");

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  metrics.close();
  await db.drop();
});
beforeEach(async () => {
  await db.query("truncate usage_hour, usage_record");
  await db.query("update usage_rollup set until = now() - interval '6 hours'");
});

interface Totals {
  readonly read: string;
  readonly ledger: string;
}

/** What readers see and what the ledger took, in one snapshot. */
async function totals(workspaceId: string): Promise<Totals> {
  const [row] = await db.query<Totals>(
    `select (select coalesce(sum(nano), 0)::text from spent_by_hour($1, '-infinity')) as read,
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

/** Calls that ended over the last five hours, with the odd nano-credit. */
async function past(workspaceId: string, count: number): Promise<void> {
  await spend(
    db.database,
    Array.from({ length: count }, (_, index) => ({
      workspaceId,
      nano: index % 5 === 0 ? null : CREDIT / 1_000n + BigInt(index),
      tokens: index,
      model: `model ${index % 3}`,
      at: new Date(Date.now() - LAG_MS - ((index + 1) * 4.5 * HOUR_MS) / count),
    })),
  );
}

describe("rolling up", () => {
  test("gives the sums of the raw records, while calls are settled and two janitors are at it", async () => {
    const workspaceId = await createWorkspace(db.database);
    await past(workspaceId, 60);
    const seen: Totals[] = [await totals(workspaceId)];
    const settling = { isDone: false };
    const settles = spend(
      db.database,
      Array.from({ length: 40 }, () => ({ workspaceId, nano: 7n })),
    );
    const reads = (async () => {
      while (!settling.isDone) seen.push(await totals(workspaceId));
    })();
    const janitor = (): Promise<number> => rollUpUsage({ database: db.database, metrics }, LAG_MS);
    const steps = await Promise.all([janitor(), janitor()]);
    await settles;
    settling.isDone = true;
    await reads;
    seen.push(await totals(workspaceId));
    expect(steps[0] + steps[1]).toBeGreaterThan(20);
    for (const { read, ledger } of seen) expect(read).toBe(ledger);
    expect(await sums()).toEqual(await recorded());
    const [{ calls } = { calls: 0n }] = await db.query<{ calls: bigint }>(
      "select sum(calls)::bigint as calls from usage_hour",
    );
    expect(calls).toBe(60n);
  });

  test("changes nothing when it breaks off before its end, and goes on from there", async () => {
    const workspaceId = await createWorkspace(db.database);
    await past(workspaceId, 10);
    const before = await totals(workspaceId);
    const until = await db.query("select until from usage_rollup");
    const broken = db.database.transaction(async (tx) => {
      await rollUpUsage({ database: tx, metrics }, LAG_MS);
      throw new Error("the janitor dies");
    });
    expect(await broken.catch((error: unknown) => error)).toEqual(new Error("the janitor dies"));
    expect([await sums(), await db.query("select until from usage_rollup")]).toEqual([[], until]);
    expect(await totals(workspaceId)).toEqual(before);
    await rollUpUsage({ database: db.database, metrics }, LAG_MS);
    expect(await totals(workspaceId)).toEqual(before);
    expect(await sums()).toEqual(await recorded());
  });

  test("tells the same after every step", async () => {
    const workspaceId = await createWorkspace(db.database);
    await past(workspaceId, 20);
    const before = await totals(workspaceId);
    const each: Queryable = {
      query: async (text, values) => {
        const rows = await db.database.query(text, values);
        expect(await totals(workspaceId)).toEqual(before);
        return rows as never;
      },
    };
    expect(await rollUpUsage({ database: each, metrics }, LAG_MS)).toBeGreaterThan(20);
  });

  test("leaves alone what may still be on its way, and counts nothing twice", async () => {
    const workspaceId = await createWorkspace(db.database);
    await spend(db.database, [{ workspaceId, nano: 5n }]);
    for (let time = 0; time < 3; time++) await rollUpUsage({ database: db.database, metrics }, LAG_MS);
    expect(await sums()).toEqual([]);
    expect((await totals(workspaceId)).read).toBe("5");
  });

  test("does nothing while another process is at it", async () => {
    await db.database.transaction(async (tx) => {
      await tx.query("select from usage_rollup for update");
      expect(await rollUpUsage({ database: db.database, metrics }, LAG_MS)).toBe(0);
    });
  });

  test("names the stored workflow whose run made a call", async () => {
    const workspaceId = await createWorkspace(db.database);
    const [jobId = ""] = await spend(db.database, [{ workspaceId, nano: 5n, at: new Date(Date.now() - HOUR_MS) }]);
    const { workflowId } = await makeStep(db.database, workspaceId, jobId);
    await spend(db.database, [{ workspaceId, nano: 3n, at: new Date(Date.now() - HOUR_MS) }]);
    await rollUpUsage({ database: db.database, metrics }, LAG_MS);
    const rows = await db.query("select workflow_id, settled from usage_hour order by settled");
    expect(rows).toEqual([
      { workflow_id: "00000000-0000-0000-0000-000000000000", settled: 3n },
      { workflow_id: workflowId, settled: 5n },
    ]);
  });
});
