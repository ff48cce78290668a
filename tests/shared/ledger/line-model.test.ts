/**
 * Credit lines against a model of their rules: random lives of calls on lines and beside them, one statement at a time. After each statement
 * balance, lines, holds and usage records are what the model says, to the nano-credit.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { plainArray } from "#shared/database/arrays.ts";
import { newId } from "#shared/base/ids.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { endLine } from "#shared/ledger/credit-lines.ts";
import { testSeed } from "#tests/support/seed.ts";

import { admitLone, createWorkspace, randomOf, settleGroup, settleSingle } from "../accounts.ts";
import { LinesBench } from "./lines.ts";

const STATEMENTS = 900;
/** Results that every run of so many statements comes to. */
const MET = [
  "admit: 0",
  "admit: 3",
  "settle on a line: null",
  "settle on a line: -3",
  "place a hold: 0",
  "place a hold: 1",
];

interface Line {
  readonly id: string;
  amount: bigint;
  closed: bigint;
  free: bigint;
  /** By its ingress: what calls drew in all, how many they were, and the most that they may draw. */
  drawn: bigint;
  calls: number;
  limit: bigint;
  /** The same as the database knows it. */
  most: bigint;
  /** Its ingress is dead for ten seconds. */
  isOverdue: boolean;
  /** Asked for, now or more than three seconds ago. */
  recalled: "now" | "long ago" | undefined;
  turn: number;
  /** Given back, but for its open calls. */
  isReturned: boolean;
}

interface Call {
  readonly jobId: string;
  /** Null: admitted with a hold. */
  readonly lineId: string | null;
  readonly nano: bigint;
  readonly mayExceed: boolean;
}

interface Closed {
  readonly held: bigint;
  readonly settled: bigint;
  readonly uncollected: bigint;
}

const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** A workspace by the rules. Each method is one statement, and returns its result. */
class LineModel {
  amount: bigint;
  /** Holds and lines. */
  held = 0n;
  spent = 0n;
  readonly lines = new Map<string, Line>();
  /** By job; with its line where it is part of that. */
  readonly holds = new Map<string, { nano: bigint; mayExceed: boolean; lineId: string | null }>();
  readonly records = new Map<string, Closed>();
  /** Settles and moves that the balance has not booked. */
  private unbooked: { line: Line; drawn: bigint; used: bigint; moved: bigint }[] = [];
  /** A statement asked for the lines, and they are not back yet. */
  isRecalled = false;
  /** Nano-credits that overdue lines had to give back. */
  reclaimed = 0n;

  constructor(amount: bigint) {
    this.amount = amount;
  }

  get available(): bigint {
    return this.amount - this.held;
  }

  renew(line: Line, turn: number, to: { more: bigint; most: bigint; givesBack: boolean }): bigint[] | null {
    const { more, givesBack } = to;
    this.book();
    if (!this.lines.has(line.id)) return null;
    if (turn <= line.turn) return [line.amount, line.closed, 0n];
    line.turn = turn;
    line.isOverdue = false;
    line.most = givesBack ? line.drawn : to.most;
    const free = most(line.amount - line.drawn + line.closed, 0n);
    if (givesBack) {
      this.held -= free;
      line.isReturned = true;
      if (line.drawn === line.closed) {
        this.lines.delete(line.id);
        return null;
      }
      line.amount -= free;
      line.free = 0n;
      return [line.amount, line.closed, 1n];
    }
    const others = [...this.lines.values()].filter((other) => other !== line);
    const allFree = others.reduce((sum, other) => sum + other.free, free);
    const isAskedFor = line.recalled !== undefined && line.free > 0n;
    const isOver = line.amount < line.drawn - line.closed || allFree > this.available || isAskedFor;
    if (!isOver) line.recalled = undefined;
    const added = isOver ? 0n : most(least(more, (this.available + allFree) / 10n - allFree), 0n);
    this.held += added;
    line.amount += added;
    line.free = free + added;
    return [line.amount, line.closed, isOver ? 1n : 0n];
  }

  end(line: Line): void {
    if (!this.lines.has(line.id)) return;
    this.book();
    this.lines.delete(line.id);
    this.held -= line.amount;
    for (const hold of this.holds.values()) {
      if (hold.lineId !== line.id) continue;
      hold.lineId = null;
      this.held += hold.nano;
    }
  }

  show(calls: readonly Call[]): void {
    for (const { jobId, nano, mayExceed, lineId } of calls) {
      if (lineId === null || !this.lines.has(lineId) || this.records.has(jobId) || this.holds.has(jobId)) continue;
      this.holds.set(jobId, { nano, mayExceed, lineId });
    }
  }

  /** 0: the hold stands, 1: settled before, 4: lines are on their way back. */
  place({ jobId, lineId, nano, mayExceed }: Call): number {
    if (this.holds.get(jobId)?.lineId === null) return 0;
    if (this.records.has(jobId)) return 1;
    const line = this.lines.get(lineId ?? "");
    if (line) {
      this.unbooked.push({ line, drawn: nano, used: 0n, moved: nano });
      this.holds.set(jobId, { nano, mayExceed, lineId: null });
      return 0;
    }
    if (nano > this.available && (this.recall(nano) ?? 0n) >= nano) return 4;
    const had = least(nano, this.available);
    this.held += had;
    this.holds.set(jobId, { nano: had, mayExceed, lineId: null });
    return 0;
  }

  settleOnLine({ jobId, lineId, nano, mayExceed }: Call, used: bigint | null): bigint | null {
    const line = this.lines.get(lineId ?? "");
    if (!line || this.holds.get(jobId)?.lineId === null || (mayExceed && (used ?? 0n) > nano)) return -3n;
    if (this.records.has(jobId)) return null;
    const wanted = most(used ?? 0n, 0n);
    const settled = least(wanted, nano);
    this.unbooked.push({ line, drawn: nano, used: settled, moved: 0n });
    this.holds.delete(jobId);
    this.records.set(jobId, { held: nano, settled, uncollected: wanted - settled });
    return settled;
  }

  /** -1: lines are on their way back, or its hold is part of one that a group does not touch. */
  settle(jobId: string, used: bigint | null): bigint | null {
    const hold = this.holds.get(jobId);
    if (!hold) return null;
    const wanted = most(used ?? 0n, 0n);
    if (hold.mayExceed && wanted > hold.nano + this.available && this.toRecall() > 0n) {
      this.recall(0n);
      return -1n;
    }
    const settled = least(wanted, hold.nano + (hold.mayExceed ? this.available : 0n));
    this.amount -= settled;
    this.spent += settled;
    this.held -= hold.nano;
    this.holds.delete(jobId);
    this.records.set(jobId, { held: hold.nano, settled, uncollected: wanted - settled });
    return settled;
  }

  admit({ jobId, nano, mayExceed }: Call): number {
    if (nano > this.available) return 3;
    this.held += nano;
    this.holds.set(jobId, { nano, mayExceed, lineId: null });
    return 0;
  }

  recall(nano: bigint): bigint | null {
    const free = this.toRecall();
    const covered = free + this.available;
    if (free === 0n && nano > covered) return null;
    if (nano > covered) return covered;
    this.reclaim();
    for (const line of this.lines.values()) line.recalled ??= "now";
    if (this.lines.size > 0) this.isRecalled = true;
    return covered;
  }

  private toRecall(): bigint {
    const of = (line: Line): bigint => (line.recalled === "long ago" ? 0n : line.free);
    return [...this.lines.values()].reduce((sum, line) => sum + (line.isOverdue ? this.undrawn(line) : of(line)), 0n);
  }

  /** The part that none of its calls can have drawn, or that settled ones left. */
  private undrawn(line: Line): bigint {
    const theirs = this.unbooked.filter((one) => one.line === line);
    const sumOf = (what: "drawn" | "used" | "moved"): bigint => theirs.reduce((sum, one) => sum + one[what], 0n);
    const open = most(line.most - line.closed - sumOf("drawn"), 0n);
    return most(line.amount - sumOf("used") - sumOf("moved") - open, 0n);
  }

  private reclaim(): void {
    const overdue = [...this.lines.values()].filter(({ isOverdue }) => isOverdue);
    if (overdue.length > 0) this.book();
    for (const line of overdue) {
      const back = this.undrawn(line);
      line.amount -= back;
      line.free = 0n;
      this.held -= back;
      this.reclaimed += back;
    }
  }

  private book(): void {
    for (const { line, drawn, used, moved } of this.unbooked.splice(0)) {
      line.amount -= used + moved;
      line.closed += drawn;
      this.amount -= used;
      this.spent += used;
      this.held -= used;
    }
  }
}

let bench: LinesBench;
beforeAll(async () => {
  bench = await LinesBench.open();
});
afterAll(() => bench.close());

/** Rows of the workspace, as `rulesOf` tells what they should be. */
async function rowsOf(workspaceId: string): Promise<object> {
  const rows = <T>(text: string): Promise<T[]> => bench.db.query(text, [workspaceId]) as Promise<T[]>;
  return {
    balance: await rows("select amount, held, spent from balance where workspace_id = $1"),
    lines: await rows("select id, amount, closed, free, most from credit_line where workspace_id = $1 order by id"),
    holds: await rows("select job_id as id, amount, line_id from hold where workspace_id = $1 order by job_id"),
    records: await rows(
      "select job_id as id, held, settled, uncollected from usage_record where workspace_id = $1 order by job_id",
    ),
  };
}

function rulesOf(model: LineModel): object {
  const byId = <T extends { readonly id: string }>(rows: T[]): T[] => rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return {
    balance: [{ amount: model.amount, held: model.held, spent: model.spent }],
    lines: byId([...model.lines.values()].map(({ id, amount, closed, free, most }) => ({ id, amount, closed, free, most }))), // prettier-ignore
    holds: byId([...model.holds].map(([id, { nano, lineId }]) => ({ id, amount: nano, line_id: lineId }))),
    records: byId([...model.records].map(([id, record]) => ({ id, ...record }))),
  };
}

test("lines, their calls and other calls equal the model, statement by statement", async () => {
  const seed = testSeed("line model");
  const random = randomOf(seed);
  const pick = <T>(from: readonly T[]): T | undefined => from[random(from.length)];
  const nanoUpTo = (below: bigint): bigint => BigInt(random(Number(below)));
  const start = 3_000n;
  const workspaceId = await createWorkspace(bench.database, start);
  const model = new LineModel(start);
  let toppedUp = 0n;
  const open: Call[] = [];
  const ended: Call[] = [];
  const met = new Set<string>();
  const agree = (what: string, found: unknown, expected: unknown): void => {
    met.add(`${what}: ${String(expected)}`);
    expect({ seed, what, result: found }).toEqual({ seed, what, result: expected } as never);
  };
  const one = async <T>(call: string, values: readonly (string | bigint | number | null)[]): Promise<T | undefined> =>
    (await bench.db.query<{ v: T }>(`select ${call} as v`, [...values]))[0]?.v;

  const renew = async (line: Line, more: bigint, givesBack: boolean, turn: number): Promise<void> => {
    const { drawn, calls } = line;
    const isNew = line.turn === 0 && !model.lines.has(line.id);
    if (isNew) model.lines.set(line.id, line);
    const to = { more, most: drawn + nanoUpTo(random(2) === 0 ? 40n : 300n), givesBack };
    const found = await bench.renew(workspaceId, line.id, { drawn, calls, turn, ...to }, isNew);
    const expected = model.renew(line, turn, to);
    agree(`renew${givesBack ? " to give back" : ""}`, found, expected);
    if (expected && !givesBack) line.limit = least((expected[0] ?? 0n) + (expected[1] ?? 0n), line.most);
  };
  /** All ingresses of the workspace do what they are asked for. */
  const giveBack = async (): Promise<void> => {
    for (const line of model.lines.values()) if (!line.isOverdue) await renew(line, 0n, true, line.turn + 1);
    // As if that was long ago, so that nothing hangs on the speed of the test.
    await bench.db.query("update credit_line set recalled_at = recalled_at - interval '1 hour' where workspace_id = $1", [workspaceId]); // prettier-ignore
    for (const line of model.lines.values()) line.recalled &&= "long ago";
    model.isRecalled = false;
  };
  const settleOwn = async (jobId: string, used: bigint | null): Promise<void> => {
    for (;;) {
      const found = await settleSingle(bench.database, { jobId, used });
      const shown = model.holds.get(jobId);
      // One that is shown is moved out of its line first.
      if (shown?.lineId) model.place({ jobId, lineId: shown.lineId, nano: shown.nano, mayExceed: shown.mayExceed });
      const expected = model.settle(jobId, used);
      agree("settle a hold", found, expected);
      if (expected !== -1n) return;
      await giveBack();
    }
  };
  const place = async (call: Call): Promise<void> => {
    for (;;) {
      const found = await one<number>("place_lined_hold($1, $2, $3, $4, 'm', $5, $6, 60000)", [
        workspaceId,
        call.lineId,
        call.jobId,
        newId(),
        call.nano,
        String(call.mayExceed),
      ]);
      const expected = model.place(call);
      agree("place a hold", found, expected);
      if (expected !== 4) return;
      await giveBack();
    }
  };
  const settleOnLines = async (calls: readonly (readonly [Call, bigint | null])[]): Promise<void> => {
    if (calls.length === 0) return;
    const settled = calls.map(([{ jobId, lineId, nano, mayExceed }, used]) => ({ jobId, lineId: lineId ?? "", used, drawn: nano, mayExceed })); // prettier-ignore
    const taken = await bench.settleTogether(workspaceId, settled, random(2) === 0);
    const expected = calls.map(([call, used]) => model.settleOnLine(call, used));
    for (const [at, result] of expected.entries()) agree("settle on a line", taken?.[at] ?? null, result);
    for (const [at, [call, used]] of calls.entries()) {
      if (expected[at] !== -3n) continue;
      await place(call);
      await settleOwn(call.jobId, used);
    }
  };
  /** Takes up to so many open calls that the rule is for. */
  const takeSome = (count: number, isFit: (call: Call) => boolean): Call[] => {
    const taken: Call[] = [];
    while (taken.length < count) {
      const fit = open.filter(isFit);
      const call = pick(fit);
      if (!call) break;
      open.splice(open.indexOf(call), 1);
      taken.push(call);
    }
    ended.push(...taken);
    return taken;
  };
  const usedOf = ({ nano }: Call): bigint | null => pick([null, 0n, -5n, nanoUpTo(nano + 1n), nano, nano + nanoUpTo(200n), nano * 20n]) ?? null; // prettier-ignore

  const admit = async (nano: bigint): Promise<void> => {
    const call = { jobId: newId(), lineId: null, nano, mayExceed: random(3) === 0 };
    const { jobId, mayExceed } = call;
    const verdict = model.admit(call);
    agree("admit", await admitLone(bench.database, { workspaceId, jobId, amount: nano, mayExceed }), verdict);
    if (verdict === 0) open.push(call);
    else agree("recall", (await one("recall_credit_lines($1, $2)", [workspaceId, nano])) ?? null, model.recall(nano));
    if (model.isRecalled) await giveBack();
  };

  const statements: readonly (() => Promise<unknown>)[] = [
    async () => {
      if (model.lines.size >= 4) return;
      const line = { id: newId(), amount: 0n, closed: 0n, free: 0n, drawn: 0n, calls: 0, limit: 0n, most: 0n, turn: 0, isOverdue: false, recalled: undefined, isReturned: false }; // prettier-ignore
      await renew(line, 20n + nanoUpTo(200n), false, 1);
    },
    async () => {
      const line = pick([...model.lines.values()]);
      if (!line) return;
      const isLate = random(8) === 0;
      const givesBack = line.isReturned || random(6) === 0;
      await renew(line, nanoUpTo(200n), givesBack, isLate ? line.turn : line.turn + 1);
    },
    async () => {
      const line = pick([...model.lines.values()]);
      if (!line || random(2) > 0) return;
      await bench.db.query("update credit_line set renewed_at = renewed_at - interval '11 seconds' where id = $1", [line.id]); // prettier-ignore
      line.isOverdue = true;
      // A call that needs what its ingress has left, or a little more.
      if (random(2) === 0) await admit(model.available + 1n + nanoUpTo(30n));
    },
    () => admit(random(4) === 0 ? nanoUpTo(60n) * 20n : nanoUpTo(60n)),
    async () => {
      const calls = takeSome(1 + random(5), ({ lineId }) => lineId !== null).map(
        (call) => [call, usedOf(call)] as const,
      );
      const again = pick(ended.filter(({ lineId }) => model.lines.has(lineId ?? "")));
      const isNew = again && !calls.some(([{ jobId }]) => jobId === again.jobId);
      const all = isNew && random(2) === 0 ? [...calls, [again, usedOf(again)] as const] : calls;
      await settleOnLines(all);
    },
    async () => {
      const group = takeSome(1 + random(4), ({ jobId }) => model.holds.get(jobId)?.lineId === null);
      const calls = group.map((call) => ({ jobId: call.jobId, used: usedOf(call) }));
      if (calls.length === 0) return;
      const found = await settleGroup(bench.database, calls, { waitMs: 2_000 });
      const expected = calls.map(({ jobId, used }) => model.settle(jobId, used));
      for (const [at, result] of expected.entries()) agree("settle in a group", found[at], result);
      if (model.isRecalled) await giveBack();
      for (const [at, result] of expected.entries()) if (result === -1n) await settleOwn(calls[at]?.jobId ?? "", calls[at]?.used ?? null); // prettier-ignore
    },
    async () => {
      const [call] = takeSome(1, ({ jobId }) => (model.holds.get(jobId)?.lineId ?? null) !== null);
      if (call) await settleOwn(call.jobId, usedOf(call));
    },
    async () => {
      const call = pick([...open, ...ended].filter(({ lineId }) => lineId !== null));
      if (call) await place(call);
    },
    async () => {
      const line = pick([...model.lines.values()]);
      if (!line) return;
      const calls = [...ended.slice(-6), ...open].filter(({ lineId }) => lineId === line.id).slice(-6);
      if (calls.length === 0) return;
      await bench.db.query(
        "select show_lined_calls($1, $2, $3::uuid[], $3::uuid[], $4::text[], $5::bigint[], $6::boolean[], $7::bigint[], $7::bigint[])",
        [
          workspaceId,
          line.id,
          plainArray(calls.map(({ jobId }) => jobId)),
          calls.map(() => "m"),
          plainArray(calls.map(({ nano }) => nano)),
          plainArray(calls.map(({ mayExceed }) => mayExceed)),
          plainArray(calls.map(() => 60_000n)),
        ],
      );
      model.show(calls);
    },
    async () => {
      const line = pick([...model.lines.values()]);
      const isShown = [...model.holds.values()].some(({ lineId }) => lineId === line?.id);
      if (!line || random(isShown ? 2 : 8) > 0) return;
      await endLine(bench.database, line.id);
      model.end(line);
      // Another call takes all that came back: the open calls of the line find nothing.
      if (random(2) === 0) return;
      await admit(model.available);
      for (const call of open.filter(({ lineId }) => lineId === line.id)) await place(call);
    },
    async () => {
      if (random(3) > 0) return;
      const nano = nanoUpTo(400n);
      await bench.db.query("select move_credits($1, 'top_up', $2, $3, null)", [workspaceId, nano, newId()]);
      model.amount += nano;
      toppedUp += nano;
    },
  ];

  for (let at = 0; at < STATEMENTS; at++) {
    // Calls are admitted on lines without a statement.
    for (let count = random(4); count > 0; count--) {
      const line = pick([...model.lines.values()].filter(({ isReturned, isOverdue }) => !isReturned && !isOverdue));
      const nano = nanoUpTo(60n);
      if (!line || line.drawn + nano > line.limit) continue;
      line.drawn += nano;
      line.calls += 1;
      open.push({ jobId: newId(), lineId: line.id, nano, mayExceed: random(3) === 0 });
    }
    await pick(statements)?.();
    expect({ seed, at, ...(await rowsOf(workspaceId)) }).toEqual({ seed, at, ...rulesOf(model) });
    expect(model.available).toBeGreaterThanOrEqual(0n);
    if (at % 50 === 0) expect(await bench.db.query("select * from audit_present(false)")).toEqual([]);
  }
  expect(MET.filter((what) => !met.has(what))).toEqual([]);
  expect(model.reclaimed).toBeGreaterThan(0n);

  await settleOnLines(takeSome(Infinity, ({ lineId }) => lineId !== null).map((call) => [call, usedOf(call)] as const));
  for (const { jobId } of takeSome(Infinity, () => true)) await settleOwn(jobId, null);
  for (const line of model.lines.values()) {
    await endLine(bench.database, line.id);
    model.end(line);
  }
  const spent = [...model.records.values()].reduce((sum, { settled }) => sum + settled, 0n);
  expect(await rowsOf(workspaceId)).toMatchObject({
    balance: [{ amount: start + toppedUp - spent, held: 0n }],
    lines: [],
    holds: [],
  });
  expect(await auditLedger(bench.db.database)).toEqual([]);
}, 120_000);
