/** Extracts the beginning of a response, which is stored for the workspace to read. */
import { CREDENTIAL_CHARACTERS_MIN } from "#shared/notifications/channel-config.ts";

/** Maximum number of characters of a response that are stored. */
const ATTEMPT_ANSWER_CHARACTERS_MAX = 1_024;

/**
 * Returns the beginning of a response, without control characters. Echoed secrets are masked, because some receivers return the request and
 * this text is stored unencrypted.
 */
export function responseStart(text: string, secrets: readonly string[]): string {
  const hidden = secrets
    // The path of a URL may be as short as "/".
    .filter((secret) => secret.length >= CREDENTIAL_CHARACTERS_MIN)
    .toSorted((a, b) => b.length - a.length)
    .reduce((redacted, secret) => redacted.replaceAll(secret, "[secret]"), text);
  const plain = hidden
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim();
  return firstCharacters(plain, ATTEMPT_ANSWER_CHARACTERS_MAX);
}

/** Returns the first characters of a text, at most `max` code points. */
function firstCharacters(text: string, max: number): string {
  return Array.from(text.slice(0, 2 * max))
    .slice(0, max)
    .join("");
}
