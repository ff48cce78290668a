/** Credit lines: when they are opened, how much they have, who gets them back, and that nothing is lost with a process. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { admitCall } from "#shared/calls/admit.ts";
import { readBalance } from "#shared/database/credits.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createJobAdmission, type JobRequest } from "#shared/jobs/admission.ts";
import { moveByHand } from "#shared/ledger/manual.ts";
import type { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { adjustHold } from "#shared/ledger/adjust.ts";
import type { CallAdmission, HoldRequest } from "#shared/ledger/call-admission.ts";
import { endLine } from "#shared/ledger/credit-lines.ts";
import { eventually } from "#tests/faults/wait.ts";
import { sweepCreditLines } from "#workers/janitor/money.ts";

import {
  admitLone,
  balanceOf,
  createWorkspace,
  CREDIT,
  outcomeOf,
  settleGroup,
  settlementOf,
  settleSingle,
  stopCalls,
} from "../accounts.ts";
import { hold, LinesBench, log, shareOf } from "./lines.ts";

let bench: LinesBench;
let db: TestDatabase;
beforeAll(async () => {
  bench = await LinesBench.open();
  ({ db } = bench);
});
afterEach(() => bench.end());
afterAll(() => bench.close());

/** The row of a balance, as it was written last. */
async function rowOf(workspaceId: string): Promise<object | undefined> {
  const [row] = await db.query("select xmin::text, amount, held, spent from balance where workspace_id = $1", [workspaceId]); // prettier-ignore
  return row;
}

describe("a busy workspace", () => {
  test("gets a line, and its calls are admitted and settled without its balance, which is updated at a renewal", async () => {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    const ingress = bench.startIngress();
    const { lineId } = await bench.openLine(ingress, workspaceId);
    const of = hold();
    const lined = await ingress.calls.place(workspaceId, null, of);
    expect(lined).toMatchObject({ lineId, keyId: of.keyId, model: "test-model", amountNano: CREDIT, mayExceed: false });
    // As far as it is not renewed right now.
    await eventually("a call leaves the balance as it was", async () => {
      const before = await rowOf(workspaceId);
      const next = hold();
      const share = await ingress.calls.place(workspaceId, null, next);
      if (!share) return false;
      expect(await bench.settle(workspaceId, next.jobId, 7n, share)).toEqual({ takenNano: 7n, wasClosed: false });
      ingress.lines.forget(next.jobId);
      return Bun.deepEquals(await rowOf(workspaceId), before);
    });
    const { amount, held } = await readBalance(db.database, workspaceId);
    // People see what they have spent, and what they can spend.
    expect(10_000n * CREDIT - amount).toBeGreaterThanOrEqual(7n);
    expect(held).toBe(0n);
    expect(await bench.lineOf(workspaceId)).toBeGreaterThan(200n * CREDIT);
    await bench.settle(workspaceId, of.jobId, 5n, lined);
    const [spent] = await db.query<{ sum: bigint }>("select sum(settled)::bigint as sum from usage_record where workspace_id = $1", [workspaceId]); // prettier-ignore
    await eventually("it is booked", async () => {
      const balance = await balanceOf(db.database, workspaceId);
      return 10_000n * CREDIT - balance.amount === spent?.sum;
    });
  });

  test("returns its line when it is no longer busy, and when its ingress stops", async () => {
    const [one, other] = [
      await createWorkspace(db.database, 10_000n * CREDIT),
      await createWorkspace(db.database, 10_000n * CREDIT),
    ];
    const ingress = bench.startIngress();
    await bench.openLine(ingress, one);
    await eventually("the line is given back", async () => (await bench.lineOf(one)) === undefined);
    await bench.openLine(ingress, other);
    await ingress.lines.close();
    expect(await db.query("select from credit_line where workspace_id = any ($1)", [[one, other]])).toEqual([]);
    expect(await balanceOf(db.database, one)).toMatchObject({ held: 0n, holds: 0n });
    expect(await bench.callOften(ingress, other)).toBeUndefined();
  });

  test("that is busy again gets a new line while earlier calls are still open on it", async () => {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    const ingress = bench.startIngress();
    const { lineId } = await bench.openLine(ingress, workspaceId);
    const long = hold();
    const lined = await eventually("a call is admitted on it", () => ingress.calls.place(workspaceId, null, long));
    await eventually("what is free is given back", async () => (await bench.lineOf(workspaceId)) === CREDIT);
    expect(await readBalance(db.database, workspaceId)).toEqual({ amount: 10_000n * CREDIT, held: CREDIT });
    expect(await bench.openLine(ingress, workspaceId)).toMatchObject({ lineId });
    await bench.settle(workspaceId, long.jobId, 3n, lined);
    await eventually("the line is given back", async () => (await bench.lineOf(workspaceId)) === undefined);
  });

  test.each([
    ["with a limit", 4_000, {}],
    ["with a daily cap", null, { dailyTokens: 1_000_000 }],
    ["that cost nothing", null, { amountNano: 0n }],
  ] as const)("has no line for calls %s", async (_, limit, changes) => {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    const ingress = bench.startIngress();
    expect(await bench.callOften(ingress, workspaceId, { limit, changes })).toBeUndefined();
    expect(await bench.lineOf(workspaceId)).toBeUndefined();
  });

  test("with a budget that stops calls has no line", async () => {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    await db.query(
      "insert into budget_alert (id, workspace_id, name, threshold, period, stops_calls) values ($1, $2, 'far', $3, 'daily', true)",
      [newId(), workspaceId, 9_000n * CREDIT],
    );
    const jobId = newId();
    await admitLone(db.database, { workspaceId, jobId, amount: 1n });
    await settleSingle(db.database, { jobId, used: 1n });
    await db.query("select set_budget_bounds($1)", [workspaceId]);
    expect(await bench.callOften(bench.startIngress(), workspaceId)).toBeUndefined();
  });

  test("includes one whose few calls at an ingress wait long for their holds", async () => {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    const ingress = bench.startIngress();
    const of = hold();
    const locked = db.database.transaction(async (tx) => {
      await tx.query("select 1 from balance where workspace_id = $1 for update", [workspaceId]);
      await Bun.sleep(600);
    });
    expect(await ingress.calls.place(workspaceId, null, of)).toBeUndefined();
    await locked;
    await bench.settle(workspaceId, of.jobId, null);
    await eventually("a line is opened", async () => (await bench.lineOf(workspaceId)) !== undefined);
  });
});

test("a call whose response is stored waits for its hold, which identifies it", async () => {
  const asked: (boolean | undefined)[] = [];
  const place: CallAdmission["place"] = (_, __, { canUseCreditLine }) => {
    asked.push(canUseCreditLine);
    return Promise.resolve(undefined);
  };
  const of = {
    id: newId(),
    caller: { workspaceId: newId(), keyId: newId(), preset: { requests_per_minute: null, daily_tokens: null } },
  };
  const facts = { model: { slug: "m" }, bound: { holdNano: 1n, mayExceed: false, tokensMax: 1, outputTokensMax: 1 } };
  const { metrics } = bench;
  await admitCall({ calls: { place }, metrics }, of as never, facts as never, 1_000);
  await admitCall({ calls: { place }, metrics }, of as never, { ...facts, response: {} } as never, 1_000);
  expect(asked).toEqual([true, false]);
});

describe("the counts of a workspace", () => {
  test("include calls on its lines as soon as a call with a limit needs them", async () => {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    const lineId = await bench.leaveLine(workspaceId, CREDIT);
    const limited = () => bench.startIngress().calls.count(workspaceId, 50);
    for (const calls of [40, 48]) await bench.renew(workspaceId, lineId, { calls });
    // A renewal whose answer was lost comes again.
    await bench.renew(workspaceId, lineId, { calls: 48 });
    expect(await outcomeOf(limited())).toBe("ok");
    expect(await outcomeOf(limited())).toBe("ok");
    expect(await outcomeOf(limited())).toBe("rate_limit_exceeded");
    await bench.renew(workspaceId, lineId, { calls: 20_000 });
    expect(await outcomeOf(bench.startIngress().calls.count(workspaceId, 4_000))).toBe("rate_limit_exceeded");
    // They leave it a minute after they were made, whatever was counted between.
    const soon = await createWorkspace(db.database, CREDIT);
    await db.query("insert into lined_calls (workspace_id, at_ms, calls) values ($1, (extract(epoch from clock_timestamp()) * 1000)::bigint - 59800, 100)", [soon]); // prettier-ignore
    expect(await outcomeOf(bench.startIngress().calls.count(soon, null))).toBe("ok");
    await Bun.sleep(300);
    expect(await outcomeOf(bench.startIngress().calls.count(soon, 2))).toBe("ok");
    // Those that went out of the window before anyone needed them are in none.
    const other = await createWorkspace(db.database, 10_000n * CREDIT);
    const old = await bench.leaveLine(other, CREDIT);
    await bench.renew(other, old, { calls: 500 });
    await db.query("update lined_calls set at_ms = at_ms - 61000");
    expect(await outcomeOf(bench.startIngress().calls.count(other, 1))).toBe("ok");
    await bench.renew(other, old, { calls: 501 });
    await db.query("update lined_calls set at_ms = at_ms - 61000");
    await sweepCreditLines({ database: db.database, log, startedMs: 0 });
    expect(await db.query("select from lined_calls")).toEqual([]);
    for (const id of [lineId, old]) await endLine(db.database, id);
  });

  test("include their tokens before a daily cap is checked, and their credits before a budget is", async () => {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    const lineId = await bench.leaveLine(workspaceId, 100n * CREDIT);
    for (let call = 0; call < 5; call++) await bench.settle(workspaceId, newId(), 7n, shareOf(lineId));
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 10_000n * CREDIT, day_tokens: 0n });
    const capped = hold(CREDIT, { dailyTokens: 15, tokensMax: 100 });
    const { calls } = bench.startIngress();
    expect(await outcomeOf(calls.place(workspaceId, null, capped))).toBe("daily_tokens_exceeded");
    expect(await outcomeOf(calls.place(workspaceId, null, { ...capped, dailyTokens: 16 }))).toBe("ok");
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({
      amount: 10_000n * CREDIT - 35n,
      day_tokens: 115n,
    });
    await bench.settle(workspaceId, newId(), 7n, shareOf(lineId));
    await db.query(
      "insert into budget_alert (id, workspace_id, name, threshold, period) values ($1, $2, 'any', 1, 'daily')",
      [newId(), workspaceId],
    );
    expect(await db.query("select spent from budgets_now($1, now())", [workspaceId])).toEqual([{ spent: 42n }]);
    await db.query("select set_budget_bounds($1)", [workspaceId]);
    expect(await db.query("select spent from balance where workspace_id = $1", [workspaceId])).toEqual([
      { spent: 42n },
    ]);
    await bench.settle(workspaceId, capped.jobId, null);
    await endLine(db.database, lineId);
  });
});

describe("the sum of all lines", () => {
  test("is a tenth of the available credits, and a workspace that spends its last credits has none", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const extend = (more: bigint, id = newId()) => bench.renew(workspaceId, id, { more }, true);
    const first = newId();
    expect(await extend(6n, first)).toEqual([6n, 0n, 0n]);
    expect(await extend(6n)).toEqual([4n, 0n, 0n]);
    expect(await extend(6n)).toEqual([0n, 0n, 0n]);
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 10n });
    // What its calls have drawn is held, and no part of that.
    expect(await bench.renew(workspaceId, first, { drawn: 5n, more: 6n })).toEqual([10n, 0n, 0n]);
    await admitLone(db.database, { workspaceId, jobId: newId(), amount: 81n });
    expect(await bench.renew(workspaceId, first, { drawn: 5n })).toEqual([10n, 0n, 1n]);
    expect(await bench.renew(workspaceId, first, { drawn: 5n, givesBack: true })).toEqual([5n, 0n, 1n]);
    expect(await bench.renew(workspaceId, first, { drawn: 5n, givesBack: true })).toEqual([5n, 0n, 1n]);
    for (const { id } of await db.query<{ id: string }>("select id from credit_line where workspace_id = $1", [
      workspaceId,
    ])) {
      await endLine(db.database, id);
      await endLine(db.database, id);
    }
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 81n });
  });

  /** A busy ingress with a line of about 100 credits of 1,000, which goes on making calls until told to stop. */
  async function keepBusy(workspaceId: string): Promise<() => Promise<void>> {
    const ingress = bench.startIngress(bench.database, { barredMs: 200 });
    await bench.openLine(ingress, workspaceId);
    expect(await bench.lineOf(workspaceId)).toBeGreaterThan(90n * CREDIT);
    const stopping = new AbortController();
    const call = async (): Promise<void> => {
      const of = hold(CREDIT / 10n);
      const lined = await ingress.calls.place(workspaceId, null, of).catch(() => undefined);
      await bench.settle(workspaceId, of.jobId, null, lined);
      ingress.lines.forget(of.jobId);
    };
    const work = (async () => {
      while (!stopping.signal.aborted) {
        await Promise.all(Array.from({ length: 12 }, call));
        await Bun.sleep(20);
      }
    })();
    return () => {
      stopping.abort();
      return work;
    };
  }

  test("blocks no call: a call at another ingress that needs the credits gets them, and is counted once", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    const stop = await keepBusy(workspaceId);
    const { calls } = bench.startIngress();
    await calls.check(workspaceId, 4_000, 950n * CREDIT);
    const large = hold(950n * CREDIT);
    expect(await outcomeOf(calls.place(workspaceId, 4_000, large))).toBe("ok");
    await stop();
    await eventually("its lines are given back", async () => (await bench.lineOf(workspaceId)) === undefined);
    const counted = async () => (await db.query<{ calls: bigint }>("select calls from rate_window where workspace_id = $1", [workspaceId]))[0]?.calls ?? 0n; // prettier-ignore
    // Calls on the lines are in the window after it.
    await calls.count(workspaceId, 4_000);
    const before = await counted();
    expect(await outcomeOf(calls.place(workspaceId, 4_000, hold(51n * CREDIT)))).toBe("insufficient_credits");
    expect(await counted()).toBe(before + 1n);
    await bench.settle(workspaceId, large.jobId, null);
  });

  test("blocks no durable job, fallback at a higher price, answer beyond its hold, or operator's correction", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    const stop = await keepBusy(workspaceId);
    const { hold: needed, ...job } = jobOf(workspaceId, 950n * CREDIT);
    expect(
      await createJobAdmission({ database: bench.database }).admit({ ...job, terms: { hold: needed } }),
    ).toMatchObject({
      kind: "admitted",
    });
    await bench.settle(workspaceId, job.id, null);

    await openLineAgain(workspaceId);
    const moved = newId();
    await admitLone(db.database, { workspaceId, jobId: moved, amount: CREDIT });
    const to = {
      workspaceId,
      jobId: moved,
      attempt: 1,
      model: "dear",
      amountNano: 990n * CREDIT,
      mayExceed: false,
      tokensMax: 1,
    };
    expect(await adjustHold(bench.database, to)).toBe("adjusted");
    await bench.settle(workspaceId, moved, null);

    await openLineAgain(workspaceId);
    const long = newId();
    await admitLone(db.database, { workspaceId, jobId: long, amount: CREDIT, mayExceed: true });
    expect((await bench.settle(workspaceId, long, 990n * CREDIT)).takenNano).toBe(990n * CREDIT);
    await stop();
    await eventually("the line is given back", async () => (await bench.lineOf(workspaceId)) === undefined);

    const { amount } = await readBalance(db.database, workspaceId);
    await bench.leaveLine(workspaceId, CREDIT);
    const actor = { kind: "operator", name: "ada", id: newId() } as const;
    const move = { kind: "correction", amountNano: -amount, sourceId: newId(), note: null } as const;
    const made = moveByHand(bench.database, workspaceId, move, actor as never);
    await Bun.sleep(50);
    for (const { id } of await db.query<{ id: string }>("select id from credit_line where workspace_id = $1", [
      workspaceId,
    ])) {
      await endLine(db.database, id);
    }
    expect(await made).toEqual({ result: "moved" });
  });

  test("of a dead ingress is awaited once", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    const lineId = await bench.leaveLine(workspaceId, 100n * CREDIT);
    const { calls } = bench.startIngress();
    const placed = outcomeOf(calls.place(workspaceId, null, hold(950n * CREDIT)));
    await bench.passRecall(workspaceId);
    expect(await placed).toBe("insufficient_credits");
    const recall = "select recall_credit_lines($1, $2) as covered";
    expect(await db.query(recall, [workspaceId, 950n * CREDIT])).toEqual([{ covered: null }]);
    expect(await outcomeOf(calls.check(workspaceId, null, 950n * CREDIT))).toBe("insufficient_credits");
    await endLine(db.database, lineId);
  });

  test("of a dead ingress is released after ten seconds, except what its calls may have drawn", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    const lineId = await bench.leaveLine(workspaceId, 100n * CREDIT, { most: 30n * CREDIT });
    // Two of its calls are settled, the balance has not booked them, and others may run.
    await bench.settle(workspaceId, newId(), 5n * CREDIT, shareOf(lineId, 10n * CREDIT));
    await bench.settle(workspaceId, newId(), null, shareOf(lineId, 10n * CREDIT));
    const { calls } = bench.startIngress();
    const all = 900n * CREDIT;
    await calls.place(workspaceId, null, hold(all));
    const missed = async (nano: bigint, seconds: number): Promise<unknown> => {
      await bench.age(workspaceId, seconds);
      await db.query("update credit_line set recalled_at = now() - interval '1 minute' where workspace_id = $1", [workspaceId]); // prettier-ignore
      return calls.place(workspaceId, null, hold(nano)).catch(({ code, headers }: ApiError) => [code, headers["retry-after"]]); // prettier-ignore
    };
    expect(await missed(CREDIT, 0)).toEqual(["insufficient_credits", undefined]);
    expect(await missed(85n * CREDIT, 4)).toEqual(["insufficient_credits", "6"]);
    const untilItEnds = (await missed(95n * CREDIT, 1)) as [string, string];
    expect(Number(untilItEnds[1])).toBeWithin(30, 61);
    expect(await missed(96n * CREDIT, 1)).toEqual(["insufficient_credits", undefined]);
    const look = await calls.check(workspaceId, null, 85n * CREDIT).catch(({ headers }: ApiError) => headers);
    expect(look).toEqual({ "retry-after": "4" });
    expect(await missed(85n * CREDIT, 5)).toBeUndefined();
    expect(await bench.lineOf(workspaceId)).toBe(10n * CREDIT);
    // The ten credits that its calls may yet take are there for them.
    await bench.settle(workspaceId, newId(), 10n * CREDIT, shareOf(lineId, 10n * CREDIT));
    expect(await db.query("select * from audit_present(false)")).toEqual([]);
    await endLine(db.database, lineId);
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 985n * CREDIT, held: 985n * CREDIT });
  });

  test("of a dead ingress delays durable work that needs it, until it is released", async () => {
    const workspaceId = await createWorkspace(db.database, 100n * CREDIT);
    await bench.leaveLine(workspaceId, 10n * CREDIT, { most: 0n });
    const { calls } = bench.startIngress();
    await calls.place(workspaceId, null, hold(90n * CREDIT));
    const jobs = createJobAdmission({ database: db.database });
    const offer = (nano: bigint, more: Partial<JobRequest> = {}): JobRequest => {
      const { hold: needed, ...job } = jobOf(workspaceId, nano);
      return { ...job, terms: { hold: needed }, ...more };
    };
    await bench.age(workspaceId, 5);
    await db.query("update credit_line set recalled_at = now() - interval '1 minute' where workspace_id = $1", [workspaceId]); // prettier-ignore
    const message = offer(5n * CREDIT, { ifFull: "wait" });
    expect(await jobs.admit(message)).toMatchObject({ kind: "full", isForFunds: true });
    const step = { runId: newId(), stepId: "a" };
    expect(await outcomeOf(jobs.admit(offer(5n * CREDIT, { ifFull: "refuse", step })))).toBe("overloaded");
    const refused = await jobs
      .admit(offer(5n * CREDIT, { ifFull: "refuse" }))
      .catch((error: unknown) => error as ApiError);
    expect(refused).toMatchObject({ code: "insufficient_credits", headers: { "retry-after": "5" } });
    expect(await jobs.admit(offer(11n * CREDIT, { ifFull: "wait" }))).toMatchObject({ kind: "refused" });
    await bench.age(workspaceId, 6);
    expect(await jobs.admit(message)).toMatchObject({ kind: "admitted" });
  });

  test("is recalled once, for any number of calls and amounts", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    const lineId = await bench.leaveLine(workspaceId, 100n * CREDIT);
    let recalls = 0;
    const { calls } = bench.startIngress(
      bench.through((name, run) => {
        if (name === "recall_credit_lines") recalls += 1;
        return run();
      }),
    );
    const many = Array.from({ length: 100 }, (_, at) =>
      outcomeOf(calls.place(workspaceId, null, hold(950n * CREDIT + BigInt(at)))),
    );
    await bench.passRecall(workspaceId);
    expect(new Set(await Promise.all(many))).toEqual(new Set(["insufficient_credits"]));
    expect(recalls).toBeLessThan(100);
    await endLine(db.database, lineId);
  });
});

/** Waits until the ingress that keeps the workspace busy has a line of it once more. */
async function openLineAgain(workspaceId: string): Promise<void> {
  await eventually("a line is open", async () => ((await bench.lineOf(workspaceId)) ?? 0n) > 20n * CREDIT);
}

function jobOf(workspaceId: string, amountNano: bigint): Omit<JobRequest, "terms"> & { readonly hold: HoldRequest } {
  const { canUseCreditLine: _, ...of } = hold(amountNano);
  return {
    id: of.jobId,
    workspaceId,
    keyId: of.keyId,
    pool: "image",
    lane: "live",
    kind: "images",
    modality: "image",
    model: of.model,
    work: {},
    request: { text: "{}" },
    publisherKey: null,
    reply: null,
    limit: 4_000,
    ifFull: "refuse",
    lifeMs: 60_000,
    hold: of,
  };
}

describe("an answer beyond balance and hold", () => {
  test("is charged to the line, although that does not suffice", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n);
    await bench.leaveLine(workspaceId, 100n);
    const jobId = newId();
    await admitLone(db.database, { workspaceId, jobId, amount: 900n, mayExceed: true });
    const [settled] = await Promise.all([
      bench.settle(workspaceId, jobId, 1_100n),
      bench.giveBackWhenRecalled(workspaceId),
    ]);
    expect(settled.takenNano).toBe(1_000n);
  });

  test("does so in a group as well, with the credits that earlier calls leave", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n);
    await bench.leaveLine(workspaceId, 100n);
    const [one, other] = [newId(), newId()];
    await admitLone(db.database, { workspaceId, jobId: one, amount: 500n });
    await admitLone(db.database, { workspaceId, jobId: other, amount: 400n, mayExceed: true });
    const both = settleGroup(db.database, [{ jobId: one, used: 0n }, { jobId: other, used: 980n }], { waitMs: 1_000 }); // prettier-ignore
    expect(await both).toEqual([0n, -1n]);
    await bench.giveBackWhenRecalled(workspaceId);
    expect((await bench.settle(workspaceId, other, 980n)).takenNano).toBe(980n);
  });

  test("does when it was delivered after its hold was released", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n);
    await bench.leaveLine(workspaceId, 100n);
    const [late, rest] = [newId(), newId()];
    await admitLone(db.database, { workspaceId, jobId: late, amount: 50n });
    await bench.settle(workspaceId, late, null);
    await admitLone(db.database, { workspaceId, jobId: rest, amount: 900n });
    const settling = bench.ledger.settle(settlementOf(workspaceId, late, 50n, { isDelivered: true }));
    const [settled] = await Promise.all([settling, bench.giveBackWhenRecalled(workspaceId)]);
    expect(settled).toEqual({ takenNano: 50n, wasClosed: true, lateNano: 50n });
    await bench.settle(workspaceId, rest, null);
  });
});

describe("an ingress's state of its line", () => {
  test("is that of its last statement: a lost answer changes nothing when it arrives after later ones", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    const lineId = await bench.leaveLine(workspaceId, 90n * CREDIT);
    await bench.renew(workspaceId, lineId, { drawn: 40n * CREDIT, calls: 40, turn: 1_000 });
    const late = { drawn: CREDIT, calls: 1, turn: 999 };
    expect(await bench.renew(workspaceId, lineId, { ...late, givesBack: true })).toEqual([90n * CREDIT, 0n, 0n]);
    expect(await bench.renew(workspaceId, lineId, { ...late, more: CREDIT })).toEqual([90n * CREDIT, 0n, 0n]);
    expect(await db.query("select sum(calls)::int as calls from lined_calls where workspace_id = $1", [workspaceId])).toEqual([{ calls: 40 }]); // prettier-ignore
    await endLine(db.database, lineId);
  });

  test("that is too high blocks nothing: the difference is charged to the available credits", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    const lineId = await bench.leaveLine(workspaceId, 10n * CREDIT);
    await db.query("update credit_line set amount = 1 where id = $1", [lineId]);
    await db.query("update balance set held = 1 where workspace_id = $1", [workspaceId]);
    await bench.settle(workspaceId, newId(), 5n, shareOf(lineId));
    expect(await db.query("select fault from audit_present(false)")).toEqual([
      { fault: "more was taken out of a credit line than it has" },
    ]);
    await endLine(db.database, lineId);
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 1_000n * CREDIT - 5n, held: 0n });
  });

  test("never exceeds the actual line, for any number of lost renewal answers", async () => {
    // The line has 100 credits, so it runs low every 50 calls.
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    let renewals = 0;
    const ingress = bench.startIngress(
      bench.through(async (name, run) => {
        const rows = await run();
        if (name === "renew_credit_line" && renewals++ % 3 > 0) throw new Error("Connection terminated unexpectedly");
        return rows;
      }),
    );
    const { lineId } = await bench.openLine(ingress, workspaceId);
    let lined = 0;
    const faults: unknown[] = [];
    await eventually("calls are admitted on it while answers of renewals are lost", async () => {
      for (let call = 0; call < 10; call++) {
        const of = hold();
        const share = await ingress.calls.place(workspaceId, null, of);
        if (share?.lineId === lineId) lined += 1;
        // Calls beside the line are free: any number of them may be needed until an answer arrives.
        await bench.settle(workspaceId, of.jobId, share?.lineId === lineId ? CREDIT : 0n, share);
        ingress.lines.forget(of.jobId);
      }
      faults.push(...(await db.query("select fault from audit_present(false)")));
      return lined > 100 && renewals > 6;
    });
    expect(faults).toEqual([]);
  });

  test("is at most its credits after the line has ended: calls on it are charged to the available credits, and no further one is admitted", async () => {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    const ingress = bench.startIngress();
    const { lineId } = await bench.openLine(ingress, workspaceId);
    await endLine(db.database, lineId);
    await eventually("it is known to be gone", async () => {
      const of = hold();
      const share = await ingress.calls.place(workspaceId, null, of);
      expect(await bench.settle(workspaceId, of.jobId, 5n, share)).toEqual({ takenNano: 5n, wasClosed: false });
      ingress.lines.forget(of.jobId);
      return share === undefined;
    });
    for (let call = 0; call < 20; call++) {
      const of = hold();
      const share = await ingress.calls.place(workspaceId, null, of);
      expect(share?.lineId).not.toBe(lineId);
      await bench.settle(workspaceId, of.jobId, null, share);
    }
  });

  test("is renewed while calls arrive, and grows with them", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000_000n * CREDIT);
    const ingress = bench.startIngress();
    const { lineId } = await bench.openLine(ingress, workspaceId);
    const ends = async () => (await db.query<{ ends_at: Date }>("select ends_at from credit_line where id = $1", [lineId]))[0]?.ends_at.getTime() ?? 0; // prettier-ignore
    const first = await ends();
    const open: Promise<unknown>[] = [];
    await eventually("it is renewed, and has more than it had", async () => {
      for (let call = 0; call < 200; call++) {
        const of = hold();
        const share = await ingress.calls.place(workspaceId, null, of);
        open.push(bench.settle(workspaceId, of.jobId, CREDIT, share).then(() => ingress.lines.forget(of.jobId)));
      }
      return (await ends()) > first && ((await bench.lineOf(workspaceId)) ?? 0n) > 600n * CREDIT;
    });
    await Promise.all(open);
  });

  test("covers no further call when its renewals have failed for a while", async () => {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    let isCut = false;
    const ingress = bench.startIngress(
      bench.through(async (name, run) => {
        if (isCut && name === "renew_credit_line") throw new Error("Connection terminated unexpectedly");
        return run();
      }),
    );
    await bench.openLine(ingress, workspaceId);
    isCut = true;
    // The calls are so small that the line never runs out.
    await eventually("calls wait for their holds again", async () => {
      const of = hold(1n);
      const share = await ingress.calls.place(workspaceId, null, of);
      await bench.settle(workspaceId, of.jobId, 1n, share);
      ingress.lines.forget(of.jobId);
      return share === undefined;
    });
    isCut = false;
  });

  test("a line too small for the workspace's calls is returned for others", async () => {
    const workspaceId = await createWorkspace(db.database, 100n * CREDIT);
    const ingress = bench.startIngress();
    const call = async (): Promise<void> => {
      const of = hold(11n * CREDIT);
      expect(await ingress.calls.place(workspaceId, null, of).catch(() => undefined)).toBeUndefined();
      await bench.settle(workspaceId, of.jobId, null);
    };
    const stands = async (): Promise<boolean> => {
      await Promise.all(Array.from({ length: 12 }, call));
      return (await bench.lineOf(workspaceId)) !== undefined;
    };
    await eventually("a line is opened", stands);
    await eventually("it ends though calls come", async () => !(await stands()));
    // And is not opened again at once.
    expect(await stands()).toBe(false);
  });

  test("ends when a budget starts to stop calls: no further one is admitted on it", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    const ingress = bench.startIngress();
    await bench.openLine(ingress, workspaceId);
    await stopCalls(db.database, workspaceId, "a day");
    await eventually("calls are refused", async () => {
      const of = hold();
      const placed = await ingress.calls.place(workspaceId, null, of).catch((error: { code: string }) => error.code);
      if (typeof placed === "object") await bench.settle(workspaceId, of.jobId, null, placed);
      return placed === "budget_reached";
    });
  });
});

test("a line of a dead ingress is returned by the janitor, once it has ended, with its settlements booked", async () => {
  const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
  const lives = await bench.leaveLine(workspaceId, 10n * CREDIT);
  const dead = await bench.leaveLine(workspaceId, 20n * CREDIT, { lifeMs: -1 });
  await bench.settle(workspaceId, newId(), 3n, shareOf(dead));
  const context = { database: db.database, log };
  await endLine(db.database, lives, { isOverdue: true });
  expect(await bench.lineOf(workspaceId)).toBeDefined();
  expect(await sweepCreditLines({ ...context, startedMs: 86_400_000 })).toBe(0);
  expect(await sweepCreditLines({ ...context, startedMs: 0 })).toBe(1);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({
    amount: 1_000n * CREDIT - 3n,
    held: 10n * CREDIT,
  });
  expect(await sweepCreditLines({ ...context, startedMs: 0 })).toBe(0);
  await endLine(db.database, lives);
});
