/** Facts that a key is told: the same window and balance that admission goes by. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { readKeyFacts } from "#shared/database/key-facts.ts";
import { newId } from "#shared/base/ids.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { admitLone, CREDIT, createWorkspace } from "../accounts.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

async function keyOf(workspaceId: string): Promise<string> {
  const [memberId, keyId] = [newId(), newId()];
  await db.query("insert into member (id, workspace_id, name, role) values ($1, $2, 'ada', 'owner')", [
    memberId,
    workspaceId,
  ]);
  await db.query(
    `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset)
     values ($1, $2, $3, 'laptop', $4, 'x', 'free')`,
    [keyId, workspaceId, memberId, Buffer.from(keyId)],
  );
  return keyId;
}

async function count(workspaceId: string, calls: number, nowMs: number): Promise<void> {
  for (let call = 0; call < calls; call += 1) await admitLone(db.database, { workspaceId }, nowMs);
}

test("calls older than 60 s are not counted, at any position of the ring", async () => {
  const workspaceId = await createWorkspace(db.database, 0n);
  const keyId = await keyOf(workspaceId);
  const nowMs = Date.now();
  // A block of 32 calls that are old, one with both, and two that are young.
  await count(workspaceId, 50, nowMs - 61_000);
  await count(workspaceId, 70, nowMs);
  expect(await readKeyFacts(db.database, workspaceId, keyId)).toMatchObject({ window_calls: 70 });
});

test("a clock that was set back drops no call", async () => {
  const workspaceId = await createWorkspace(db.database, 0n);
  const keyId = await keyOf(workspaceId);
  await count(workspaceId, 3, Date.now() + 3_600_000);
  expect(await readKeyFacts(db.database, workspaceId, keyId)).toMatchObject({ window_calls: 3 });
});

test("holds and tokens of open calls are returned; those of another day are not", async () => {
  const workspaceId = await createWorkspace(db.database, 10n * CREDIT);
  const keyId = await keyOf(workspaceId);
  const call = { workspaceId, jobId: newId(), amount: 4n * CREDIT, tokens: 70, cap: 100 };
  expect(await admitLone(db.database, call)).toBe(0);
  expect(await readKeyFacts(db.database, workspaceId, keyId)).toEqual({
    key_name: "laptop",
    workspace_name: `workspace ${workspaceId}`,
    access_lists: null,
    limit_id: null,
    member_access_lists: null,
    amount: 10n * CREDIT,
    held: 4n * CREDIT,
    day_tokens: 70n,
    window_calls: 1,
  });
  await db.query("update balance set day = day - 1 where workspace_id = $1", [workspaceId]);
  expect(await readKeyFacts(db.database, workspaceId, keyId)).toMatchObject({ day_tokens: 0n });
});

test("a key of another workspace does not exist", async () => {
  const [mine, other] = [await createWorkspace(db.database, 0n), await createWorkspace(db.database, 0n)];
  expect(await readKeyFacts(db.database, mine, await keyOf(other))).toBeUndefined();
});
