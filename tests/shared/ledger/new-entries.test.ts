/** The audit of what is new: exact for every workspace at any moment, blind for closed periods, which the full audit checks. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import { auditInSteps, auditLedger, auditNewEntries, type LedgerFault } from "#shared/ledger/audit.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { admitLone, createWorkspace, settleSingle } from "../accounts.ts";

let db: TestDatabase;
let workspaceId: string;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

beforeEach(async () => {
  await db.query("truncate workspace, member, hold, ledger_entry, usage_record cascade");
  await db.query("update ledger_border set entry_id = 0, next_id = 0, next_xid = '0', usage_until = '-infinity'");
  workspaceId = await createWorkspace(db.database, 1_000n);
  await pay(60n);
});

/** One settled call. */
async function pay(used: bigint): Promise<void> {
  const jobId = newId();
  expect(await admitLone(db.database, { workspaceId, jobId, amount: used, tokens: 9, cap: 1_000 })).toBe(0);
  expect(await settleSingle(db.database, { jobId, used, tokens: 5 })).toBe(used);
}

const audit = (): Promise<LedgerFault[]> => db.database.transaction((tx) => auditNewEntries(tx));

/**
 * Audits until every entry there is lies in a closed period. One audit marks its end and a later one closes it, as soon as no
 * older transaction runs on the whole server, which other tests use too.
 */
async function close(): Promise<void> {
  const closed = `select 1 from ledger_border where entry_id >= (select coalesce(max(id), 0) from ledger_entry)`;
  do expect(await audit()).toEqual([]);
  while ((await db.query(closed)).length === 0);
}

async function checkpoint(): Promise<bigint | undefined> {
  const rows = await db.query<{ amount: bigint }>("select amount from ledger_checkpoint where workspace_id = $1", [
    workspaceId,
  ]);
  return rows[0]?.amount;
}

test("a closed period is summed once, and later entries are added", async () => {
  await close();
  expect(await checkpoint()).toBe(940n);
  await pay(100n);
  expect(await audit()).toEqual([]);
  expect(await checkpoint()).toBe(940n);
  await close();
  expect(await checkpoint()).toBe(840n);
  expect(await auditLedger(db.database)).toEqual([]);
});

test("entries of a closed period are not read again, and may be deleted", async () => {
  await close();
  await db.query("delete from ledger_entry");
  await db.query("delete from usage_record");
  await db.query("update balance set day_tokens = 0");
  await pay(100n);
  await close();
  expect(await checkpoint()).toBe(840n);
});

test("an old entry that was changed is found by the full audit", async () => {
  await close();
  await db.query("update ledger_entry set amount = amount + 5 where kind = 'top_up'");
  expect(await audit()).toEqual([]);
  expect(await auditLedger(db.database)).toEqual([
    { workspace_id: workspaceId, fault: "balance is not the sum of ledger entries", expected: "945", found: "940" },
    {
      workspace_id: workspaceId,
      fault: "checkpoint is not the sum of its entries",
      expected: "945, 60 spent",
      found: "940, 60 spent",
    },
  ]);
});

test("an old entry and its balance changed alike are found by the full audit, and so is a changed checkpoint", async () => {
  await close();
  await db.query("update ledger_entry set amount = amount + 5 where kind = 'top_up'");
  await db.query("update balance set amount = amount + 5");
  const differs = (expected: string, found: string): LedgerFault => {
    return { workspace_id: workspaceId, fault: "checkpoint is not the sum of its entries", expected, found };
  };
  expect(await auditLedger(db.database)).toEqual([differs("945, 60 spent", "940, 60 spent")]);
  await db.query("delete from ledger_checkpoint");
  expect(await auditLedger(db.database)).toEqual([differs("945, 60 spent", "0, 0 spent")]);
});

const SEEDED: readonly [fault: string, sql: string, expected: string, found: string][] = [
  ["balance is not the sum of ledger entries", "update balance set amount = amount + 1", "840", "841"],
  ["spent is not the sum of settles", "update balance set spent = spent + 1", "160", "161"],
  ["held is not the sum of open holds and credit lines", "update balance set held = held + 7", "0", "7"],
  ["usage record without its settle", "update usage_record set settled = 101 where settled = 100", "101", "100"],
  ["daily tokens are not the sum of the day's calls", "update balance set day_tokens = day_tokens - 1", "10", "9"],
];

test.each(SEEDED)("finds after a closed period, until it is fixed: %s", async (fault, sql, expected, found) => {
  await close();
  await pay(100n);
  await db.query(sql);
  for (let times = 0; times < 3; times++) {
    expect(await audit()).toEqual([{ workspace_id: workspaceId, fault, expected, found }]);
  }
  expect(await checkpoint()).toBe(940n);
});

test("finds a new settlement without a usage record", async () => {
  await close();
  await pay(100n);
  await db.query("delete from usage_record where settled = 100");
  expect((await audit()).map((row) => row.fault)).toContain("settle without a usage record");
});

test("a transaction that commits after the border was set is in no closed period, and not lost", async () => {
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
  const { promise: hasWritten, resolve: written } = Promise.withResolvers<void>();
  const late = db.database.transaction(async (tx) => {
    await tx.query("select move_credits($1, 'top_up', 500, $2, null)", [workspaceId, newId()]);
    written();
    await mayCommit;
  });
  await hasWritten;
  const other = await createWorkspace(db.database, 7n);
  // Ids of `other` are above the open one's; no audit may draw its border behind that.
  for (let times = 0; times < 3; times++) expect(await audit()).toEqual([]);
  expect(await checkpoint()).toBeUndefined();
  commit();
  await late;
  await close();
  expect(await checkpoint()).toBe(1_440n);
  const rows = await db.query<{ amount: bigint }>("select amount from ledger_checkpoint where workspace_id = $1", [
    other,
  ]);
  expect(rows).toEqual([{ amount: 7n }]);
  expect(await auditLedger(db.database)).toEqual([]);
});

test("concurrent audits close each period once, while calls continue", async () => {
  for (let round = 0; round < 5; round++) {
    await Promise.all([audit(), pay(1n), audit(), pay(2n), audit()]).then((all) =>
      expect(all.flat().filter(Boolean)).toEqual([]),
    );
  }
  await close();
  expect(await checkpoint()).toBe(925n);
  expect(await auditLedger(db.database)).toEqual([]);
});

/** The next places of the border behind `start`, as audits of so many entries go on. */
async function bordersOf(start: bigint, steps: number, entriesMax: number): Promise<bigint[]> {
  const borders = [start];
  while (borders.length <= steps) {
    expect(await db.database.transaction((tx) => auditNewEntries(tx, entriesMax))).toEqual([]);
    const [row] = await db.query<{ id: bigint }>("select entry_id as id from ledger_border");
    if (row !== undefined && row.id !== borders.at(-1)) borders.push(row.id);
  }
  return borders.slice(1);
}

test("a long period is closed in steps, each of which sums its own entries, and the last compares the balances", async () => {
  await close();
  for (let call = 0; call < 10; call++) await pay(10n);
  const [first] = await db.query<{ id: bigint }>("select entry_id as id from ledger_border");
  const start = first?.id ?? 0n;
  expect(await bordersOf(start, 4, 3)).toEqual([3n, 6n, 9n, 10n].map((more) => start + more));
  expect(await checkpoint()).toBe(840n);
  expect(await auditLedger(db.database)).toEqual([]);
});

test("steps continue until balances are compared: a different balance is reported, after any number of entries", async () => {
  await close();
  for (let call = 0; call < 10; call++) await pay(10n);
  // Transactions of other tests are open now and then: they are waited for.
  const inSteps = () => auditInSteps(db.database, { entriesMax: 3 });
  expect(await inSteps()).toEqual([]);
  for (let call = 0; call < 10; call++) await pay(10n);
  await db.query("update balance set amount = amount + 1 where workspace_id = $1", [workspaceId]);
  for (let times = 0; times < 3; times++) {
    expect(await inSteps()).toMatchObject([
      { fault: "balance is not the sum of ledger entries", expected: "740", found: "741" },
    ]);
  }
});

test("a settlement that differs ends the steps, and its period stays open", async () => {
  await close();
  for (let call = 0; call < 10; call++) await pay(10n);
  await db.query("delete from usage_record where settled = 10");
  const before = await checkpoint();
  const faults = await auditInSteps(db.database, { entriesMax: 3 });
  expect(new Set(faults.map(({ fault }) => fault))).toEqual(new Set(["settle without a usage record"]));
  expect(faults).toHaveLength(3);
  expect(await checkpoint()).toBe(before ?? 0n);
});

test("an open transaction stops the steps, and everything is audited in one", async () => {
  await close();
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
  const { promise: hasWritten, resolve: written } = Promise.withResolvers<void>();
  const late = db.database.transaction(async (tx) => {
    await tx.query("select move_credits($1, 'top_up', 500, $2, null)", [workspaceId, newId()]);
    written();
    await mayCommit;
  });
  await hasWritten;
  const other = await createWorkspace(db.database, 7n);
  for (let call = 0; call < 10; call++)
    await db.query("select move_credits($1, 'top_up', 1, $2, null)", [other, newId()]);
  const inSteps = () => auditInSteps(db.database, { entriesMax: 3, standstillMs: 1 });
  expect(await inSteps()).toEqual([]);
  await db.query("update balance set amount = amount + 1 where workspace_id = $1", [other]);
  expect(await inSteps()).toMatchObject([{ workspace_id: other, expected: "17", found: "18" }]);
  await db.query("update balance set amount = amount - 1 where workspace_id = $1", [other]);
  commit();
  await late;
  expect(await inSteps()).toEqual([]);
});

test("a border of the server before a restore is set again", async () => {
  await db.query("update ledger_border set next_xid = '9000000000000000000'");
  await close();
  expect(await checkpoint()).toBe(940n);
});

test("it rejects a transaction that has written before", async () => {
  const work = db.database.transaction(async (tx) => {
    await tx.query("update balance set held = held");
    return auditNewEntries(tx);
  });
  expect(await work.then(String, String)).toContain("needs a transaction of its own");
});
