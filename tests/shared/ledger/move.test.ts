/** Credits that enter or leave by an operator's hand. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { constraintName } from "#shared/database/client.ts";
import { newId } from "#shared/base/ids.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { moveCredits } from "#shared/ledger/move.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { admitLone, balanceOf, createWorkspace } from "../accounts.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  expect(await auditLedger(db.database)).toEqual([]);
  await db.drop();
});

function move(workspaceId: string, amountNano: bigint, sourceId = newId(), kind: "top_up" | "correction" = "top_up") {
  return moveCredits(db.database, { workspaceId, kind, amountNano, sourceId, note: null });
}

test("a top-up under one id is added once, for repeated and concurrent requests", async () => {
  const workspaceId = await createWorkspace(db.database, 0n);
  const sourceId = newId();
  const moved = await Promise.all(Array.from({ length: 12 }, () => move(workspaceId, 500n, sourceId)));
  expect(moved.filter(Boolean)).toHaveLength(1);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 500n });
});

test("a correction may use available credits and not those that open calls hold", async () => {
  const workspaceId = await createWorkspace(db.database, 100n);
  await admitLone(db.database, { workspaceId, jobId: newId(), amount: 70n });
  const refused = await move(workspaceId, -31n, newId(), "correction").catch((error: unknown) => error);
  expect(constraintName(refused)).toBe("funds");
  expect(await move(workspaceId, -30n, newId(), "correction")).toBe(true);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 70n, held: 70n });
});

test("a workspace that does not exist gets no credits", async () => {
  expect(await move(newId(), 5n).catch((error: unknown) => String(error))).toContain("unknown workspace");
  expect(await db.query("select 1 from ledger_entry where amount = 5")).toEqual([]);
});
