/** Failures, broken streams and untrue reports of providers, one story after the other on one running service. */
import { afterAll } from "bun:test";

import { sharedBed } from "./provider-bed.ts";

await import("./provider-failures.ts");
await import("./provider-streams.ts");
await import("./provider-usage.ts");

afterAll(async () => {
  await (await sharedBed()).stop();
});
