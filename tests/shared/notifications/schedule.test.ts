import { expect, test } from "bun:test";

import { ATTEMPTS_MAX, LAST_STEP, nextDelayMs, RETRY_DELAYS_MS } from "#shared/notifications/schedule.ts";

const middle = () => 0.5;

test("an attempt is followed after each delay in order, and the last one by none", () => {
  const delays = Array.from({ length: ATTEMPTS_MAX }, (_, at) => nextDelayMs(at + 1, 0, middle));
  expect(delays).toEqual([...RETRY_DELAYS_MS, undefined]);
  expect(nextDelayMs(LAST_STEP + 1, 0, middle)).toBeUndefined();
});

test("delays are spread by a fifth either way", () => {
  const [first = 0] = RETRY_DELAYS_MS;
  expect([nextDelayMs(1, 0, () => 0), nextDelayMs(1, 0, () => 1)]).toEqual([first * 0.8, first * 1.2]);
});

test("a receiver's requested delay is honoured up to twice the delay, and never shortens it", () => {
  const [first = 0] = RETRY_DELAYS_MS;
  expect(nextDelayMs(1, first * 1.5, middle)).toBe(first * 1.5);
  expect(nextDelayMs(1, first * 50, middle)).toBe(first * 2);
  expect(nextDelayMs(1, 1, middle)).toBe(first);
});
