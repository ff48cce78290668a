import { describe, expect, test } from "bun:test";

import { Semaphore } from "#shared/semaphore.ts";

const never = (): AbortSignal => new AbortController().signal;

/** True if a promise has settled after everything that was ready has run. */
async function isReady(promise: Promise<unknown>): Promise<boolean> {
  let ready = false;
  void promise.then(
    () => (ready = true),
    () => (ready = true),
  );
  await Bun.sleep(0);
  return ready;
}

describe("room that is shared", () => {
  test("is given out once: who wants more than is left waits until it is given back", async () => {
    const room = new Semaphore(100);
    const first = await room.take(70, never());
    const second = room.take(50, never());
    expect(await isReady(second)).toBe(false);
    first.shrink(40);
    expect(await isReady(second)).toBe(true);
    const third = room.take(20, never());
    expect(await isReady(third)).toBe(false);
    first.release();
    first.release();
    expect(await isReady(third)).toBe(true);
    // 50 and 20 are out; giving back twice gave nothing twice.
    const fourth = room.take(31, never());
    expect(await isReady(fourth)).toBe(false);
    (await second).release();
    expect(await isReady(fourth)).toBe(true);
  });

  test("is served in turn: a large one is not passed by small ones for ever", async () => {
    const room = new Semaphore(100);
    const held = await room.take(60, never());
    const large = room.take(100, never());
    const small = room.take(10, never());
    expect([await isReady(large), await isReady(small)]).toEqual([false, false]);
    held.release();
    expect([await isReady(large), await isReady(small)]).toEqual([true, false]);
  });

  test("lets those go who leave while they wait, and whoever stood behind them on", async () => {
    const room = new Semaphore(100);
    await room.take(60, never());
    const leaving = new AbortController();
    const large = room.take(100, leaving.signal);
    const small = room.take(10, never());
    const reason = new Error("left");
    leaving.abort(reason);
    expect(await large.catch((error: unknown) => error)).toBe(reason);
    expect(await isReady(small)).toBe(true);
    expect(await room.take(1, AbortSignal.abort(reason)).catch((error: unknown) => error)).toBe(reason);
  });

  test("is given back where a turn comes to one that leaves", async () => {
    const room = new Semaphore(1);
    const held = await room.take(1);
    const leaving = new AbortController();
    const waiting = room.take(1, leaving.signal);
    leaving.abort(new Error("left"));
    held.release();
    expect(await waiting.catch(String)).toBe("Error: left");
    expect(await isReady(room.take(1))).toBe(true);
  });
});
