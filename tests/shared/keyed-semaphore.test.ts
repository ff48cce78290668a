import { describe, expect, test } from "bun:test";

import { KeyedSemaphore, type KeyedSemaphoreLimits } from "#shared/keyed-semaphore.ts";
import { ApiError } from "#shared/errors.ts";

const stays = new AbortController().signal;
/** Long enough for what ends by itself, and short for what does not. */
const LONG_MS = 60_000;

const openShare = (more: Partial<KeyedSemaphoreLimits> = {}): KeyedSemaphore =>
  new KeyedSemaphore({ max: 100, perWorkspaceMax: 60, waitingMax: 3, waitMs: LONG_MS, noun: "turns", ...more });

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  return error instanceof ApiError ? error.code : `no error but ${String(error)}`;
}

/** True if it has resolved by now. */
async function isThere(promise: Promise<unknown>): Promise<boolean> {
  const nothing = {};
  await Bun.sleep(1);
  return (await Promise.race([promise, Promise.resolve(nothing)])) !== nothing;
}

describe("a fair share", () => {
  test("is waited for in the order of coming", async () => {
    const share = openShare();
    const first = await share.take("a", 60, stays);
    const second = share.take("b", 60, stays);
    const third = share.take("c", 60, stays);
    expect([await isThere(second), await isThere(third)]).toEqual([false, false]);
    first();
    expect([await isThere(second), await isThere(third)]).toEqual([true, false]);
    (await second)();
    expect(await isThere(third)).toBe(true);
  });

  test("of a workspace that has all it may have holds up no other's", async () => {
    const share = openShare();
    const first = await share.take("a", 50, stays);
    const more = share.take("a", 20, stays);
    expect(await isThere(more)).toBe(false);
    (await share.take("b", 40, stays))();
    expect(await isThere(more)).toBe(false);
    first();
    expect(await isThere(more)).toBe(true);
  });

  test("that is large is not kept out by smaller ones that come later", async () => {
    const share = openShare();
    const first = await share.take("a", 60, stays);
    const large = share.take("b", 50, stays);
    const small = share.take("c", 10, stays);
    expect([await isThere(large), await isThere(small)]).toEqual([false, false]);
    first();
    expect([await isThere(large), await isThere(small)]).toEqual([true, true]);
  });

  test("larger than every limit is taken alone", async () => {
    const share = openShare();
    const whole = await share.take("a", 500, stays);
    const next = share.take("b", 1, stays);
    expect(await isThere(next)).toBe(false);
    whole();
    expect(await isThere(next)).toBe(true);
  });

  test("given back twice is given back once", async () => {
    const share = openShare({ max: 1, waitMs: 1 });
    const free = await share.take("a", 1, stays);
    free();
    free();
    await share.take("a", 1, stays);
    expect(await codeOf(share.take("b", 1, stays))).toBe("overloaded");
  });

  test("that is not free for too long is refused, and not given to who no longer waits", async () => {
    const share = openShare({ max: 1, waitMs: 1 });
    const free = await share.take("a", 1, stays);
    expect(await codeOf(share.take("b", 1, stays))).toBe("overloaded");
    free();
    (await share.take("c", 1, stays))();
  });

  test("is refused at once where many wait already", async () => {
    const share = openShare({ max: 1, waitingMax: 2 });
    const free = await share.take("a", 1, stays);
    const waiting = [share.take("b", 1, stays), share.take("c", 1, stays)];
    expect(await codeOf(share.take("d", 1, stays))).toBe("overloaded");
    free();
    for (const one of waiting) (await one)();
  });

  test("is not waited for by so many of one workspace that another could not", async () => {
    const share = openShare({ max: 1, waitingMax: 4 });
    const free = await share.take("a", 1, stays);
    const waiting = [share.take("a", 1, stays), share.take("a", 1, stays)];
    expect(await codeOf(share.take("a", 1, stays))).toBe("overloaded");
    const other = share.take("b", 1, stays);
    free();
    for (const one of [...waiting, other]) (await one)();
  });

  test("is not waited for by a caller who has left, nor in vain behind one", async () => {
    const share = openShare();
    const free = await share.take("a", 60, stays);
    const caller = new AbortController();
    const leaving = codeOf(share.take("b", 50, caller.signal));
    const behind = share.take("c", 40, stays);
    expect(await isThere(behind)).toBe(false);
    caller.abort();
    expect(await leaving).toBe("request_timeout");
    expect(await isThere(behind)).toBe(true);
    expect(await codeOf(share.take("b", 1, caller.signal))).toBe("request_timeout");
    free();
  });
});
