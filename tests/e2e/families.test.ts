/** Families of providers: their costs, and conversations of stock clients with each, on one running service. */
import { afterAll } from "bun:test";

import { sharedBed } from "./families/shared-bed.ts";

await import("./families/golden-costs.ts");
await import("./families/price-tiers.ts");
await import("./families/sdk-matrix.ts");
await import("./families/responses.ts");
await import("./families/agent-tools.ts");
await import("./families/stories.ts");
await import("./families/affinity.ts");
await import("./families/default-limit.ts");

afterAll(async () => {
  await (await sharedBed()).stop();
});
