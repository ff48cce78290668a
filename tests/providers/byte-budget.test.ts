import { expect, test } from "bun:test";

import { ByteBudget } from "#workers/providers/byte-budget.ts";

test("a call that is aborted while it waits for bytes says so as a provider's failure", async () => {
  const budget = new ByteBudget(100);
  const held = await budget.lease(60, new AbortController().signal);
  const leaving = new AbortController();
  const waiting = budget.lease(100, leaving.signal).catch((error: unknown) => error);
  leaving.abort();
  expect(await waiting).toMatchObject({ kind: "aborted" });
  held.release();
  expect(await budget.lease(1, AbortSignal.abort()).catch((error: unknown) => error)).toMatchObject({
    kind: "aborted",
  });
});
