import { describe, expect, test } from "bun:test";

import { beforeAbort, sleep } from "#shared/base/abortable.ts";

describe("abortable work", () => {
  test("returns its result or its own error, and leaves no listener", async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const counted = {
      aborted: signal.aborted,
      addEventListener: () => (listeners += 1),
      removeEventListener: () => (listeners -= 1),
    } as unknown as AbortSignal;
    expect(await beforeAbort(Promise.resolve(8), counted)).toBe(8);
    const failed = Promise.reject(new Error("its own"));
    expect(await beforeAbort(failed, counted).catch(String)).toBe("Error: its own");
    expect(await beforeAbort(Promise.resolve(9), signal)).toBe(9);
    expect(listeners).toBe(0);
  });

  test("rejects with the signal's reason, before or during the wait, and its later failure is ignored", async () => {
    const reason = new Error("the reason");
    const work = Promise.withResolvers<never>();
    const controller = new AbortController();
    const waiting = beforeAbort(work.promise, controller.signal);
    controller.abort(reason);
    expect(await waiting.catch((error: unknown) => error)).toBe(reason);
    expect(await beforeAbort(work.promise, controller.signal).catch((error: unknown) => error)).toBe(reason);
    expect(await beforeAbort(Promise.resolve(8), controller.signal).catch((error: unknown) => error)).toBe(reason);
    work.reject(new Error("later"));
    await Promise.allSettled([work.promise]);
  });
});

test("a sleep ends with its time, or with its signal's reason", async () => {
  const reason = new Error("the reason");
  const controller = new AbortController();
  await sleep(1, controller.signal);
  const long = sleep(2 ** 31 - 1, controller.signal);
  controller.abort(reason);
  expect(await long.catch((error: unknown) => error)).toBe(reason);
  expect(await sleep(2 ** 31 - 1, controller.signal).catch((error: unknown) => error)).toBe(reason);
});
