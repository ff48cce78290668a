import { expect, test } from "bun:test";

import { openByteBudget } from "#workers/providers/byte-budget.ts";

test("a call aborted while it waits for memory fails as a provider error", async () => {
  const budget = openByteBudget(100);
  const held = await budget.take({ amount: 60 });
  const leaving = new AbortController();
  const waiting = budget.take({ amount: 100 }, leaving.signal).catch((error: unknown) => error);
  leaving.abort();
  expect(await waiting).toMatchObject({ kind: "aborted" });
  held.release();
  expect(await budget.take({ amount: 1 }, AbortSignal.abort()).catch((error: unknown) => error)).toMatchObject({
    kind: "aborted",
  });
});
