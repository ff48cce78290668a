/** The page on keys and budgets states the limits in force. `pages.ts` runs its calls. */
import { expect, test } from "bun:test";

import { CSV_ROWS_MAX } from "#ingress/routes/settings/csv.ts";
import { SETTINGS_PAGE_DEFAULT, SETTINGS_PAGE_MAX } from "#ingress/core/page.ts";
import { USAGE_BUCKETS_MAX, USAGE_SUMS_MAX } from "#ingress/routes/settings/usage.ts";

import { readPage } from "./page.ts";

const { body } = readPage("guides/keys-and-budgets.md");

test("it states the limits in force", () => {
  const stated = [
    `\`limit\` is 1 to ${SETTINGS_PAGE_MAX}, default ${SETTINGS_PAGE_DEFAULT}`,
    `at most ${CSV_ROWS_MAX.toLocaleString("en")} rows`,
    `at most ${USAGE_BUCKETS_MAX} buckets and ${USAGE_SUMS_MAX.toLocaleString("en")} results`,
  ];
  expect(stated.filter((one) => !body.includes(one))).toEqual([]);
});
