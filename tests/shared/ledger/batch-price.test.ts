import { expect, test } from "bun:test";

import { priceAt } from "#shared/ledger/charge.ts";

test("a share of a price is exact, and a fraction of a nano-credit is rounded up", () => {
  const at = (nano: bigint, price_millionths: number) => priceAt(nano, { price_millionths });
  expect(priceAt(7n, undefined)).toBe(7n);
  expect([at(7n, 1_000_000), at(7n, 500_000), at(8n, 500_000), at(0n, 500_000), at(1n, 10_000)]).toEqual([
    7n,
    4n,
    4n,
    0n,
    1n,
  ]);
  expect(at(9_007_199_254_740_993n, 333_333)).toBe(3_002_396_749_180_580n);
});
