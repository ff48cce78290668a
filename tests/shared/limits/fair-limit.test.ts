/** A whole that owners share: what holds whatever the rules, then what each order of those who wait promises. */
import { describe, expect, test } from "bun:test";

import { type Ask, FairLimit, type FairRules, type Lease } from "#shared/limits/fair-limit.ts";

const share = (max: number, ownMax: number, more: Partial<FairRules<Ask>> = {}): FairLimit =>
  new FairLimit({ max, mayHave: ({ taken }, amount) => taken === 0 || taken + amount <= ownMax, ...more });

const FEWEST: Partial<FairRules<Ask>> = { rank: ({ taken }) => taken };

/** True if a lease is in after everything that was ready has run. */
async function isIn({ entered }: Lease): Promise<boolean> {
  let isOver = entered === undefined;
  void entered?.then(() => (isOver = true));
  await Bun.sleep(0);
  return isOver;
}

async function areIn(...leases: readonly Lease[]): Promise<readonly boolean[]> {
  return Promise.all(leases.map(isIn));
}

describe.each([
  ["in the order of coming", {}],
  ["by rank", FEWEST],
])("a shared limit, %s,", (_order, rules) => {
  test("is assigned once: a request above the remainder waits until enough is returned, in part or twice", async () => {
    const limit = share(100, 100, rules);
    const first = limit.enter({ owner: "a", amount: 70 });
    const second = limit.enter({ owner: "b", amount: 50 });
    expect(await areIn(first, second)).toEqual([true, false]);
    first.shrink(40);
    expect(await isIn(second)).toBe(true);
    const third = limit.enter({ owner: "c", amount: 20 });
    expect(await isIn(third)).toBe(false);
    first.release();
    first.release();
    first.shrink(0);
    expect(await isIn(third)).toBe(true);
    expect(limit.taken).toBe(70);
    expect(await isIn(limit.enter({ owner: "d", amount: 31 }))).toBe(false);
  });

  test("is assigned alone to a request above the total", async () => {
    const limit = share(100, 60, rules);
    const whole = limit.enter({ owner: "a", amount: 500 });
    const next = limit.enter({ owner: "b" });
    expect(await areIn(whole, next)).toEqual([true, false]);
    whole.release();
    expect(await isIn(next)).toBe(true);
  });

  test("is not blocked for others by an owner at its maximum", async () => {
    const limit = share(100, 60, rules);
    const first = limit.enter({ owner: "a", amount: 50 });
    const more = limit.enter({ owner: "a", amount: 20 });
    const other = limit.enter({ owner: "b", amount: 40 });
    expect(await areIn(more, other)).toEqual([false, true]);
    other.release();
    expect(await isIn(more)).toBe(false);
    first.release();
    expect(await isIn(more)).toBe(true);
  });

  test("skips a request that was withdrawn", async () => {
    const limit = share(100, 100, rules);
    const first = limit.enter({ owner: "a", amount: 60 });
    const leaving = new AbortController();
    const large = limit.take({ owner: "b", amount: 100 }, leaving.signal);
    const released = limit.enter({ owner: "b", amount: 100 });
    const behind = limit.enter({ owner: "c", amount: 40 });
    const reason = new Error("left");
    leaving.abort(reason);
    // At once: what comes free now is not for it.
    released.release();
    first.release();
    expect(await large.catch((error: unknown) => error)).toBe(reason);
    expect(await areIn(released, behind)).toEqual([false, true]);
    expect([limit.taken, limit.waiting]).toEqual([40, 0]);
    expect(await limit.take({}, AbortSignal.abort(reason)).catch((error: unknown) => error)).toBe(reason);
  });

  test("is assigned to a request whose turn comes before its signal aborts", async () => {
    const limit = share(1, 1, rules);
    const first = limit.enter({ owner: "a" });
    const leaving = new AbortController();
    const next = limit.take({ owner: "b" }, leaving.signal);
    first.release();
    leaving.abort(new Error("late"));
    (await next).release();
    expect(limit.taken).toBe(0);
  });

  test("is rejected for a request that waits too long or may not wait, and for all once it has ended", async () => {
    const refusal = () => new Error("no room");
    const limit = share(1, 1, { ...rules, waitMs: 1, mayWait: ({ waiting }) => waiting < 2, refusal });
    const first = limit.enter({ owner: "a" });
    const late = limit.take({ owner: "b" });
    expect(() => limit.enter({ owner: "b" })).toThrow("no room");
    expect(late).rejects.toThrow("no room");
    await late.catch(() => undefined);
    expect(limit.waiting).toBe(0);
    const waiting = limit.take({ owner: "b" });
    limit.end(new Error("over"));
    expect(waiting).rejects.toThrow("over");
    expect(limit.take({})).rejects.toThrow("over");
    first.release();
  });

  test("admits no request while it ends, for any order of the queue", async () => {
    const limit = share(100, 100, rules);
    limit.enter({ owner: "a", amount: 60 });
    const waiting = [50, 10].map((amount) => limit.take({ owner: "b", amount }).catch((error: unknown) => error));
    const over = new Error("over");
    limit.end(over);
    expect(await Promise.all(waiting)).toEqual([over, over]);
  });

  test("reports the owners that use or want some, and forgets the others", () => {
    const limit = share(1, 1, rules);
    const first = limit.enter({ owner: "a" });
    const waiting = limit.enter({ owner: "b", bytes: 7 });
    expect([limit.busy, limit.waiting, limit.waitingBytes]).toEqual([2, 1, 7]);
    first.release();
    expect(limit.ownerOf("a")).toBeUndefined();
    expect(limit.ownerOf("b")).toMatchObject({ taken: 1, waiting: 0, waitingBytes: 0 });
    waiting.release();
    expect([limit.busy, limit.taken]).toEqual([0, 0]);
  });
});

test("a large request in order of arrival is not passed by small ones", async () => {
  const limit = share(100, 100);
  const first = limit.enter({ owner: "a", amount: 60 });
  const large = limit.enter({ owner: "b", amount: 50 });
  const small = limit.enter({ owner: "c", amount: 10 });
  expect(await areIn(large, small)).toEqual([false, false]);
  first.release();
  expect(await areIn(large, small)).toEqual([true, true]);
});

test("lets requests of its owner pass one that may not be admitted yet", async () => {
  let mayBeLong = false;
  const limit = new FairLimit<Ask & { isLong: boolean }>({ max: 2, mayTake: ({ isLong }) => mayBeLong || !isLong });
  const long = limit.enter({ isLong: true });
  expect(await areIn(long, limit.enter({ isLong: false }))).toEqual([false, true]);
  mayBeLong = true;
  limit.letIn();
  expect(await isIn(long)).toBe(true);
});

describe("by rank", () => {
  /** Owners in the order of their turns, of which there is one at a time; some of them come again as soon as they have left. */
  async function turnsOf(asks: string, again: string, count: number): Promise<string> {
    const limit = share(1, 1, FEWEST);
    const held: (readonly [string, Lease])[] = [];
    let served = "";
    const ask = async (owner: string): Promise<void> => {
      held.push([owner, await limit.take({ owner })]);
    };
    for (const owner of asks) void ask(owner);
    while (served.length < count) {
      await Bun.sleep(0);
      const [owner, lease] = held.shift() ?? [];
      if (owner === undefined) break;
      served += owner;
      lease?.release();
      if (again.includes(owner)) void ask(owner);
    }
    return served;
  }

  test("the owner with the fewest comes first, then the one with the oldest last turn", async () => {
    expect(await turnsOf("aaabbbc", "", 9)).toBe("abcabab");
  });

  test("a waiting owner is not passed by new owners, for any number", async () => {
    const limit = share(1, 1, FEWEST);
    (await limit.take({ owner: "a" })).release();
    let holder = await limit.take({ owner: "b" });
    const second = limit.enter({ owner: "a" });
    for (let index = 0; index < 3; index++) {
      const anew = limit.take({ owner: `new ${index}` });
      holder.release();
      if (await isIn(second)) return;
      holder = await anew;
    }
    throw new Error("three owners that came anew were let in before one that had waited");
  });

  test("an owner that leaves and returns is placed after those that waited before its last turn", async () => {
    expect(await turnsOf("xyaaa", "xy", 9)).toBe("xyaxyaxya");
  });
});
