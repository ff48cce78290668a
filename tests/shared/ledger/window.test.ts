/** The exact 60-second window, on a real Postgres. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { admitGroup, admitLone, createWorkspace, randomOf } from "#tests/shared/accounts.ts";
import { createWindowModel } from "./window-model.ts";
import { testSeed } from "#tests/support/seed.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const START = Date.UTC(2026, 2, 1, 12);

/** Verdicts of one call each, in order. */
async function ask(workspaceId: string, limit: number | null, ...times: number[]): Promise<number[]> {
  const verdicts: number[] = [];
  for (const nowMs of times) verdicts.push(await admitLone(db.database, { workspaceId, limit }, nowMs));
  return verdicts;
}

async function isFull(workspaceId: string, limit: number | null, nowMs: number): Promise<boolean | undefined> {
  const sql = "select is_full from check_window($1, $2, $3)";
  const [row] = await db.query<{ is_full: boolean }>(sql, [workspaceId, limit, nowMs]);
  return row?.is_full;
}

test("a call passes when the call one limit before it is 60 s old, and not a millisecond earlier", async () => {
  const workspaceId = await createWorkspace(db.database, 0n);
  expect(await ask(workspaceId, 2, START, START + 10, START + 59_999)).toEqual([0, 0, 1]);
  const other = await createWorkspace(db.database, 0n);
  expect(await ask(other, 2, START, START + 10, START + 60_000)).toEqual([0, 0, 0]);
});

test("rejected calls count, so a persistent caller stays rejected", async () => {
  const workspaceId = await createWorkspace(db.database, 0n);
  const everySecond = Array.from({ length: 200 }, (_, second) => START + second * 1_000);
  const verdicts = await ask(workspaceId, 5, ...everySecond);
  expect(verdicts.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
  expect(new Set(verdicts.slice(5))).toEqual(new Set([1]));
  expect(await ask(workspaceId, 5, START + 200_000 + 60_000)).toEqual([0]);
});

test("keys of a workspace share its window, each with its own limit, and other workspaces are unaffected", async () => {
  const workspaceId = await createWorkspace(db.database, 0n);
  const other = await createWorkspace(db.database, 0n);
  const unlimited = Array.from({ length: 30 }, () => ({ workspaceId, limit: null }));
  expect(await admitGroup(db.database, unlimited, { nowMs: START })).toEqual(unlimited.map(() => 0));
  const calls = [
    { workspaceId, limit: 30 },
    { workspaceId, limit: 40 },
    { workspaceId, limit: null },
    { workspaceId: other, limit: 1 },
    { workspaceId: other, limit: 1 },
  ];
  expect(await admitGroup(db.database, calls, { nowMs: START + 1 })).toEqual([1, 0, 0, 0, 1]);
});

test("a limit of 0 rejects everything, at every position of the ring", async () => {
  const workspaceId = await createWorkspace(db.database, 0n);
  for (let round = 0; round < 20; round++) {
    const calls = Array.from({ length: 250 }, () => ({ workspaceId, limit: null }));
    await admitGroup(db.database, calls, { nowMs: START });
  }
  expect(await ask(workspaceId, 0, START + 3_600_000)).toEqual([1]);
  expect(await admitGroup(db.database, [{ workspaceId, limit: 0 }], { nowMs: START + 3_600_000 })).toEqual([1]);
});

test("the largest limit is exact after the ring has gone round", async () => {
  const workspaceId = await createWorkspace(db.database, 0n);
  const model = createWindowModel();
  let nowMs = START;
  for (let round = 0; round < 60; round++) {
    nowMs += 1_700;
    const calls = Array.from({ length: 200 }, () => ({ workspaceId, limit: 4_095 }));
    const expected = calls.map((call) => (model.ask(call.limit, nowMs) ? 0 : 1));
    expect(await admitGroup(db.database, calls, { nowMs })).toEqual(expected);
  }
  expect(model.count()).toBe(12_000);
});

test("agrees with a log of every call, for any groups, limits and steps of the clock", async () => {
  const seed = testSeed("window");
  const random = randomOf(seed);
  const limits = [null, 1, 2, 3, 7, 31, 32, 33, 64, 100, 500];
  const steps = [0, 0, 0, 1, 5, 40, 900, 2_500, 20_000, 59_999, 60_000, 61_000];
  let decisions = 0;
  for (let round = 0; round < 6; round++) {
    const places = await Promise.all(
      Array.from({ length: 4 }, async () => ({
        workspaceId: await createWorkspace(db.database, 0n),
        model: createWindowModel(),
        limits: Array.from({ length: 1 + random(3) }, () => limits[random(limits.length)] ?? null),
      })),
    );
    let nowMs = START;
    for (let group = 0; group < 60; group++) {
      nowMs += steps[random(steps.length)] ?? 0;
      if (random(12) === 0) nowMs -= [3, 500, 1_500, 3_600_000, 86_400_000][random(5)] ?? 0;
      if (random(40) === 0) nowMs += 86_400_000;
      const size = [1, 2, 5, 33, 70, 256][random(6)] ?? 1;
      const calls = Array.from({ length: size }, () => {
        const place = places[random(places.length)]!;
        return { place, workspaceId: place.workspaceId, limit: place.limits[random(place.limits.length)] ?? null };
      });
      const expected = calls.map((call) => (call.place.model.ask(call.limit, nowMs) ? 0 : 1));
      const [first] = calls;
      // A look tells the first one's verdict beforehand, and counts nothing.
      const seen = first && (await isFull(first.workspaceId, first.limit, nowMs));
      expect({ seed, round, group, seen }).toEqual({ seed, round, group, seen: expected[0] === 1 });
      const isLone = calls.length === 1 && first !== undefined && random(2) === 0;
      const verdicts = isLone
        ? [await admitLone(db.database, first, nowMs)]
        : await admitGroup(db.database, calls, {
            nowMs,
            ...[{}, { waitMs: 2_000 }, { waitMs: 2_000, isLate: true }][random(3)],
          });
      expect({ seed, round, group, verdicts }).toEqual({ seed, round, group, verdicts: expected });
      decisions += calls.length;
    }
  }
  expect(decisions).toBeGreaterThan(5_000);
});

test("a clock set back by an hour neither freezes the window nor opens it", async () => {
  const workspaceId = await createWorkspace(db.database, 0n);
  expect(await ask(workspaceId, 2, START, START + 1)).toEqual([0, 0]);
  const back = START - 3_600_000;
  expect(await ask(workspaceId, 2, back, back + 1)).toEqual([1, 1]);
  expect(await ask(workspaceId, 2, back + 60_001)).toEqual([0]);
  // And when it is put right again, time has only moved on.
  expect(await ask(workspaceId, 2, START + 60_010, START + 60_011)).toEqual([0, 1]);
});

test("a test without its own clock uses the database's", async () => {
  const workspaceId = await createWorkspace(db.database, 0n);
  const [before] = await db.query<{ ms: bigint }>(
    "select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms",
  );
  await admitLone(db.database, { workspaceId });
  await admitGroup(db.database, [{ workspaceId }]);
  const [row] = await db.query<{ last_ms: bigint; recent: bigint[] }>(
    "select last_ms, recent from rate_window where workspace_id = $1",
    [workspaceId],
  );
  expect(row?.recent).toHaveLength(2);
  expect(row?.recent.at(-1)).toBe(row?.last_ms);
  expect((row?.recent[0] ?? 0n) >= (before?.ms ?? 0n)).toBe(true);
});
