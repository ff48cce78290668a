/** Admission as the ingress uses it: grouped, by several processes at once, with locks and lost connections. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import {
  type CallAdmission,
  createCallAdmission,
  createFullWindows,
  type HoldRequest,
  LEAST_NANO,
} from "#shared/ledger/call-admission.ts";
import { type Database, openDatabase, type Queryable, SQL, sqlState, type SqlValue } from "#shared/database/client.ts";
import { newId } from "#shared/base/ids.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { openLedger } from "#shared/ledger/settle.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import {
  admitGroup,
  admitLone,
  balanceOf,
  createWorkspace,
  CREDIT,
  impatient,
  outcomeOf,
  stopCalls,
} from "#tests/shared/accounts.ts";

const log = createLogger({ level: "silent", role: "test" });

let db: TestDatabase;
/** Two ingress processes, each with connections of its own. */
let databases: Database[];
let processes: CallAdmission[];
const undone: string[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  databases = [1, 2].map(() => openDatabase({ url: db.url, poolMax: 4, log }));
  processes = databases.map((database) =>
    createCallAdmission({
      database,
      log,
      ledger: { undo: (placed) => undone.push(...placed.map((call) => call.jobId)) },
    }),
  );
});
afterAll(async () => {
  await Promise.all(databases.map((database) => database.close()));
  await db.drop();
});

function hold(changes: Partial<HoldRequest> = {}): HoldRequest {
  return {
    jobId: newId(),
    keyId: newId(),
    model: "test-model",
    amountNano: CREDIT,
    mayExceed: false,
    tokensMax: 100,
    dailyTokens: null,
    lifeMs: 60_000,
    ...changes,
  };
}

function tally(outcomes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const one of outcomes) counts[one] = (counts[one] ?? 0) + 1;
  return counts;
}

const process = (index: number): CallAdmission => processes[index % processes.length] as CallAdmission;

test("a spent budget rejects every paid call, by its name and without an amount, with and without a hold, and is counted", async () => {
  const workspaceId = await createWorkspace(db.database);
  const other = await createWorkspace(db.database);
  await stopCalls(db.database, workspaceId, "a day");
  const refused = {
    code: "budget_reached",
    message: 'The workspace\'s budget "a day" is spent; calls are refused until its period ends or it is changed.',
  };
  const say = (work: Promise<unknown>): Promise<unknown> => work.then(() => "ok").catch((error: unknown) => error);
  expect(await say(process(0).place(workspaceId, 1, hold()))).toMatchObject(refused);
  // Over a full window too, and in a group with another workspace's.
  const both = [workspaceId, other].flatMap((id) => [1, 2, 3].map(() => say(process(1).place(id, 100, hold()))));
  const said = await Promise.all(both);
  for (const one of said.slice(0, 3)) expect(one).toMatchObject(refused);
  expect(said.slice(3)).toEqual(["ok", "ok", "ok"]);
  expect(await say(process(0).check(workspaceId, 1, 1n))).toMatchObject(refused);
  expect(await say(process(0).check(workspaceId, null))).toBe("ok");
  expect(await say(process(0).place(workspaceId, null, hold({ amountNano: 0n })))).toBe("ok");
  await process(0).count(workspaceId, null);
  const [row] = await db.query<{ calls: bigint }>("select calls from rate_window where workspace_id = $1", [
    workspaceId,
  ]);
  // One of them was to spend.
  expect(row?.calls).toBe(7n);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 0n, holds: 1n });
});

test("a check without a hold rejects calls above the credits", async () => {
  const workspaceId = await createWorkspace(db.database, 10n);
  expect(await outcomeOf(process(0).check(workspaceId, null, 10n))).toBe("ok");
  expect(await outcomeOf(process(0).check(workspaceId, null, 11n))).toBe("insufficient_credits");
  expect(await outcomeOf(process(0).check(workspaceId, 0, 11n))).toBe("rate_limit_exceeded");
});

test("an error for missing credits contains the fix, and no unknown amount", async () => {
  const workspaceId = await createWorkspace(db.database, 0n);
  const said = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => "ok",
      ({ message }: Error) => message,
    );
  const amount = hold().amountNano;
  for (const [work, expected] of [
    [
      () => process(0).check(workspaceId, null, LEAST_NANO),
      /^The workspace has no credits available\. Top it up, or wait/,
    ],
    [
      () => process(0).check(workspaceId, null, amount),
      /may cost up to 0?[\d.]+ credits; the workspace has 0 available\. Top up the workspace, or request less\.$/,
    ],
    [
      () => process(0).place(workspaceId, null, hold()),
      /may cost up to 0?[\d.]+ credits; the workspace has 0 available\. Top up the workspace, or request less\.$/,
    ],
  ] as const) {
    expect(await said(work())).toMatch(expected);
  }
});

test("an error for a full window contains the time of the next accepted request, with one statement for a flood", async () => {
  const workspaceId = await createWorkspace(db.database, 10n * CREDIT);
  const statements: string[] = [];
  const database = new Proxy(db.database, {
    get: (target, name) =>
      name === "query"
        ? (text: string, values: readonly SqlValue[], label?: string) => {
            if (label === "full_window") statements.push(label);
            return target.query(text, values, label);
          }
        : Reflect.get(target, name, target),
  });
  const windows = createFullWindows(database);
  const counted = process(0);
  expect(await windows.secondsUntilFree(workspaceId, 2)).toBeUndefined();
  for (let call = 0; call < 3; call++) await counted.count(workspaceId, null);
  await db.query("update rate_window set recent[2] = recent[2] - 20000, recent[1] = recent[1] - 20000 where workspace_id = $1", [workspaceId]); // prettier-ignore
  // The third of three calls is in the way of a limit of 1, the second of a limit of 2.
  expect(await windows.secondsUntilFree(workspaceId, 1)).toBeWithin(55, 61);
  const other = createFullWindows(database);
  expect(await other.secondsUntilFree(workspaceId, 2)).toBeWithin(35, 41);
  expect(await Promise.all(Array.from({ length: 50 }, () => other.secondsUntilFree(workspaceId, 2)))).toHaveLength(50);
  expect(statements).toHaveLength(3);
  const refusal = await counted.count(workspaceId, 2).catch((error: Error) => error.message);
  expect(refusal).toMatch(
    /^The keys of the workspace made more than 2 requests .* the next one is accepted in \d+ s\.$/,
  );
});

test("200 concurrent calls on a balance for 10, through two processes: exactly 10 are admitted", async () => {
  const workspaceId = await createWorkspace(db.database, 10n * CREDIT);
  const calls = Array.from({ length: 200 }, (_, index) => outcomeOf(process(index).place(workspaceId, null, hold())));
  expect(tally(await Promise.all(calls))).toEqual({ ok: 10, insufficient_credits: 190 });
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({
    amount: 10n * CREDIT,
    held: 10n * CREDIT,
    holds: 10n,
  });
  expect(await auditLedger(db.database)).toEqual([]);
});

test("two processes together admit exactly the limit, and every rejected call has counted", async () => {
  const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
  const calls = Array.from({ length: 600 }, (_, index) =>
    outcomeOf(
      index % 3 === 0
        ? process(index).count(workspaceId, 100)
        : process(index).place(workspaceId, 100, hold({ amountNano: 1n })),
    ),
  );
  expect(tally(await Promise.all(calls))).toEqual({ ok: 100, rate_limit_exceeded: 500 });
  const [window] = await db.query("select calls from rate_window where workspace_id = $1", [workspaceId]);
  expect(window).toEqual({ calls: 600n });
});

test("a rejection for missing credits or tokens takes one place in the window and leaves nothing else", async () => {
  const workspaceId = await createWorkspace(db.database, CREDIT);
  expect(await outcomeOf(process(0).place(workspaceId, 10, hold({ amountNano: 2n * CREDIT })))).toBe(
    "insufficient_credits",
  );
  expect(await outcomeOf(process(0).place(workspaceId, 10, hold({ dailyTokens: 0 })))).toBe("daily_tokens_exceeded");
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 0n, day_tokens: 0n, holds: 0n });
  const [window] = await db.query("select calls from rate_window where workspace_id = $1", [workspaceId]);
  expect(window).toEqual({ calls: 2n });
});

test("calls of one group get individual verdicts", async () => {
  const [rich, poor, capped] = await Promise.all(
    [100n, 1n, 100n].map((credits) => createWorkspace(db.database, credits * CREDIT)),
  );
  const first = process(0);
  const outcomes = await Promise.all([
    outcomeOf(first.count(rich ?? "", 1)),
    outcomeOf(first.place(rich ?? "", 1, hold())),
    outcomeOf(first.place(poor ?? "", null, hold())),
    outcomeOf(first.place(poor ?? "", null, hold())),
    outcomeOf(first.place(capped ?? "", null, hold({ dailyTokens: 100 }))),
    outcomeOf(first.place(capped ?? "", null, hold({ dailyTokens: 100 }))),
    outcomeOf(first.place(newId(), null, hold())),
  ]);
  expect(outcomes).toEqual([
    "ok",
    "rate_limit_exceeded",
    "ok",
    "insufficient_credits",
    "ok",
    "daily_tokens_exceeded",
    "service_unavailable",
  ]);
});

test("concurrent calls exceed the daily cap by one call at most: open calls count", async () => {
  const workspaceId = await createWorkspace(db.database);
  const calls = Array.from({ length: 120 }, (_, index) =>
    outcomeOf(process(index).place(workspaceId, null, hold({ amountNano: 0n, tokensMax: 70, dailyTokens: 1_000 }))),
  );
  expect(tally(await Promise.all(calls))).toEqual({ ok: 15, daily_tokens_exceeded: 105 });
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ day_tokens: 1_050n });
});

/** Holds a row lock in another session until told to let go. */
async function locked(table: string, workspaceId: string, act: () => Promise<void>): Promise<void> {
  await db.database.transaction(async (tx) => {
    await tx.query(`select 1 from ${table} where workspace_id = $1 for update`, [workspaceId]);
    await act();
  });
}

test("a locked workspace delays no other, and its own call continues when the lock is released", async () => {
  const stuck = await createWorkspace(db.database);
  const others = await Promise.all([1, 2, 3].map(() => createWorkspace(db.database)));
  let own: Promise<string> | undefined;
  await locked("balance", stuck, async () => {
    own = outcomeOf(process(0).place(stuck, null, hold()));
    for (let round = 0; round < 20; round++) {
      const verdicts = await Promise.all(others.map((id) => outcomeOf(process(0).place(id, null, hold()))));
      expect(verdicts).toEqual(["ok", "ok", "ok"]);
    }
    expect(await balanceOf(db.database, stuck)).toMatchObject({ holds: 0n });
  });
  expect(await own).toBe("ok");
  expect(await balanceOf(db.database, stuck)).toMatchObject({ holds: 1n });
});

test.each(["rate_window", "balance"])(
  "calls of a workspace with a locked row in %s are busy, or fail when alone, without effects",
  async (table) => {
    const [stuck, other] = [await createWorkspace(db.database), await createWorkspace(db.database)];
    await locked(table, stuck, async () => {
      const calls = [stuck, other, stuck].map((workspaceId) => ({ workspaceId, jobId: newId(), amount: CREDIT }));
      expect(await admitGroup(databases[0] as Database, calls)).toEqual([4, 0, 4]);
      for (const call of calls.filter(({ workspaceId }) => workspaceId === stuck)) {
        const given = await admitLone(impatient(databases[0] as Database), call).catch(sqlState);
        expect(given).toBe(SQL.lockTimeout);
      }
    });
    expect(await balanceOf(db.database, stuck)).toMatchObject({ held: 0n, holds: 0n });
    expect(await db.query("select calls from rate_window where workspace_id = $1", [stuck])).toEqual([{ calls: 0n }]);
  },
);

test("a call without a hold does not wait for the balance, alone or in a group", async () => {
  const [stuck, other] = [await createWorkspace(db.database), await createWorkspace(db.database)];
  await locked("balance", stuck, async () => {
    const outcomes = await Promise.all([stuck, other, stuck].map((id) => outcomeOf(process(0).count(id, 10))));
    expect(outcomes).toEqual(["ok", "ok", "ok"]);
  });
});

test("a workspace locked for longer than the lock timeout receives overloaded; its neighbours do not", async () => {
  const [stuck, other] = [await createWorkspace(db.database), await createWorkspace(db.database)];
  await locked("rate_window", stuck, async () => {
    const own = outcomeOf(process(0).place(stuck, null, hold()));
    expect(await outcomeOf(process(0).place(other, null, hold()))).toBe("ok");
    expect(await own).toBe("overloaded");
  });
  expect(await outcomeOf(process(0).place(stuck, null, hold()))).toBe("ok");
  expect(undone).toEqual([]);
});

test("a duplicate job id is rejected alone, not with its whole group", async () => {
  const workspaceId = await createWorkspace(db.database);
  const jobId = newId();
  const calls = Array.from({ length: 40 }, (_, index) =>
    outcomeOf(process(0).place(workspaceId, null, hold(index % 20 === 5 ? { jobId } : {}))),
  );
  expect(tally(await Promise.all(calls))).toEqual({ ok: 39, service_unavailable: 1 });
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 39n * CREDIT, holds: 39n });
  // The hold of the first use must not be undone.
  expect(undone).toEqual([]);
});

test("a connection that is killed during a call costs a 503, and the next call has a new one", async () => {
  const workspaceId = await createWorkspace(db.database);
  await db.query(
    "create function wait_for_test() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock_shared(77); return new; end $$",
  );
  await db.query("create trigger wait_for_test after insert on hold for each row execute function wait_for_test()");
  const lost = hold();
  await db.database.transaction(async (tx) => {
    await tx.query("select pg_advisory_xact_lock(77)");
    const call = outcomeOf(process(0).place(workspaceId, null, lost));
    await killWaiting(tx);
    expect(await call).toBe("service_unavailable");
  });
  await db.query("drop trigger wait_for_test on hold");
  expect(undone.splice(0)).toEqual([lost.jobId]);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 0n, holds: 0n });
  expect(await outcomeOf(process(0).place(workspaceId, null, hold()))).toBe("ok");
});

/** Ends the session that waits for the advisory lock of the test. */
async function killWaiting(target: Queryable): Promise<void> {
  for (;;) {
    const killed = await target.query(
      "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 77 and not granted",
    );
    if (killed.length > 0) return;
    await Bun.sleep(5);
  }
}

test("an admission whose answer was lost after its commit is undone", async () => {
  const workspaceId = await createWorkspace(db.database);
  const ledger = openLedger({ database: db.database, log, retryMs: 1_000 });
  // The statement is carried out, then the answer is lost.
  const deaf: Database = {
    ...db.database,
    reserve: (name) => {
      const connection = db.database.reserve(name);
      return {
        async query(text, values, statement) {
          await connection.query(text, values, statement);
          throw new Error("Connection terminated unexpectedly");
        },
      };
    },
  };
  const admission = createCallAdmission({ database: deaf, log, ledger });
  const calls = [hold(), hold(), hold()];
  const outcomes = await Promise.all(calls.map((call) => outcomeOf(admission.place(workspaceId, null, call))));
  expect(outcomes).toEqual(["service_unavailable", "service_unavailable", "service_unavailable"]);
  while ((await balanceOf(db.database, workspaceId)).holds > 0n) await Bun.sleep(20);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 1_000n * CREDIT, held: 0n });
  const records = await db.query("select status, settled from usage_record where workspace_id = $1", [workspaceId]);
  expect(records).toEqual(calls.map(() => ({ status: "failed", settled: 0n })));
  expect(await auditLedger(db.database)).toEqual([]);
});

test("an unavailable database answers 503, and admits nothing", async () => {
  const away = openDatabase({ url: "postgres://nobody@127.0.0.1:1/none", poolMax: 1, log });
  const admission = createCallAdmission({ database: away, log, ledger: { undo: () => undefined } });
  expect(await outcomeOf(admission.place(newId(), 1, hold()))).toBe("service_unavailable");
  expect(await outcomeOf(admission.count(newId(), null))).toBe("service_unavailable");
  await away.close();
});
