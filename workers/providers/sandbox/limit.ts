/** Ends an answer at a stop sequence, or when its tokens are used up. */
import type { Tokenizer } from "#shared/tokens/tokenizer.ts";

export interface Cut {
  readonly text: string;
  /** Tokens produced: all of the limit when the text was cut, even if the last of them left no whole character. */
  readonly tokens: number;
  readonly isCut: boolean;
}

/** The text up to the earliest stop sequence, which is not part of the answer. */
export function cutAtStop(text: string, stops: readonly string[]): string {
  let end = text.length;
  for (const stop of stops) {
    const at = text.indexOf(stop);
    if (at !== -1 && at < end) end = at;
  }
  return text.slice(0, end);
}

/** The first `tokensMax` tokens of a text. */
export function cutText(text: string, tokensMax: number, tokenizer: Tokenizer): Cut {
  // A token is at least one byte: a text of fewer bytes, at most three per UTF-16 unit, needs no look at the limit.
  const tokens = text.length > 64 * tokensMax + 64 ? Infinity : tokenizer.count(text);
  if (tokens <= tokensMax) return { text, tokens, isCut: false };
  const pieces = tokenizer.pieces(text, tokensMax);
  return { text: pieces.map((piece) => piece.text).join(""), tokens: Math.max(0, tokensMax), isCut: true };
}
