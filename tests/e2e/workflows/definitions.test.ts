/** Stored workflows, templates, steps and their estimates, one story after the other on one running service. */
import { afterAll } from "bun:test";

import { sharedMediaRuns } from "./shared-runs.ts";

await import("./stored.ts");
await import("./listed-templates.ts");
await import("./run-steps.ts");
await import("./hostile-values.ts");
await import("./estimate.ts");
await import("./batch-runs.ts");

afterAll(async () => {
  await (await sharedMediaRuns()).close();
});
