/** Grouping without a database: who waits for whom, and what a fault of one does to the others (DB-4). */
import { expect, test } from "bun:test";

import { BUSY, createGrouper, type GrouperOptions } from "#shared/admission/group.ts";

interface Item {
  readonly workspaceId: string;
  readonly name: string;
}

type Outcome = readonly (string | typeof BUSY)[];

interface Statement {
  readonly names: string[];
  readonly wait: boolean;
  /** Ends the statement; every call gets its own name as verdict unless told otherwise. */
  finish(outcome?: Outcome | Error): void;
}

/** A grouper whose statements end when the test says so. */
function setUp(options: Partial<GrouperOptions<Item, string>> = {}) {
  const statements: Statement[] = [];
  const waiting: (() => void)[] = [];
  const grouper = createGrouper<Item, string>({
    sizeMax: 256,
    queueMax: 1_000,
    lanesMax: 2,
    isPoison: () => false,
    run: (items, wait) =>
      new Promise((resolve, reject) => {
        const names = items.map((item) => item.name);
        statements.push({
          names,
          wait,
          finish: (outcome = names) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)),
        });
        waiting.splice(0).forEach((wake) => wake());
      }),
    ...options,
  });
  return {
    grouper,
    call: (name: string, workspaceId = "a") => grouper.call({ workspaceId, name }),
    /** The statement of that number, once it has been sent. */
    statement: async (index: number): Promise<Statement> => {
      for (;;) {
        const found = statements[index];
        if (found !== undefined) return found;
        await new Promise<void>((wake) => waiting.push(wake));
      }
    },
    sent: () => statements.length,
  };
}

test("a lone call is sent at once", () => {
  const { call, sent } = setUp();
  void call("one");
  expect(sent()).toBe(1);
});

test("calls that come while a statement is under way go together as the next one", async () => {
  const { call, statement, sent } = setUp();
  const calls = ["1", "2", "3", "4"].map((name) => call(name));
  expect(sent()).toBe(1);
  (await statement(0)).finish();
  const second = await statement(1);
  expect(second.names).toEqual(["2", "3", "4"]);
  second.finish();
  expect(await Promise.all(calls)).toEqual(["1", "2", "3", "4"]);
});

test("a group is never larger than allowed, and the order is kept", async () => {
  const { call, statement } = setUp({ sizeMax: 3 });
  const names = Array.from({ length: 8 }, (_, index) => String(index));
  const calls = names.map((name) => call(name));
  const groups: string[][] = [];
  for (let index = 0; groups.flat().length < names.length; index++) {
    const next = await statement(index);
    groups.push(next.names);
    next.finish();
  }
  expect(groups).toEqual([["0"], ["1", "2", "3"], ["4", "5", "6"], ["7"]]);
  expect(await Promise.all(calls)).toEqual(names);
});

test("beyond its bound the queue refuses, and takes calls again when it has emptied", async () => {
  const { call, statement } = setUp({ queueMax: 2 });
  const accepted = [call("1"), call("2")];
  expect(await call("3").catch((error: unknown) => error)).toMatchObject({ code: "overloaded" });
  (await statement(0)).finish();
  (await statement(1)).finish();
  await Promise.all(accepted);
  const later = call("4");
  (await statement(2)).finish();
  expect(await later).toBe("4");
});

test("a busy workspace goes to a lane that waits, and its neighbours' next group does not wait for it", async () => {
  const { call, statement } = setUp();
  const first = call("x", "other");
  const busy = call("b", "locked");
  const neighbour = call("n", "other");
  (await statement(0)).finish();
  (await statement(1)).finish([BUSY, "n"]);
  expect(await neighbour).toBe("n");
  const lane = await statement(2);
  expect(lane).toMatchObject({ names: ["b"], wait: true });
  // While the lane waits: the workspace's own calls queue behind it, others pass.
  const behind = call("b2", "locked");
  const passing = call("p", "other");
  const next = await statement(3);
  expect(next).toMatchObject({ names: ["p"], wait: false });
  next.finish();
  expect(await passing).toBe("p");
  lane.finish();
  const second = await statement(4);
  expect(second).toMatchObject({ names: ["b2"], wait: true });
  second.finish();
  expect(await Promise.all([first, busy, behind])).toEqual(["x", "b", "b2"]);
});

test("no more lanes run at a time than there are connections for, and each gets its turn", async () => {
  const { call, statement, sent } = setUp({ lanesMax: 2 });
  const calls = ["a", "b", "c", "d"].map((name) => call(name, name));
  (await statement(0)).finish([BUSY]);
  const first = await statement(1);
  (await statement(2)).finish([BUSY, BUSY, BUSY]);
  const second = await statement(3);
  expect([first, second].map((lane) => [lane.names, lane.wait])).toEqual([
    [["a"], true],
    [["b"], true],
  ]);
  expect(sent()).toBe(4);
  first.finish();
  second.finish();
  (await statement(4)).finish();
  (await statement(5)).finish();
  expect(await Promise.all(calls)).toEqual(["a", "b", "c", "d"]);
});

test("a call still busy after waiting hears overloaded", async () => {
  const { call, statement } = setUp();
  const busy = call("b").catch((error: unknown) => error);
  (await statement(0)).finish([BUSY]);
  (await statement(1)).finish([BUSY]);
  expect(await busy).toMatchObject({ code: "overloaded" });
});

test("a failing statement fails its own calls and no later ones", async () => {
  const { call, statement } = setUp();
  const calls = Promise.allSettled(["1", "2", "3"].map((name) => call(name)));
  (await statement(0)).finish();
  (await statement(1)).finish(new Error("connection lost"));
  expect((await calls).map((outcome) => outcome.status)).toEqual(["fulfilled", "rejected", "rejected"]);
  const later = call("4");
  (await statement(2)).finish();
  expect(await later).toBe("4");
});

test("one call whose values are refused does not take its group with it", async () => {
  const poison = new Error("refused values");
  const sizes: number[] = [];
  const grouper = createGrouper<Item, string>({
    sizeMax: 256,
    queueMax: 1_000,
    lanesMax: 2,
    isPoison: (error) => error === poison,
    run: async (items) => {
      sizes.push(items.length);
      await Promise.resolve();
      if (items.some((item) => item.name === "13")) throw poison;
      return items.map((item) => item.name);
    },
  });
  const names = Array.from({ length: 101 }, (_, index) => String(index));
  const calls = await Promise.allSettled(names.map((name) => grouper.call({ workspaceId: "a", name })));
  const refused = calls.flatMap((call, index) => (call.status === "rejected" ? [String(index)] : []));
  expect(refused).toEqual(["13"]);
  // Halving, not one by one.
  expect(sizes.length).toBeLessThan(20);
});

test("idle resolves when every accepted call has its verdict", async () => {
  const { grouper, call, statement } = setUp();
  await grouper.idle();
  const done: string[] = [];
  const calls = [call("1"), call("2")].map((verdict) => verdict.then((name) => done.push(name)));
  const idle = grouper.idle().then(() => done.push("idle"));
  (await statement(0)).finish();
  (await statement(1)).finish();
  await Promise.all([...calls, idle]);
  expect(done).toEqual(["1", "2", "idle"]);
});
