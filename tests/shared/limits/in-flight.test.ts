/** Collections of what comes and goes: in the order of coming, and nothing of what is over is kept from the collector's short cycles. */
import { edenGC, fullGC, heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";

import { InFlightMap, InFlightSet } from "#shared/limits/in-flight.ts";

const CALLS = 4_000;
const AT_ONCE = 10;

/** Number of values that a short cycle finds in use when so many have come and gone, each while a few others were there. */
function keptOf(come: (key: string, value: Headers) => () => void): number {
  const count = (): number => heapStats().objectTypeCounts["Headers"] ?? 0;
  const going: (() => void)[] = [];
  const runCalls = (): void => {
    for (let call = 0; call < CALLS; call++) {
      going.push(come(String(call), new Headers()));
      if (going.length > AT_ONCE) going.shift()?.();
    }
    for (const go of going.splice(0)) go();
  };
  const own = new Headers();
  expect(count()).toBeGreaterThan(0);
  runCalls();
  fullGC();
  const before = count();
  // The table of the moment has become an old one by then, as that of a process has that has run for a while.
  runCalls();
  edenGC();
  const kept = count() - before;
  expect([...own]).toEqual([]);
  return kept;
}

describe("removed entries", () => {
  test("are retained by Bun's own map and set; once fixed, these replacements can be removed", () => {
    const map = new Map<string, Headers>();
    const inMap = keptOf((key, value) => {
      map.set(key, value);
      return () => map.delete(key);
    });
    const set = new Set<Headers>();
    const inSet = keptOf((_key, value) => {
      set.add(value);
      return () => set.delete(value);
    });
    expect([inMap > CALLS / 8, inSet > CALLS / 8]).toEqual([true, true]);
  });

  test("are not retained by the replacements", () => {
    const map = new InFlightMap<Headers>();
    const inMap = keptOf((key, value) => {
      map.set(key, value);
      return () => map.take(key);
    });
    const set = new InFlightSet<Headers>();
    const inSet = keptOf((_key, value) => {
      const entry = set.add(value);
      return () => set.delete(entry);
    });
    expect([inMap < CALLS / 20, inSet < CALLS / 20]).toEqual([true, true]);
  });
});

test("a map keeps the insertion order, removes once, and skips entries removed meanwhile", () => {
  const map = new InFlightMap<number>();
  for (const [at, key] of ["a", "b", "c"].entries()) map.set(key, at);
  map.set("a", 9);
  expect([map.size, [...map], [...map.values()], map.get("b")]).toEqual([3, [["a", 9], ["b", 1], ["c", 2]], [9, 1, 2], 1]); // prettier-ignore
  const seen: string[] = [];
  for (const [key] of map) {
    seen.push(key);
    map.take("b");
  }
  expect(seen).toEqual(["a", "c"]);
  expect([map.take("a"), map.take("a"), map.get("a"), map.size]).toEqual([9, undefined, undefined, 1]);
});

test("a set keeps the insertion order, deletes once, and accepts the same value twice", () => {
  const set = new InFlightSet<string>();
  const [first, second, third] = ["a", "b", "a"].map((value) => set.add(value));
  if (!first || !second || !third) throw new Error("expected three entries");
  expect([set.size, [...set]]).toEqual([3, ["a", "b", "a"]]);
  expect([set.delete(first), set.delete(first), [...set]]).toEqual([true, false, ["b", "a"]]);
  const seen: string[] = [];
  for (const value of set) {
    seen.push(value);
    set.delete(third);
  }
  expect(seen).toEqual(["b"]);
});
