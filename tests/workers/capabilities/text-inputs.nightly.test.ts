/** Text inputs of the engines that take seconds, in the charsets that files come in. */
import { expect, test } from "bun:test";

import { CHARSETS, isSlow, resultsOf, TAKERS } from "./text-inputs.ts";

test.each(TAKERS.filter(isSlow))(
  "%s is the same text in every charset",
  async (name) => {
    const results = await resultsOf(name);
    expect(results.map(({ charset }) => charset)).toEqual([...CHARSETS]);
    for (const { result } of results) expect(result).toEqual(results[0]?.result);
  },
  120_000,
);
