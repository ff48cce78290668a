import { describe, expect, test } from "bun:test";
import { EventEmitter } from "node:events";

import { createLifecycle, type Lifecycle, type LifecycleOptions } from "#shared/process/lifecycle.ts";
import { createLogger } from "#shared/base/logger.ts";

interface Bench {
  readonly lifecycle: Lifecycle;
  readonly process: EventEmitter;
  readonly stdin: EventEmitter;
  /** Resolves with the code the process ends with. */
  readonly exited: Promise<number>;
  readonly lines: readonly Record<string, unknown>[];
}

function bench(options: Omit<LifecycleOptions, "process"> = {}): Bench {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger({ level: "debug", role: "test", write: (line) => lines.push(JSON.parse(line)) });
  const edge = new EventEmitter();
  const stdin = new EventEmitter();
  const { promise: exited, resolve } = Promise.withResolvers<number>();
  const process = Object.assign(edge, { exit: resolve, stdin: Object.assign(stdin, { resume: () => stdin }) });
  return { lifecycle: createLifecycle(log, { ...options, process }), process: edge, stdin, exited, lines };
}

describe("stopping", () => {
  test("runs the steps in reverse order, one after the other, and ends with 0", async () => {
    const { lifecycle, process, exited } = bench();
    const order: string[] = [];
    for (const name of ["database", "queue", "server"]) {
      lifecycle.onStop(name, async () => {
        order.push(`${name} begins`);
        await Promise.resolve();
        order.push(`${name} ends`);
      });
    }
    process.emit("SIGTERM");
    expect(await exited).toBe(0);
    expect(order).toEqual(["server", "queue", "database"].flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  test.each(["SIGTERM", "SIGINT"])("starts at %s and is logged first", async (signal) => {
    const { lifecycle, process, exited } = bench();
    let announced = false;
    lifecycle.onStop("server", () => {
      announced = lifecycle.stopping.aborted;
    });
    expect(lifecycle.stopping.aborted).toBe(false);
    process.emit(signal);
    expect(await exited).toBe(0);
    expect(announced).toBe(true);
    expect(lifecycle.hurry.aborted).toBe(false);
  });

  test("happens once for any number of requests", async () => {
    const { lifecycle, exited } = bench();
    let runs = 0;
    lifecycle.onStop("server", () => void (runs += 1));
    await Promise.all([lifecycle.stop("a"), lifecycle.stop("b")]);
    expect(await exited).toBe(0);
    expect(runs).toBe(1);
  });

  test("a failing step is logged, the others still run, and the code is 1", async () => {
    const { lifecycle, exited, lines } = bench();
    let closed = false;
    lifecycle.onStop("database", () => void (closed = true));
    lifecycle.onStop("queue", () => {
      throw new Error("no drain");
    });
    await lifecycle.stop("test");
    expect(await exited).toBe(1);
    expect(closed).toBe(true);
    expect(lines.find((line) => line["step"] === "queue")).toMatchObject({
      level: "error",
      err: { message: "no drain" },
    });
  });

  test("a stuck step is abandoned at its deadline", async () => {
    const { lifecycle, exited, lines } = bench();
    let closed = false;
    lifecycle.onStop("database", () => void (closed = true));
    lifecycle.onStop("queue", () => new Promise(() => undefined), 20);
    await lifecycle.stop("test");
    expect(await exited).toBe(1);
    expect(closed).toBe(true);
    expect(lines.some((line) => line["step"] === "queue" && line["msg"] === "a shutdown step timed out")).toBe(true);
  });

  test("the grace bounds all steps together", async () => {
    const { lifecycle, exited } = bench({ graceMs: 30 });
    for (const name of ["a", "b", "c"]) lifecycle.onStop(name, () => new Promise(() => undefined), 3_600_000);
    await lifecycle.stop("test");
    expect(await exited).toBe(1);
  });

  test("without the end of the process runs the steps, and a signal meanwhile ends it", async () => {
    const { lifecycle, process, exited } = bench();
    let hasEnded = false;
    void exited.then(() => (hasEnded = true));
    let runs = 0;
    lifecycle.onStop("server", () => void (runs += 1));
    const closing = lifecycle.close("test");
    expect([await closing, lifecycle.stopping.aborted, runs, hasEnded]).toEqual([true, true, 1, false]);
    process.emit("SIGTERM");
    expect([await exited, runs]).toEqual([0, 1]);
  });

  test("a step registered during the stop runs too", async () => {
    const { lifecycle, exited } = bench();
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    lifecycle.onStop("first", () => {
      lifecycle.onStop("late", () => resolve());
    });
    await lifecycle.stop("test");
    await closed;
    expect(await exited).toBe(0);
  });
});

describe("a second signal", () => {
  test("aborts running steps, and a clean end is still 0", async () => {
    const { lifecycle, process, exited } = bench();
    const { promise: waiting, resolve: begun } = Promise.withResolvers<void>();
    lifecycle.onStop(
      "running work",
      (hurry) =>
        new Promise((resolve) => {
          hurry.addEventListener("abort", () => resolve());
          begun();
        }),
      3_600_000,
    );
    process.emit("SIGTERM");
    await waiting;
    process.emit("SIGTERM");
    expect(await exited).toBe(0);
    expect(lifecycle.hurry.aborted).toBe(true);
  });

  test("followed by a third ends the process immediately", async () => {
    const { lifecycle, process, exited, lines } = bench();
    lifecycle.onStop("stuck", () => new Promise(() => undefined), 50);
    for (let count = 0; count < 3; count += 1) process.emit("SIGINT");
    expect(await exited).toBe(1);
    expect(lines.some((line) => line["msg"] === "stopped")).toBe(false);
    await lifecycle.stop("lets the step's timer end");
  });
});

describe("starting", () => {
  test("returns the opened values, or the error of a failed step", async () => {
    const { lifecycle } = bench();
    expect(await lifecycle.start("database", () => 7)).toBe(7);
    const broken = lifecycle.start("queue", () => Promise.reject(new Error("refused")));
    expect(await broken.catch(String)).toBe("Error: refused");
  });

  test("opens nothing more once a stop has started", async () => {
    const { lifecycle, exited } = bench();
    await lifecycle.stop("test");
    await exited;
    let opened = false;
    const late = lifecycle.start("queue", () => {
      opened = true;
    });
    expect(await late.catch(String)).toContain("stopped before queue was started");
    expect(opened).toBe(false);
  });
});

describe("an uncaught exception", () => {
  test.each(["uncaughtException", "unhandledRejection"])("(%s) is logged as fatal and ends with 1", async (kind) => {
    const { process, exited, lines } = bench();
    process.emit(kind, new TypeError("not a function"));
    expect(await exited).toBe(1);
    expect(lines.at(-1)).toMatchObject({ level: "fatal", kind, err: { type: "TypeError", message: "not a function" } });
  });

  test("need not be an error", async () => {
    const { process, exited, lines } = bench();
    process.emit("unhandledRejection", "just text");
    expect(await exited).toBe(1);
    expect(lines.at(-1)).toMatchObject({ level: "fatal", err: { message: "just text" } });
  });
});

describe("under a supervisor", () => {
  test("the process ends when its stdin closes", async () => {
    const { stdin, exited } = bench({ supervised: true });
    stdin.emit("end");
    expect(await exited).toBe(0);
  });

  test("only then is stdin watched", () => {
    expect(bench().stdin.listenerCount("end")).toBe(0);
  });
});
