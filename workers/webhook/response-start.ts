/** Start of an answer that is kept for the workspace to read. */
import { CREDENTIAL_CHARACTERS_MIN } from "#shared/notifications/channel-config.ts";

/** Characters of an answer that are kept for the workspace to read. */
const ATTEMPT_ANSWER_CHARACTERS_MAX = 1_024;

/**
 * The first characters of an answer, without control characters. Secrets that the receiver echoed are blanked: some receivers
 * answer with the request they got, and the start of an answer is kept in the clear.
 */
export function responseStart(text: string, secrets: readonly string[]): string {
  const hidden = secrets
    // Of a URL the path may be as short as "/".
    .filter((secret) => secret.length >= CREDENTIAL_CHARACTERS_MIN)
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, "[secret]"), text);
  const plain = hidden
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim();
  return firstCharacters(plain, ATTEMPT_ANSWER_CHARACTERS_MAX);
}

/** At most so many code points. */
function firstCharacters(text: string, max: number): string {
  return Array.from(text.slice(0, 2 * max))
    .slice(0, max)
    .join("");
}
