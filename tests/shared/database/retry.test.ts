import { expect, test } from "bun:test";

import { LOCKED, retryStatement } from "#shared/database/retry.ts";

const AWAY = Object.assign(new Error("gone"), { code: "ECONNREFUSED" });
const REFUSED = Object.assign(new Error("out of range"), { code: "22003" });
const QUICK = { forMs: 2_000, pauseMs: 1, pauseMaxMs: 2 };

/** Work that comes to these results in turn; the last one stays. */
function working(...results: readonly unknown[]) {
  let calls = 0;
  const work = (): Promise<unknown> => {
    const result = results[Math.min(calls, results.length - 1)];
    calls += 1;
    return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
  };
  return { work, calls: () => calls };
}

const faultOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

test("failed work is retried until it succeeds, and each failure reported", async () => {
  const { work, calls } = working(AWAY, LOCKED, AWAY, "done");
  const told: number[] = [];
  expect(await retryStatement(work, { ...QUICK, onRetry: (_error, tries) => void told.push(tries) })).toBe("done");
  expect([calls(), told]).toEqual([4, [1, 3]]);
});

test("work that the database rejects is not retried", async () => {
  const { work, calls } = working(REFUSED, "done");
  expect(await faultOf(retryStatement(work, QUICK))).toBe(REFUSED);
  expect(calls()).toBe(1);
});

test("the retries end at their time limit: with the last failure, or naming the locked object", async () => {
  const short = { ...QUICK, forMs: 20 };
  expect(await faultOf(retryStatement(working(AWAY).work, short))).toBe(AWAY);
  const locked = new Error("the hold stays locked");
  expect(await faultOf(retryStatement(working(LOCKED).work, { ...short, locked: () => locked }))).toBe(locked);
});

test("the retries end when their work is aborted", async () => {
  const controller = new AbortController();
  const { work, calls } = working(AWAY);
  const trying = faultOf(retryStatement(work, { ...QUICK, forMs: 60_000, signal: controller.signal }));
  await Bun.sleep(10);
  controller.abort();
  expect(await trying).toBe(AWAY);
  expect(calls()).toBeGreaterThan(0);
});
