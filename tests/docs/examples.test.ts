/** Examples of README and of the pages below schemas/docs, run on one running service. */
import { afterAll } from "bun:test";

import { QUICK_PAGES, testPages } from "./pages.ts";
import { sharedStack } from "./shared-stack.ts";

await import("./readme.ts");
testPages(QUICK_PAGES);

afterAll(async () => {
  await (await sharedStack()).stop();
});
