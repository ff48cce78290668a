/** Calls on credit lines: each is settled once, whatever happens beside it. The janitor finds a call that nobody settles. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { readBalance } from "#shared/database/credits.ts";
import { openDatabase } from "#shared/database/client.ts";
import { pageHolds } from "#shared/database/holds.ts";
import { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { adjustHold } from "#shared/ledger/adjust.ts";
import { closeByHand } from "#shared/ledger/manual.ts";
import { endLine } from "#shared/ledger/credit-lines.ts";
import { type CreditLineHold, placeCreditLineHold, UnlistedCalls } from "#shared/ledger/credit-line-calls.ts";
import { settleLostCall } from "#shared/ledger/lost.ts";
import { openLedger } from "#shared/ledger/settle.ts";
import { eventually } from "#tests/faults/wait.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { testSeed } from "#tests/support/seed.ts";
import { sweepExpiredHolds } from "#workers/janitor/money.ts";

import { admitLone, balanceOf, createWorkspace, CREDIT, randomOf, settlementOf } from "../accounts.ts";
import { hold, type Ingress, LinesBench, log, shareOf } from "./lines.ts";

let bench: LinesBench;
let db: TestDatabase;
beforeAll(async () => {
  bench = await LinesBench.open();
  ({ db } = bench);
});
afterEach(() => bench.end());
afterAll(() => bench.close());

/** A workspace of 1,000 credits with a line of 10. */
async function withLine(nano = 10n * CREDIT): Promise<{ readonly workspaceId: string; readonly lineId: string }> {
  const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
  return { workspaceId, lineId: await bench.leaveLine(workspaceId, nano) };
}

const recordOf = (jobId: string) => db.query("select held, settled, uncollected, status from usage_record where job_id = $1", [jobId]); // prettier-ignore
const holdsOf = (workspaceId: string) => db.query<{ job_id: string; amount: bigint; line_id: string | null }>("select job_id, amount, line_id from hold where workspace_id = $1", [workspaceId]); // prettier-ignore

describe("a settlement on a line", () => {
  test("waits for no balance, and returns the remainder of its share to the line", async () => {
    const { workspaceId, lineId } = await withLine();
    const jobId = newId();
    await db.database.transaction(async (tx) => {
      await tx.query("select 1 from balance where workspace_id = $1 for update", [workspaceId]);
      expect(await bench.settle(workspaceId, jobId, 3n, shareOf(lineId))).toEqual({ takenNano: 3n, wasClosed: false });
    });
    expect(await recordOf(jobId)).toEqual([{ held: CREDIT, settled: 3n, uncollected: 0n, status: "succeeded" }]);
    expect(await bench.renew(workspaceId, lineId, { drawn: CREDIT })).toEqual([10n * CREDIT - 3n, CREDIT, 0n]);
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({
      amount: 1_000n * CREDIT - 3n,
      held: 10n * CREDIT - 3n,
      day_tokens: 3n,
    });
    await endLine(db.database, lineId);
  });

  test("happens once, for any number of concurrent processes, and released credits stay free", async () => {
    const { workspaceId, lineId } = await withLine();
    const other = openLedger({ database: bench.database, log, retryMs: 20_000 });
    const [paid, free] = [newId(), newId()];
    const settle = (ledger: typeof other) => ledger.settle(settlementOf(workspaceId, paid, 5n, { creditLineHold: shareOf(lineId) })); // prettier-ignore
    const settled = await Promise.all([bench.ledger, other, bench.ledger, other].map(settle));
    expect(settled.map(({ takenNano }) => takenNano)).toEqual([5n, 5n, 5n, 5n]);
    expect(settled.filter(({ wasClosed }) => !wasClosed)).toHaveLength(1);
    expect(await bench.settle(workspaceId, free, null, shareOf(lineId))).toEqual({ takenNano: 0n, wasClosed: false });
    expect(await bench.settle(workspaceId, free, 9n, shareOf(lineId))).toEqual({ takenNano: 0n, wasClosed: true });
    await endLine(db.database, lineId);
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 1_000n * CREDIT - 5n, held: 0n });
  });

  test("of an answer that was delivered after its release charges its cost", async () => {
    const { workspaceId, lineId } = await withLine();
    const [jobId, creditLineHold] = [newId(), shareOf(lineId)];
    await bench.settle(workspaceId, jobId, null, creditLineHold);
    const settled = await bench.ledger.settle(
      settlementOf(workspaceId, jobId, 9n, { creditLineHold, isDelivered: true }),
    );
    expect(settled).toEqual({ takenNano: 9n, wasClosed: true, lateNano: 9n });
    await endLine(db.database, lineId);
  });

  test("charges no more than the call had drawn, unless it may: then also available credits", async () => {
    const { workspaceId, lineId } = await withLine();
    const [bounded, exceeding] = [newId(), newId()];
    expect(await bench.settle(workspaceId, bounded, 3n * CREDIT, shareOf(lineId))).toMatchObject({ takenNano: CREDIT });
    expect(await recordOf(bounded)).toMatchObject([{ uncollected: 2n * CREDIT }]);
    const share = shareOf(lineId, CREDIT, true);
    expect(await bench.settle(workspaceId, exceeding, 500n * CREDIT, share)).toEqual({
      takenNano: 500n * CREDIT,
      wasClosed: false,
    });
    expect(await bench.renew(workspaceId, lineId, { drawn: 2n * CREDIT })).toEqual([8n * CREDIT, 2n * CREDIT, 0n]);
    await endLine(db.database, lineId);
  });

  test("is charged to available credits if its line has ended, or belongs to another workspace", async () => {
    const { workspaceId, lineId } = await withLine();
    const stranger = await withLine();
    const jobs = [newId(), newId(), newId()] as const;
    expect(await bench.settle(workspaceId, jobs[0], 4n, shareOf(stranger.lineId))).toMatchObject({ takenNano: 4n });
    await endLine(db.database, lineId);
    expect(await bench.settle(workspaceId, jobs[1], 4n, shareOf(lineId))).toEqual({ takenNano: 4n, wasClosed: false });
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 1_000n * CREDIT - 8n, held: 0n });
    expect(await bench.lineOf(stranger.workspaceId)).toBe(10n * CREDIT);
    // There is nothing left that it could pay with.
    const rest = newId();
    await admitLone(db.database, { workspaceId, jobId: rest, amount: 1_000n * CREDIT - 8n });
    expect(await bench.settle(workspaceId, jobs[2], 4n, shareOf(lineId))).toEqual({ takenNano: 0n, wasClosed: false });
    expect(await recordOf(jobs[2])).toEqual([{ held: 0n, settled: 0n, uncollected: 4n, status: "succeeded" }]);
    await bench.settle(workspaceId, rest, null);
    await endLine(db.database, stranger.lineId);
  });

  test("whose line has ended recalls others that can pay", async () => {
    const { workspaceId, lineId } = await withLine();
    await bench.leaveLine(workspaceId, 10n * CREDIT);
    await endLine(db.database, lineId);
    const rest = newId();
    await admitLone(db.database, { workspaceId, jobId: rest, amount: 990n * CREDIT });
    const settling = bench.settle(workspaceId, newId(), CREDIT, shareOf(lineId));
    const [settled] = await Promise.all([settling, bench.giveBackWhenRecalled(workspaceId)]);
    expect(settled).toEqual({ takenNano: CREDIT, wasClosed: false });
    await bench.settle(workspaceId, rest, null);
  });

  test("that is repeated in one group happens once, with the figures of the first", async () => {
    const { workspaceId, lineId } = await withLine(50n * CREDIT);
    const twice = await Promise.all(
      Array.from({ length: 40 }, newId).map((jobId) =>
        Promise.all([5n, 9n].map((used) => bench.settle(workspaceId, jobId, used, shareOf(lineId)))),
      ),
    );
    for (const settled of twice) expect(settled.map(({ takenNano }) => takenNano)).toEqual([5n, 5n]);
    await endLine(db.database, lineId);
  });

  test("that its group cannot execute leaves the listed hold, and of two of one call neither is executed", async () => {
    const { workspaceId, lineId } = await withLine(50n * CREDIT);
    const locked = await bench.leaveLine(workspaceId, CREDIT);
    const [plain, busy, exceeding] = [newId(), newId(), newId()] as const;
    const calls = new UnlistedCalls({ database: bench.database, log });
    for (const [jobId, line] of [
      [busy, locked],
      [exceeding, lineId],
    ] as const) {
      calls.add({ workspaceId, jobId, creditLineHold: shareOf(line), at: 0 });
    }
    await calls.listAll();
    await db.database.transaction(async (tx) => {
      await tx.query("select pg_advisory_xact_lock(line_lock($1))", [locked]);
      const taken = await bench.settleTogether(workspaceId, [
        { jobId: plain, lineId, used: 5n },
        ...[9n, 0n].map((used) => ({ jobId: busy, lineId: locked, used })),
        ...[2n, 3n].map((more) => ({ jobId: exceeding, lineId, used: more * CREDIT, mayExceed: true })),
        { jobId: plain, lineId, used: 9n },
      ]);
      expect(taken).toEqual([5n, -1n, -1n, -3n, -3n, null] as never);
    });
    expect((await holdsOf(workspaceId)).map(({ job_id: id }) => id).toSorted()).toEqual([busy, exceeding].toSorted());
    await bench.settle(workspaceId, busy, 9n, shareOf(locked));
    await bench.settle(workspaceId, exceeding, 2n * CREDIT, shareOf(lineId, CREDIT, true));
    for (const id of [lineId, locked]) await endLine(db.database, id);
  });

  test("at midnight starts the new day of its workspace; earlier settlements belong to the previous day", async () => {
    const { workspaceId, lineId } = await withLine();
    await bench.settle(workspaceId, newId(), 5n, shareOf(lineId));
    const yesterday = async (table: string) => db.query(`update ${table} set day = day - 1 where workspace_id = $1`, [workspaceId]); // prettier-ignore
    for (const table of ["balance", "line_settle", "usage_record", "spent_day"]) await yesterday(table);
    await bench.settle(workspaceId, newId(), 7n, shareOf(lineId));
    const today = "select spent from spent_day where workspace_id = $1 and day = (now() at time zone 'utc')::date";
    expect(await db.query(today, [workspaceId])).toEqual([{ spent: 5n }]);
    await endLine(db.database, lineId);
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ day_tokens: 3n });
  });

  test("on a locked line, or at midnight with a locked balance, delays no other workspace", async () => {
    const [locked, midnight, free] = [await withLine(), await withLine(), await withLine()];
    await db.query("update balance set day = day - 1 where workspace_id = $1", [midnight.workspaceId]);
    const settle = (of: typeof free) => bench.settle(of.workspaceId, newId(), 5n, shareOf(of.lineId));
    let waiting = 2;
    const late: Promise<unknown>[] = [];
    await db.database.transaction(async (tx) => {
      await tx.query("select pg_advisory_xact_lock(line_lock($1))", [locked.lineId]);
      await tx.query("select 1 from balance where workspace_id = $1 for update", [midnight.workspaceId]);
      late.push(...[locked, midnight].map((of) => settle(of).then(() => (waiting -= 1))));
      await Promise.all([free, free, free].map(settle));
      await settle(free);
      expect(waiting).toBe(2);
    });
    await Promise.all(late);
    for (const { lineId } of [locked, midnight, free]) await endLine(db.database, lineId);
  });

  test("whose figures the database rejects releases its share, and leaves a fault to an operator", async () => {
    const { workspaceId, lineId } = await withLine();
    const [bad, good] = [newId(), newId()];
    const settled = await Promise.all([
      bench.ledger.settle(settlementOf(workspaceId, bad, 5n, { creditLineHold: shareOf(lineId), tokens: 0.5 })),
      bench.settle(workspaceId, good, 6n, shareOf(lineId)),
    ]);
    expect(settled.map(({ takenNano }) => takenNano)).toEqual([0n, 6n]);
    expect(await db.query("select held, settled from settle_fault where job_id = $1", [bad])).toEqual([
      { held: CREDIT, settled: 0n },
    ]);
    await endLine(db.database, lineId);
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 1_000n * CREDIT - 6n, held: 0n });
  });
});

describe("a call that needs its own hold", () => {
  test("gets one at a fallback's price, out of its line, and is settled with it", async () => {
    const { workspaceId, lineId } = await withLine();
    const [jobId, creditLineHold] = [newId(), shareOf(lineId)];
    await Bun.sleep(200);
    const to = { workspaceId, jobId, attempt: 1, model: "dear", amountNano: 4n * CREDIT, mayExceed: false };
    const adjust = () => adjustHold(bench.database, { ...to, tokensMax: 1, creditLineHold });
    expect(await Promise.all([adjust(), adjust()])).toEqual(["adjusted", "adjusted"]);
    expect(await holdsOf(workspaceId)).toEqual([{ job_id: jobId, amount: 4n * CREDIT, line_id: null }]);
    const age =
      "select extract(epoch from clock_timestamp() - created_at)::float8 between 0.2 and 60 as is_its_own from hold where job_id = $1";
    expect(await db.query(age, [jobId])).toEqual([{ is_its_own: true }]);
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 13n * CREDIT });
    expect(await readBalance(db.database, workspaceId)).toMatchObject({ held: 4n * CREDIT });
    expect(await bench.renew(workspaceId, lineId, { drawn: CREDIT })).toEqual([9n * CREDIT, CREDIT, 0n]);
    expect(await bench.settle(workspaceId, jobId, 2n * CREDIT, creditLineHold)).toEqual({
      takenNano: 2n * CREDIT,
      wasClosed: false,
    });
    expect(await adjust()).toBe("closed");
    expect(await bench.settle(workspaceId, jobId, 1n, creditLineHold)).toEqual({
      takenNano: 2n * CREDIT,
      wasClosed: true,
    });
    await endLine(db.database, lineId);
  });

  test("gets one of the available credits if its line has ended, and none after its settlement", async () => {
    const { workspaceId, lineId } = await withLine();
    const [settled, jobId, rest] = [newId(), newId(), newId()];
    await bench.settle(workspaceId, settled, 5n, shareOf(lineId));
    expect(await placeCreditLineHold(bench.database, { workspaceId, jobId: settled }, shareOf(lineId))).toBe("closed");
    await endLine(db.database, lineId);
    await admitLone(db.database, { workspaceId, jobId: rest, amount: 1_000n * CREDIT - 7n });
    expect(await placeCreditLineHold(bench.database, { workspaceId, jobId }, shareOf(lineId))).toBe("stands");
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 1_000n * CREDIT - 5n, holds: 2n });
    expect(await bench.settle(workspaceId, jobId, 9n, shareOf(lineId))).toEqual({ takenNano: 2n, wasClosed: false });
    await bench.settle(workspaceId, rest, null);
  });
});

describe("a call that is open for a second", () => {
  async function startLong(): Promise<{
    of: ReturnType<typeof hold>;
    lined: CreditLineHold;
    workspaceId: string;
    ingress: Ingress;
  }> {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    const ingress = bench.startIngress();
    await bench.openLine(ingress, workspaceId);
    const of = hold(2n * CREDIT, { lifeMs: 60_000, labels: { user: "ada" } });
    const lined = await eventually("a call is admitted on a line", () => ingress.calls.place(workspaceId, null, of));
    await eventually("it is shown", async () => (await holdsOf(workspaceId)).length === 1);
    return { of, lined, workspaceId, ingress };
  }

  test("is listed among the holds, as part of the held credits, until it is settled", async () => {
    const { of, lined, workspaceId } = await startLong();
    expect(await holdsOf(workspaceId)).toEqual([{ job_id: of.jobId, amount: 2n * CREDIT, line_id: lined.lineId }]);
    expect(await readBalance(db.database, workspaceId)).toMatchObject({ held: 2n * CREDIT });
    const [shown] = await pageHolds(db.database, { after: null, limit: 1, isOverdue: null, isUnknown: null });
    expect(shown).toMatchObject({ job_id: of.jobId, key_id: of.keyId, model: of.model, is_overdue: false });
    expect(Date.now() - (shown?.created_at.getTime() ?? 0)).toBeGreaterThan(150);
    expect(await bench.settle(workspaceId, of.jobId, 5n, lined)).toEqual({ takenNano: 5n, wasClosed: false });
    expect(await holdsOf(workspaceId)).toEqual([]);
  });

  test.each([
    [0n, "is released"],
    [7n, "pays for what was relayed"],
  ])("without a settlement is found by the janitor: relayed at %d it %s", async (nano) => {
    const { of, workspaceId } = await startLong();
    if (nano > 0n) {
      await db.query(
        "insert into relay_progress (workspace_id, job_id, amount, tokens, units) values ($1, $2, $3, 1, '{}')",
        [workspaceId, of.jobId, nano],
      );
    }
    await db.query("update hold set deadline = now() - interval '1 second' where job_id = $1", [of.jobId]);
    const { ledger, metrics } = bench;
    await sweepExpiredHolds({ database: db.database, ledger, log, metrics, startedMs: 0 });
    expect(await holdsOf(workspaceId)).toEqual([]);
    expect(await recordOf(of.jobId)).toEqual([{ held: 2n * CREDIT, settled: nano, uncollected: 0n, status: "lost" }]);
    const labels = await db.query("select labels from usage_record where job_id = $1", [of.jobId]);
    expect(labels).toEqual([{ labels: { user: "ada" } }]);
  });

  test("can be closed by hand, and by a later delivery of its message", async () => {
    const one = await startLong();
    const actor = { kind: "operator", name: "ada", id: newId() } as const;
    const close = { jobId: one.of.jobId, attempt: 1, amountNano: CREDIT, isEarly: true, note: null };
    expect(await closeByHand(bench.database, close, actor as never)).toEqual({
      result: "closed",
      workspaceId: one.workspaceId,
      heldNano: 2n * CREDIT,
      takenNano: CREDIT,
    });
    expect(await bench.settle(one.workspaceId, one.of.jobId, 5n, one.lined)).toEqual({
      takenNano: CREDIT,
      wasClosed: true,
    });
    const other = await startLong();
    const { workspaceId, of, lined: creditLineHold } = other;
    const lost = () =>
      settleLostCall(bench.database, bench.ledger, { workspaceId, jobId: of.jobId, attempt: 1, creditLineHold });
    expect(await lost()).toEqual({ takenNano: 0n, wasClosed: false });
    expect(await lost()).toEqual({ takenNano: 0n, wasClosed: true });
    expect(await holdsOf(workspaceId)).toEqual([]);
  });

  test("keeps its hold when its line ends", async () => {
    const { of, lined, workspaceId } = await startLong();
    await endLine(db.database, lined.lineId);
    expect(await readBalance(db.database, workspaceId)).toMatchObject({ held: 2n * CREDIT });
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 2n * CREDIT, holds: 1n });
    expect(await bench.settle(workspaceId, of.jobId, 5n, lined)).toEqual({ takenNano: 5n, wasClosed: false });
  });

  test("is listed although another line is locked, whose calls are listed later", async () => {
    const [locked, free] = [await withLine(), await withLine()];
    const calls = new UnlistedCalls({ database: bench.database, log });
    for (const { workspaceId, lineId } of [locked, free]) {
      calls.add({ workspaceId, jobId: newId(), creditLineHold: shareOf(lineId), at: 0 });
    }
    await db.database.transaction(async (tx) => {
      await tx.query("select pg_advisory_xact_lock_shared(line_lock($1))", [locked.lineId]);
      await calls.listDue();
      expect(await holdsOf(free.workspaceId)).toHaveLength(1);
      expect(calls.size).toBe(1);
    });
    await calls.listDue();
    expect(calls.size).toBe(0);
    for (const { workspaceId, lineId } of [locked, free]) {
      for (const { job_id: jobId } of await holdsOf(workspaceId)) {
        await bench.settle(workspaceId, jobId, null, shareOf(lineId));
      }
      await endLine(db.database, lineId);
    }
  });

  test("is listed once, for any duration", async () => {
    const { workspaceId, lineId } = await withLine();
    let statements = 0;
    const database = bench.through(async (name, run) => {
      if (name === "show_lined_calls") {
        statements += 1;
        await Bun.sleep(50);
      }
      return run();
    });
    const calls = new UnlistedCalls({ database, log });
    const jobId = newId();
    calls.add({ workspaceId, jobId, creditLineHold: shareOf(lineId), at: 0 });
    await Promise.all(Array.from({ length: 20 }, () => calls.listDue()));
    await calls.listDue();
    expect(statements).toBe(1);
    await bench.settle(workspaceId, jobId, null, shareOf(lineId));
    await endLine(db.database, lineId);
  });

  test("and settled while it is being listed leaves no hold", async () => {
    const { workspaceId, lineId } = await withLine(90n * CREDIT);
    const jobs = Array.from({ length: 300 }, newId);
    const show = (jobId: string) =>
      db.query(
        "select show_lined_calls($1, $2, array[$3::uuid], array[$4::uuid], array['m'], array[$5::bigint], array[false], array[0::bigint], array[60000::bigint])",
        [workspaceId, lineId, jobId, newId(), CREDIT / 10n],
      );
    const meet = async (jobId: string, at: number): Promise<void> => {
      await Promise.all([
        Bun.sleep(at % 3).then(() => show(jobId)),
        bench.ledger.settle(settlementOf(workspaceId, jobId, 1n, { creditLineHold: shareOf(lineId, CREDIT / 10n) })),
      ]);
    };
    for (let from = 0; from < jobs.length; from += 6) await Promise.all(jobs.slice(from, from + 6).map(meet));
    expect(await holdsOf(workspaceId)).toEqual([]);
    await endLine(db.database, lineId);
  });
});

test("a thousand calls of two ingresses, which settle, move, die or lose their connections at any moment, are each charged once", async () => {
  const seed = testSeed("credit lines");
  const random = randomOf(seed);
  const workspaceId = await createWorkspace(db.database, 2_000n * CREDIT);
  const own = openDatabase({ url: db.url, poolMax: 4, log });
  const ledgers = [bench.ledger, openLedger({ database: own, log, retryMs: 20_000 })];
  const ingresses = [bench.startIngress(), bench.startIngress(own)];
  for (const ingress of ingresses) await bench.openLine(ingress, workspaceId, CREDIT / 5n);
  const cut = setInterval(() => {
    if (random(10) > 0) return;
    void db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and application_name ~ $1`,
      [random(2) === 0 ? "admission" : "settle"],
    );
  }, 20);
  let paid = 0n;
  let lined = 0;
  const work: Promise<unknown>[] = [];
  for (let call = 0; call < 1_000; call++) {
    const of = hold(BigInt(1 + random(100)) * (CREDIT / 100n));
    const ingress = ingresses[random(2)] as Ingress;
    const serve = async (): Promise<void> => {
      const share = await ingress.calls.place(workspaceId, null, of);
      if (share) lined += 1;
      if (random(2) === 0) await Bun.sleep(random(30));
      // Some live long enough to be shown, and some move to another price.
      if (random(20) === 0) await Bun.sleep(300);
      if (random(10) === 0) {
        const to = { workspaceId, jobId: of.jobId, attempt: 1, model: "dear", amountNano: 2n * of.amountNano };
        await adjustHold(db.database, { ...to, mayExceed: false, tokensMax: 1, creditLineHold: share }).catch(
          () => undefined,
        );
      }
      const used = random(4) === 0 ? null : BigInt(random(1_000));
      // The ingress settles it as well now and then.
      const settled = await Promise.all(
        Array.from({ length: 1 + random(2) }, (_, at) =>
          (ledgers[at] as typeof bench.ledger).settle(
            settlementOf(workspaceId, of.jobId, used, { creditLineHold: share }),
          ),
        ),
      );
      ingress.lines.forget(of.jobId);
      for (const { takenNano, wasClosed } of settled) if (!wasClosed) paid += takenNano;
      expect(settled.every(({ takenNano }) => takenNano === (used ?? 0n))).toBe(true);
    };
    work.push(serve().catch((error: unknown) => expect(error).toBeInstanceOf(ApiError)));
    if (call % 20 === 0) await Bun.sleep(5);
  }
  await Promise.all(work);
  clearInterval(cut);
  expect(lined).toBeGreaterThan(100);
  await Promise.all(ledgers.map((ledger) => ledger.idle()));
  expect(await holdsOf(workspaceId)).toEqual([]);
  await Promise.all(ingresses.map(({ lines }) => lines.close()));
  const balance = await balanceOf(db.database, workspaceId);
  const [recorded] = await db.query<{ sum: bigint }>("select sum(settled)::bigint as sum from usage_record where workspace_id = $1", [workspaceId]); // prettier-ignore
  expect({ seed, spent: 2_000n * CREDIT - balance.amount }).toEqual({ seed, spent: recorded?.sum ?? 0n });
  // A settle whose answer was lost with its connection finds that it is closed.
  expect(paid).toBeLessThanOrEqual(recorded?.sum ?? 0n);
  await own.close();
}, 60_000);
