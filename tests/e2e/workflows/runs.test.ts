/** Runs over HTTP, one story after the other on one running service. */
import { afterAll } from "bun:test";

import { sharedRuns } from "./shared-runs.ts";

await import("./run-modes.ts");
await import("./run-answers.ts");
await import("./run-control.ts");
await import("./run-owners.ts");
await import("./run-fairness.ts");
await import("./follow.ts");

afterAll(async () => {
  await (await sharedRuns()).close();
});
