import { expect, test } from "bun:test";

import { openMinuteBound } from "#ingress/core/minute-bound.ts";

test("a name is limited in any minute, for every start of the minute, and rejected requests do not count", () => {
  let now = 0;
  const bound = openMinuteBound(() => now);
  const takeAt = (ms: number, name = "key"): boolean => {
    now = ms;
    return bound.take(name, 3);
  };
  expect([0, 50_000, 59_000, 59_999].map((ms) => takeAt(ms))).toEqual([true, true, true, false]);
  // The first request is a minute old; the two of the last seconds still count.
  expect([60_000, 60_001, 109_999].map((ms) => takeAt(ms))).toEqual([true, false, false]);
  expect([110_000, 119_000, 119_001].map((ms) => takeAt(ms))).toEqual([true, true, false]);
  expect(takeAt(119_001, "other")).toBe(true);
  expect([400_000, 400_000, 400_000, 400_000].map((ms) => takeAt(ms))).toEqual([true, true, true, false]);
});
