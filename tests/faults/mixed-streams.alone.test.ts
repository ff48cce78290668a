/**
 * F20 to F27 together, STR-9, MEM-1: mixed calls with random disconnects and faults (mixed.ts). Afterwards the ledger is
 * exact, no hold, request, subscription or stream is open, nobody was asked twice for one call, every client that stayed
 * heard the truth, and memory is in the last quarter what it was in the second. Full size: bun tests/load/mixed.ts.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { growthMb, type MixedBed, runMixed, startMixedBed } from "./mixed.ts";

const CALLS = 600;
/** So few calls hardly warm a process up: this tells a leak of whole answers, the full size a smaller one. */
const GROWTH_MB_MAX = 64;

let bed: MixedBed;
beforeAll(async () => {
  bed = await startMixedBed();
});
afterAll(() => bed?.stop());

test("six hundred mixed calls leave nothing behind", async () => {
  const result = await runMixed(bed, { calls: CALLS });
  const { seed, faults, subscriptions } = result;
  expect(faults, `seed ${seed}`).toEqual([]);
  for (const mb of growthMb(result)) expect(mb, `seed ${seed}`).toBeLessThan(GROWTH_MB_MAX);
  // Two wide: a pull that was just renewed, a request of the janitor.
  expect((subscriptions[1] ?? 0) - (subscriptions[0] ?? 0), `seed ${seed}`).toBeLessThanOrEqual(2);
  // The dice have thrown everything.
  const ways = Object.keys(result.outcomes).join();
  for (const way of ["stays: whole", "stays: broken stream", "stays: 502", "stays: 504", "leaves: before the answer"]) {
    expect(ways, `seed ${seed}`).toContain(way);
  }
}, 120_000);
