/** Start of an answer that is kept for the workspace to read. */
import { LIMITS } from "#shared/limits.ts";

/**
 * The first characters of an answer, without control characters. Secrets that the receiver echoed are blanked: some receivers
 * answer with the request they got, and the start of an answer is kept in the clear.
 */
export function responseStart(text: string, secrets: readonly string[]): string {
  const hidden = secrets
    // Of a URL the path may be as short as "/".
    .filter((secret) => secret.length >= LIMITS.credentialCharactersMin)
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, "[secret]"), text);
  const plain = hidden
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim();
  return firstCharacters(plain, LIMITS.attemptAnswerCharactersMax);
}

/** At most so many code points. */
function firstCharacters(text: string, max: number): string {
  return Array.from(text.slice(0, 2 * max))
    .slice(0, max)
    .join("");
}
