/** Counting for those who only want to know about how much: a bounded part is counted, the rest taken to be like it. */
import type { Tokenizer } from "./tokenizer.ts";

/** Without any sample: what English has. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * One for each request: its counts are exact until `charactersMax` have been counted, all texts together; what comes
 * beyond has as many tokens a character as what was counted.
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
