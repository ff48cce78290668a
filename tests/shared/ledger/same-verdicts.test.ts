/**
 * The lone forms and the group forms of admission and finish are two pieces of SQL with one meaning. Random lives of
 * calls run through both, and through a model of the rules, and everything is compared.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import {
  admitGroup,
  admitLone,
  balanceOf,
  createWorkspace,
  settleGroup,
  settleSingle,
  lateIfPossible,
  randomOf,
} from "#tests/shared/accounts.ts";
import { createWindowModel, type WindowModel } from "./window-model.ts";
import { testSeed } from "#tests/support/seed.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** A workspace in both worlds, and what the rules say about it. */
interface Place {
  readonly lone: string;
  readonly grouped: string;
  readonly window: WindowModel;
  amount: bigint;
  held: bigint;
  day: number;
  tokens: number;
}

interface PlannedCall {
  readonly place: Place;
  readonly limit: number | null;
  /** Null: only counted. */
  readonly hold: { lone: string; grouped: string; amount: bigint; mayExceed: boolean; tokens: number } | null;
  readonly cap: number | null;
}

interface OpenCall {
  readonly call: PlannedCall & { hold: NonNullable<PlannedCall["hold"]> };
  readonly day: number;
}

const DAY_MS = 86_400_000;
/** Ahead of the database's clock, by which settles begin a day. */
const START = (Math.floor(Date.now() / DAY_MS) + 3) * DAY_MS - 600_000;

function judge(call: PlannedCall, nowMs: number): number {
  const { place, hold } = call;
  const day = Math.floor(nowMs / DAY_MS);
  // A call with a hold begins the day, also one that is refused.
  if (hold !== null && day > place.day) {
    place.day = day;
    place.tokens = 0;
  }
  if (!place.window.ask(call.limit, nowMs)) return 1;
  if (hold === null) return 0;
  if (call.cap !== null && hold.tokens > 0 && place.tokens >= call.cap) return 2;
  if (hold.amount > place.amount - place.held) return 3;
  place.held += hold.amount;
  place.tokens += call.cap === null ? 0 : hold.tokens;
  return 0;
}

function close(open: OpenCall, used: bigint | null, tokens: number): bigint {
  const { place, hold, cap } = open.call;
  const free = place.amount - place.held;
  const most = hold.amount + (hold.mayExceed ? free : 0n);
  const wanted = used === null || used < 0n ? 0n : used;
  const taken = wanted < most ? wanted : most;
  place.amount -= taken;
  place.held -= hold.amount;
  if (open.day === place.day) place.tokens += Math.max(0, tokens) - (cap === null ? 0 : hold.tokens);
  return taken;
}

interface Form {
  readonly waitMs?: number;
  readonly isLate?: boolean;
}

/** Skipping locks, waiting for them, or taking them late. */
function inSomeForm<T>(which: number, statement: (form: Form) => Promise<T>): Promise<T> {
  if (which === 0) return statement({});
  if (which === 1) return statement({ waitMs: 2_000 });
  return lateIfPossible((isLate) => statement({ waitMs: 2_000, isLate }));
}

test("lone forms, group forms and the rules agree on every verdict, amount and counter", async () => {
  const seed = testSeed("same-verdicts");
  const random = randomOf(seed);
  const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T;
  const places: Place[] = [];
  for (let i = 0; i < 3; i++) {
    const amount = BigInt(500 + random(1_500));
    places.push({
      lone: await createWorkspace(db.database, amount),
      grouped: await createWorkspace(db.database, amount),
      window: createWindowModel(),
      amount,
      held: 0n,
      day: 0,
      tokens: 0,
    });
  }
  const open: OpenCall[] = [];
  let nowMs = START;
  for (let round = 0; round < 120; round++) {
    nowMs += pick([0, 1, 300, 5_000, 30_000, 61_000]);
    if (random(15) === 0) nowMs -= pick([100, 5_000, 3_600_000]);
    const size = pick([1, 1, 2, 6, 20]);
    const calls = Array.from({ length: size }, (): PlannedCall => {
      const hold = {
        lone: newId(),
        grouped: newId(),
        amount: BigInt(random(300)),
        mayExceed: random(3) === 0,
        tokens: random(50),
      };
      return {
        place: pick(places),
        limit: pick([null, null, 8, 20]),
        hold: random(5) === 0 ? null : hold,
        cap: pick([null, null, 150, 400]),
      };
    });
    const expected = calls.map((call) => judge(call, nowMs));
    const describe = (world: "lone" | "grouped", call: PlannedCall): Parameters<typeof admitLone>[1] => ({
      workspaceId: call.place[world],
      limit: call.limit,
      ...(call.hold === null ? {} : { ...call.hold, jobId: call.hold[world], cap: call.cap }),
    });
    const lone: number[] = [];
    for (const call of calls) lone.push(await admitLone(db.database, describe("lone", call), nowMs));
    const described = calls.map((call) => describe("grouped", call));
    const isCapped = described.some((call) => (call.cap ?? null) !== null);
    const grouped = await inSomeForm(random(isCapped ? 2 : 3), (form) =>
      admitGroup(db.database, described, { nowMs, ...form }),
    );
    expect({ seed, round, lone, grouped }).toEqual({ seed, round, lone: expected, grouped: expected });
    calls.forEach((call, index) => {
      const { hold } = call;
      if (expected[index] === 0 && hold !== null) open.push({ call: { ...call, hold }, day: call.place.day });
    });

    const ending = Array.from({ length: Math.min(open.length, random(size + 3)) }, () => {
      const [which] = open.splice(random(open.length), 1);
      const used = pick([null, 0n, BigInt(random(300)), BigInt(random(900)), -5n]);
      return { which: which as OpenCall, used, tokens: pick([0, 5, 30, 70, -3]) };
    });
    if (ending.length === 0) continue;
    const amounts = ending.map(({ which, used, tokens }) => close(which, used, tokens));
    const loneTaken: (bigint | null)[] = [];
    for (const { which, used, tokens } of ending) {
      loneTaken.push(await settleSingle(db.database, { jobId: which.call.hold.lone, used, tokens }));
    }
    const settlements = ending.map(({ which, used, tokens }) => ({ jobId: which.call.hold.grouped, used, tokens }));
    const groupTaken = await inSomeForm(random(3), (form) => settleGroup(db.database, settlements, form));
    expect({ seed, round, loneTaken, groupTaken }).toEqual({
      seed,
      round,
      loneTaken: amounts,
      groupTaken: amounts,
    });
    if (random(6) === 0) await topUpBoth(pick(places), BigInt(random(700)));
  }
  for (const place of places) {
    const lone = await balanceOf(db.database, place.lone);
    expect(lone).toEqual(await balanceOf(db.database, place.grouped));
    expect({ seed, amount: lone.amount, held: lone.held, tokens: Number(lone.day_tokens) }).toEqual({
      seed,
      amount: place.amount,
      held: place.held,
      tokens: place.tokens,
    });
    expect(await recordsOf(place.lone)).toEqual(await recordsOf(place.grouped));
  }
  expect(await auditLedger(db.database)).toEqual([]);
});

async function topUpBoth(place: Place, nano: bigint): Promise<void> {
  for (const workspaceId of [place.lone, place.grouped]) {
    await db.query("select move_credits($1, 'top_up', $2, $3, null)", [workspaceId, nano, newId()]);
  }
  place.amount += nano;
}

/** Usage records without what differs between the worlds by nature. */
function recordsOf(workspaceId: string): Promise<object[]> {
  return db.query(
    `select model, source, status, units, is_estimated, held, settled, uncollected, tokens,
       (select count(*) from ledger_entry e where e.source_id = u.job_id and e.kind = 'settle') as entries
     from usage_record u
     where workspace_id = $1
     order by held, settled, uncollected, tokens, status, units::text`,
    [workspaceId],
  );
}
