/**
 * Place of the charge in a rendered answer. An answer is rendered before it is settled, and a cached copy of it costs nothing. Renderers
 * therefore write `CREDITS_PLACE` as `usage.credits`, and the end of the call replaces it by the charge.
 */
import { formatCredits } from "#shared/base/money.ts";

const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));

/** Placeholder of the charge. Its digits are random, and no price is that large. No other number of an answer therefore equals it. */
export const CREDITS_PLACE = Number(
  `1.${String(high).padStart(10, "0")}${String(low % 100_000).padStart(5, "0")}1e250`,
);

const PLACE_TEXT = JSON.stringify(CREDITS_PLACE);

/** Returns the answer with its charge. Answers without a place, such as files and plain texts, remain as they are. */
export function withCredits(text: string, nano: bigint): string {
  // The usage is at the end of an answer, so the search from the end is short.
  const at = text.lastIndexOf(PLACE_TEXT);
  return at < 0 ? text : text.slice(0, at) + formatCredits(nano) + text.slice(at + PLACE_TEXT.length);
}
