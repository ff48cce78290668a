/** Rules of models, videos, inputs that lie aside, a billing key's jobs and the list of jobs, one story after the other on one running service. */
import { afterAll } from "bun:test";

import { sharedBench } from "./shared-bench.ts";

await import("./rules.ts");
await import("./videos.ts");
await import("./offload-inputs.ts");
await import("./billing-role.ts");
await import("./job-list.ts");

afterAll(async () => {
  await (await sharedBench()).close();
});
