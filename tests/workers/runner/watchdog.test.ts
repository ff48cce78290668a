import { afterEach, describe, expect, test } from "bun:test";

import { JobAbort } from "#workers/job.ts";
import { startWatchdog, type TimeoutKind, type Watchdog } from "#workers/runner/watchdog.ts";

const open: Watchdog[] = [];
afterEach(() => {
  for (const watchdog of open.splice(0)) watchdog.stop();
});

function start(limits: Partial<Parameters<typeof startWatchdog>[0]>, job = new AbortController().signal): Watchdog {
  const watchdog = startWatchdog({ firstByteMs: 60_000, stallMs: 60_000, totalMs: 60_000, ...limits }, job);
  open.push(watchdog);
  return watchdog;
}

/** Resolves when the signal aborts. */
function aborted(watchdog: Watchdog): Promise<void> {
  if (watchdog.signal.aborted) return Promise.resolve();
  return new Promise((resolve) => watchdog.signal.addEventListener("abort", () => resolve(), { once: true }));
}

describe("a provider call", () => {
  test.each<[string, object, boolean, TimeoutKind]>([
    ["that never gives a first byte", { firstByteMs: 20 }, false, "first_byte"],
    ["that falls silent after its first byte", { stallMs: 20 }, true, "stall"],
    ["that takes too long in all, silent", { totalMs: 20 }, false, "total"],
    ["that takes too long in all, speaking", { totalMs: 20 }, true, "total"],
    ["that has no time at all", { totalMs: 0 }, false, "total"],
    ["whose limits end together is out of time in all", { totalMs: 20, firstByteMs: 20 }, false, "total"],
  ])("%s is ended with that reason", async (_name, limits, isTouched, kind) => {
    const watchdog = start(limits);
    if (isTouched) watchdog.touch();
    await aborted(watchdog);
    expect(watchdog.expired()).toBe(kind);
    expect(watchdog.signal.reason).toBeInstanceOf(JobAbort);
    expect((watchdog.signal.reason as JobAbort).reason).toBe("deadline");
  });

  test("that keeps speaking outlives its first-byte and stall limits many times over", async () => {
    const watchdog = start({ firstByteMs: 30, stallMs: 30, totalMs: 150 });
    const speaking = setInterval(() => watchdog.touch(), 5);
    await aborted(watchdog);
    clearInterval(speaking);
    expect(watchdog.expired()).toBe("total");
  });

  test("that has spoken once is no longer under the first-byte limit", async () => {
    const watchdog = start({ firstByteMs: 20, stallMs: 60_000, totalMs: 100 });
    watchdog.touch();
    await aborted(watchdog);
    expect(watchdog.expired()).toBe("total");
  });
});

describe("a pause", () => {
  test("counts for none of the limits, which go on with the next sign of life", async () => {
    const watchdog = start({ firstByteMs: 100, stallMs: 100, totalMs: 150 });
    watchdog.touch();
    watchdog.pause();
    await Bun.sleep(300);
    expect(watchdog.expired()).toBeUndefined();
    watchdog.touch();
    await aborted(watchdog);
    expect(watchdog.expired()).toBe("stall");
  });

  test("ends with its job all the same", () => {
    const job = new AbortController();
    const watchdog = start({}, job.signal);
    watchdog.pause();
    job.abort(new JobAbort("shutdown"));
    expect(watchdog.signal.aborted).toBe(true);
  });
});

describe("the end of the job", () => {
  test("ends the call with the job's own reason, and no limit is said to have passed", () => {
    const job = new AbortController();
    const watchdog = start({}, job.signal);
    job.abort(new JobAbort("caller_left"));
    expect(watchdog.signal.reason).toBe(job.signal.reason);
    expect(watchdog.expired()).toBeUndefined();
  });

  test("before the call began ends it at once", () => {
    const watchdog = start({}, AbortSignal.abort(new JobAbort("shutdown")));
    expect(watchdog.signal.reason).toMatchObject({ reason: "shutdown" });
  });

  test("after a limit passed changes nothing", async () => {
    const job = new AbortController();
    const watchdog = start({ totalMs: 5 }, job.signal);
    await aborted(watchdog);
    job.abort(new JobAbort("caller_left"));
    expect(watchdog.signal.reason).toMatchObject({ reason: "deadline" });
  });

  test("is not listened for once the call is over", () => {
    const job = new AbortController();
    const watchdog = start({}, job.signal);
    watchdog.stop();
    job.abort(new JobAbort("caller_left"));
    expect(watchdog.signal.aborted).toBe(false);
  });
});

test("a stopped watchdog never bites", async () => {
  const stopped = start({ totalMs: 10 });
  const other = start({ totalMs: 60 });
  stopped.stop();
  await aborted(other);
  expect(stopped.signal.aborted).toBe(false);
  expect(stopped.expired()).toBeUndefined();
});
