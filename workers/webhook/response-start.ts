/** Beginning of a response that is stored for the workspace to read. */
import { CREDENTIAL_CHARACTERS_MIN } from "#shared/notifications/channel-config.ts";

/** Most stored characters of a response. */
const ATTEMPT_ANSWER_CHARACTERS_MAX = 1_024;

/**
 * Returns the beginning of a response, without control characters. Echoed secrets are masked: some receivers return the request, and the
 * beginning of a response is stored unencrypted.
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

/** Returns at most `max` code points. */
function firstCharacters(text: string, max: number): string {
  return Array.from(text.slice(0, 2 * max))
    .slice(0, max)
    .join("");
}
