/** Stories of clients of the Model Context Protocol, one after the other on one running service. */
import { afterAll, expect } from "bun:test";

import { eventually } from "#tests/faults/wait.ts";

import { sharedStack } from "./mcp/shared-service.ts";

await import("./mcp/tools.ts");
await import("./mcp/door.ts");
await import("./mcp/tasks.ts");
await import("./mcp/listed-tools.ts");
await import("./mcp/conformance.ts");

afterAll(async () => {
  const stack = await sharedStack();
  await eventually("no hold stays open", async () => (await stack.query("select * from hold")).length === 0);
  expect(await stack.query("select * from audit_ledger()")).toEqual([]);
  await stack.stop();
});
