/** Recordings, and results of slow providers, one story after the other on one running service. */
import { afterAll } from "bun:test";

import { localBench } from "./local-bench.ts";

await import("./recordings.ts");
await import("./results-apart.ts");

afterAll(async () => {
  await (await localBench()).close();
});
