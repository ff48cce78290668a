/** Old usage is moved out of the tables: no nano-credit moves, no key is free again, and audits prove both. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";

import { OPERATOR } from "#shared/database/audit-log.ts";
import { raiseUsageFloor, rollUpStep } from "#shared/database/usage-sums.ts";
import { dropEndedJobs } from "#shared/database/job-sweeps.ts";
import { jobIdOf, newId } from "#shared/base/ids.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import { archiveUsage } from "#shared/ledger/archive.ts";
import { auditLedger, auditNewEntries } from "#shared/ledger/audit.ts";
import { openLedger } from "#shared/ledger/settle.ts";
import { createLogger } from "#shared/base/logger.ts";
import { admitLone, balanceOf, createWorkspace, settleGroup, settleSingle } from "#tests/shared/accounts.ts";
import { jobRequest } from "#tests/shared/jobs/jobs.ts";
import { rollUpAll, spend } from "#tests/shared/usage-records.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const HOUR_MS = 3_600_000;
const LONG_AGO = new Date(Math.floor(Date.now() / HOUR_MS - 1_000 * 24) * HOUR_MS);
const log = createLogger({ level: "silent", role: "test" });
let db: TestDatabase;
let workspaceId: string;
let kept: Record<string, unknown>[];

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  await db.query(
    "truncate workspace, member, hold, ledger_entry, usage_record, usage_part, usage_hour, usage_by_day, usage_model_by_day, usage_key_by_day, usage_day, usage_key, archived_attempt, job cascade",
  );
  await db.query(
    `update ledger_border set entry_id = 0, next_id = 0, next_xid = '0', usage_until = '-infinity', archived_until = '-infinity'`,
  );
  await db.query("update usage_rollup set until = $1, next_at = $1, next_xid = '0'", [
    new Date(LONG_AGO.getTime() - 24 * HOUR_MS),
  ]);
  kept = [];
  workspaceId = await createWorkspace(db.database, 10_000n);
});
afterEach(async () => {
  expect(await auditLedger(db.database)).toEqual([]);
});

/** Calls that ended long ago, their settles too. */
async function past(count: number, workspace = workspaceId): Promise<string[]> {
  const ids = await spend(
    db.database,
    Array.from({ length: count }, (_, at) => ({
      workspaceId: workspace,
      nano: BigInt(at + 1),
      at: new Date(LONG_AGO.getTime() + at * 1_000),
    })),
  );
  await db.query("update ledger_entry e set at = u.ended_at from usage_record u where u.job_id = e.source_id");
  return ids;
}

/** Sums and audits until everything up to now is closed. */
async function close(): Promise<void> {
  const step = async (): Promise<void> => {
    await raiseUsageFloor(db.database);
    await rollUpStep(db.database, 2_000 * 24 * HOUR_MS);
  };
  await rollUpAll(db.database, step);
  const isOpen =
    "select 1 from ledger_border where entry_id < (select max(id) from ledger_entry) or usage_until < (select until from usage_rollup)";
  do expect(await db.database.transaction((tx) => auditNewEntries(tx))).toEqual([]);
  while ((await db.query(isOpen)).length > 0);
}

/** The border of the sums at the last exact audit. */
async function summedUntil(): Promise<number> {
  const [row] = await db.query<{ at: Date }>("select usage_until as at from ledger_border");
  return row?.at.getTime() ?? 0;
}

const archive = (before = new Date(LONG_AGO.getTime() + 2 * HOUR_MS)): ReturnType<typeof archiveUsage> =>
  archiveUsage(db.database, {
    before,
    name: "a file",
    actor: OPERATOR,
    keep: async (lines) => void kept.push(...lines.map((line) => JSON.parse(line) as Record<string, unknown>)),
  });

test("usage and its settlements leave the tables, complete; the balance stays, and both audits prove it", async () => {
  const ids = await past(20);
  await db.query(
    "insert into usage_part select workspace_id, job_id, attempt, 1, 'm', 'v/m', '{}', false, 3, 'failed' from usage_record where job_id = $1",
    [ids[4] ?? ""],
  );
  await db.query(
    "insert into usage_failure select workspace_id, job_id, attempt, 'upstream_error', '[]', 'sealed' from usage_record where job_id = $1",
    [ids[4] ?? ""],
  );
  const [young = ""] = await spend(db.database, [{ workspaceId, nano: 700n }]);
  await close();
  const before = await balanceOf(db.database, workspaceId);
  expect(await archive()).toMatchObject({ records: 20 });
  expect(await balanceOf(db.database, workspaceId)).toEqual(before);
  expect(await db.query("select job_id from usage_record")).toEqual([{ job_id: young }]);
  expect(await db.query("select kind from ledger_entry order by id")).toEqual([{ kind: "top_up" }, { kind: "settle" }]);
  expect(await db.query("select 1 from usage_part")).toEqual([]);
  expect(await db.query("select 1 from usage_failure")).toEqual([]);
  expect(kept.map((line) => line["job_id"])).toEqual(ids);
  expect(kept[4]).toMatchObject({
    workspace_id: workspaceId,
    attempt: 1,
    settled: "5",
    held: "5",
    entry: { amount: "-5" },
    parts: [{ part: 1, amount: "3" }],
    failure: { code: "upstream_error", attempts: [] },
  });
  expect(await db.query("select amount from ledger_archive")).toEqual([{ amount: -210n }]);
  // Sums by hour are what people read of it from then on.
  expect(await db.query("select sum(settled)::bigint as settled from usage_hour")).toEqual([{ settled: 910n }]);
  expect(await db.query("select action, subject from audit_log")).toEqual([
    { action: "usage.archive", subject: "a file" },
  ]);
  await close();
  await spend(db.database, [{ workspaceId, nano: 1n }]);
  await close();
  expect(await archive()).toMatchObject({ records: 0 });
});

test("an archive or a sum that was changed is found by the full audit", async () => {
  await past(3);
  await close();
  await archive();
  const faults = async (): Promise<string[]> => (await auditLedger(db.database)).map(({ fault }) => fault);
  await db.query("update ledger_archive set amount = amount + 1");
  expect(await faults()).toEqual([
    "balance is not the sum of ledger entries",
    "spent is not the sum of settles",
    "checkpoint is not the sum of its entries",
    "archive is not what its hours came to",
  ]);
  await db.query("update ledger_archive set amount = amount - 1");
  await db.query("update usage_hour set settled = settled + 1");
  expect(await faults()).toEqual(["archive is not what its hours came to", "sums of a day are not those of its hours"]);
  await db.query("update usage_hour set settled = settled - 1");
});

test("only data closed by the hourly audit are moved", async () => {
  await past(3);
  expect(await archive()).toEqual({ records: 0, until: null });
  await close();
  // Settles that took very long to commit: their sums are there, their entries are behind the border.
  const late = await past(2);
  await db.query("update usage_hour set settled = settled + 3");
  for (const table of ["usage_by_day", "usage_model_by_day", "usage_key_by_day"]) {
    await db.query(`update ${table} set settled = settled + 3`);
  }
  expect(await archive()).toMatchObject({ records: 3 });
  expect(await db.query("select job_id from usage_record order by settled")).toEqual(
    late.map((id) => ({ job_id: id })),
  );
  const { until } = await archive(new Date(Date.now() + 24 * HOUR_MS));
  expect(until?.getTime()).toBe(Math.floor((await summedUntil()) / HOUR_MS) * HOUR_MS);
});

test("data that cannot be archived stay, and are moved by the next run", async () => {
  await past(3);
  await close();
  const refused = archiveUsage(db.database, {
    before: new Date(LONG_AGO.getTime() + HOUR_MS * 2),
    name: "full",
    actor: OPERATOR,
    keep: () => Promise.reject(new Error("the disk is full")),
  });
  expect(await refused.catch((error: Error) => error.message)).toBe("the disk is full");
  expect(await db.query("select 1 from usage_record")).toHaveLength(3);
  expect(await auditLedger(db.database)).toEqual([]);
  expect(await archive()).toMatchObject({ records: 3 });
});

test("keys stay taken: a repeated settlement or top-up moves nothing, and a repeated name is the next attempt", async () => {
  const [first = ""] = await past(2);
  const topUp = newId();
  await db.query("select move_credits($1, 'top_up', 50, $2, null)", [workspaceId, topUp]);
  const id = jobIdOf(workspaceId, "key:mine");
  const door = createJobAdmission({ database: db.database });
  const admitted = (attempt: number) => ({ kind: "admitted", attempt });
  for (const attempt of [1, 2]) {
    expect(await door.admit(jobRequest({ workspaceId, id, amount: 100n }))).toMatchObject(admitted(attempt));
    expect(await settleSingle(db.database, { jobId: id, attempt, used: 40n })).toBe(40n);
    await db.query("update job set state = 'completed', ended_at = now() - interval '1 hour'");
    await dropEndedJobs(db.database, 0, 10);
  }
  await db.query("update usage_record set ended_at = $2, day = $2::timestamptz::date where job_id = $1", [
    id,
    LONG_AGO,
  ]);
  await db.query("update balance set day_tokens = 0");
  await close();
  expect(await archive()).toMatchObject({ records: 4 });
  const before = await balanceOf(db.database, workspaceId);
  expect(await settleSingle(db.database, { jobId: first, used: 1n })).toBeNull();
  const ledger = openLedger({ database: db.database, log, retryMs: 1_000 });
  const settlement = { workspaceId, jobId: first, attempt: 1, usedNano: 900n, status: "succeeded", source: null, units: {}, isEstimated: false, tokens: 0, isDelivered: true } as const; // prettier-ignore
  expect(await ledger.settle(settlement)).toMatchObject({ takenNano: 0n, wasClosed: true });
  expect(await db.query("select move_credits($1, 'top_up', 50, $2, null) as moved", [workspaceId, topUp])).toEqual([
    { moved: false },
  ]);
  expect(await balanceOf(db.database, workspaceId)).toEqual(before);
  expect(await door.admit(jobRequest({ workspaceId, id, amount: 100n }))).toMatchObject(admitted(3));
  expect(await settleSingle(db.database, { jobId: id, attempt: 3, used: 40n })).toBe(40n);
});

test("concurrent calls, repeated settlements, audits and archives store each record once", async () => {
  const others = [workspaceId, await createWorkspace(db.database, 10_000n)];
  const ids = (await Promise.all(others.map((other) => past(60, other)))).flat();
  await close();
  const call = async (): Promise<void> => {
    const [workspace = ""] = others.toSorted(() => Math.random() - 0.5);
    const jobId = newId();
    expect(await admitLone(db.database, { workspaceId: workspace, jobId, amount: 5n })).toBe(0);
    const used = await Promise.all(
      [1, 2].map(() => settleGroup(db.database, [{ jobId, used: 4n }], { waitMs: 10_000 })),
    );
    expect(used.flat().filter((taken) => taken === 4n)).toHaveLength(1);
  };
  const calls = Promise.all(Array.from({ length: 30 }, call));
  const archives = Promise.all([archive(), archive(), archive()]);
  const audits = Promise.all(Array.from({ length: 5 }, () => db.database.transaction((tx) => auditNewEntries(tx))));
  await calls;
  expect((await archives).reduce((sum, { records }) => sum + records, 0)).toBe(120);
  expect((await audits).flat()).toEqual([]);
  expect(kept.map((line) => String(line["job_id"])).toSorted()).toEqual(ids.toSorted());
  expect(await db.query("select 1 from usage_record")).toHaveLength(30);
});
