/** Credit lines: calls that go ahead of their holds are covered at every moment, settled once, and nothing is lost with a process. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { admitCall } from "#shared/calls/admit.ts";
import { readBalance } from "#shared/database/credits.ts";
import { type Database, openDatabase, type Queryable } from "#shared/database/client.ts";
import { ApiError } from "#shared/errors.ts";
import { createJobAdmission, type JobRequest } from "#shared/jobs/admission.ts";
import { moveByHand } from "#shared/ledger/move-by-hand.ts";
import { newId } from "#shared/ids.ts";
import { adjustHold } from "#shared/ledger/adjust.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { type CallAdmission, createCallAdmission, type HoldRequest } from "#shared/ledger/call-admission.ts";
import {
  type CreditLines,
  type LinedHold,
  openCreditLines,
  placeLinedHold,
  endLine,
} from "#shared/ledger/credit-lines.ts";
import { type Ledger, openLedger, type Settled } from "#shared/ledger/settle.ts";
import { createLogger } from "#shared/logger.ts";
import { createMetrics, type Metrics } from "#shared/metrics.ts";
import { eventually } from "#tests/faults/wait.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { testSeed } from "#tests/support/seed.ts";
import { sweepCreditLines } from "#workers/janitor/money.ts";

import {
  admitLone,
  balanceOf,
  createWorkspace,
  CREDIT,
  outcomeOf,
  randomOf,
  settleGroup,
  settlementOf,
  settleSingle,
  stopCalls,
} from "../accounts.ts";

const log = createLogger({ level: "silent", role: "test" });

let db: TestDatabase;
let database: Database;
let ledger: Ledger;
let metrics: Metrics;
/** Those of the processes that a test has started. */
const opened: CreditLines[] = [];
beforeAll(async () => {
  db = await createTestDatabase();
  database = openDatabase({ url: db.url, poolMax: 8, log });
  ledger = openLedger({ database, log, retryMs: 5_000 });
  metrics = createMetrics("test");
});
afterEach(async () => {
  await ledger.idle();
  await Promise.all(opened.splice(0).map((lines) => lines.close()));
  expect(await auditLedger(db.database)).toEqual([]);
});
afterAll(async () => {
  metrics.close();
  await database.close();
  await db.drop();
});

interface Ingress {
  readonly calls: CallAdmission;
  readonly lines: CreditLines;
}

/** An ingress process, with connections of its own where one is given. */
function startIngress(on: Database = database): Ingress {
  const lines = openCreditLines({ database: on, log, metrics, callMs: 1_000 });
  opened.push(lines);
  return { lines, calls: createCallAdmission({ database: on, log, ledger, lines, metrics }) };
}

function hold(amountNano = CREDIT, changes: Partial<HoldRequest> = {}): HoldRequest & { readonly mayGoAhead: true } {
  return {
    jobId: newId(),
    keyId: newId(),
    model: "test-model",
    amountNano,
    mayExceed: false,
    tokensMax: 100,
    dailyTokens: null,
    lifeMs: 60_000,
    mayGoAhead: true,
    ...changes,
  };
}

/** Calls until one goes ahead of its hold: the workspace is busy then. */
async function openLine({ calls }: Ingress, workspaceId: string, amountNano = CREDIT): Promise<LinedHold> {
  const call = async (): Promise<LinedHold | undefined> => {
    const of = hold(amountNano);
    const lined = await calls.place(workspaceId, null, of);
    await settle(workspaceId, of.jobId, null, lined);
    return lined;
  };
  for (let round = 0; round < 100; round++) {
    // As many at once as make it busy, however slow the machine is.
    const ahead = (await Promise.all(Array.from({ length: 12 }, call))).find((lined) => lined !== undefined);
    if (ahead) return ahead;
  }
  throw new Error("no call went ahead");
}

function settle(workspaceId: string, jobId: string, usedNano: bigint | null, lined?: LinedHold): Promise<Settled> {
  return ledger.settle(settlementOf(workspaceId, jobId, usedNano, { lined }));
}

/** A line that no process knows of, as a dead ingress leaves it. */
async function leaveLine(workspaceId: string, nano: bigint, lifeMs = 60_000): Promise<string> {
  const id = newId();
  const [row] = await db.query<{ added: bigint | null }>("select extend_credit_line($1, $2, $3, $4, 0) as added", [
    workspaceId,
    id,
    nano,
    lifeMs,
  ]);
  expect(row?.added).toBe(nano);
  return id;
}

const shareOf = (lineId: string, amountNano = CREDIT): LinedHold => ({
  lineId,
  keyId: newId(),
  model: "test-model",
  amountNano,
  mayExceed: false,
});

const lineOf = async (workspaceId: string): Promise<bigint | undefined> =>
  (await db.query<{ amount: bigint }>("select amount from credit_line where workspace_id = $1", [workspaceId]))[0]?.amount; // prettier-ignore

/** The database, with one function's statements as they are told. */
function through(change: (name: string | undefined, run: () => Promise<unknown>) => Promise<unknown>): Database {
  const tell = (on: Queryable): Queryable => ({
    query: ((text: string, values?: Parameters<Queryable["query"]>[1], name?: string) =>
      change(name, () => on.query(text, values, name))) as Queryable["query"],
  });
  return { ...database, ...tell(database), reserve: (name) => tell(database.reserve(name)) };
}

describe("a busy workspace", () => {
  test("gets a line, and its calls go ahead while their holds are placed as any other's", async () => {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    const ingress = startIngress();
    await openLine(ingress, workspaceId);
    const of = hold();
    const lined = await ingress.calls.place(workspaceId, null, of);
    expect(lined).toMatchObject({ keyId: of.keyId, model: "test-model", amountNano: CREDIT, mayExceed: false });
    const held = await eventually(
      "the hold is placed",
      async () => (await db.query("select key_id, amount from hold where job_id = $1", [of.jobId]))[0],
    );
    expect(held).toEqual({ key_id: of.keyId, amount: CREDIT });
    expect(await lineOf(workspaceId)).toBe(256n * CREDIT);
    // People see what they can spend.
    expect(await readBalance(db.database, workspaceId)).toEqual({ amount: 10_000n * CREDIT, held: CREDIT });
    expect(await settle(workspaceId, of.jobId, 7n, lined)).toEqual({ takenNano: 7n, wasClosed: false });
  });

  test("gives its line back when it is busy no longer, and when its ingress ends", async () => {
    const [one, other] = [
      await createWorkspace(db.database, 10_000n * CREDIT),
      await createWorkspace(db.database, 10_000n * CREDIT),
    ];
    const ingress = startIngress();
    await openLine(ingress, one);
    await eventually("the line is given back", async () => (await lineOf(one)) === undefined);
    await openLine(ingress, other);
    await ingress.lines.close();
    expect(await db.query("select from credit_line where workspace_id = any ($1)", [[one, other]])).toEqual([]);
    expect(await balanceOf(db.database, one)).toMatchObject({ held: 0n, holds: 0n });
  });

  test.each([
    ["with a limit", 4_000, {}],
    ["with a daily cap", null, { dailyTokens: 1_000_000 }],
    ["that cost nothing", null, { amountNano: 0n }],
  ] as const)("has no line for calls %s", async (_, limit, changes) => {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    const ingress = startIngress();
    for (let call = 0; call < 200; call++) {
      const of = hold(CREDIT, changes);
      expect(await ingress.calls.place(workspaceId, limit, of)).toBeUndefined();
      await settleSingle(db.database, { jobId: of.jobId, used: null });
    }
    expect(await lineOf(workspaceId)).toBeUndefined();
  });

  test("of which a budget may stop calls has no line", async () => {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    await db.query(
      "insert into budget_alert (id, workspace_id, name, threshold, period, stops_calls) values ($1, $2, 'far', $3, 'daily', true)",
      [newId(), workspaceId, 9_000n * CREDIT],
    );
    const jobId = newId();
    await admitLone(db.database, { workspaceId, jobId, amount: 1n });
    await settleSingle(db.database, { jobId, used: 1n });
    await db.query("select set_budget_bounds($1)", [workspaceId]);
    expect(await openLine(startIngress(), workspaceId).catch(String)).toBe("Error: no call went ahead");
  });
});

test("a call whose response is stored waits for its hold, by which it is stored", async () => {
  const asked: (boolean | undefined)[] = [];
  const place: CallAdmission["place"] = (_, __, { mayGoAhead }) => {
    asked.push(mayGoAhead);
    return Promise.resolve(undefined);
  };
  const of = {
    id: newId(),
    caller: { workspaceId: newId(), keyId: newId(), preset: { requests_per_minute: null, daily_tokens: null } },
  };
  const facts = { model: { slug: "m" }, bound: { holdNano: 1n, mayExceed: false, tokensMax: 1, outputTokensMax: 1 } };
  await admitCall({ calls: { place }, metrics }, of as never, facts as never, 1_000);
  await admitCall({ calls: { place }, metrics }, of as never, { ...facts, response: {} } as never, 1_000);
  expect(asked).toEqual([true, false]);
});

describe("the sum of all lines", () => {
  test("is a tenth of what is available, and a workspace that spends its last credits has none", async () => {
    const workspaceId = await createWorkspace(db.database, 100n);
    const extend = async (nano: bigint, id = newId()) =>
      (await db.query<{ added: bigint | null }>("select extend_credit_line($1, $2, $3, 60000, 0) as added", [workspaceId, id, nano]))[0]?.added; // prettier-ignore
    const first = newId();
    expect(await extend(6n, first)).toBe(6n);
    expect(await extend(6n)).toBe(4n);
    expect(await extend(6n)).toBe(0n);
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 10n });
    await admitLone(db.database, { workspaceId, jobId: newId(), amount: 81n });
    expect(await extend(0n, first)).toBeNull();
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
    const ingress = startIngress();
    await openLine(ingress, workspaceId);
    expect(await lineOf(workspaceId)).toBeGreaterThan(90n * CREDIT);
    const stopping = new AbortController();
    const call = async (): Promise<void> => {
      const of = hold(CREDIT / 10n);
      const lined = await ingress.calls.place(workspaceId, null, of).catch(() => undefined);
      await settle(workspaceId, of.jobId, null, lined);
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

  test("is in nobody's way: a call at another ingress that needs it has it, and is counted once", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    const stop = await keepBusy(workspaceId);
    const { calls } = startIngress();
    await calls.look(workspaceId, 4_000, 950n * CREDIT);
    const large = hold(950n * CREDIT);
    expect(await outcomeOf(calls.place(workspaceId, 4_000, large))).toBe("ok");
    await stop();
    const counted = async () => (await db.query<{ calls: bigint }>("select calls from rate_window where workspace_id = $1", [workspaceId]))[0]?.calls ?? 0n; // prettier-ignore
    const before = await counted();
    expect(await outcomeOf(calls.place(workspaceId, 4_000, hold(51n * CREDIT)))).toBe("insufficient_credits");
    expect(await counted()).toBe(before + 1n);
    await settle(workspaceId, large.jobId, null);
  });

  test("nor in that of a durable job, a dearer fallback, an answer beyond its hold, or an operator's correction", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    const stop = await keepBusy(workspaceId);
    const { hold: needed, ...job } = jobOf(workspaceId, 950n * CREDIT);
    expect(await createJobAdmission({ database }).admit({ ...job, terms: { hold: needed } })).toMatchObject({
      kind: "admitted",
    });
    await settle(workspaceId, job.id, null);

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
    expect(await adjustHold(database, to)).toBe("adjusted");
    await settle(workspaceId, moved, null);

    await openLineAgain(workspaceId);
    const long = newId();
    await admitLone(db.database, { workspaceId, jobId: long, amount: CREDIT, mayExceed: true });
    expect((await settle(workspaceId, long, 990n * CREDIT)).takenNano).toBe(990n * CREDIT);
    await stop();
    await eventually("the line is given back", async () => (await lineOf(workspaceId)) === undefined);

    const { amount } = await readBalance(db.database, workspaceId);
    await leaveLine(workspaceId, CREDIT);
    const actor = { kind: "operator", name: "ada", id: newId() } as const;
    const move = { kind: "correction", amountNano: -amount, sourceId: newId(), note: null } as const;
    const made = moveByHand(database, workspaceId, move, actor as never);
    await Bun.sleep(50);
    for (const { id } of await db.query<{ id: string }>("select id from credit_line where workspace_id = $1", [
      workspaceId,
    ])) {
      await endLine(db.database, id);
    }
    expect(await made).toEqual({ result: "moved" });
  });

  test("of an ingress that is gone is waited for once", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    const lineId = await leaveLine(workspaceId, 100n * CREDIT);
    const { calls } = startIngress();
    expect(await outcomeOf(calls.place(workspaceId, null, hold(950n * CREDIT)))).toBe("insufficient_credits");
    const recall = "select recall_credit_lines($1, $2) as covered";
    expect(await db.query(recall, [workspaceId, 950n * CREDIT])).toEqual([{ covered: null }]);
    expect(await outcomeOf(calls.look(workspaceId, null, 950n * CREDIT))).toBe("insufficient_credits");
    await endLine(db.database, lineId);
  });

  test("is asked for once, however many calls of whatever amounts need it", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    const lineId = await leaveLine(workspaceId, 100n * CREDIT);
    let recalls = 0;
    const { calls } = startIngress(
      through((name, run) => {
        if (name === "recall_credit_lines") recalls += 1;
        return run();
      }),
    );
    const many = Array.from({ length: 100 }, (_, at) =>
      outcomeOf(calls.place(workspaceId, null, hold(950n * CREDIT + BigInt(at)))),
    );
    expect(new Set(await Promise.all(many))).toEqual(new Set(["insufficient_credits"]));
    expect(recalls).toBeLessThan(100);
    await endLine(db.database, lineId);
  });
});

/** Waits until the ingress that keeps the workspace busy has a line of it once more. */
async function openLineAgain(workspaceId: string): Promise<void> {
  await eventually("a line is open", async () => ((await lineOf(workspaceId)) ?? 0n) > 20n * CREDIT);
}

function jobOf(workspaceId: string, amountNano: bigint): Omit<JobRequest, "terms"> & { readonly hold: HoldRequest } {
  const { mayGoAhead: _, ...of } = hold(amountNano);
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

describe("an answer beyond what balance and hold have", () => {
  /** Ends the workspace's lines a moment after they were recalled, as an ingress does. */
  async function giveBackWhenRecalled(workspaceId: string): Promise<void> {
    const recalled = () => db.query<{ id: string }>("select id from credit_line where workspace_id = $1 and recalled_at is not null", [workspaceId]); // prettier-ignore
    const [line] = await eventually("a line is recalled", async () => {
      const rows = await recalled();
      return rows.length > 0 && rows;
    });
    await endLine(db.database, line?.id ?? "");
  }

  test("takes what the line has, though that is not enough", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n);
    await leaveLine(workspaceId, 100n);
    const jobId = newId();
    await admitLone(db.database, { workspaceId, jobId, amount: 900n, mayExceed: true });
    const [settled] = await Promise.all([settle(workspaceId, jobId, 1_100n), giveBackWhenRecalled(workspaceId)]);
    expect(settled.takenNano).toBe(1_000n);
  });

  test("does in a group as well, by what the calls before it leave", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n);
    await leaveLine(workspaceId, 100n);
    const [one, other] = [newId(), newId()];
    await admitLone(db.database, { workspaceId, jobId: one, amount: 500n });
    await admitLone(db.database, { workspaceId, jobId: other, amount: 400n, mayExceed: true });
    const both = settleGroup(db.database, [{ jobId: one, used: 0n }, { jobId: other, used: 980n }], { waitMs: 1_000 }); // prettier-ignore
    expect(await both).toEqual([0n, -1n]);
    await giveBackWhenRecalled(workspaceId);
    expect((await settle(workspaceId, other, 980n)).takenNano).toBe(980n);
  });

  test("does when it was delivered after its hold was released", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n);
    await leaveLine(workspaceId, 100n);
    const [late, rest] = [newId(), newId()];
    await admitLone(db.database, { workspaceId, jobId: late, amount: 50n });
    await settle(workspaceId, late, null);
    await admitLone(db.database, { workspaceId, jobId: rest, amount: 900n });
    const settling = ledger.settle(settlementOf(workspaceId, late, 50n, { isDelivered: true }));
    const [settled] = await Promise.all([settling, giveBackWhenRecalled(workspaceId)]);
    expect(settled).toEqual({ takenNano: 50n, wasClosed: true, lateNano: 50n });
    await settle(workspaceId, rest, null);
  });
});

describe("what an ingress knows of its line", () => {
  test.each(["the answer of its end is lost", "the line is gone"])("is never more than there is: %s", async (how) => {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    let losing = false;
    const ingress = startIngress(
      through(async (name, run) => {
        const rows = await run();
        if (!losing || name !== "end_credit_line") return rows;
        losing = false;
        throw new Error("Connection terminated unexpectedly");
      }),
    );
    const { lineId } = await openLine(ingress, workspaceId);
    if (how === "the line is gone") await endLine(db.database, lineId);
    else {
      losing = true;
      await eventually("its end is lost", () => !losing);
    }
    // Calls on what it knew of are still made good, by the balance, until the line is renewed: then it ends.
    for (const until = performance.now() + 1_000; performance.now() < until; await Bun.sleep(5)) {
      const of = hold();
      const lined = await ingress.calls.place(workspaceId, null, of);
      await settle(workspaceId, of.jobId, null, lined);
    }
    const of = hold();
    const lined = await ingress.calls.place(workspaceId, null, of);
    expect(lined?.lineId).not.toBe(lineId);
    await settle(workspaceId, of.jobId, null, lined);
  });

  test("an admission that commits after its connection was lost, and after the call was settled, leaves no hold", async () => {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    let losing = false;
    const late: Promise<unknown>[] = [];
    const ingress = startIngress(
      through((name, run) => {
        if (!losing || (name !== "admit_call" && name !== "admit_calls")) return run();
        late.push(Bun.sleep(500).then(run));
        return Promise.reject(new Error("Connection terminated unexpectedly"));
      }),
    );
    await openLine(ingress, workspaceId);
    losing = true;
    const of = hold();
    const lined = await ingress.calls.place(workspaceId, null, of);
    expect(lined).toBeDefined();
    expect(await settle(workspaceId, of.jobId, 7n, lined)).toEqual({ takenNano: 7n, wasClosed: false });
    losing = false;
    await Promise.allSettled(late);
    expect(await db.query("select from hold where job_id = $1", [of.jobId])).toHaveLength(1);
    await eventually("the late hold is gone", async () => (await db.query("select from hold where job_id = $1", [of.jobId])).length === 0); // prettier-ignore
    expect(await db.query("select from settle_fault where job_id = $1", [of.jobId])).toEqual([]);
  }, 40_000);

  test("is renewed while calls come, and opened again after a hold whose placing is unknown", async () => {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    let losing = false;
    const ingress = startIngress(
      through((name, run) => {
        if (!losing || (name !== "admit_call" && name !== "admit_calls")) return run();
        losing = false;
        return Promise.reject(new Error("Connection terminated unexpectedly"));
      }),
    );
    const { lineId } = await openLine(ingress, workspaceId);
    const ends = async () => (await db.query<{ ends_at: Date }>("select ends_at from credit_line where id = $1", [lineId]))[0]?.ends_at.getTime() ?? 0; // prettier-ignore
    const first = await ends();
    losing = true;
    await eventually("it is renewed, and calls go ahead again", async () => {
      const wasLost = !losing;
      const again = await openLine(ingress, workspaceId);
      return wasLost && (again.lineId !== lineId || (await ends()) > first);
    });
  });

  test("ends with its ingress: no call goes ahead behind that, and no line is opened", async () => {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    const ingress = startIngress();
    await openLine(ingress, workspaceId);
    await ingress.lines.close();
    expect(await openLine(ingress, workspaceId).catch(String)).toBe("Error: no call went ahead");
    expect(await lineOf(workspaceId)).toBeUndefined();
  });

  test("a line too small for the workspace's calls is not kept from others", async () => {
    const workspaceId = await createWorkspace(db.database, 100n * CREDIT);
    const ingress = startIngress();
    const call = async (): Promise<void> => {
      const of = hold(11n * CREDIT);
      expect(await ingress.calls.place(workspaceId, null, of).catch(() => undefined)).toBeUndefined();
      await settle(workspaceId, of.jobId, null);
    };
    const stands = async (): Promise<boolean> => {
      await Promise.all(Array.from({ length: 12 }, call));
      return (await lineOf(workspaceId)) !== undefined;
    };
    await eventually("a line is opened", stands);
    await eventually("it ends though calls come", async () => !(await stands()));
    // And is not opened again at once.
    expect(await stands()).toBe(false);
  });
});

/** A call that goes ahead in a workspace of 1,000 credits, in which `change` was done meanwhile: one whose line had not been given back by then. */
async function placeAhead(ingress: Ingress, asked: ReturnType<typeof hold>, change: (id: string) => Promise<unknown>) {
  for (let round = 0; round < 20; round++) {
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    await openLine(ingress, workspaceId);
    await change(workspaceId);
    const of = { ...asked, jobId: newId() };
    const lined = await ingress.calls.place(workspaceId, null, of).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
    });
    if (lined) return { workspaceId, of, lined };
  }
  throw new Error("no call went ahead");
}

describe("a hold that cannot be placed", () => {
  test("is taken out of the line: the call is on its way, and no further one goes ahead", async () => {
    const ingress = startIngress();
    // Another process spends all that is left beside the line.
    const spend = (id: string) => admitLone(db.database, { workspaceId: id, jobId: newId(), amount: 900n * CREDIT });
    const { workspaceId, of, lined } = await placeAhead(ingress, hold(2n * CREDIT), spend);
    await eventually(
      "the hold stands",
      async () => (await db.query("select from hold where job_id = $1", [of.jobId])).length === 1,
    );
    // The rest of the line goes back.
    await eventually("the line ends", async () => (await lineOf(workspaceId)) === undefined);
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 902n * CREDIT });
    const next = hold();
    expect(await ingress.calls.place(workspaceId, null, next)).toBeUndefined();
    expect(await settle(workspaceId, of.jobId, CREDIT, lined)).toEqual({ takenNano: CREDIT, wasClosed: false });
  });

  test("because a budget has stopped calls meanwhile, likewise", async () => {
    const ingress = startIngress();
    const stop = (id: string) => stopCalls(db.database, id, "a day");
    const { workspaceId, of, lined } = await placeAhead(ingress, hold(), stop);
    expect(await settle(workspaceId, of.jobId, CREDIT, lined)).toEqual({ takenNano: CREDIT, wasClosed: false });
    expect(await outcomeOf(ingress.calls.place(workspaceId, null, hold()))).toBe("budget_reached");
  });

  test("while Postgres is away is placed once it is back", async () => {
    const workspaceId = await createWorkspace(db.database, 10_000n * CREDIT);
    const own = openDatabase({ url: db.url, poolMax: 4, log });
    const ingress = startIngress(own);
    await openLine(ingress, workspaceId);
    const cut = setInterval(() => {
      void db.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like '%admission%'",
      );
    }, 1);
    const placed: { of: HoldRequest; lined: LinedHold | undefined }[] = [];
    for (let call = 0; call < 50; call++) {
      const of = hold();
      const lined = await ingress.calls.place(workspaceId, null, of).catch(() => null);
      if (lined !== null) placed.push({ of, lined });
      await Bun.sleep(2);
    }
    clearInterval(cut);
    const ahead = placed.filter(({ lined }) => lined !== undefined);
    expect(ahead.length).toBeGreaterThan(0);
    for (const { of, lined } of ahead) {
      expect(await settle(workspaceId, of.jobId, 5n, lined)).toEqual({ takenNano: 5n, wasClosed: false });
    }
    for (const { of } of placed) await settle(workspaceId, of.jobId, null);
    await eventually(
      "every hold is closed",
      async () => (await db.query("select from hold where workspace_id = $1", [workspaceId])).length === 0,
    );
    await ingress.lines.close();
    await own.close();
  });
});

describe("whoever settles", () => {
  test("waits for the hold, and takes it out of the line when its ingress never placed it", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    const lineId = await leaveLine(workspaceId, 10n * CREDIT);
    const late = newId();
    const settled = settle(workspaceId, late, 3n, shareOf(lineId));
    await Bun.sleep(50);
    await admitLone(db.database, { workspaceId, jobId: late, amount: CREDIT });
    expect(await settled).toEqual({ takenNano: 3n, wasClosed: false });
    expect(await lineOf(workspaceId)).toBe(10n * CREDIT);

    const never = newId();
    const twice = await Promise.all([1, 2].map(() => settle(workspaceId, never, 5n, shareOf(lineId))));
    expect(twice.map(({ takenNano }) => takenNano)).toEqual([5n, 5n]);
    expect(twice.filter(({ wasClosed }) => wasClosed)).toHaveLength(1);
    expect(await lineOf(workspaceId)).toBe(9n * CREDIT);
    expect(await db.query("select held, settled from usage_record where job_id = $1", [never])).toEqual([
      { held: CREDIT, settled: 5n },
    ]);
    // What was released stays free.
    const free = newId();
    expect(await settle(workspaceId, free, null, shareOf(lineId))).toEqual({ takenNano: 0n, wasClosed: false });
    expect(await settle(workspaceId, free, 9n, shareOf(lineId))).toEqual({ takenNano: 0n, wasClosed: true });
    expect(await lineOf(workspaceId)).toBe(8n * CREDIT);
    await endLine(db.database, lineId);
  });

  test("moves it to a fallback's price as soon as it stands", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    const jobId = newId();
    const to = {
      workspaceId,
      jobId,
      attempt: 1,
      model: "other",
      amountNano: 2n * CREDIT,
      mayExceed: false,
      tokensMax: 1,
    };
    expect(await adjustHold(database, to)).toBe("closed");
    const adjusted = adjustHold(database, { ...to, isLined: true });
    await Bun.sleep(30);
    await admitLone(db.database, { workspaceId, jobId, amount: CREDIT });
    expect(await adjusted).toBe("adjusted");
    await settleSingle(db.database, { jobId, used: null });
  });

  test("a hold that is placed after its call was settled is released, and nothing is taken twice", async () => {
    const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
    const lineId = await leaveLine(workspaceId, 10n * CREDIT);
    const of = { workspaceId, jobId: newId() };
    expect(await placeLinedHold(database, of, shareOf(lineId), 60_000)).toBe("stands");
    expect(await placeLinedHold(database, of, shareOf(lineId), 60_000)).toBe("stands");
    await settle(workspaceId, of.jobId, 5n);
    await admitLone(db.database, { ...of, amount: CREDIT });
    expect(await placeLinedHold(database, of, shareOf(lineId), 60_000)).toBe("closed");
    expect(await placeLinedHold(database, of, shareOf(lineId), 60_000)).toBe("closed");
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount: 1_000n * CREDIT - 5n, holds: 0n });
    await endLine(db.database, lineId);
    // Then what is available does as well, as long as there is any.
    const orphan = newId();
    expect(await placeLinedHold(database, { workspaceId, jobId: orphan }, shareOf(lineId), 60_000)).toBe("stands");
    const { amount, held } = await balanceOf(db.database, workspaceId);
    const rest = newId();
    await admitLone(db.database, { workspaceId, jobId: rest, amount: amount - held });
    expect(await placeLinedHold(database, { ...of, jobId: newId() }, shareOf(lineId), 60_000)).toBe("missing");
    for (const jobId of [orphan, rest]) await settle(workspaceId, jobId, null);
    expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 0n, holds: 0n });
  });
});

test("a line that its dead ingress left is given back by the janitor, once it has ended", async () => {
  const workspaceId = await createWorkspace(db.database, 1_000n * CREDIT);
  const lives = await leaveLine(workspaceId, 10n * CREDIT);
  await leaveLine(workspaceId, 20n * CREDIT, -1);
  const context = { database: db.database, log };
  expect(await sweepCreditLines({ ...context, startedMs: 3_600_000 })).toBe(0);
  expect(await sweepCreditLines({ ...context, startedMs: 0 })).toBe(1);
  expect(await balanceOf(db.database, workspaceId)).toMatchObject({ held: 10n * CREDIT });
  expect(await sweepCreditLines({ ...context, startedMs: 0 })).toBe(0);
  await endLine(db.database, lives);
});

test("a thousand calls of two ingresses, which settle, die or lose their connections at any moment, are each paid once", async () => {
  const seed = testSeed("credit lines");
  const random = randomOf(seed);
  const workspaceId = await createWorkspace(db.database, 2_000n * CREDIT);
  const own = openDatabase({ url: db.url, poolMax: 4, log });
  const ingresses = [startIngress(), startIngress(own)];
  for (const ingress of ingresses) await openLine(ingress, workspaceId, CREDIT / 5n);
  const cut = setInterval(() => {
    if (random(10) > 0) return;
    void db.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like '%admission%'",
    );
  }, 20);
  let paid = 0n;
  let ahead = 0;
  const work: Promise<unknown>[] = [];
  for (let call = 0; call < 1_000; call++) {
    const of = hold(BigInt(1 + random(100)) * (CREDIT / 100n));
    const ingress = ingresses[random(2)] as Ingress;
    const serve = async (): Promise<void> => {
      const lined = await ingress.calls.place(workspaceId, null, of);
      if (lined) ahead += 1;
      if (random(2) === 0) await Bun.sleep(random(30));
      const used = random(4) === 0 ? null : BigInt(random(1_000));
      // The ingress settles it as well now and then.
      const settled = await Promise.all(
        Array.from({ length: 1 + random(2) }, () => settle(workspaceId, of.jobId, used, lined)),
      );
      for (const { takenNano, wasClosed } of settled) if (!wasClosed) paid += takenNano;
      if (used !== null) expect(settled.some(({ wasClosed }) => !wasClosed)).toBe(true);
    };
    work.push(serve().catch((error: unknown) => expect(error).toBeInstanceOf(ApiError)));
    if (call % 20 === 0) await Bun.sleep(5);
  }
  await Promise.all(work);
  clearInterval(cut);
  expect(ahead).toBeGreaterThan(100);
  await eventually(
    "every hold is closed",
    async () => (await db.query("select from hold where workspace_id = $1", [workspaceId])).length === 0,
  );
  const balance = await balanceOf(db.database, workspaceId);
  expect({ seed, spent: 2_000n * CREDIT - balance.amount }).toEqual({ seed, spent: paid });
  await Promise.all(ingresses.map(({ lines }) => lines.close()));
  await own.close();
}, 60_000);
