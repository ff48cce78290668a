/** Slow pages of the documentation, run on a service of their own. */
import { afterAll, expect, test } from "bun:test";

import { SLOW_PAGES, testPages } from "./pages.ts";
import { sharedStack } from "./shared-stack.ts";

test("every page that is named slow exists", () => {
  expect(SLOW_PAGES).toHaveLength(3);
});

testPages(SLOW_PAGES);

afterAll(async () => {
  await (await sharedStack()).stop();
});
