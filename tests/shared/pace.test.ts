import { expect, test } from "bun:test";

import { readPace } from "#shared/config.ts";
import { paced } from "#shared/pace.ts";
import { TEST_PACE } from "#tests/support/pace.ts";
import { FRAME_SILENCE_MS } from "#ingress/wait/call.ts";
import { KEY_CACHE_MS } from "#shared/access/questions.ts";

test("waits take the share of their time that the setting names", () => {
  expect(paced(10_000)).toBe(10_000 * Number(TEST_PACE));
  expect(FRAME_SILENCE_MS).toBe(20_000 * Number(TEST_PACE));
});

test("nothing is shortened unless the setting says so", () => {
  expect([readPace({}), readPace({ SLUICE_PACE: "" })]).toEqual([1, 1]);
});

test("what no test waits for keeps its time", () => {
  expect(KEY_CACHE_MS).toBe(900);
});
