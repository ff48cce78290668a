import { describe, expect, test } from "bun:test";

import { ByteBudget } from "#workers/providers/byte-budget.ts";

const never = (): AbortSignal => new AbortController().signal;

/** Whether a promise has settled after everything that was ready has run. */
async function isReady(promise: Promise<unknown>): Promise<boolean> {
  let ready = false;
  void promise.then(
    () => (ready = true),
    () => (ready = true),
  );
  await Bun.sleep(0);
  return ready;
}

describe("a budget of bytes", () => {
  test("is shared: who wants more than is left waits until it is given back", async () => {
    const budget = new ByteBudget(100);
    const first = await budget.lease(70, never());
    const second = budget.lease(50, never());
    expect(await isReady(second)).toBe(false);
    first.shrink(40);
    expect(await isReady(second)).toBe(true);
    const third = budget.lease(20, never());
    expect(await isReady(third)).toBe(false);
    first.release();
    first.release();
    expect(await isReady(third)).toBe(true);
    // 50 and 20 are out; giving back twice gave nothing twice.
    const fourth = budget.lease(31, never());
    expect(await isReady(fourth)).toBe(false);
    (await second).release();
    expect(await isReady(fourth)).toBe(true);
  });

  test("is served in turn: a large one is not passed by small ones for ever", async () => {
    const budget = new ByteBudget(100);
    const held = await budget.lease(60, never());
    const large = budget.lease(100, never());
    const small = budget.lease(10, never());
    expect([await isReady(large), await isReady(small)]).toEqual([false, false]);
    held.release();
    expect([await isReady(large), await isReady(small)]).toEqual([true, false]);
  });

  test("lets those go who leave while they wait, and whoever stood behind them on", async () => {
    const budget = new ByteBudget(100);
    await budget.lease(60, never());
    const leaving = new AbortController();
    const large = budget.lease(100, leaving.signal);
    const small = budget.lease(10, never());
    leaving.abort();
    expect(large).rejects.toMatchObject({ kind: "aborted" });
    expect(await isReady(small)).toBe(true);
    expect(budget.lease(1, AbortSignal.abort())).rejects.toMatchObject({ kind: "aborted" });
  });
});
