/** Channels, and the events that are told by way of them, one story after the other on one running service. */
import { afterAll } from "bun:test";

import { sharedBench } from "./shared-bench.ts";

await import("./channels.ts");
await import("./events.ts");

afterAll(async () => {
  await (await sharedBench()).close();
});
