/** Counts the tokens of an embeddings call with our tokenizer, in time slices. */
import { TimeSlices } from "#shared/base/time-slices.ts";

import type { Tokenizer } from "./tokenizer.ts";

type Inputs = readonly (string | readonly number[])[];

/**
 * Returns the number of tokens of the inputs.
 * @param tokensMax maximum tokens that the model reads of one input
 */
export function countInputs(
  tokenizer: Pick<Tokenizer, "counting">,
  inputs: Inputs,
  tokensMax: number,
  slices = new TimeSlices(),
): Promise<number> {
  return slices.run(counting(tokenizer, inputs, tokensMax));
}

function* counting(tokenizer: Pick<Tokenizer, "counting">, inputs: Inputs, tokensMax: number): Generator<void, number> {
  let tokens = 0;
  for (const input of inputs) {
    tokens += Math.min(tokensMax, typeof input === "string" ? yield* tokenizer.counting(input) : input.length);
    yield;
  }
  return tokens;
}
