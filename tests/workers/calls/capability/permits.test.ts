import { describe, expect, spyOn, test } from "bun:test";

import {
  createCapabilityPermits,
  type PermitOptions,
  type CapabilityPermits,
  CAPABILITY_OWED_MS,
  CAPABILITY_OWED_MS_MAX,
} from "#workers/calls/capability/permits.ts";
import { eventually } from "#tests/faults/wait.ts";

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Takes a turn for a workspace and tells its name when it has it. */
function asker(turns: CapabilityPermits) {
  const begun: string[] = [];
  const ends = new Map<string, (lostMs?: number) => void>();
  const take = async (name: string, options: PermitOptions): Promise<void> => {
    try {
      ends.set(name, await turns.take(options));
      begun.push(name);
    } catch {
      begun.push(`${name} left`);
    }
  };
  const ask = (name: string, isLong = false, signal?: AbortSignal): void => {
    const [workspaceId = ""] = name.split(" ");
    void take(name, { workspaceId, isLong, ...(signal === undefined ? {} : { signal }) });
  };
  const end = async (name: string, lostMs?: number): Promise<void> => {
    ends.get(name)?.(lostMs);
    await settled();
  };
  return { begun, ask, end };
}

describe("permits", () => {
  test("are assigned to the workspace with the fewest running runs, each one's in order", async () => {
    const { begun, ask, end } = asker(createCapabilityPermits(2));
    for (const name of ["a 1", "a 2", "a 3", "b 1", "b 2", "c 1", "d 1"]) ask(name);
    await settled();
    expect(begun).toEqual(["a 1", "a 2", "b 1", "b 2"]);
    await end("a 1");
    expect(begun.at(-1)).toBe("c 1");
    await end("b 1");
    expect(begun.at(-1)).toBe("d 1");
    await end("c 1");
    expect(begun.at(-1)).toBe("a 3");
  });

  test.each([1, 2, 8])(
    "of %d cores: one workspace has as many, and another's first run starts immediately, long or short",
    async (cores) => {
      for (const isLong of [true, false]) {
        for (const isOthersLong of [true, false]) {
          const { begun, ask, end } = asker(createCapabilityPermits(cores));
          for (let at = 0; at < cores + 3; at++) ask(`a ${at}`, isOthersLong);
          await settled();
          expect(begun).toHaveLength(cores);
          ask("b 1", isLong);
          await settled();
          expect(begun.at(-1)).toBe("b 1");
          // A free turn is still none for the one that has its share.
          await end("b 1");
          expect(begun).toHaveLength(cores + 1);
          await end("a 0");
          expect(begun.at(-1)).toBe(`a ${cores}`);
        }
      }
    },
  );

  test.each([1, 2, 8])("of %d cores: long work of many leaves one to short work", async (cores) => {
    const { begun, ask, end } = asker(createCapabilityPermits(cores));
    for (let at = 0; at < cores + 5; at++) ask(`w${at} 1`, true);
    await settled();
    expect(begun).toHaveLength(cores + 1);
    ask("short 1");
    await settled();
    expect(begun.at(-1)).toBe("short 1");
    await end("short 1");
    expect(begun).toHaveLength(cores + 2);
    await end("w0 1");
    expect(begun.at(-1)).toBe(`w${cores + 1} 1`);
  });

  test("are withdrawn while they are awaited, and returned once", async () => {
    const { begun, ask, end } = asker(createCapabilityPermits(1));
    const leaving = new AbortController();
    ask("a 1");
    ask("a 2", false, leaving.signal);
    ask("a 3");
    await settled();
    leaving.abort();
    await settled();
    await end("a 1");
    await end("a 1");
    expect(begun).toEqual(["a 1", "a 2 left", "a 3"]);
    ask("a 4");
    await settled();
    expect(begun).not.toContain("a 4");
  });

  test("are assigned to a backlog also beside a workspace with one run after the other", async () => {
    const { begun, ask, end } = asker(createCapabilityPermits(1));
    for (const name of ["x 1", "y 1", "a 1", "a 2", "b 1"]) ask(name);
    await settled();
    await end("x 1");
    await end("y 1");
    await end("a 1");
    expect(begun).toEqual(["x 1", "y 1", "a 1", "b 1", "a 2"]);
    // It asks again as soon as it is served.
    await end("b 1");
    ask("b 2");
    ask("a 3");
    await end("a 2");
    expect(begun.slice(-2)).toEqual(["b 2", "a 3"]);
  });
});

describe("a workspace whose runs failed", () => {
  test("comes after all others, with one run on a free core, until as much time has passed", async () => {
    const { begun, ask, end } = asker(createCapabilityPermits(2, 20));
    ask("a 1");
    await settled();
    await end("a 1", 500);
    for (const name of ["a 2", "a 3", "b 1", "b 2"]) ask(name);
    await settled();
    // The cores are free, and it is the first to come.
    expect(begun).toEqual(["a 1", "a 2", "b 1", "b 2"]);
    await end("a 2");
    await end("b 1");
    expect(begun.at(-1)).toBe("a 3");
    await end("a 3");
    for (const name of ["b 3", "a 4"]) ask(name);
    await settled();
    // No core is free, though a turn is.
    expect(begun.at(-1)).toBe("b 3");
    await eventually("its time has passed", () => begun.at(-1) === "a 4");
  });

  test("is treated like others up to ten seconds, and waits five minutes at most", async () => {
    let at = 0;
    const clock = spyOn(performance, "now").mockImplementation(() => at);
    try {
      const turns = createCapabilityPermits(1);
      const { begun, ask, end } = asker(turns);
      const lose = async (name: string, ms: number): Promise<void> => {
        ask(name);
        await settled();
        await end(name, ms);
      };
      const isServed = async (name: string): Promise<boolean> => {
        for (const other of ["b", "c"]) ask(`${other} beside ${name}`);
        ask(name);
        await settled();
        const isBegun = begun.includes(name);
        for (const other of ["b", "c"]) await end(`${other} beside ${name}`);
        await end(name);
        return isBegun;
      };
      await lose("a 1", CAPABILITY_OWED_MS);
      expect(await isServed("a 2")).toBe(true);
      await lose("a 3", 1);
      expect(await isServed("a 4")).toBe(false);
      await lose("a 5", 1e9);
      at = CAPABILITY_OWED_MS_MAX - CAPABILITY_OWED_MS - 1;
      expect(await isServed("a 6")).toBe(false);
      at += 1;
      expect(await isServed("a 7")).toBe(true);
      turns.lose("a", 1);
      expect(await isServed("a 8")).toBe(false);
    } finally {
      clock.mockRestore();
    }
  });
});
