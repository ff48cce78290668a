import { afterAll, beforeAll, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import { adjustHold } from "#shared/ledger/adjust.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { type CallSettlement, type Ledger, openLedger } from "#shared/ledger/settle.ts";
import { createLogger } from "#shared/base/logger.ts";
import { admitGroup, balanceOf, createWorkspace } from "#tests/shared/accounts.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const log = createLogger({ level: "silent", role: "test" });
let db: TestDatabase;
let ledger: Ledger;
beforeAll(async () => {
  db = await createTestDatabase();
  ledger = openLedger({ database: db.database, log, retryMs: 5_000 });
});
afterAll(async () => {
  expect(await auditLedger(db.database)).toEqual([]);
  await db.drop();
});

/** A database that is split by workspace can keep a key unique only where the workspace is part of it. */
const MONEY = [
  "balance",
  "hold",
  "ledger_entry",
  "usage_record",
  "usage_part",
  "relay_progress",
  "ledger_checkpoint",
  "ledger_archive",
  "archived_attempt",
];

test("every unique key of tables about credits starts with the workspace", async () => {
  const keys = await db.query<{ name: string; first: string }>(
    `select c.relname as name, a.attname as first
     from pg_index i
     join pg_class t on t.oid = i.indrelid
     join pg_class c on c.oid = i.indexrelid
     join pg_attribute a on a.attrelid = t.oid and a.attnum = i.indkey[0]
     where i.indisunique and t.relname = any($1::text[])`,
    [`{${MONEY.join(",")}}`],
  );
  expect(keys.length).toBeGreaterThanOrEqual(MONEY.length);
  expect(keys.filter(({ first }) => first !== "workspace_id")).toEqual([]);
});

test("one job id in two workspaces is two calls: held, adjusted, settled separately", async () => {
  const workspaces = [await createWorkspace(db.database, 100n), await createWorkspace(db.database, 100n)];
  const jobId = newId();
  const calls = workspaces.map((workspaceId) => ({ workspaceId, jobId, amount: 40n }));
  expect(await admitGroup(db.database, calls)).toEqual([0, 0]);
  const balances = () => Promise.all(workspaces.map((id) => balanceOf(db.database, id)));

  const [first = "", second = ""] = workspaces;
  const to = { jobId, attempt: 1, model: "next", amountNano: 60n, mayExceed: false, tokensMax: 0 };
  expect(await adjustHold(db.database, { ...to, workspaceId: first })).toBe("adjusted");
  expect(await balances()).toMatchObject([{ held: 60n }, { held: 40n }]);

  const settlement = (workspaceId: string, usedNano: bigint): CallSettlement => ({
    workspaceId,
    jobId,
    attempt: 1,
    usedNano,
    status: "succeeded",
    source: "a/b",
    units: {},
    isEstimated: false,
    tokens: 0,
  });
  expect(await ledger.settle(settlement(second, 7n))).toEqual({ takenNano: 7n, wasClosed: false });
  expect(await balances()).toMatchObject([
    { amount: 100n, held: 60n },
    { amount: 93n, held: 0n },
  ]);
  // In one group, with a repeat.
  const together = [settlement(first, 50n), settlement(second, 50n), settlement(first, 50n)];
  const settled = await Promise.all(together.map((one) => ledger.settle(one)));
  expect(settled.map(({ takenNano }) => takenNano)).toEqual([50n, 7n, 50n]);
  expect(settled.filter(({ wasClosed }) => wasClosed)).toHaveLength(2);
  expect(await balances()).toMatchObject([
    { amount: 50n, held: 0n },
    { amount: 93n, held: 0n },
  ]);
});
