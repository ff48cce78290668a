/** The audit must find what it is there for: one seeded fault of each kind. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { admitLone, createWorkspace, settleSingle } from "../accounts.ts";

let db: TestDatabase;
let workspaceId: string;
let settled: string;
let open: string;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

beforeEach(async () => {
  await db.query(
    "truncate workspace, member, api_key, audit_log, balance, hold, ledger_entry, usage_record, rate_window cascade",
  );
  workspaceId = await createWorkspace(db.database, 1_000n);
  [settled, open] = [newId(), newId()];
  for (const jobId of [settled, open, newId()]) {
    expect(await admitLone(db.database, { workspaceId, jobId, amount: 100n, tokens: 9, cap: 100 })).toBe(0);
    if (jobId === settled) await settleSingle(db.database, { jobId, used: 60n, tokens: 5 });
    else if (jobId !== open) await settleSingle(db.database, { jobId, tokens: 0 });
  }
  expect(await auditLedger(db.database)).toEqual([]);
});

const SEEDED: readonly [fault: string, sql: string, expected: string, found: string][] = [
  ["balance is not the sum of ledger entries", "update balance set amount = amount + 1", "940", "941"],
  ["spent is not the sum of settles", "update balance set spent = spent - 1", "60", "59"],
  ["held is not the sum of open holds and credit lines", "update balance set held = held + 7", "100", "107"],
  ["usage record without its settle", "update usage_record set settled = 61 where settled = 60", "61", "60"],
  ["daily tokens are not the sum of the day's calls", "update balance set day_tokens = day_tokens - 1", "14", "13"],
];

test.each(SEEDED)("finds: %s", async (fault, sql, expected, found) => {
  await db.query(sql);
  expect(await auditLedger(db.database)).toEqual([{ workspace_id: workspaceId, fault, expected, found }]);
});

test("finds settlements on a credit line that has ended", async () => {
  const lineId = newId();
  const row = "(line_id, workspace_id, drawn, used, moved, day, tokens) values ($1, $2, 0, 0, 0, current_date, 0)";
  await db.query(`insert into line_settle ${row}`, [lineId, workspaceId]);
  const fault = "settles on a credit line that has ended";
  expect(await auditLedger(db.database)).toEqual([{ workspace_id: workspaceId, fault, expected: "-", found: lineId }]);
  await db.query("delete from line_settle where line_id = $1", [lineId]);
});

test("finds a deleted settlement, in the balance, in the spent credits and in the usage", async () => {
  await db.query("delete from ledger_entry where kind = 'settle'");
  expect((await auditLedger(db.database)).map((row) => row.fault).toSorted()).toEqual([
    "balance is not the sum of ledger entries",
    "spent is not the sum of settles",
    "usage record without its settle",
  ]);
});

test("finds a settlement without a usage record", async () => {
  await db.query("delete from usage_record where job_id = $1", [settled]);
  expect(await auditLedger(db.database)).toContainEqual({
    workspace_id: workspaceId,
    fault: "settle without a usage record",
    expected: "-",
    found: settled,
  });
});

test("finds a hold that was closed and is still open", async () => {
  await db.query("update hold set job_id = $1 where job_id = $2", [settled, open]);
  expect(await auditLedger(db.database)).toContainEqual({
    workspace_id: workspaceId,
    fault: "hold open and closed at once",
    expected: "-",
    found: settled,
  });
});

test("finds a balance with more holds than credits", async () => {
  await db.query("alter table balance drop constraint funds");
  await db.query("update balance set held = 5000");
  await db.query("update hold set amount = 5000");
  expect(await auditLedger(db.database)).toEqual([
    { workspace_id: workspaceId, fault: "available balance is negative", expected: "0", found: "-4060" },
  ]);
  await db.query("update balance set held = 0");
  await db.query("alter table balance add constraint funds check (amount >= held)");
});
