/** The hold moves to the price of the model that runs next, in place, and whoever closes it finds it so. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { type Database, openDatabase, SQL, sqlState, type SqlValue } from "#shared/database/client.ts";
import { newId } from "#shared/base/ids.ts";
import { type Adjustment, adjustHold } from "#shared/ledger/adjust.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import {
  admitGroup,
  admitLone,
  balanceOf,
  createWorkspace,
  CREDIT,
  settleGroup,
  settleSingle,
  lateIfPossible,
  randomOf,
  type TestCall,
} from "../accounts.ts";
import { testSeed } from "../../support/seed.ts";

const SESSIONS = 12;
const ROUNDS = 70;
const MIDNIGHT = Date.UTC(2028, 1, 29);

let db: TestDatabase;
let database: Database;
beforeAll(async () => {
  db = await createTestDatabase();
  const log = createLogger({ level: "silent", role: "test" });
  database = openDatabase({ url: db.url, poolMax: SESSIONS, log });
});
afterAll(async () => {
  expect(await auditLedger(db.database)).toEqual([]);
  await database.close();
  // Retries would hide one.
  await db.query("select pg_stat_clear_snapshot()");
  expect(await db.query("select deadlocks from pg_stat_database where datname = current_database()")).toEqual([
    { deadlocks: 0n },
  ]);
  await db.drop();
});

/** By job. */
const owners = new Map<string, string>();

async function place(workspaceId: string, call: Partial<TestCall> = {}, nowMs?: number): Promise<string> {
  const jobId = newId();
  owners.set(jobId, workspaceId);
  expect(await admitLone(db.database, { workspaceId, jobId, amount: 40n, ...call }, nowMs)).toBe(0);
  return jobId;
}

/** To a dearer model unless told otherwise. */
function to(jobId: string, members: Partial<Adjustment> = {}): Adjustment {
  const workspaceId = owners.get(jobId) ?? newId();
  return {
    workspaceId,
    jobId,
    attempt: 1,
    model: "next-model",
    amountNano: 70n,
    mayExceed: false,
    tokensMax: 0,
    ...members,
  };
}

async function holdOf(jobId: string): Promise<object | undefined> {
  const rows = await db.query("select model, amount, may_exceed, tokens from hold where job_id = $1", [jobId]);
  return rows[0];
}

describe("a hold is changed", () => {
  test("up, to the last nano-credit that is available", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId);
    expect(await adjustHold(database, to(jobId, { amountNano: 100n, mayExceed: true }))).toBe("adjusted");
    expect(await holdOf(jobId)).toEqual({ model: "next-model", amount: 100n, may_exceed: true, tokens: 0n });
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 100n, held: 100n, holds: 1n });
  });

  test("down, which frees the difference for others immediately", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId, { amount: 100n });
    const other = { workspaceId, jobId: newId(), amount: 75n };
    expect(await admitLone(db.database, other)).toBe(3);
    expect(await adjustHold(database, to(jobId, { amountNano: 25n }))).toBe("adjusted");
    expect(await admitLone(db.database, other)).toBe(0);
  });

  test("down even if nothing is available", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const [jobId] = [await place(workspaceId), await place(workspaceId, { amount: 60n })];
    expect(await adjustHold(database, to(jobId, { amountNano: 39n }))).toBe("adjusted");
    expect(await adjustHold(database, to(jobId, { amountNano: 41n }))).toBe("insufficient");
  });

  test("to the same price under another name, and to zero", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId);
    expect(await adjustHold(database, to(jobId, { amountNano: 40n }))).toBe("adjusted");
    expect(await holdOf(jobId)).toMatchObject({ model: "next-model", amount: 40n });
    expect(await adjustHold(database, to(jobId, { model: "free-model", amountNano: 0n }))).toBe("adjusted");
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 0n, holds: 1n });
  });

  test("with the parts of a continued stream, which are stored once and only with it", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId);
    const part = {
      model: "first-model",
      source: "a/b",
      units: { output_tokens: 3 },
      is_estimated: true,
      amount: "7",
      fault: "timeout",
    };
    const partsOf = () =>
      db.query(
        "select part, model, source, units, is_estimated, amount, fault from usage_part where job_id = $1 order by part",
        [jobId],
      );
    expect(await adjustHold(database, to(jobId, { amountNano: 101n, parts: [part] }))).toBe("insufficient");
    expect(await partsOf()).toEqual([]);
    const second = { ...part, model: "second-model", amount: "9" };
    for (const parts of [[part], [part], [part, second]]) {
      expect(await adjustHold(database, to(jobId, { parts }))).toBe("adjusted");
    }
    expect(await holdOf(jobId)).toMatchObject({ model: "next-model", amount: 70n });
    expect(await partsOf()).toEqual([
      { part: 1, ...part, amount: 7n },
      { part: 2, ...second, amount: 9n },
    ]);
  });

  test("once, for any number of repeats", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId, { tokens: 10, cap: 1_000 });
    const wanted = to(jobId, { tokensMax: 30 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => adjustHold(database, wanted)));
    expect(new Set(answers)).toEqual(new Set(["adjusted"]));
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 70n, day_tokens: 30n });
    // Nothing is left, and still it is what was asked for.
    await place(workspaceId, { amount: 30n });
    expect(await adjustHold(database, wanted)).toBe("adjusted");
  });
});

describe("a hold is unchanged", () => {
  test("when one nano-credit is missing, name and limits included", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId, { tokens: 10, cap: 1_000 });
    const before = [await holdOf(jobId), await balanceOf(db.database, workspaceId)];
    const dear = to(jobId, { amountNano: 101n, mayExceed: true, tokensMax: 99 });
    expect(await adjustHold(database, dear)).toBe("insufficient");
    expect([await holdOf(jobId), await balanceOf(db.database, workspaceId)]).toEqual(before);
  });

  test("when it is closed or never existed", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId);
    await settleSingle(db.database, { jobId, used: 5n });
    expect(await adjustHold(database, to(jobId))).toBe("closed");
    expect(await adjustHold(database, to(newId()))).toBe("closed");
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 95n, held: 0n, holds: 0n });
  });

  test("when another attempt of the job is named", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId);
    expect(await adjustHold(database, to(jobId, { attempt: 2 }))).toBe("closed");
    expect(await holdOf(jobId)).toMatchObject({ model: "test-model", amount: 40n });
  });

  test("when the figures are impossible, which is reported and not retried", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId);
    const error = await adjustHold(database, to(jobId, { amountNano: -1n })).catch((fault: unknown) => fault);
    expect(sqlState(error)).toBe("23514");
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 40n });
  });
});

describe("tokens reserved under a daily cap", () => {
  test("follow the model, up and down", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId, { tokens: 10, cap: 100 });
    for (const tokensMax of [60, 25, 0]) {
      expect(await adjustHold(database, to(jobId, { tokensMax }))).toBe("adjusted");
      expect(await balanceOf(db.database, workspaceId)).toMatchObject({ day_tokens: BigInt(Math.max(tokensMax, 1)) });
    }
    // A reservation that shrank to almost nothing is one still.
    expect(await adjustHold(database, to(jobId, { tokensMax: 80 }))).toBe("adjusted");
    expect(await admitLone(db.database, { workspaceId, jobId: newId(), tokens: 1, cap: 80 })).toBe(2);
    expect(await admitLone(db.database, { workspaceId, jobId: newId(), tokens: 1, cap: 81 })).toBe(0);
  });

  test("are not checked again: the call was admitted under the cap", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId, { tokens: 90, cap: 100 });
    expect(await adjustHold(database, to(jobId, { tokensMax: 150 }))).toBe("adjusted");
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ day_tokens: 150n });
  });

  test("stay zero for a call without a cap", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId, { tokens: 10 });
    expect(await adjustHold(database, to(jobId, { tokensMax: 60 }))).toBe("adjusted");
    expect(await holdOf(jobId)).toMatchObject({ tokens: 0n });
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ day_tokens: 0n });
  });

  test("of yesterday's call do not change today's count", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId, { amount: 10n, tokens: 10, cap: 100 }, MIDNIGHT - 1);
    await place(workspaceId, { amount: 10n, tokens: 7, cap: 100 }, MIDNIGHT);
    expect(await adjustHold(database, to(jobId, { tokensMax: 60 }))).toBe("adjusted");
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 80n, day_tokens: 7n });
    await settleSingle(db.database, { jobId, used: 1n, tokens: 55 });
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ day_tokens: 7n });
  });

  test("are replaced by the call's usage, of any model", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId, { tokens: 10, cap: 100 });
    await adjustHold(database, to(jobId, { tokensMax: 60 }));
    await settleSingle(db.database, { jobId, used: 1n, tokens: 33 });
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ day_tokens: 33n });
  });
});

describe("the settlement of a changed hold", () => {
  const closed = (jobId: string): Promise<object[]> =>
    db.query("select model, held, settled, uncollected from usage_record where job_id = $1", [jobId]);

  test.each([
    ["alone", (jobId: string) => settleSingle(database, { jobId, used: 90n })],
    ["in a group", async (jobId: string) => (await settleGroup(database, [{ jobId, used: 90n }]))[0]],
    [
      "with late locks",
      async (jobId: string) =>
        (await settleGroup(database, [{ jobId, used: 90n }], { waitMs: 5_000, isLate: true }))[0],
    ],
  ])("%s charges at most the current hold, under the name of the model that served", async (_how, finish) => {
    const workspaceId = await createWorkspace(db.database, 1_000n);
    const jobId = await place(workspaceId, { mayExceed: true });
    await adjustHold(database, to(jobId, { amountNano: 70n, mayExceed: false }));
    expect(await finish(jobId)).toBe(70n);
    expect(await closed(jobId)).toEqual([{ model: "next-model", held: 70n, settled: 70n, uncollected: 20n }]);
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 930n, held: 0n, holds: 0n });
  });

  test("exceeds the hold if the next model may, up to the available credits", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId);
    await adjustHold(database, to(jobId, { amountNano: 10n, mayExceed: true }));
    expect(await settleSingle(database, { jobId, used: 250n })).toBe(100n);
    expect(await closed(jobId)).toEqual([{ model: "next-model", held: 10n, settled: 100n, uncollected: 150n }]);
  });

  test("as a release returns everything", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId);
    await adjustHold(database, to(jobId));
    expect(await settleSingle(database, { jobId, used: null })).toBe(0n);
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 100n, held: 0n });
  });
});

describe("locks of others", () => {
  const waiting = async (): Promise<void> => {
    const waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    while ((await db.query(waits)).length === 0) await Bun.sleep(2);
  };

  test("on the hold are not awaited by the statement, and outlasted by the caller", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId);
    let adjusting: Promise<string> | undefined;
    await db.database.transaction(async (tx) => {
      await tx.query("select 1 from hold where job_id = $1 for update", [jobId]);
      const rows = await database.query<{ verdict: number }>(
        "select adjust_hold($1, $2, 1::smallint, 'next-model', 70, false, 0) as verdict",
        [workspaceId, jobId],
      );
      expect(rows).toEqual([{ verdict: 4 }]);
      adjusting = adjustHold(database, to(jobId));
    });
    expect(await adjusting).toBe("adjusted");
  });

  test("on the balance are awaited briefly", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId);
    let adjusting: Promise<string> | undefined;
    await db.database.transaction(async (tx) => {
      await tx.query("select 1 from balance where workspace_id = $1 for update", [workspaceId]);
      const statement = "select adjust_hold($1, $2, 1::smallint, 'next-model', 70, false, 0, 20)";
      const refused = await database.query(statement, [workspaceId, jobId]).catch((error: unknown) => error);
      expect(sqlState(refused)).toBe(SQL.lockTimeout);
      adjusting = adjustHold(database, to(jobId));
      await waiting();
      // Decided after the lock is got, on what is there by then.
      await tx.query("select move_credits($1, 'correction', -31, $2, null)", [workspaceId, newId()]);
    });
    expect(await adjusting).toBe("insufficient");
    expect(await holdOf(jobId)).toMatchObject({ model: "test-model", amount: 40n });
  });

  test("of an earlier finish leave nothing to adjust", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId);
    let adjusting: Promise<string> | undefined;
    await db.database.transaction(async (tx) => {
      expect(await settleSingle(tx, { jobId, used: 12n })).toBe(12n);
      const met = Promise.withResolvers<void>();
      const telling: Pick<Database, "query"> = {
        async query<Row extends object>(text: string, values?: readonly SqlValue[], name?: string): Promise<Row[]> {
          const rows = await database.query<Row>(text, values, name);
          met.resolve();
          return rows;
        },
      };
      adjusting = adjustHold(telling, to(jobId));
      await met.promise;
    });
    expect(await adjusting).toBe("closed");
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 88n, held: 0n });
  });

  test("a lost connection is retried", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const jobId = await place(workspaceId);
    let lost = 0;
    const flaky: Pick<Database, "query"> = {
      async query(text, values, name) {
        const rows = await database.query<never>(text, values, name);
        // What was asked for is done; its answer is lost.
        if (lost++ === 0) throw new Error("Connection terminated unexpectedly");
        return rows;
      },
    };
    expect(await adjustHold(flaky, to(jobId))).toBe("adjusted");
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 70n });
  });
});

test("concurrent admissions, changes and settlements of one workspace leave exact books and no deadlock", async () => {
  const seed = testSeed("adjust");
  const workspaceId = await createWorkspace(db.database, 20n * CREDIT);
  const others = await Promise.all([5n, 400n].map((credits) => createWorkspace(db.database, credits * CREDIT)));
  /** Shared by all sessions, so several of them move and close the same holds at once. */
  const open: string[] = [];
  const answers = { adjusted: 0, insufficient: 0, closed: 0 };
  const session = async (which: number): Promise<void> => {
    const random = randomOf(seed + which);
    const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T;
    const some = (): string => open[Math.max(0, open.length - 1 - random(40))] ?? newId();
    for (let round = 0; round < ROUNDS; round++) {
      const form = pick(["skip", "wait", "late"] as const);
      const waitMs = form === "skip" ? null : 8_000;
      switch (random(4)) {
        case 0: {
          const calls = Array.from({ length: pick([1, 3, 12]) }, () => ({
            workspaceId: pick([workspaceId, workspaceId, ...others]),
            jobId: newId(),
            amount: BigInt(random(100)) * (CREDIT / 100n),
            mayExceed: random(3) === 0,
            tokens: random(100),
            cap: form === "late" ? null : pick([null, 20_000]),
          }));
          const [first] = calls;
          const verdicts =
            calls.length === 1 && first !== undefined
              ? [await admitLone(database, first)]
              : form === "late"
                ? await lateIfPossible((isLate) => admitGroup(database, calls, { waitMs, isLate }))
                : await admitGroup(database, calls, { waitMs });
          const placed = calls.filter((_, index) => verdicts[index] === 0);
          for (const call of placed) owners.set(call.jobId, call.workspaceId);
          open.push(...placed.map((call) => call.jobId));
          break;
        }
        case 1: {
          const settlements = Array.from({ length: pick([1, 2, 8]) }, () => ({
            jobId: some(),
            used: pick([null, BigInt(random(200)) * (CREDIT / 100n)]),
            tokens: random(100),
          }));
          const [first] = settlements;
          if (settlements.length === 1 && first !== undefined) await settleSingle(database, first);
          else if (form === "late") {
            await lateIfPossible((isLate) => settleGroup(database, settlements, { waitMs, isLate }));
          } else await settleGroup(database, settlements, { waitMs });
          break;
        }
        default: {
          const wanted = to(some(), {
            model: pick(["second", "third"]),
            amountNano: BigInt(random(150)) * (CREDIT / 100n),
            mayExceed: random(3) === 0,
            tokensMax: random(200),
          });
          answers[await adjustHold(database, wanted)] += 1;
        }
      }
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: SESSIONS }, (_, which) => session(which)));
  const faults = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [String(outcome.reason)] : []));
  expect({ seed, faults }).toEqual({ seed, faults: [] });
  expect({ seed, audit: await auditLedger(db.database) }).toEqual({ seed, audit: [] });
  // All three ends were met, or the storm proves nothing.
  for (const [answer, count] of Object.entries(answers)) {
    expect({ seed, answer, isMet: count > 0 }).toEqual({ seed, answer, isMet: true });
  }
  const left = await db.query<{ job_id: string }>("select job_id from hold");
  await settleGroup(
    database,
    left.map((row) => ({ jobId: row.job_id })),
    { waitMs: 8_000 },
  );
  for (const id of [workspaceId, ...others]) {
    const balance = await balanceOf(db.database, id);
    expect(balance).toMatchObject({ held: 0n, holds: 0n });
    expect(balance.amount >= 0n).toBe(true);
  }
});
