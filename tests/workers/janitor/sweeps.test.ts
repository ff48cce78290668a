import { describe, expect, test } from "bun:test";

import { createLogger } from "#shared/base/logger.ts";
import { startSweeps } from "#workers/janitor/sweeps.ts";

const lines: Record<string, unknown>[] = [];
const log = createLogger({
  level: "warn",
  role: "test",
  write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>),
});

/** A sweep that tells when it ran for the `count`th time. */
function counted(run: (count: number) => Promise<unknown> = () => Promise.resolve()) {
  let count = 0;
  let waiters: { at: number; resolve: () => void }[] = [];
  return {
    count: () => count,
    run: () => {
      count += 1;
      for (const waiter of waiters) if (waiter.at <= count) waiter.resolve();
      waiters = waiters.filter((waiter) => waiter.at > count);
      return run(count);
    },
    reached: (at: number): Promise<void> =>
      count >= at ? Promise.resolve() : new Promise((resolve) => waiters.push({ at, resolve })),
  };
}

describe("a sweep", () => {
  test("runs repeatedly", async () => {
    const sweep = counted();
    const sweeps = startSweeps(log, [{ name: "a", everyMs: 1, run: sweep.run }]);
    await sweep.reached(5);
    await sweeps.stop();
  });

  test("that fails is logged and runs again; the others are unaffected", async () => {
    lines.length = 0;
    const bad = counted(() => Promise.reject(new Error("the database is away")));
    const worse = counted(() => {
      throw new Error("thrown, not rejected");
    });
    const good = counted();
    const sweeps = startSweeps(log, [
      { name: "bad", everyMs: 1, run: bad.run },
      { name: "worse", everyMs: 1, run: worse.run },
      { name: "good", everyMs: 1, run: good.run },
    ]);
    await Promise.all([bad.reached(3), worse.reached(3), good.reached(3)]);
    await sweeps.stop();
    expect(new Set(lines.map((line) => line["sweep"]))).toEqual(new Set(["bad", "worse"]));
  });

  test("never runs twice at a time", async () => {
    let running = 0;
    let most = 0;
    const sweep = counted(async () => {
      running += 1;
      most = Math.max(most, running);
      await Bun.sleep(3);
      running -= 1;
    });
    const sweeps = startSweeps(log, [{ name: "a", everyMs: 1, run: sweep.run }]);
    await sweep.reached(5);
    await sweeps.stop();
    expect(most).toBe(1);
  });

  test("is awaited by the stop, and does not run after it", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const sweep = counted(() => promise);
    const sweeps = startSweeps(log, [{ name: "a", everyMs: 1, run: sweep.run }]);
    await sweep.reached(1);
    let isStopped = false;
    const stopped = (async () => {
      await sweeps.stop();
      isStopped = true;
    })();
    await Bun.sleep(0);
    expect(isStopped).toBe(false);
    resolve();
    await stopped;
    expect(sweep.count()).toBe(1);
  });
});
