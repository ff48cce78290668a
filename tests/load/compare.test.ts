/** Two codes in turns: what is made of the pairs, and of the loads that are asked for. */
import { expect, test } from "bun:test";

import { compare, readLoad } from "./compare.ts";

test("a minute in which the machine is half as fast changes the figures and not the ratio", () => {
  const pairs = [1, 2, 1, 2, 1].map((slow) => [500 * slow, 400 * slow] as const);
  expect(compare(pairs)).toEqual({ before: 500, after: 400, ratio: [0.8, 0.8, 0.8] });
});

test("one turn that was disturbed is not in the middle half", () => {
  const pairs = [[100, 100], [100, 101], [100, 102], [100, 103], [100, 900]] as const; // prettier-ignore
  expect(compare(pairs).ratio).toEqual([1.01, 1.02, 1.03]);
});

test("a load is calls in flight, calls a second, or streams", () => {
  expect(readLoad("64", 2)).toEqual({ isStream: false, seconds: 2, inFlight: 64 });
  expect(readLoad("1200/s", 3)).toEqual({ isStream: false, seconds: 3, rate: 1_200 });
  expect(readLoad("16s", 2)).toEqual({ isStream: true, seconds: 2, inFlight: 16 });
});

test.each(["", "0", "64/m", "-1", "1.5", "c64", "1200/s ", "s", "16ss"])("%j is no load", (text) => {
  expect(() => readLoad(text, 2)).toThrow("a load is calls in flight");
});
