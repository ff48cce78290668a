/** Workspaces take turns: what one has waiting delays another by what it has at work, however much that is. */
import { expect, test } from "bun:test";

import { RunPermits, PermitsOver } from "#workers/workflows/permits.ts";

/** Takers in the order of their turns; each has its turn until it is ended. */
function openQueue(turns: RunPermits) {
  const served: string[] = [];
  const working = new Map<string, (() => void)[]>();
  const come = async (workspace: string): Promise<void> => {
    const end = await turns.take(workspace);
    served.push(workspace);
    working.set(workspace, [...(working.get(workspace) ?? []), end]);
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    served,
    async come(workspace: string, count = 1) {
      for (let at = 0; at < count; at += 1) void come(workspace);
      await settled();
    },
    async end(workspace: string, count = 1) {
      for (const end of (working.get(workspace) ?? []).splice(0, count)) end();
      await settled();
    },
    atWork: (workspace: string) => (working.get(workspace) ?? []).length,
  };
}

test("one workspace alone has all permits but one, which the next one gets immediately", async () => {
  const queue = openQueue(new RunPermits(8));
  await queue.come("loud", 1_000);
  expect(queue.atWork("loud")).toBe(7);
  await queue.come("quiet");
  expect(queue.atWork("quiet")).toBe(1);
});

test("a workspace that returns gets a permit each time, while another has half of them", async () => {
  const queue = openQueue(new RunPermits(8));
  await queue.come("loud", 1_000);
  await queue.come("quiet");
  for (let step = 0; step < 20; step += 1) {
    await queue.end("loud", 7);
    expect(queue.atWork("loud")).toBe(4);
    await queue.end("quiet");
    await queue.come("quiet");
    expect(queue.atWork("quiet")).toBe(1);
  }
});

test("several workspaces with much work have equal numbers, in turns", async () => {
  const queue = openQueue(new RunPermits(6));
  for (const workspace of ["a", "b", "c"]) await queue.come(workspace, 50);
  for (let round = 0; round < 20; round += 1) {
    const before = queue.served.length;
    for (const workspace of ["a", "b", "c"]) await queue.end(workspace, 10);
    if (round < 2) continue;
    expect(["a", "b", "c"].map((workspace) => queue.atWork(workspace))).toEqual([2, 2, 2]);
    const served = queue.served.slice(before);
    for (const workspace of ["a", "b", "c"]) expect(served.filter((one) => one === workspace).length).toBe(2);
  }
});

test("a single permit rotates, one workspace after the other", async () => {
  const queue = openQueue(new RunPermits(1));
  await queue.come("a", 3);
  await queue.come("b", 3);
  for (let at = 0; at < 3; at += 1) {
    await queue.end("a");
    await queue.end("b");
  }
  expect(queue.served).toEqual(["a", "b", "a", "b", "a", "b"]);
});

test("a waiting workspace is notified when permits end, and so is a later one", async () => {
  const turns = new RunPermits(2);
  const end = await turns.take("a");
  const waiting = [turns.take("a"), turns.take("a")].map((one) => one.catch((error: unknown) => error));
  turns.end();
  for (const one of waiting) expect(await one).toBeInstanceOf(PermitsOver);
  expect(await turns.take("b").catch((error: unknown) => error)).toBeInstanceOf(PermitsOver);
  end();
});
