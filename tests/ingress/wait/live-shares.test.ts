import { expect, test } from "bun:test";

import { createLiveShares, type LiveShares, type Turn } from "#ingress/wait/live-shares.ts";

const SLOTS = new Map([["chat", 16]] as const);
/** A workspace alone: one and a quarter for each slot. */
const ALONE = 20;

function open(): LiveShares {
  const shares = createLiveShares();
  shares.update(SLOTS, new Map());
  return shares;
}

function enter(shares: LiveShares, workspaceId: string, count = 1, requestBytes = 100): Turn[] {
  return Array.from({ length: count }, () => shares.enter({ pool: "chat", workspaceId, requestBytes }));
}

/** How many of them are on the queue. */
async function entered(turns: readonly Turn[]): Promise<number> {
  let count = 0;
  for (const turn of turns) void turn.entered?.then(() => (count += 1));
  await Bun.sleep(0);
  return count + turns.filter((turn) => turn.entered === undefined).length;
}

test("a workspace alone has more calls on the queue than the fleet has slots; the rest waits in its order", async () => {
  const shares = open();
  const turns = enter(shares, "a", ALONE + 3);
  expect([await entered(turns), shares.waiting("chat")]).toEqual([ALONE, 3]);
  turns[0]?.leave();
  turns[1]?.leave();
  expect(await Promise.all([turns[ALONE]?.entered, turns[ALONE + 1]?.entered])).toBeDefined();
  expect(shares.waiting("chat")).toBe(1);
});

test("a second workspace enters at once, and the first one's share shrinks as its calls end", async () => {
  const shares = open();
  const first = enter(shares, "a", ALONE + 10);
  const [second] = enter(shares, "b");
  expect(second?.entered).toBeUndefined();
  for (const turn of first.slice(0, ALONE / 2)) turn.leave();
  expect(await entered(first)).toBe(ALONE);
  first[ALONE / 2]?.leave();
  expect(await entered(first)).toBe(ALONE + 1);
  // Alone again, it has all of it.
  second?.leave();
  expect(await entered(first)).toBe(ALONE + 10);
});

test("a call that leaves while it waits gives its place to none, and leaves once", async () => {
  const shares = open();
  const turns = enter(shares, "a", ALONE + 2);
  const last = turns[ALONE + 1];
  turns[ALONE]?.leave();
  turns[ALONE]?.leave();
  expect(shares.waiting("chat")).toBe(1);
  turns[0]?.leave();
  await last?.entered;
  expect(shares.waiting("chat")).toBe(0);
});

test("calls of another ingress count, but never keep ours from having a part of the share", async () => {
  const shares = open();
  const elsewhere = new Map([["chat", new Map([["a", { calls: ALONE, ingresses: 1 }]])]] as const);
  shares.update(SLOTS, elsewhere);
  const turns = enter(shares, "a", ALONE);
  expect(await entered(turns)).toBe(ALONE / 2);
  shares.update(SLOTS, new Map());
  expect(await entered(turns)).toBe(ALONE);
});

test("what waits is bounded by number and by bytes", () => {
  const shares = open();
  enter(shares, "a", ALONE + 2_000);
  expect(() => enter(shares, "a")).toThrow("Too many calls are waiting");
  enter(shares, "b", ALONE);
  const large = 20 * 1_048_576;
  expect(() => enter(shares, "b", 3, large)).toThrow("Too many calls are waiting");
  expect(enter(shares, "c")[0]?.entered).toBeUndefined();
});

test("what has ended leaves nothing behind", () => {
  const shares = open();
  const turns = enter(shares, "a", ALONE + 5);
  for (const turn of turns) turn.leave();
  expect([shares.inFlight().size, shares.waiting("chat")]).toEqual([0, 0]);
});
