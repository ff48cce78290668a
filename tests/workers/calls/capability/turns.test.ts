import { expect, test } from "bun:test";

import { createTurns, type TurnOptions, type Turns } from "#workers/calls/capability/turns.ts";

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Takes a turn for a workspace and tells its name when it has it. */
function asker(turns: Turns) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const take = async (name: string, options: TurnOptions): Promise<void> => {
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
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await settled();
  };
  return { begun, ask, end };
}

test("the workspace with the fewest runs at work comes first, each one's in order", async () => {
  const { begun, ask, end } = asker(createTurns(2));
  for (const name of ["a 1", "a 2", "a 3", "a 4", "b 1", "c 1", "b 2"]) ask(name);
  await settled();
  expect(begun).toEqual(["a 1", "a 2"]);
  await end("a 1");
  expect(begun.at(-1)).toBe("b 1");
  await end("a 2");
  // All that wait had their last turn as long ago: the first to come.
  expect(begun.at(-1)).toBe("a 3");
  await end("b 1");
  expect(begun.at(-1)).toBe("c 1");
  await end("a 3");
  expect(begun.at(-1)).toBe("b 2");
});

test("long work leaves one turn to the short, and has the only one where there is one", async () => {
  const { begun, ask, end } = asker(createTurns(2));
  for (const name of ["a 1", "b 1"]) ask(name, true);
  ask("c 1");
  await settled();
  expect(begun).toEqual(["a 1", "c 1"]);
  await end("c 1");
  expect(begun).toEqual(["a 1", "c 1"]);
  await end("a 1");
  expect(begun.at(-1)).toBe("b 1");
  const alone = asker(createTurns(1));
  alone.ask("a 1", true);
  await settled();
  expect(alone.begun).toEqual(["a 1"]);
});

test("one that leaves while it waits takes no turn, and a turn is given back once", async () => {
  const { begun, ask, end } = asker(createTurns(1));
  const leaving = new AbortController();
  ask("a 1");
  ask("b 1", false, leaving.signal);
  ask("c 1");
  await settled();
  leaving.abort();
  await settled();
  await end("a 1");
  await end("a 1");
  expect(begun).toEqual(["a 1", "b 1 left", "c 1"]);
  ask("d 1");
  await settled();
  expect(begun).not.toContain("d 1");
});

test("one with a run after the other does not keep a backlog waiting", async () => {
  const { begun, ask, end } = asker(createTurns(1));
  ask("a 1");
  for (let at = 2; at <= 4; at++) ask(`a ${at}`);
  ask("b 1");
  await settled();
  await end("a 1");
  await end("a 2");
  expect(begun.at(-1)).toBe("b 1");
  // It asks again as soon as it is served.
  await end("b 1");
  ask("b 2");
  await end("a 3");
  await end("a 4");
  expect(begun).toEqual(["a 1", "a 2", "b 1", "a 3", "a 4", "b 2"]);
});
