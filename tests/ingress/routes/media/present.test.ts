import { expect, test } from "bun:test";

import { servedHeaders } from "#ingress/routes/media/present.ts";

test.each<[bigint, string]>([
  [1n, "0.000000001"],
  [999n, "0.000000999"],
  [0n, "0"],
  [48_000_000n, "0.048"],
  [1_234_567_000_000_001n, "1234567.000000001"],
])("%p nano-credits are plain digits in x-credits-used", (nano, digits) => {
  expect(servedHeaders({ model: "m" }, nano)).toEqual({ "x-credits-used": digits, "x-model-used": "m" });
});
