import { afterEach, describe, expect, test } from "bun:test";

import { abortReasonOf, jobAbort } from "#workers/job.ts";
import { type Clock, startWatchdog, type TimeoutKind, type Watchdog } from "#workers/calls/watchdog.ts";

interface ManualClock extends Clock {
  /** Lets so much time pass, and runs what is due on the way. */
  pass(ms: number): void;
}

function createClock(): ManualClock {
  let nowMs = 0;
  const due = new Map<object, { readonly atMs: number; readonly run: () => void }>();
  return {
    now: () => nowMs,
    after(ms, run) {
      const timer = {};
      due.set(timer, { atMs: nowMs + ms, run });
      return () => due.delete(timer);
    },
    pass(ms) {
      const until = nowMs + ms;
      for (;;) {
        const [next] = [...due].toSorted(([, a], [, b]) => a.atMs - b.atMs);
        if (!next || next[1].atMs > until) break;
        due.delete(next[0]);
        nowMs = next[1].atMs;
        next[1].run();
      }
      nowMs = until;
    },
  };
}

const open: Watchdog[] = [];
let clock = createClock();
afterEach(() => {
  for (const watchdog of open.splice(0)) watchdog.stop();
  clock = createClock();
});

function start(limits: Partial<Parameters<typeof startWatchdog>[0]>, job = new AbortController().signal): Watchdog {
  const watchdog = startWatchdog({ firstByteMs: 60_000, stallMs: 60_000, totalMs: 60_000, ...limits }, job, clock);
  open.push(watchdog);
  return watchdog;
}

describe("a provider call", () => {
  test.each<[string, object, boolean, number, TimeoutKind]>([
    ["that never gives a first byte", { firstByteMs: 20 }, false, 20, "first_byte"],
    ["that falls silent after its first byte", { stallMs: 20 }, true, 20, "stall"],
    ["that takes too long in all, silent", { totalMs: 20 }, false, 20, "total"],
    ["that takes too long in all, speaking", { totalMs: 20 }, true, 20, "total"],
    ["that has no time at all", { totalMs: 0 }, false, 0, "total"],
    ["whose limits end together is out of time in all", { totalMs: 20, firstByteMs: 20 }, false, 20, "total"],
  ])("%s is ended with that reason", (_name, limits, isTouched, limitMs, kind) => {
    const watchdog = start(limits);
    if (isTouched) watchdog.touch();
    clock.pass(limitMs - 1);
    expect(watchdog.signal.aborted).toBe(limitMs === 0);
    clock.pass(2);
    expect(watchdog.expired()).toBe(kind);
    expect(abortReasonOf(watchdog.signal.reason)).toBe("deadline");
  });

  test("that keeps sending exceeds its first-byte and stall limits many times", () => {
    const watchdog = start({ firstByteMs: 30, stallMs: 30, totalMs: 150 });
    for (let ms = 0; ms < 150; ms += 5) {
      expect(watchdog.signal.aborted).toBe(false);
      watchdog.touch();
      clock.pass(5);
    }
    clock.pass(1);
    expect(watchdog.expired()).toBe("total");
  });

  test("that has sent once is no longer under the first-byte limit", () => {
    const watchdog = start({ firstByteMs: 20, stallMs: 60_000, totalMs: 100 });
    watchdog.touch();
    clock.pass(99);
    expect(watchdog.signal.aborted).toBe(false);
    clock.pass(2);
    expect(watchdog.expired()).toBe("total");
  });

  test("uses the real time by default", async () => {
    const { signal } = startWatchdog({ firstByteMs: 5, stallMs: 5, totalMs: 5 }, new AbortController().signal);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    expect(signal.reason).toMatchObject({ name: "AbortError", message: "deadline" });
  });
});

describe("a pause", () => {
  test("counts for none of the limits, which continue with the next activity", () => {
    const watchdog = start({ firstByteMs: 100, stallMs: 100, totalMs: 150 });
    watchdog.touch();
    watchdog.pause();
    clock.pass(300);
    expect(watchdog.expired()).toBeUndefined();
    watchdog.touch();
    clock.pass(99);
    expect(watchdog.expired()).toBeUndefined();
    clock.pass(2);
    expect(watchdog.expired()).toBe("stall");
  });

  test("ends with its job nevertheless", () => {
    const job = new AbortController();
    const watchdog = start({}, job.signal);
    watchdog.pause();
    job.abort(jobAbort("shutdown"));
    expect(watchdog.signal.aborted).toBe(true);
  });
});

describe("the end of the job", () => {
  test("ends the call with the job's own reason, and not with a limit's", () => {
    const job = new AbortController();
    const watchdog = start({}, job.signal);
    job.abort(jobAbort("caller_left"));
    expect(watchdog.signal.reason).toBe(job.signal.reason);
    expect(watchdog.expired()).toBeUndefined();
  });

  test("before the call's start ends it immediately", () => {
    const watchdog = start({}, AbortSignal.abort(jobAbort("shutdown")));
    expect(watchdog.signal.reason).toMatchObject({ name: "AbortError", message: "shutdown" });
  });

  test("after a limit has passed changes nothing", () => {
    const job = new AbortController();
    const watchdog = start({ totalMs: 5 }, job.signal);
    clock.pass(10);
    job.abort(jobAbort("caller_left"));
    expect(watchdog.signal.reason).toMatchObject({ name: "AbortError", message: "deadline" });
  });

  test("is ignored once the call is over", () => {
    const job = new AbortController();
    const watchdog = start({}, job.signal);
    watchdog.stop();
    job.abort(jobAbort("caller_left"));
    expect(watchdog.signal.aborted).toBe(false);
  });
});

test("a stopped watchdog never fires", () => {
  const stopped = start({ totalMs: 10 });
  stopped.stop();
  clock.pass(60_000);
  expect(stopped.signal.aborted).toBe(false);
  expect(stopped.expired()).toBeUndefined();
});
