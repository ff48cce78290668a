/** Spend limits: charges and open holds never exceed them, and no call is refused that would fit. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import type { Queryable } from "#shared/database/client.ts";
import { adjustHold } from "#shared/ledger/adjust.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import type { CreditLineHold } from "#shared/ledger/credit-line-calls.ts";
import { removeSpendLimit, type SpendLimit } from "#shared/ledger/spend-limits.ts";
import { openUsageRollUp } from "#workers/janitor/money.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { testSeed } from "#tests/support/seed.ts";

import {
  admitGroup,
  admitLone,
  createKey,
  createWorkspace,
  CREDIT,
  lateIfPossible,
  outcomeOf,
  randomOf,
  settleGroup,
  settlementOf,
  settleSingle,
} from "../accounts.ts";
import { rollUpAll } from "../usage-records.ts";
import { LIMIT_REACHED, limited, limitOf, openSubjects } from "./limited-subjects.ts";
import { hold, LinesBench, log } from "./lines.ts";

let bench: LinesBench;
let db: TestDatabase;
beforeAll(async () => {
  bench = await LinesBench.open();
  ({ db } = bench);
});
afterEach(async () => {
  expect(await auditLedger(db.database)).toEqual([]);
  await bench.end();
});
afterAll(() => bench.close());

const { createSubject, set, stateOf } = openSubjects(() => db.database);

/** Charges of the calls of a key or a tag, by the usage records. */
async function chargesOf(id: string): Promise<bigint> {
  const [row] = await db.query<{ sum: bigint }>("select coalesce(sum(settled), 0)::bigint as sum from usage_record where key_id = $1 or $1 = any (scopes)", [id]); // prettier-ignore
  return row?.sum ?? 0n;
}

describe("one thousand racing calls over two ingresses", () => {
  test.each([
    ["of a key, without credit lines", false, "key"],
    ["of a key, beside credit lines of the workspace", true, "key"],
    ["of a tag, by two keys beside credit lines of the workspace", true, "tag"],
  ] as const)(
    "%s: exactly as many as fit are admitted, and charges free the remainder",
    async (_name, hasLines, kind) => {
      const { workspaceId, keyId } = await createSubject(100_000n * CREDIT);
      const { keyId: otherKeyId } = await createKey(db.database, undefined, workspaceId);
      const id = kind === "tag" ? newId() : keyId;
      const call = (n: number): ReturnType<typeof limited> =>
        kind === "key"
          ? limited(keyId)
          : { ...hold(), keyId: n % 3 === 0 ? keyId : otherKeyId, scopes: [id], canUseCreditLine: true };
      const ingresses = [bench.startIngress(), bench.startIngress()];
      const [ingress, other] = ingresses as [(typeof ingresses)[0], (typeof ingresses)[0]];
      if (hasLines) await bench.openLine(ingress, workspaceId);
      const credits = { day: 300n * CREDIT, total: 100_000n * CREDIT };
      const label = kind === "tag" ? { label: { name: "project", value: "alpha" } } : {};
      await set(workspaceId, { ...limitOf(id, credits, kind), ...label });
      const race = async (): Promise<string[]> => {
        const admitted: string[] = [];
        const outcomes = await Promise.all(
          Array.from({ length: 1_000 }, async (_, n) => {
            const { calls } = n % 2 === 0 ? ingress : other;
            const of = call(n);
            const outcome = await outcomeOf(calls.place(workspaceId, null, of));
            if (outcome === "ok") admitted.push(of.jobId);
            return outcome;
          }),
        );
        expect([...new Set(outcomes)].toSorted()).toEqual(["key_limit_reached", "ok"]);
        return admitted;
      };
      const first = await race();
      expect(first).toHaveLength(300);
      expect((await stateOf(workspaceId, id)).windows.day.leftNano).toBe(0n);
      // Another key of the workspace, or a call without the tag, is not limited.
      expect(await outcomeOf(ingress.calls.place(workspaceId, null, hold()))).toBe("ok");
      // Each call costs a third of its hold, so two hundred more fit, then sixty-six, and so on.
      await Promise.all(first.map((jobId) => bench.ledger.settle(settlementOf(workspaceId, jobId, CREDIT / 3n))));
      const second = await race();
      const free = 300n * CREDIT - 300n * (CREDIT / 3n);
      expect(second).toHaveLength(Number(free / CREDIT));
      await Promise.all(second.map((jobId) => bench.ledger.settle(settlementOf(workspaceId, jobId, null))));
      const state = await stateOf(workspaceId, id);
      expect({ held: state.heldNano, spent: state.windows.day.spentNano }).toEqual({
        held: 0n,
        spent: await chargesOf(id),
      });
    },
  );
});

test("random admissions, settlements and changes of limits keep a model's verdicts", async () => {
  const seed = testSeed("spend-limits");
  const random = randomOf(seed);
  const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T;
  const workspaceId = await createWorkspace(db.database, 1_000_000n * CREDIT);
  const keys = await Promise.all([1, 2, 3].map(() => createKey(db.database, undefined, workspaceId)));
  const scopes = [newId(), newId()];
  const subjects = [...keys.flatMap(({ keyId, memberId }) => [keyId, memberId]), ...scopes];
  const caps = new Map<string, bigint>();
  const used = new Map<string, bigint>();
  const spent = new Map<string, bigint>();
  const open = new Map<
    string,
    { readonly amount: bigint; readonly mayExceed: boolean; readonly of: readonly string[] }
  >();
  const left = (id: string): bigint | undefined => {
    const cap = caps.get(id);
    return cap === undefined ? undefined : cap - (used.get(id) ?? 0n);
  };
  const count = (of: readonly string[], amount: bigint): void => {
    for (const id of of) used.set(id, (used.get(id) ?? 0n) + amount);
  };
  for (let round = 0; round < 250; round++) {
    const step = random(10);
    if (step === 0) {
      const index = random(subjects.length);
      const id = subjects[index] as string;
      const kind = scopes.includes(id) ? "run" : index % 2 === 0 ? "key" : "member";
      // Scopes begin with zero, so they are limited once, before their calls.
      if (kind === "run" && (used.has(id) || caps.has(id))) continue;
      if (random(4) === 0 && kind !== "run") {
        caps.delete(id);
        await removeSpendLimit(db.database, workspaceId, id);
        continue;
      }
      const cap = BigInt(random(2_000) + 1);
      caps.set(id, (spent.get(id) ?? 0n) + cap);
      await set(
        workspaceId,
        limitOf(id, { [pick(["day", "week", "month", "total"] as const)]: caps.get(id) ?? 0n }, kind),
      );
      continue;
    }
    if (step < 6) {
      const calls = Array.from({ length: pick([1, 1, 2, 7]) }, () => {
        const { keyId, memberId } = pick(keys);
        const own = random(2) === 0 ? [pick(scopes)] : [];
        return {
          call: {
            workspaceId,
            jobId: newId(),
            keyId,
            amount: BigInt(random(300)),
            mayExceed: random(4) === 0,
            ...(own.length === 0 ? {} : { scopes: own }),
          },
          of: [keyId, memberId, ...own],
        };
      });
      const form = pick(["lone", "wait", "late"] as const);
      const verdicts: number[] = [];
      const offered = calls.map(({ call }) => call);
      if (form === "lone") for (const call of offered) verdicts.push(await admitLone(db.database, call));
      else if (form === "wait") verdicts.push(...(await admitGroup(db.database, offered, { waitMs: 8_000 })));
      else verdicts.push(...(await lateIfPossible((isLate) => admitGroup(db.database, offered, { waitMs: 8_000, isLate })))); // prettier-ignore
      const expected = calls.map(({ call: { jobId, amount, mayExceed }, of }) => {
        if (amount > 0n && of.some((id) => amount > (left(id) ?? amount))) return LIMIT_REACHED;
        count(of, amount);
        open.set(jobId, { amount, mayExceed, of });
        return 0;
      });
      expect({ seed, round, form, verdicts }).toEqual({ seed, round, form, verdicts: expected });
      continue;
    }
    const [jobId] = pick([...open.keys()].map((id) => [id] as const)) ?? [];
    if (jobId === undefined) continue;
    const call = open.get(jobId);
    if (call === undefined) continue;
    open.delete(jobId);
    const price = random(5) === 0 ? null : BigInt(random(500));
    const lefts = call.of.flatMap((id) => left(id) ?? []);
    const beyond = lefts.reduce((least, one) => (one < least ? one : least), 10n ** 12n);
    const most = call.amount + (call.mayExceed ? (beyond > 0n ? beyond : 0n) : 0n);
    const take = price === null ? 0n : price < most ? price : most;
    const taken =
      random(2) === 0
        ? await settleSingle(db.database, { jobId, used: price })
        : (await settleGroup(db.database, [{ jobId, used: price }], { waitMs: 8_000 }))[0];
    expect({ seed, round, taken }).toEqual({ seed, round, taken: take });
    count(call.of, take - call.amount);
    for (const id of call.of) spent.set(id, (spent.get(id) ?? 0n) + take);
  }
  expect({ seed, audit: await auditLedger(db.database) }).toEqual({ seed, audit: [] });
  await settleGroup(
    db.database,
    [...open.keys()].map((jobId) => ({ jobId })),
    { waitMs: 8_000 },
  );
});

describe("a limit that is set later", () => {
  test("counts charges of the key before and after the last roll-up, and its open holds", async () => {
    const { workspaceId, keyId, memberId } = await createSubject();
    const other = await createKey(db.database, undefined, workspaceId);
    await db.query("update api_key set member_id = $2 where id = $1", [other.keyId, memberId]);
    const charge = async (of: string, used: bigint): Promise<void> => {
      const jobId = newId();
      expect(await admitLone(db.database, { workspaceId, jobId, keyId: of, amount: used })).toBe(0);
      await settleSingle(db.database, { jobId, used });
    };
    await charge(keyId, 30n);
    await charge(other.keyId, 5n);
    await rollUpAll(db.database, openUsageRollUp({ database: db.database, metrics: bench.metrics, log }));
    expect(await db.query("select from usage_hour where key_id = $1", [keyId])).toHaveLength(1);
    await charge(keyId, 7n);
    const open = newId();
    await admitLone(db.database, { workspaceId, jobId: open, keyId, amount: 100n });
    await set(workspaceId, limitOf(keyId, { day: 140n, total: 1_000n }));
    await set(workspaceId, limitOf(memberId, { month: 1_000n }, "member"));
    const own = await stateOf(workspaceId, keyId);
    expect([own.heldNano, own.windows.day.spentNano, own.windows.total.spentNano]).toEqual([100n, 37n, 37n]);
    expect(own.windows.day.leftNano).toBe(3n);
    const all = await stateOf(workspaceId, memberId);
    expect([all.heldNano, all.windows.month.spentNano]).toEqual([100n, 42n]);
    expect(await admitLone(db.database, { workspaceId, jobId: newId(), keyId, amount: 4n })).toBe(LIMIT_REACHED);
    expect(await admitLone(db.database, { workspaceId, jobId: newId(), keyId, amount: 0n })).toBe(0);
    await settleSingle(db.database, { jobId: open, used: 90n });
    expect(await admitLone(db.database, { workspaceId, jobId: newId(), keyId, amount: 13n })).toBe(0);
  });

  test("counts the calls that a credit line had admitted, each once, while they settle", async () => {
    const { workspaceId, keyId } = await createSubject(100_000n * CREDIT);
    const ingress = bench.startIngress();
    await bench.openLine(ingress, workspaceId);
    const lined: { jobId: string; share: CreditLineHold | undefined }[] = [];
    for (let n = 0; n < 60; n++) {
      const of = { ...hold(), keyId };
      lined.push({ jobId: of.jobId, share: await ingress.calls.place(workspaceId, null, of) });
    }
    expect(lined.some(({ share }) => share !== undefined)).toBe(true);
    const settling = Promise.all(
      lined.map(async ({ jobId, share }, n) => {
        await Bun.sleep(n);
        await bench.settle(workspaceId, jobId, BigInt(n), share);
        ingress.lines.forget(jobId);
      }),
    );
    await Bun.sleep(20);
    await set(workspaceId, limitOf(keyId, { day: 10_000n * CREDIT }));
    await settling;
    const state = await stateOf(workspaceId, keyId);
    expect([state.heldNano, state.windows.day.spentNano]).toEqual([0n, 1_770n]);
    expect(await chargesOf(keyId)).toBe(1_770n);
  });

  test("counts listed calls of a line from the time that their ingress is lost", async () => {
    const { workspaceId, keyId } = await createSubject(100_000n * CREDIT);
    const ingress = bench.startIngress();
    const { lineId } = await bench.openLine(ingress, workspaceId);
    const of = { ...hold(), keyId };
    const share = await ingress.calls.place(workspaceId, null, of);
    expect(share).toBeDefined();
    await db.query(
      "select show_lined_calls($1, $2, array[$3::uuid], array[$4::uuid], array['m'], array[$5::bigint], array[false], array[0::bigint], array[60000::bigint])",
      [workspaceId, lineId, of.jobId, keyId, of.amountNano],
    );
    await set(workspaceId, limitOf(keyId, { day: 10n * CREDIT }));
    expect((await stateOf(workspaceId, keyId)).heldNano).toBe(0n);
    await db.query("select end_credit_line($1)", [lineId]);
    expect((await stateOf(workspaceId, keyId)).heldNano).toBe(CREDIT);
    await bench.settle(workspaceId, of.jobId, 5n, share);
    const state = await stateOf(workspaceId, keyId);
    expect([state.heldNano, state.windows.day.spentNano]).toEqual([0n, 5n]);
  });
});

describe("a limit that is set while the balance is locked", () => {
  /** Begins to set the limit while `meanwhile` has the balance of the workspace locked. */
  async function setDuring(workspaceId: string, limit: SpendLimit, meanwhile: (tx: Queryable) => Promise<unknown>) {
    let setting: Promise<unknown> | undefined;
    await db.database.transaction(async (tx) => {
      await tx.query("select from balance where workspace_id = $1 for update", [workspaceId]);
      setting = set(workspaceId, limit);
      const waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
      while ((await db.query(waits)).length === 0) await Bun.sleep(2);
      await meanwhile(tx);
    });
    await setting;
  }

  test("counts holds and charges of a key that replaces the limited one meanwhile", async () => {
    const { workspaceId, keyId } = await createSubject();
    const next = await createKey(db.database, undefined, workspaceId);
    const [open, ended] = [newId(), newId()];
    await setDuring(workspaceId, limitOf(keyId, { day: 100n }), async (tx) => {
      await tx.query("update api_key set limit_id = $2 where id = $1", [next.keyId, keyId]);
      await admitLone(tx, { workspaceId, jobId: ended, keyId: next.keyId, amount: 7n });
      await settleSingle(tx, { jobId: ended, used: 7n });
      await admitLone(tx, { workspaceId, jobId: open, keyId: next.keyId, amount: 40n });
    });
    const state = await stateOf(workspaceId, keyId);
    expect([state.heldNano, state.windows.day.spentNano]).toEqual([40n, 7n]);
    expect(await settleSingle(db.database, { jobId: open, used: 40n })).toBe(40n);
  });

  test("counts holds and charges of its key if the earlier limit is removed meanwhile", async () => {
    const { workspaceId, keyId } = await createSubject();
    const [ended, open] = [newId(), newId()];
    await set(workspaceId, limitOf(keyId, { day: 100n }));
    await admitLone(db.database, { workspaceId, jobId: ended, keyId, amount: 7n });
    await settleSingle(db.database, { jobId: ended, used: 7n });
    await admitLone(db.database, { workspaceId, jobId: open, keyId, amount: 40n });
    await setDuring(workspaceId, limitOf(keyId, { day: 200n }), (tx) => removeSpendLimit(tx, workspaceId, keyId));
    const state = await stateOf(workspaceId, keyId);
    expect([state.heldNano, state.windows.day.spentNano]).toEqual([40n, 7n]);
    expect(await settleSingle(db.database, { jobId: open, used: 40n })).toBe(40n);
  });
});

describe("a period", () => {
  const DAY_MS = 86_400_000;
  test("begins without the charges before it; open holds of the previous one count in it", async () => {
    const { workspaceId, keyId } = await createSubject();
    await set(workspaceId, limitOf(keyId, { day: 100n, week: 150n, month: 1_000n }));
    const [first, second] = [newId(), newId()];
    expect(await admitLone(db.database, { workspaceId, jobId: first, keyId, amount: 60n })).toBe(0);
    expect(await admitLone(db.database, { workspaceId, jobId: second, keyId, amount: 40n })).toBe(0);
    await settleSingle(db.database, { jobId: first, used: 60n });
    expect(await admitLone(db.database, { workspaceId, jobId: newId(), keyId, amount: 1n })).toBe(LIMIT_REACHED);
    // The clock of a test cannot be moved for settlements, so the day of the limit is moved back.
    await db.query("update spend_limit set day = day - 1 where id = $1", [keyId]);
    expect(await admitLone(db.database, { workspaceId, jobId: newId(), keyId, amount: 61n })).toBe(LIMIT_REACHED);
    const monday = new Date().getUTCDay() === 1;
    expect(await admitLone(db.database, { workspaceId, jobId: newId(), keyId, amount: monday ? 60n : 50n })).toBe(0);
    const state = await stateOf(workspaceId, keyId);
    expect([state.windows.day.spentNano, state.windows.week.spentNano]).toEqual([0n, monday ? 0n : 60n]);
  });

  test("ends at midnight UTC, on Monday and at the first of the month", async () => {
    const { workspaceId, keyId } = await createSubject();
    await set(workspaceId, limitOf(keyId, { day: 10n, week: 10n, month: 10n, total: 10n }));
    const { day, week, month, total } = (await stateOf(workspaceId, keyId)).windows;
    const now = new Date();
    const midnight = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1);
    expect(day.resetsAt?.getTime()).toBe(midnight);
    expect(week.resetsAt?.getUTCDay()).toBe(1);
    expect((week.resetsAt?.getTime() ?? 0) - midnight).toBeLessThan(7 * DAY_MS);
    expect(month.resetsAt?.getTime()).toBe(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
    expect(total.resetsAt).toBeNull();
  });

  test("has a raised limit until the raise ends", async () => {
    const { workspaceId, keyId } = await createSubject();
    const raised = {
      ...limitOf(keyId, { day: 10n, month: 25n }),
      raise: { credits: { day: 20n }, until: new Date(Date.now() + DAY_MS) },
    };
    await set(workspaceId, raised);
    expect(await admitLone(db.database, { workspaceId, jobId: newId(), keyId, amount: 20n })).toBe(0);
    expect(await admitLone(db.database, { workspaceId, jobId: newId(), keyId, amount: 1n })).toBe(LIMIT_REACHED);
    await set(workspaceId, { ...raised, raise: { credits: { day: 30n }, until: new Date(Date.now() - 1) } });
    expect((await stateOf(workspaceId, keyId)).windows.day).toMatchObject({ capNano: 10n, leftNano: -10n });
    await set(workspaceId, limitOf(keyId, {}));
    expect(await admitLone(db.database, { workspaceId, jobId: newId(), keyId, amount: 500n })).toBe(0);
  });
});

describe("a call of a limited key", () => {
  test("gets no fallback that costs more than its limit leaves", async () => {
    const { workspaceId, keyId } = await createSubject();
    await set(workspaceId, limitOf(keyId, { day: 100n }));
    const jobId = newId();
    await admitLone(db.database, { workspaceId, jobId, keyId, amount: 40n });
    const to = { workspaceId, jobId, attempt: 1, model: "next", mayExceed: false, tokensMax: 0 };
    expect(await adjustHold(db.database, { ...to, amountNano: 101n })).toBe("insufficient");
    expect(await adjustHold(db.database, { ...to, amountNano: 100n })).toBe("adjusted");
    expect((await stateOf(workspaceId, keyId)).heldNano).toBe(100n);
    expect(await adjustHold(db.database, { ...to, amountNano: 10n })).toBe("adjusted");
    await settleSingle(db.database, { jobId, used: 10n });
    expect((await stateOf(workspaceId, keyId)).windows.day.leftNano).toBe(90n);
  });

  test("gets a fallback that fits the limit of a new day, before another call begins the day", async () => {
    const { workspaceId, keyId } = await createSubject();
    await set(workspaceId, limitOf(keyId, { day: 100n }));
    const [jobId, other] = [newId(), newId()];
    await admitLone(db.database, { workspaceId, jobId, keyId, amount: 10n });
    await admitLone(db.database, { workspaceId, jobId: other, keyId, amount: 90n });
    await settleSingle(db.database, { jobId: other, used: 90n });
    await db.query("update spend_limit set day = day - 1 where id = $1", [keyId]);
    await db.query("update balance set day = day - 1 where workspace_id = $1", [workspaceId]);
    const to = { workspaceId, jobId, attempt: 1, model: "next", mayExceed: false, tokensMax: 0 };
    expect(await adjustHold(db.database, { ...to, amountNano: 101n })).toBe("insufficient");
    expect(await adjustHold(db.database, { ...to, amountNano: 100n })).toBe("adjusted");
    expect((await stateOf(workspaceId, keyId)).windows.day.leftNano).toBe(0n);
    await settleSingle(db.database, { jobId, used: 10n });
    expect((await stateOf(workspaceId, keyId)).windows.day.leftNano).toBe(90n);
  });

  test("that was delivered after its hold was closed is charged what the limit leaves", async () => {
    const { workspaceId, keyId } = await createSubject();
    await set(workspaceId, limitOf(keyId, { day: 100n }));
    const [lost, other] = [newId(), newId()];
    await admitLone(db.database, { workspaceId, jobId: lost, keyId, amount: 60n });
    await settleSingle(db.database, { jobId: lost, used: 10n });
    await admitLone(db.database, { workspaceId, jobId: other, keyId, amount: 70n });
    const settled = await bench.ledger.settle(settlementOf(workspaceId, lost, 50n, { isDelivered: true }));
    expect(settled).toMatchObject({ takenNano: 30n, lateNano: 20n });
    const state = await stateOf(workspaceId, keyId);
    expect([state.windows.day.spentNano, state.windows.day.leftNano]).toEqual([30n, 0n]);
  });

  test("of a key that replaced another shares the limit of the first", async () => {
    const { workspaceId, keyId } = await createSubject();
    const next = await createKey(db.database, undefined, workspaceId);
    await set(workspaceId, limitOf(keyId, { total: 10n }));
    await admitLone(db.database, { workspaceId, jobId: newId(), keyId, amount: 6n });
    await db.query("update api_key set limit_id = $2 where id = $1", [next.keyId, keyId]);
    expect(await admitLone(db.database, { workspaceId, jobId: newId(), keyId: next.keyId, amount: 5n })).toBe(LIMIT_REACHED); // prettier-ignore
    expect(await admitLone(db.database, { workspaceId, jobId: newId(), keyId: next.keyId, amount: 4n })).toBe(0);
  });
});

test("labels of a call are in its usage record, from a hold and from a credit line", async () => {
  const workspaceId = await createWorkspace(db.database, 100_000n * CREDIT);
  const ingress = bench.startIngress();
  const labels = { user: "ada", project: "sluice" };
  const separate = { ...hold(), labels };
  await ingress.calls.place(workspaceId, null, separate);
  await bench.ledger.settle(settlementOf(workspaceId, separate.jobId, 1n));
  await bench.openLine(ingress, workspaceId);
  const lined = { ...hold(), labels };
  const share = await ingress.calls.place(workspaceId, null, lined);
  expect(share).toMatchObject({ labels });
  await bench.settle(workspaceId, lined.jobId, 1n, share);
  expect(
    await db.query("select labels from usage_record where job_id = any($1::uuid[])", [
      `{${separate.jobId},${lined.jobId}}`,
    ]),
  ).toEqual([{ labels }, { labels }]);
});
