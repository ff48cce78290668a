/** Examples of README and of the page on settings, tried one after the other on one running service. */
import { afterAll } from "bun:test";

import { sharedStack } from "./shared-stack.ts";

await import("./readme.ts");
await import("./settings.ts");

afterAll(async () => {
  await (await sharedStack()).stop();
});
