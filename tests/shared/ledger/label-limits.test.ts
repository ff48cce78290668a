/** Spend limits of labels: of end users and of tags. A call may have several of them. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import type { LabelSubject } from "#shared/database/label-limits.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { removeSpendLimit, type SpendCaps, type SpendLimit, spendRefusal } from "#shared/ledger/spend-limits.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { admitLone, CREDIT, settleGroup, settleSingle } from "../accounts.ts";
import { LIMIT_REACHED, openSubjects } from "./limited-subjects.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  expect(await auditLedger(db.database)).toEqual([]);
});
afterAll(() => db.drop());

const { createSubject, set, stateOf } = openSubjects(() => db.database);

function labelLimitOf(id: string, credits: SpendCaps, kind: LabelSubject): SpendLimit {
  const label = kind === "tag" ? { name: "project", value: "alpha" } : { name: "user", value: "ada" };
  return { id, kind, label, credits };
}

describe.each([
  ["an end user", "end_user"],
  ["a tag", "tag"],
] as const)("a limit of %s", (_subject, kind) => {
  test("that is set while calls with the label are open counts their holds, and not their charges before it", async () => {
    const { workspaceId, keyId } = await createSubject();
    const user = newId();
    const call = (jobId: string, amount: bigint): Promise<number> =>
      admitLone(db.database, { workspaceId, jobId, keyId, amount, scopes: [user] });
    const [ended, open, second] = [newId(), newId(), newId()];
    await call(ended, 50n);
    await settleSingle(db.database, { jobId: ended, used: 50n });
    await call(open, 100n);
    await call(second, 30n);
    await set(workspaceId, labelLimitOf(user, { day: 140n }, kind));
    const state = await stateOf(workspaceId, user);
    expect([state.heldNano, state.windows.day.spentNano]).toEqual([130n, 0n]);
    expect(await call(newId(), 11n)).toBe(LIMIT_REACHED);
    expect(await settleSingle(db.database, { jobId: open, used: 90n })).toBe(90n);
    await settleGroup(db.database, [{ jobId: second, used: 20n }], { waitMs: 8_000 });
    const after = await stateOf(workspaceId, user);
    expect([after.heldNano, after.windows.day.spentNano]).toEqual([0n, 110n]);
  });

  test("that is removed and set again while a call is open counts its hold", async () => {
    const { workspaceId, keyId } = await createSubject();
    const user = newId();
    const jobId = newId();
    await set(workspaceId, labelLimitOf(user, { day: 140n }, kind));
    await admitLone(db.database, { workspaceId, jobId, keyId, amount: 100n, scopes: [user] });
    await db.database.transaction((tx) => removeSpendLimit(tx, workspaceId, user));
    await set(workspaceId, labelLimitOf(user, { day: 140n }, kind));
    expect((await stateOf(workspaceId, user)).heldNano).toBe(100n);
    expect(await settleSingle(db.database, { jobId, used: 10n })).toBe(10n);
    expect((await stateOf(workspaceId, user)).heldNano).toBe(0n);
  });
});

describe("a call with several limited labels", () => {
  test("counts in all of their limits, and is refused by the one that leaves the least", async () => {
    const { workspaceId, keyId } = await createSubject();
    const [user, tag, free] = [newId(), newId(), newId()];
    await set(workspaceId, labelLimitOf(user, { day: 100n }, "end_user"));
    await set(workspaceId, labelLimitOf(tag, { total: 60n }, "tag"));
    const call = (jobId: string, amount: bigint, scopes: string[]): Promise<number> =>
      admitLone(db.database, { workspaceId, jobId, keyId, amount, scopes });
    const both = newId();
    expect(await call(both, 50n, [user, tag, free])).toBe(0);
    expect(await call(newId(), 11n, [user, tag])).toBe(LIMIT_REACHED);
    expect(await call(newId(), 11n, [tag])).toBe(LIMIT_REACHED);
    const refusal = await spendRefusal(db.database, workspaceId, {
      keyId,
      scopes: [user, tag],
      amountNano: CREDIT,
      mayExceed: false,
    });
    expect([refusal.code, refusal.param, refusal.message]).toEqual([
      "key_limit_reached",
      "limits.credits.total",
      "This call may cost up to 1 credits; the total limit of the tag project=alpha (0.00000006) leaves 0.00000001, and 0.00000005 are held by open calls. Request less, or ask an owner of the workspace to raise the limit.",
    ]);
    const alone = newId();
    expect(await call(alone, 50n, [user])).toBe(0);
    expect(await call(newId(), 1n, [user])).toBe(LIMIT_REACHED);
    expect(await settleSingle(db.database, { jobId: both, used: 40n })).toBe(40n);
    await settleGroup(db.database, [{ jobId: alone, used: 10n }], { waitMs: 8_000 });
    const [ofUser, ofTag] = [await stateOf(workspaceId, user), await stateOf(workspaceId, tag)];
    expect([ofUser.windows.day.leftNano, ofUser.name]).toEqual([50n, "ada"]);
    expect([ofTag.windows.total.leftNano, ofTag.name]).toEqual([20n, "project=alpha"]);
  });
});
