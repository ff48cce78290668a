import { afterAll, beforeAll, expect, test } from "bun:test";

import { dropExpiredAnswers, findAnswer, keepAnswer, CACHED_ANSWERS_MAX } from "#shared/database/response-cache.ts";
import { newId } from "#shared/base/ids.ts";

import { createTestDatabase, type TestDatabase } from "../../support/postgres.ts";

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const keyOf = (number: number): string => number.toString(16).padStart(64, "0");

const keep = (workspaceId: string, number: number, text: string, ttlS = 60): Promise<void> =>
  keepAnswer(db.database, { workspaceId, key: keyOf(number), model: "one", text, isStream: false, ttlS }, 1);

const textOf = async (workspaceId: string, number: number): Promise<string | undefined> => {
  const found = await findAnswer(db.database, workspaceId, keyOf(number));
  return found && new TextDecoder().decode(found.body);
};

test("an answer is found with its workspace and its key only", async () => {
  const [mine, theirs] = [newId(), newId()];
  await keep(mine, 1, "eight 🕷");
  expect(await findAnswer(db.database, mine, keyOf(1))).toMatchObject({ model: "one", isStream: false, ageS: 0 });
  expect(await textOf(mine, 1)).toBe("eight 🕷");
  expect(await textOf(theirs, 1)).toBeUndefined();
  expect(await textOf(mine, 2)).toBeUndefined();
});

test("a younger answer replaces an older one", async () => {
  const workspaceId = newId();
  await keep(workspaceId, 1, "old");
  await keep(workspaceId, 1, "new");
  expect(await textOf(workspaceId, 1)).toBe("new");
});

test("an expired answer is neither found nor stored", async () => {
  const workspaceId = newId();
  await keep(workspaceId, 1, "over");
  await keep(workspaceId, 2, "fresh");
  await db.query("update response_cache set expires_at = now() where workspace_id = $1 and key = decode($2, 'hex')", [
    workspaceId,
    keyOf(1),
  ]);
  expect(await textOf(workspaceId, 1)).toBeUndefined();
  expect(await dropExpiredAnswers(db.database, 10)).toBe(1);
  expect(await dropExpiredAnswers(db.database, 10)).toBe(0);
  expect(await textOf(workspaceId, 2)).toBe("fresh");
});

test("a workspace's oldest answers are deleted above its maximum, and no others", async () => {
  const [full, other] = [newId(), newId()];
  await keep(other, 1, "theirs");
  await db.query(
    `insert into response_cache (workspace_id, key, model, body, is_stream, created_at, expires_at)
     select $1, decode(lpad(to_hex(n), 64, '0'), 'hex'), 'one', 'x', false, now() - n * interval '1 second', now() + interval '1 hour'
     from generate_series(1, $2::int) n`,
    [full, CACHED_ANSWERS_MAX + 5],
  );
  const answer = { workspaceId: full, key: keyOf(0), model: "one", text: "newest", isStream: true, ttlS: 60 };
  await keepAnswer(db.database, answer, 0);
  const [row] = await db.query("select count(*)::int as kept from response_cache where workspace_id = $1", [full]);
  expect(row).toEqual({ kept: CACHED_ANSWERS_MAX });
  expect(await textOf(full, 0)).toBe("newest");
  expect(await textOf(full, CACHED_ANSWERS_MAX + 5)).toBeUndefined();
  expect(await textOf(other, 1)).toBe("theirs");
});
