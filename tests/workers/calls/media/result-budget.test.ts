import { describe, expect, test } from "bun:test";

import { type Holding, ResultBudget } from "#workers/calls/media/result-budget.ts";

const { signal } = new AbortController();
const open = (bytesMax: number, waitMs = 30_000) => new ResultBudget({ bytesMax, waitMs });

/** True if a step that was taken is over, once everything that could run has. */
async function isOver(step: Promise<unknown>): Promise<boolean> {
  const pending = Symbol("pending");
  await Bun.sleep(0);
  return (await Promise.race([step, Promise.resolve(pending)])) !== pending;
}

describe("a workspace", () => {
  test("uses as much as it leaves free, so that a later one finds capacity immediately", async () => {
    const budget = open(100);
    const mine = [budget.open("a"), budget.open("a"), budget.open("a")] as const;
    await mine[0].add(25, signal);
    await mine[1].add(25, signal);
    const third = mine[2].add(1, signal);
    expect(await isOver(third)).toBe(false);
    await budget.open("b").add(25, signal);
    await budget.open("c").add(12, signal);
    mine[0].keep(0);
    await third;
    expect(budget.bytes).toBe(63);
  });

  test("whose jobs use its maximum still ends one after the other", async () => {
    const budget = open(100);
    const jobs = Array.from({ length: 10 }, () => budget.open("a"));
    await Promise.all(jobs.map((job) => job.add(5, signal)));
    // Each wants more than there is for all of them.
    const ended: number[] = [];
    await Promise.all(
      jobs.map(async (job, index) => {
        await job.add(55, signal);
        ended.push(index);
        job.keep(0);
      }),
    );
    expect(ended.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(budget.bytes).toBe(0);
  });
});

describe("a job", () => {
  test("above the budget exceeds it alone, and the others keep theirs", async () => {
    const budget = open(100);
    const [large, other, second] = [budget.open("a"), budget.open("b"), budget.open("c")];
    await large.add(1_000, signal);
    await other.add(50, signal);
    const waiting = second.add(900, signal);
    expect(await isOver(waiting)).toBe(false);
    large.keep(0);
    await waiting;
    expect(budget.bytes).toBe(950);
  });

  test("that waits too long receives an error, and releases everything", async () => {
    const budget = open(100, 20);
    const first = budget.open("a");
    await first.add(50, signal);
    const late = budget.open("a");
    expect(await late.add(1, signal).catch((error: unknown) => error)).toMatchObject({ code: "overloaded" });
    first.keep(0);
    expect([budget.bytes, late.bytes]).toEqual([0, 0]);
  });

  test("that ends while it waits admits the next one", async () => {
    const budget = open(100);
    const ending = new AbortController();
    const [first, second, third] = [budget.open("a"), budget.open("b"), budget.open("c")];
    await first.add(90, signal);
    await second.add(90, signal);
    const ended = third.add(90, ending.signal).catch((error: unknown) => error);
    ending.abort(new Error("over"));
    expect(await ended).toMatchObject({ name: "ProviderError", kind: "aborted" });
    expect(await third.add(1, ending.signal).catch((error: unknown) => error)).toMatchObject({ kind: "aborted" });
    first.keep(0);
    second.keep(0);
    await third.add(100, signal);
    expect(budget.bytes).toBe(100);
  });
});

test("all jobs together never use more than the budget and one job, and each ends", async () => {
  const [bytesMax, jobMax, jobs] = [1_000, 400, 300];
  let most = 0;
  const budget = new ResultBudget({
    bytesMax,
    waitMs: 30_000,
    gauge: { set: (bytes) => (most = Math.max(most, bytes)) },
  });
  let seed = 7;
  const random = (max: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return 1 + (seed % max);
  };
  const run = async (holding: Holding): Promise<void> => {
    for (let left = random(jobMax); left > 0;) {
      const step = Math.min(left, random(90));
      await holding.add(step, signal);
      left -= step;
    }
    holding.keep(random(20));
    await Promise.resolve();
    holding.keep(0);
  };
  await Promise.all(Array.from({ length: jobs }, (_, at) => run(budget.open(`workspace ${at % 7}`))));
  expect(budget.bytes).toBe(0);
  expect(most).toBeGreaterThan(bytesMax / 2);
  expect(most).toBeLessThanOrEqual(bytesMax + jobMax);
});
