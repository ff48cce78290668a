import { expect, test } from "bun:test";

import { countInputs } from "#shared/tokens/count-inputs.ts";
import { createSamplingTokenizer } from "#shared/tokens/sampling-tokenizer.ts";
import { loadTokenizer } from "#shared/tokens/tokenizer.ts";
import { runWhole } from "#shared/base/time-slices.ts";

const tokenizer = await loadTokenizer();
const PROSE = "Spiders have eight legs, and most of them have eight eyes as well. ";

test("a sampling tokenizer is exact up to its limit, all texts together", () => {
  const sampling = createSamplingTokenizer(tokenizer, PROSE.length * 2);
  expect(runWhole(sampling.counting(PROSE))).toBe(tokenizer.count(PROSE));
  expect(runWhole(sampling.counting(PROSE))).toBe(tokenizer.count(PROSE));
});

test("the remainder above its limit is extrapolated, without further counting", () => {
  let counted = 0;
  const watched = { counting: (text: string) => ((counted += text.length), tokenizer.counting(text)) };
  const sampling = createSamplingTokenizer(watched, 1_000);
  const guess = [1_000, 500, 1].reduce((sum, times) => sum + runWhole(sampling.counting(PROSE.repeat(times))), 0);
  const truth = tokenizer.count(PROSE.repeat(1_501));
  expect(counted).toBe(1_000);
  expect(Math.abs(guess - truth)).toBeLessThan(truth * 0.05);
});

test("a tokenizer with a limit of zero counts four characters as a token", () => {
  expect(runWhole(createSamplingTokenizer(tokenizer, 0).counting("a".repeat(401)))).toBe(101);
});

test("inputs count their tokens, at most the model's maximum of each", async () => {
  expect(await countInputs(tokenizer, [PROSE, [1, 2, 3], PROSE.repeat(100)], 50)).toBe(tokenizer.count(PROSE) + 3 + 50);
});

test("many long inputs leave turns for other work", async () => {
  let hasHadTurn = false;
  setImmediate(() => (hasHadTurn = true));
  await countInputs(tokenizer, Array<string>(10).fill(PROSE.repeat(5_000)), 50);
  expect(hasHadTurn).toBe(true);
});
