/** Keys, windows, balances and budgets, and the operator who hands them out: one story after the other on one running service. */
import { afterAll } from "bun:test";

import { sharedBed } from "./keys-and-credits/shared-bed.ts";

await import("./keys-and-credits/balance.ts");
await import("./keys-and-credits/key.ts");
await import("./keys-and-credits/rate-window.ts");
await import("./keys-and-credits/spend.ts");
await import("./keys-and-credits/max-credits.ts");
await import("./keys-and-credits/max-credits-runs.ts");
await import("./keys-and-credits/operator.ts");
await import("./keys-and-credits/revoked-key.ts");

afterAll(async () => {
  await (await sharedBed()).stop();
});
