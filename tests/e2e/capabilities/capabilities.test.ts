/** Capabilities over HTTP: runs, estimates, pages and samples, one story after the other on one running service. */
import { afterAll, expect } from "bun:test";

import { sharedBench } from "./shared-bench.ts";

await import("./samples.ts");
await import("./estimates.ts");
await import("./web.ts");
await import("./runs.ts");

afterAll(async () => {
  const bench = await sharedBench();
  expect(await bench.stack.query("select * from audit_ledger()")).toEqual([]);
  expect(await bench.stack.query("select * from hold")).toEqual([]);
  await bench.stop();
});
