import { expect, test } from "bun:test";

import { readPace } from "#shared/config/config.ts";
import { paced } from "#shared/config/pace.ts";
import { TEST_PACE } from "#tests/support/pace.ts";
import { FRAME_SILENCE_MS } from "#ingress/wait/call.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";

test("waits are shortened by the configured share", () => {
  expect(paced(10_000)).toBe(10_000 * Number(TEST_PACE));
  expect(FRAME_SILENCE_MS).toBe(20_000 * Number(TEST_PACE));
});

test("nothing is shortened without the setting", () => {
  expect([readPace({}), readPace({ SLUICE_PACE: "" })]).toEqual([1, 1]);
});

test("durations outside of tests' waits are unchanged", () => {
  expect(KEY_CACHE_MS).toBe(900);
});
