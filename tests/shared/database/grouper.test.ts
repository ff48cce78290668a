/** Grouping without a database: who waits for whom, and what a fault of one does to the others. */
import { expect, test } from "bun:test";

import { BUSY, createGrouper, type GrouperOptions, type LockWait } from "#shared/database/grouper.ts";

interface Item {
  readonly workspaceId: string;
  readonly name: string;
  readonly isPatient?: boolean;
}

const LOCKED = new Error("lock timeout");

type Outcome = readonly (string | typeof BUSY)[];

interface Statement {
  readonly names: string[];
  readonly lockWait: LockWait;
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
    isLocked: (error) => error === LOCKED,
    run: (items, lockWait) =>
      new Promise((resolve, reject) => {
        const names = items.map((item) => item.name);
        statements.push({
          names,
          lockWait,
          finish: (outcome = names) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)),
        });
        waiting.splice(0).forEach((wake) => wake());
      }),
    ...options,
  });
  return {
    grouper,
    call: (name: string, workspaceId = "a") => grouper.call({ workspaceId, name }),
    patient: (name: string, workspaceId = "a") => grouper.call({ workspaceId, name, isPatient: true }),
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

/** A grouper whose statements end at once; `groups` are the names of each. */
function setUpAtOnce(options: Partial<GrouperOptions<Item, string>>) {
  const groups: string[][] = [];
  const { call, patient } = setUp({
    run: (items) => {
      const names = items.map((item) => item.name);
      groups.push(names);
      return Promise.resolve(names);
    },
    ...options,
  });
  return { groups, call, patient };
}

test("a single call is sent immediately", () => {
  const { call, sent } = setUp();
  void call("one");
  expect(sent()).toBe(1);
});

test("patient calls wait for each other, and go together", async () => {
  const { patient, statement, sent } = setUp({ lingerMs: 20 });
  const [one, two] = [patient("1"), patient("2")];
  expect(sent()).toBe(0);
  const first = await statement(0);
  expect(first.names).toEqual(["1", "2"]);
  // While it is under way others come: they wait as well, when it is over.
  const three = patient("3");
  first.finish();
  expect(await Promise.all([one, two])).toEqual(["1", "2"]);
  expect(sent()).toBe(1);
  (await statement(1)).finish();
  expect(await three).toBe("3");
});

test("patient calls wait longer while groups are large, and as before when they are small again", async () => {
  const { groups, call, patient } = setUpAtOnce({ lingerMs: 1, lingerMaxMs: 600_000 });
  // The one that is waited for takes the patient ones along.
  for (let at = 0; at < 40; at += 1) {
    await Promise.all([...Array.from({ length: 8 }, (_, place) => patient(String(place))), call("last")]);
  }
  const alone = patient("alone");
  await Bun.sleep(30);
  expect(groups.flat()).not.toContain("alone");
  // What waited goes along with the first of these.
  for (let at = 0; at < 40; at += 1) await call("small");
  expect(await alone).toBe("alone");
  expect(await patient("again")).toBe("again");
  expect(groups.at(-1)).toEqual(["again"]);
});

test("an urgent call sends waiting patient ones immediately, and a full group does not wait", async () => {
  const { call, patient, sent, statement } = setUp({ lingerMs: 600_000, sizeMax: 3 });
  void patient("1");
  void call("2");
  expect(sent()).toBe(1);
  expect((await statement(0)).names).toEqual(["1", "2"]);
  (await statement(0)).finish();
  for (const name of ["3", "4", "5"]) void patient(name);
  expect((await statement(1)).names).toEqual(["3", "4", "5"]);
});

test("patient calls of a contended workspace wait for each other too", async () => {
  const { patient, statement } = setUp({ lingerMs: 20 });
  const one = patient("1");
  (await statement(0)).finish([BUSY]);
  (await statement(1)).finish();
  await one;
  const both = [patient("2"), patient("3")];
  const next = await statement(2);
  expect(next).toMatchObject({ names: ["2", "3"], lockWait: "short" });
  next.finish();
  await Promise.all(both);
});

test("calls that arrive during a statement are grouped as the next one", async () => {
  const { call, statement, sent } = setUp();
  const calls = ["1", "2", "3", "4"].map((name) => call(name));
  expect(sent()).toBe(1);
  (await statement(0)).finish();
  const second = await statement(1);
  expect(second.names).toEqual(["2", "3", "4"]);
  second.finish();
  expect(await Promise.all(calls)).toEqual(["1", "2", "3", "4"]);
});

test("a small group waits for others while calls arrive concurrently; a large one and a single call do not wait", async () => {
  const { groups, call } = setUpAtOnce({ gatherMaxMs: 20 });
  const many = (count: number): Promise<string>[] => Array.from({ length: count }, (_, at) => call(String(at)));
  for (let round = 0; round < 4; round += 1) await Promise.all(many(100));

  const [one, two] = [call("one"), call("two")];
  expect(groups.flat()).not.toContain("one");
  expect(await Promise.all([one, two])).toEqual(["one", "two"]);
  expect(groups.at(-1)).toEqual(["one", "two"]);

  const few = many(31);
  const before = groups.length;
  const last = call("last");
  expect(groups.slice(before)).toEqual([[...Array.from({ length: 31 }, (_, at) => String(at)), "last"]]);
  await Promise.all([...few, last]);

  for (let at = 0; at < 20; at += 1) await call("lone");
  await Bun.sleep(1);
  const alone = call("alone");
  expect(groups.at(-1)).toEqual(["alone"]);
  await alone;
});

test("a call after a patient one waits no longer than it would alone", async () => {
  const { groups, call, patient } = setUpAtOnce({ gatherMaxMs: 3, lingerMs: 600_000 });
  for (let round = 0; round < 4; round += 1)
    await Promise.all(Array.from({ length: 100 }, (_, at) => call(String(at))));
  const both = [patient("patient"), call("hurried")];
  expect(await Promise.all(both)).toEqual(["patient", "hurried"]);
  expect(groups.at(-1)).toEqual(["patient", "hurried"]);
});

test("groups of patient calls delay no single call", async () => {
  const { groups, call, patient } = setUpAtOnce({ gatherMaxMs: 600_000, lingerMs: 1 });
  for (let round = 0; round < 4; round += 1) {
    await Promise.all(Array.from({ length: 100 }, (_, at) => patient(String(at))));
  }
  // One takes along those that wait.
  for (let round = 0; round < 4; round += 1) {
    await Promise.all([...Array.from({ length: 99 }, (_, at) => patient(String(at))), call("hurried")]);
  }
  const isLarge = (group: readonly string[]): boolean => group.length > 8;
  expect(groups.some((group) => isLarge(group) && !group.includes("hurried"))).toBe(true);
  expect(groups.some((group) => isLarge(group) && group.includes("hurried"))).toBe(true);
  await Bun.sleep(1);
  const alone = call("alone");
  expect(groups.at(-1)).toEqual(["alone"]);
  await alone;
});

test("concurrent calls wait for others also after groups of patient ones", async () => {
  const { groups, call, patient } = setUpAtOnce({ gatherMaxMs: 20, lingerMs: 1 });
  const many = (ask: typeof call, count: number): Promise<string[]> =>
    Promise.all(Array.from({ length: count }, (_, at) => ask(String(at))));
  for (let round = 0; round < 4; round += 1) await many(call, 100);
  for (let round = 0; round < 12; round += 1) await many(patient, 1);
  const [one, two] = [call("one"), call("two")];
  expect(groups.flat()).not.toContain("one");
  expect(await Promise.all([one, two])).toEqual(["one", "two"]);
  expect(groups.at(-1)).toEqual(["one", "two"]);
});

test("a group never exceeds the maximum, and the order is kept", async () => {
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

test("a full queue rejects calls, and accepts them again when it has emptied", async () => {
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

test("a busy workspace joins waiting groups, and no other group waits for it", async () => {
  const { call, statement } = setUp();
  const first = call("x", "other");
  const busy = call("b", "contended");
  const neighbour = call("n", "other");
  (await statement(0)).finish();
  (await statement(1)).finish([BUSY, "n"]);
  expect(await neighbour).toBe("n");
  const waiting = await statement(2);
  expect(waiting).toMatchObject({ names: ["b"], lockWait: "short" });
  // While it waits: the workspace's own calls queue behind it, others pass.
  const behind = call("b2", "contended");
  const passing = call("p", "other");
  const next = await statement(3);
  expect(next).toMatchObject({ names: ["p"], lockWait: "none" });
  next.finish();
  expect(await passing).toBe("p");
  waiting.finish();
  const second = await statement(4);
  expect(second).toMatchObject({ names: ["b2"], lockWait: "short" });
  second.finish();
  expect(await Promise.all([first, busy, behind])).toEqual(["x", "b", "b2"]);
});

test("contended workspaces share one group, for any number", async () => {
  const { call, statement } = setUp();
  const names = Array.from({ length: 50 }, (_, index) => `w${index}`);
  const calls = names.map((name) => call(name, name));
  (await statement(0)).finish([BUSY]);
  (await statement(1)).finish(["w0"]);
  (await statement(2)).finish(names.slice(1).map(() => BUSY));
  const shared = await statement(3);
  expect(shared).toMatchObject({ names: names.slice(1), lockWait: "short" });
  shared.finish();
  expect(await Promise.all(calls)).toEqual(names);
});

/** Workspace "locked" is in its own lane, whose first statement is returned; "hot" was contended with it. */
async function lockedOut({
  call,
  statement,
}: ReturnType<typeof setUp>): Promise<{ lane: Statement; stuck: Promise<unknown>; next: number }> {
  const first = call("x", "other");
  const stuck = call("l", "locked").catch((error: unknown) => error);
  const hot = call("h", "hot");
  (await statement(0)).finish();
  (await statement(1)).finish([BUSY, BUSY]);
  const together = await statement(2);
  expect(together).toMatchObject({ names: ["l", "h"], lockWait: "short" });
  together.finish(LOCKED);
  const asked = await statement(3);
  expect(asked).toMatchObject({ names: ["l", "h"], lockWait: "none" });
  asked.finish([BUSY, "h"]);
  expect(await Promise.all([first, hot])).toEqual(["x", "h"]);
  const lane = await statement(4);
  expect(lane).toMatchObject({ names: ["l"], lockWait: "long" });
  return { lane, stuck, next: 5 };
}

test("a workspace that stays locked is separated from the contended ones and waits in its own lane", async () => {
  const all = setUp();
  const { lane, stuck, next } = await lockedOut(all);
  const hot = all.call("h2", "hot");
  const later = all.call("l2", "locked");
  const shared = await all.statement(next);
  expect(shared).toMatchObject({ names: ["h2"], lockWait: "short" });
  shared.finish();
  expect(await hot).toBe("h2");
  lane.finish();
  expect(await stuck).toBe("l");
  const second = await all.statement(next + 1);
  expect(second).toMatchObject({ names: ["l2"], lockWait: "long" });
  second.finish();
  expect(await later).toBe("l2");
});

test("a lock that is not acquired is overloaded, and the next call uses the lane directly", async () => {
  const all = setUp();
  const { lane, stuck, next } = await lockedOut(all);
  lane.finish(LOCKED);
  expect(await stuck).toMatchObject({ code: "overloaded" });
  const again = all.call("l2", "locked");
  const second = await all.statement(next);
  expect(second).toMatchObject({ names: ["l2"], lockWait: "long" });
  second.finish();
  expect(await again).toBe("l2");
});

test("at most as many lanes run as there are connections, and each gets its turn", async () => {
  const { call, statement, sent } = setUp({ lanesMax: 2 });
  const names = ["a", "b", "c", "d"];
  const first = call("x", "other");
  const calls = names.map((name) => call(name, name));
  (await statement(0)).finish();
  (await statement(1)).finish(names.map(() => BUSY));
  (await statement(2)).finish(LOCKED);
  (await statement(3)).finish(names.map(() => BUSY));
  const lanes = [await statement(4), await statement(5)];
  expect(lanes.map((lane) => [lane.names, lane.lockWait])).toEqual([
    [["a"], "long"],
    [["b"], "long"],
  ]);
  expect(sent()).toBe(6);
  lanes.forEach((lane) => lane.finish());
  (await statement(6)).finish();
  (await statement(7)).finish();
  expect(await Promise.all([first, ...calls])).toEqual(["x", ...names]);
});

test("a call still busy after its wait receives overloaded", async () => {
  const { call, statement } = setUp();
  const busy = call("b").catch((error: unknown) => error);
  for (let index = 0; index < 3; index++) (await statement(index)).finish([BUSY]);
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

test("one call with rejected values does not fail its group", async () => {
  const poison = new Error("refused values");
  const sizes: number[] = [];
  const grouper = createGrouper<Item, string>({
    sizeMax: 256,
    queueMax: 1_000,
    lanesMax: 2,
    isPoison: (error) => error === poison,
    isLocked: () => false,
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
