import { afterEach, describe, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";

import { createChildPool, type ChildPool, type ChildPoolOptions, type Launch } from "#shared/children/pool.ts";
import { MediaError } from "#shared/children/media-error.ts";

const OPTIONS: ChildPoolOptions = {
  script: fileURLToPath(new URL("pool-child.ts", import.meta.url)),
  childrenMax: 1,
  queueMax: 4,
  jobMs: 30_000,
  idleMs: 30_000,
  addressSpaceBytes: 16_000_000_000,
  memoryBytesMax: 2_000_000_000,
  watchMs: 20,
  processorSeconds: 60,
  jobsMax: 100,
  residentBytesMax: 1_000_000_000,
  environment: {},
};

const pools: ChildPool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

function pool(options: Partial<ChildPoolOptions> = {}): ChildPool {
  const made = createChildPool({ ...OPTIONS, ...options });
  pools.push(made);
  return made;
}

async function fault(job: Promise<unknown>): Promise<MediaError> {
  const error = await job.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MediaError);
  return error as MediaError;
}

interface Echo {
  readonly input: unknown;
  readonly jobs: number;
  readonly pid: number;
}

async function echo(children: ChildPool, input: unknown = null, foreign = false): Promise<Echo> {
  const { output } = await children.run({ task: "echo", input, foreign });
  return output as Echo;
}

describe("a pool of children", () => {
  test("assigns no job to a child that was just stopped for its idle time", async () => {
    const children = pool({ idleMs: 5 });
    const pids = new Set<number>();
    for (let round = 0; round < 5; round++) {
      pids.add((await echo(children)).pid);
      // Its timer was set before this one.
      await Bun.sleep(5);
    }
    expect(pids.size).toBe(5);
  });

  test("releases the caller's signal and the bytes when a job has ended", async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const counted = new Proxy(signal, {
      get(target, name) {
        if (name === "addEventListener") listeners += 1;
        if (name === "removeEventListener") listeners -= 1;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    await pool().run({ task: "echo", input: null, parts: [new Uint8Array(10)], signal: counted });
    expect(listeners).toBe(0);
  });

  test("ends a job whose bytes its child has not read", async () => {
    const job = { task: "echo", input: null, parts: [new Uint8Array(30_000_000)], jobMs: 1 };
    expect((await fault(pool().run(job))).fault).toBe("timeout");
  });

  test("transfers input and bytes in both directions, including megabytes", async () => {
    const large = new Uint8Array(5_000_000).map((_, at) => at % 251);
    const parts = [Uint8Array.of(1, 2, 3), new Uint8Array(0), large];
    const { output, parts: back } = await pool().run({ task: "echo", input: { text: "ä\u0000😀" }, parts });
    expect((output as Echo).input).toEqual({ text: "ä\u0000😀" });
    expect(back).toEqual(parts);
  });

  test("delivers pieces before the result", async () => {
    const chunks: number[][] = [];
    await pool().run({ task: "chunks", input: null, onChunk: (chunk) => chunks.push([...chunk]) });
    expect(chunks).toEqual([[1], [2, 3]]);
  });

  test("reuses a child, except after foreign bytes or its last job", async () => {
    const children = pool({ jobsMax: 3 });
    const [one, two, three, four] = [
      await echo(children),
      await echo(children),
      await echo(children),
      await echo(children),
    ];
    expect([one.jobs, two.jobs, three.jobs, four.jobs]).toEqual([1, 2, 3, 1]);
    expect(four.pid).not.toBe(one.pid);
    await echo(children, null, true);
    expect((await echo(children)).jobs).toBe(1);
  });

  test("starts a new child for foreign bytes while there is capacity, and otherwise reuses an idle one", async () => {
    const children = pool({ childrenMax: 2 });
    const { pid } = await echo(children);
    const foreign = await echo(children, null, true);
    expect([foreign.jobs, foreign.pid === pid]).toEqual([1, false]);
    expect(await echo(children)).toMatchObject({ pid, jobs: 2 });
    const both = await Promise.all([echo(children, null, true), echo(children, null, true)]);
    expect(both.map((one) => one.pid)).toContain(pid);
  });

  test("returns a task's message to the caller, and continues to serve", async () => {
    const children = pool();
    const refused = await fault(children.run({ task: "refuse", input: null }));
    expect([refused.fault, refused.message]).toEqual(["corrupt", "The picture is damaged."]);
    expect((await fault(children.run({ task: "break", input: null }))).fault).toBe("failed");
    expect((await fault(children.run({ task: "nothing", input: null }))).fault).toBe("failed");
    expect((await echo(children)).jobs).toBe(1);
  });

  test("survives a child that crashes: its job fails, the next one runs", async () => {
    const children = pool();
    const [crashed, next] = await Promise.all([fault(children.run({ task: "crash", input: null })), echo(children)]);
    expect(crashed.fault).toBe("failed");
    expect(crashed.message).toContain("SIGSEGV");
    expect(next.jobs).toBe(1);
  });

  test("reads a late message of one job as no message of the next", async () => {
    const children = pool();
    await children.run({ task: "late", input: null });
    const chunks: number[] = [];
    await children.run({ task: "wait", input: null, onChunk: (chunk) => chunks.push(...chunk) });
    expect(chunks).toEqual([1]);
  });

  test("rejects more text than a frame holds, in both directions, and its child continues", async () => {
    const children = pool();
    const { pid } = await echo(children);
    const said = (bytes: number) => `Expected at most 4194304 bytes of parameters and metadata, got ${bytes}.`; // prettier-ignore
    const sent = await fault(children.run({ task: "echo", input: "x".repeat(5_000_000) }));
    expect([sent.fault, sent.message]).toEqual(["too_large", said(5_000_034)]);
    const told = await fault(children.run({ task: "tell", input: 5_000_000 }));
    expect(told.fault).toBe("too_large");
    expect((await echo(children)).pid).toBe(pid);
  });

  test("fails a job immediately when an unhandled error occurs in it", async () => {
    const children = pool();
    const { fault: of, message } = await fault(children.run({ task: "unheard", input: null }));
    expect([of, message]).toEqual(["failed", "the media child ended with exit code 1 in task unheard"]);
    await echo(children);
  });

  test("ends a job past its deadline, though it never yields", async () => {
    const children = pool({ jobMs: 300 });
    expect((await fault(children.run({ task: "spin", input: null }))).fault).toBe("timeout");
  });

  test("uses a job's own deadline if it has one, and the default again after it", async () => {
    const children = pool({ jobMs: 30_000 });
    const short = await fault(children.run({ task: "spin", input: null, jobMs: 300 }));
    expect([short.fault, short.message]).toEqual(["timeout", "The work took longer than the limit of 0.3 seconds."]);
    expect((await echo(children)).jobs).toBe(1);
  });

  test("replaces a child that has used half of its CPU time, so that no job ends for the time of others", async () => {
    const children = pool({ processorSeconds: 2 });
    const [idle, busy] = [await echo(children), await children.run({ task: "work", input: 1.1 })];
    expect((busy.output as Echo).pid).toBe(idle.pid);
    expect((await echo(children)).pid).not.toBe(idle.pid);
  });

  test("ends a job that uses too much memory", async () => {
    const children = pool({ memoryBytesMax: 300_000_000 });
    expect((await fault(children.run({ task: "grow", input: null }))).fault).toBe("too_large");
    expect((await echo(children)).jobs).toBe(1);
  });

  test("ends a job whose caller has disconnected, running or waiting", async () => {
    const children = pool();
    const [running, waiting] = [new AbortController(), new AbortController()];
    const first = fault(children.run({ task: "spin", input: null, signal: running.signal }));
    const second = fault(children.run({ task: "spin", input: null, signal: waiting.signal }));
    waiting.abort();
    expect((await second).fault).toBe("aborted");
    running.abort();
    expect((await first).fault).toBe("aborted");
    expect((await fault(children.run({ task: "echo", input: null, signal: running.signal }))).fault).toBe("aborted");
    expect((await echo(children)).jobs).toBe(1);
  });

  test("reports that it is busy when too many jobs wait", async () => {
    const children = pool({ queueMax: 1 });
    const stop = new AbortController();
    const running = fault(children.run({ task: "spin", input: null, signal: stop.signal }));
    const waiting = echo(children);
    expect((await fault(children.run({ task: "echo", input: null }))).fault).toBe("busy");
    stop.abort();
    await running;
    expect((await waiting).jobs).toBe(1);
  });

  test("leaves no child when it is closed, and fails its jobs", async () => {
    const children = pool({ childrenMax: 2 });
    const { pid } = await echo(children);
    const running = fault(children.run({ task: "spin", input: null }));
    const other = fault(children.run({ task: "spin", input: null }));
    await children.close();
    expect(["failed", "aborted"]).toContain((await running).fault);
    expect(["failed", "aborted"]).toContain((await other).fault);
    expect(() => process.kill(pid, 0)).toThrow();
  });

  test("moves a job's folder to its child, removes it after every outcome, and reports when a child has ended", async () => {
    const told: string[] = [];
    let started = 0;
    const launch = (): Launch => {
      const child = (started += 1);
      return {
        launcher: [],
        environment: {},
        enter: (folder) => {
          told.push(`${child} has ${folder}`);
          return () => void told.push(`${child} had ${folder}`);
        },
        close: async () => void told.push(`${child} ended`),
      };
    };
    const children = pool({ launch });
    await children.run({ task: "echo", input: null, folder: "first" });
    expect((await fault(children.run({ task: "refuse", input: null, folder: "second" }))).fault).toBe("corrupt");
    expect((await fault(children.run({ task: "crash", input: null, folder: "third" }))).fault).toBe("failed");
    await children.run({ task: "echo", input: null });
    await children.close();
    const first = ["first", "second", "third"].flatMap((folder) => [`1 has ${folder}`, `1 had ${folder}`]);
    expect(told).toEqual([...first, "1 ended", "2 ended"]);
  });

  test("stops an idle child", async () => {
    const children = pool({ idleMs: 20 });
    const { pid } = await echo(children);
    const isGone = (): boolean => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    };
    while (!isGone()) await Bun.sleep(10);
    expect((await echo(children)).pid).not.toBe(pid);
  });
});
