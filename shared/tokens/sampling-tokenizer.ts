/** Counts tokens approximately: counts a limited part of the text, and extrapolates the remaining text. */
import type { Tokenizer } from "./tokenizer.ts";

/** Characters per token that are assumed without a counted sample, as in English. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * Creates a tokenizer for one request. Counts are exact for the first `charactersMax` characters of all texts together. Further characters
 * count at the same ratio.
 */
export function createSamplingTokenizer(
  tokenizer: Pick<Tokenizer, "counting">,
  charactersMax: number,
): Pick<Tokenizer, "counting"> {
  let characters = 0;
  let tokens = 0;
  return {
    *counting(text) {
      const part = text.slice(0, Math.max(0, charactersMax - characters));
      const counted = part === "" ? 0 : yield* tokenizer.counting(part);
      characters += part.length;
      tokens += counted;
      const beyond = text.length - part.length;
      if (beyond === 0) return counted;
      return counted + Math.ceil(beyond * (characters === 0 ? 1 / CHARACTERS_PER_TOKEN : tokens / characters));
    },
  };
}
