/** The document of the API: every operation answers as it says, and clients that are generated of it work. */
import { afterAll } from "bun:test";

import { sharedStack } from "./shared-stack.ts";

await import("./conformance.ts");
await import("./generated-clients.ts");

afterAll(async () => {
  await (await sharedStack()).stop();
});
