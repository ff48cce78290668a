/** Tokens of an embeddings call by our own tokenizer. */
import type { Tokenizer } from "./tokenizer.ts";

/** Characters counted in one turn of the event loop, about 20 ms of work. */
const CHARACTERS_PER_TURN = 262_144;

/** @param tokensMax what the model reads of one input */
export async function countInputs(
  tokenizer: Pick<Tokenizer, "count">,
  inputs: readonly (string | readonly number[])[],
  tokensMax: number,
): Promise<number> {
  let tokens = 0;
  let characters = 0;
  for (const input of inputs) {
    tokens += Math.min(tokensMax, typeof input === "string" ? tokenizer.count(input) : input.length);
    characters += input.length;
    if (characters < CHARACTERS_PER_TURN) continue;
    characters = 0;
    await new Promise(setImmediate);
  }
  return tokens;
}
