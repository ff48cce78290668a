/** Rules of models, videos, inputs that lie aside and a billing key's jobs, one story after the other on one running service. */
import { afterAll } from "bun:test";

import { sharedBench } from "./shared-bench.ts";

await import("./rules.ts");
await import("./videos.ts");
await import("./offload-inputs.ts");
await import("./billing-role.ts");

afterAll(async () => {
  await (await sharedBench()).close();
});
