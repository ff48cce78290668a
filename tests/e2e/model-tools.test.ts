/** Stories of models whose tools the service runs, one after the other on one running service. */
import { afterAll, expect } from "bun:test";

import { eventually } from "#tests/faults/wait.ts";

import { sharedStack } from "./model-tools/bench.ts";

await import("./model-tools/chat.ts");
await import("./model-tools/responses.ts");
await import("./model-tools/images.ts");
await import("./model-tools/clients.ts");
await import("./model-tools/max-credits.ts");

afterAll(async () => {
  const stack = await sharedStack();
  await eventually("no hold stays open", async () => (await stack.query("select * from hold")).length === 0);
  expect(await stack.query("select * from audit_ledger()")).toEqual([]);
  await stack.stop();
});
