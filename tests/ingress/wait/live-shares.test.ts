import { expect, test } from "bun:test";

import { createLiveShares, type LiveShares } from "#ingress/wait/live-shares.ts";
import type { Lease } from "#shared/limits/fair-limit.ts";

const slots = new Map([["chat", 16]] as const);
/** Calls of a workspace that has the fleet to itself: an eighth of the slots stays free. */
const ALONE = 14;

/** Makes the shares after the ingresses have told each other: `calls` of workspace `a` are at others. */
function open({ ingresses = 1, calls = 0 } = {}): LiveShares {
  const shares = createLiveShares();
  tell(shares, ingresses, calls);
  return shares;
}

function tell(shares: LiveShares, ingresses: number, calls = 0): void {
  const elsewhere = calls === 0 ? new Map() : new Map([["chat", new Map([["a", { calls, ingresses: 1 }]])]] as const);
  shares.update({ slots, ingresses, elsewhere });
}

function enter(shares: LiveShares, workspaceId: string, count = 1, requestBytes = 100): Lease[] {
  return Array.from({ length: count }, () => shares.enter({ pool: "chat", workspaceId, requestBytes }));
}

/** Counts those that are on the queue. */
async function entered(turns: readonly Lease[]): Promise<number> {
  let count = 0;
  for (const turn of turns) void turn.entered?.then(() => (count += 1));
  await Bun.sleep(0);
  return count + turns.filter((turn) => turn.entered === undefined).length;
}

test("a single workspace leaves slots for the first calls of others; its remaining calls wait in order", async () => {
  const shares = open();
  const turns = enter(shares, "a", ALONE + 3);
  expect([await entered(turns), shares.waiting("chat")]).toEqual([ALONE, 3]);
  turns[0]?.release();
  turns[1]?.release();
  expect(await Promise.all([turns[ALONE]?.entered, turns[ALONE + 1]?.entered])).toBeDefined();
  expect(shares.waiting("chat")).toBe(1);
});

test("a second workspace starts immediately, and the first one's share shrinks as its calls end", async () => {
  const shares = open();
  const first = enter(shares, "a", ALONE + 10);
  const [second] = enter(shares, "b");
  expect(second?.entered).toBeUndefined();
  for (const turn of first.slice(0, ALONE / 2)) turn.release();
  expect(await entered(first)).toBe(ALONE);
  first[ALONE / 2]?.release();
  expect(await entered(first)).toBe(ALONE + 1);
  // Alone again, it has all of it.
  second?.release();
  expect(await entered(first)).toBe(ALONE + ALONE / 2 + 1);
});

test("a second workspace uses part of the free slots, and then its share as the first's calls end", async () => {
  const shares = open();
  const first = enter(shares, "a", ALONE + 10);
  const second = enter(shares, "b", ALONE);
  expect(await entered(second)).toBe(1);
  const [third] = enter(shares, "c");
  expect(third?.entered).toBeUndefined();
  third?.release();
  for (const turn of first.slice(0, ALONE)) turn.release();
  expect([await entered(first), await entered(second)]).toEqual([ALONE + ALONE / 2, ALONE / 2]);
});

test("a waiting call that disconnects passes its position to none, and leaves once", async () => {
  const shares = open();
  const turns = enter(shares, "a", ALONE + 2);
  const last = turns[ALONE + 1];
  turns[ALONE]?.release();
  turns[ALONE]?.release();
  expect(shares.waiting("chat")).toBe(1);
  turns[0]?.release();
  await last?.entered;
  expect(shares.waiting("chat")).toBe(0);
});

test("calls of another ingress count, but never prevent all of ours", async () => {
  const shares = open();
  tell(shares, 2, ALONE - 3);
  const turns = enter(shares, "a", ALONE);
  expect(await entered(turns)).toBe(3);
  tell(shares, 2, ALONE);
  const [one] = enter(open({ ingresses: 2, calls: ALONE }), "a");
  expect(one?.entered).toBeUndefined();
  tell(shares, 1);
  expect(await entered(turns)).toBe(ALONE);
});

test("a burst at several ingresses uses the share once, also before they have exchanged reports", async () => {
  const all = Array.from({ length: 2 }, () => open({ ingresses: 2 }));
  const turns = all.flatMap((shares) => enter(shares, "a", 100));
  expect(await entered(turns)).toBe(ALONE);
});

test("an ingress with all the calls uses the free slots of others, step by step", async () => {
  const shares = open({ ingresses: 7 });
  const turns = enter(shares, "a", ALONE + 1);
  const steps: number[] = [];
  while (steps.at(-1) !== ALONE && steps.length < 100) {
    steps.push(await entered(turns));
    tell(shares, 7);
  }
  // Two slots stay free: so many more after every eight tellings.
  expect(steps.slice(0, 9)).toEqual([2, 2, 2, 2, 3, 3, 3, 3, 4]);
  expect(steps.length).toBeLessThanOrEqual(8 * (ALONE / 2));
});

test("the waiting calls are bounded by number and by bytes", () => {
  const shares = open();
  enter(shares, "a", ALONE + 2_000);
  expect(() => enter(shares, "a")).toThrow("Too many calls are waiting");
  enter(shares, "b", ALONE);
  const large = 20 * 1_048_576;
  expect(() => enter(shares, "b", 3, large)).toThrow("Too many calls are waiting");
  expect(enter(shares, "c")[0]?.entered).toBeUndefined();
});

test("an ended call leaves no state", () => {
  const shares = open();
  const turns = enter(shares, "a", ALONE + 5);
  for (const turn of turns) turn.release();
  expect([shares.inFlight().size, shares.waiting("chat")]).toEqual([0, 0]);
});
